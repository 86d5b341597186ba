"""The token endpoint of an OAuth2 service: a code or a refresh token goes in, a grant that can be trusted comes out."""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode

from helm_cli import __version__
from helm_cli.drivers import Limits
from helm_cli.drivers.exchange import REDIRECTS, Reply, Sent, exchange
from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

LIMITS: Final = Limits(seconds=10.0, rows=0, bytes=64 * 1024)

# RFC 6749, 5.2; what else a service says may repeat what it was sent, so it is not passed on.
_ERRORS: Final = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
)
# What a header can carry (RFC 6750, 2.1, and what services send beyond it); a refresh token goes into a form.
_ACCESS: Final = re.compile(r"[!-~]+")
_REFRESH: Final = re.compile(r"[ -~]+")
_DIGITS: Final = re.compile(r"-?[0-9]{1,18}")
# No token lives as long (30 years): a clock can still be added to it.
_MOST_SECONDS: Final = 1e9


class Grant(NamedTuple):
    """What a token endpoint granted.

    `scopes` are sorted. `life` is how many seconds the access token lives, `expires` the moment of its end by helm's
    clock; both None where the service does not say. `refresh_token` is None where none came.
    """

    access_token: str
    refresh_token: str | None
    scopes: tuple[str, ...]
    expires: float | None
    life: float | None

    def __repr__(self) -> str:
        return f"Grant(scopes={self.scopes!r}, expires={self.expires!r}, life={self.life!r})"


class Client(NamedTuple):
    """Who asks, and where. `secret` is empty for a public client, and is then not sent."""

    token_url: str
    id: str
    secret: str

    def __repr__(self) -> str:
        return f"Client(id={self.id!r})"


def redeem(
    client: Client,
    code: str,
    verifier: str,
    redirect_uri: str,
    *,
    asked: Collection[str],
    now: float,
    limits: Limits = LIMITS,
) -> Grant:
    """The grant for a code that the callback brought (RFC 6749, 4.1.3; RFC 7636, 4.5); `asked` are the scopes asked.

    Raises HelmError "not_authorized" where the service refuses the code, and "unavailable" for everything else.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }
    return _granted(client, form, asked, now, limits)


def renew(client: Client, refresh_token: str, *, asked: Collection[str], now: float, limits: Limits = LIMITS) -> Grant:
    """The grant for a refresh token (RFC 6749, 6); `asked` are the scopes that it has.

    No scope is sent, for services refuse or narrow it then. Raises HelmError "not_authorized" where the sign-in is
    over (invalid_grant), and "unavailable" for everything else: then it may work again later.
    """
    return _granted(client, {"grant_type": "refresh_token", "refresh_token": refresh_token}, asked, now, limits)


def _granted(client: Client, form: Mapping[str, str], asked: Collection[str], now: float, limits: Limits) -> Grant:
    # Basic authorization is not used: the contract has the secret in the body (client_secret_post).
    whole = {**form, "client_id": client.id, **({"client_secret": client.secret} if client.secret else {})}
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        "Content-Type": "application/x-www-form-urlencoded",
        "User-Agent": f"helm/{__version__}",
    }
    try:
        reply = exchange(Sent("POST", client.token_url, headers, urlencode(whole).encode("ascii")), limits)
    except HelmError as error:
        # Its advice is about the base URL, and what it says of a write is about the user's.
        told = error.message.partition(";")[0]
        raise HelmError("unavailable", f"the token endpoint was asked in vain: {told}; try again") from None
    what = "the code of this sign-in" if "code" in form else "the refresh token any more"
    return _grant(_answer(reply, what), asked, now)


def _answer(reply: Reply, what: str) -> dict[str, Json]:
    """The JSON object of an answer that grants something; `what` was sent for it."""
    if reply.status in REDIRECTS:
        raise _unusable("redirects elsewhere, where helm does not follow")
    if reply.cut:
        raise _unusable("is larger than 64 KiB")
    try:
        found = None if reply.fault else jsontext.parse(reply.body.removeprefix(jsontext.BOM))
    except ValueError:
        found = None
    # Only a definite answer ends a sign-in: not one of a server that fails or is too busy.
    if isinstance(found, dict) and "error" in found and (reply.status < 429 or 429 < reply.status < 500):
        raise _refused(found["error"], what)
    if reply.status != 200:
        raise _unusable(f"has the status {reply.status}")
    if not isinstance(found, dict):
        raise _unusable("is not the JSON object that a token comes in")
    return found


def _refused(error: Json, what: str) -> HelmError:
    name = error if isinstance(error, str) and error in _ERRORS else "an error that helm does not know"
    if name == "invalid_grant":
        return HelmError("not_authorized", f"the service does not take {what} (invalid_grant); sign in once more")
    step = "; enter its client id and secret again" if name in ("invalid_client", "unauthorized_client") else ""
    return HelmError("unavailable", f"the service refuses to give a token ({name}){step}")


def _grant(answer: dict[str, Json], asked: Collection[str], now: float) -> Grant:
    kind, access, refresh = (answer.get(name) for name in ("token_type", "access_token", "refresh_token"))
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise _unusable("has a token of another type than bearer")
    if not isinstance(access, str) or not _ACCESS.fullmatch(access):
        raise _unusable("has no access token that could be sent")
    if refresh in (None, ""):
        refresh = None
    elif not isinstance(refresh, str) or not _REFRESH.fullmatch(refresh):
        raise _unusable("has a refresh token that could not be sent")
    life = _life(answer.get("expires_in"))
    scopes = _scopes(answer.get("scope"), asked)
    if refresh is not None and "offline_access" in asked:
        # Some services give the refresh token and never name what it is for.
        scopes |= {"offline_access"}
    return Grant(access, refresh, tuple(sorted(scopes)), None if life is None else now + life, life)


def _life(value: Json) -> float | None:
    """`expires_in` in seconds, also as text; None where it says nothing that can be understood."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(min(max(value, 0), _MOST_SECONDS))


def _scopes(value: Json, asked: Collection[str]) -> set[str]:
    """The granted scopes: those that were asked for where the answer names none (RFC 6749, 5.1)."""
    if value is None:
        return set(asked)
    parts = value.split() if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise _unusable("has scopes that are no text")
    found: set[str] = set()
    for part in parts:
        if not isinstance(part, str):
            raise _unusable("has scopes that are no text")
        # Some services separate by commas, and a comma may stand in a scope.
        found |= {part} if part in asked else {piece for piece in part.split(",") if piece}
    return found


def _unusable(what: str) -> HelmError:
    return HelmError("unavailable", f"the answer of the token endpoint {what}, so no token was taken from it")
