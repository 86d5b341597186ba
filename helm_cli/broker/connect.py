"""How a person signs in to a service by OAuth2: the address to go to, the way back, and what is kept of it.

No person at the terminal is needed, though a sign-in opens a service to calls: it asks for nothing but what approved
extensions declare, which a person read, and it is at the provider's own page that a person says yes. So a redirect
that is pasted may come through a pipe as well (design, section 8, oauth).
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, unquote_plus

from helm_cli.broker import scopes, signin, tokens
from helm_cli.broker.scopes import Wanted
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers import oauth_callback, oauth_page
from helm_cli.drivers.oauth_callback import Callback, Listener
from helm_cli.drivers.oauth_pasted import Pasted
from helm_cli.model import wording
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import profiles, signins
from helm_cli.store.signins import Signin

if TYPE_CHECKING:
    from helm_cli.drivers.oauth_token import Grant

MOST_CHARACTERS_TOLD: Final = 200

# What a request object holds would take the place of all the rest (RFC 9101).
_REQUEST_OBJECT: Final = frozenset({"request", "request_uri"})
# The provider's passing troubles; every other error is its answer to what was asked (RFC 6749, 4.1.2.1).
_PASSING: Final = ("temporarily_unavailable", "server_error")
_OTHERWISE: Final = (
    "end the program that has it, or take another port (redirect_port of the profile, else [oauth] port of config.toml)"
    " and register its redirect URI"
)


class Attempt(NamedTuple):
    """One sign-in that was begun: where it returns to, what proves that it is its own, and the address to go to."""

    wanted: Wanted
    port: int
    state: str
    verifier: str
    address: str


def profile(stores: Stores, name: str) -> Service:
    """The service of this name, which signs in by OAuth2. Raises HelmError "not_configured", "refused" or "state"."""
    service = profiles.load(stores.home, "service", name)
    if not service.oauth2:
        raise HelmError("refused", f"{name} is called with a token or without one, so there is nothing to sign in to")
    return service


def connect(
    stores: Stores,
    workspace: Workspace,
    service: Service,
    seconds: float,
    show: Callable[[str, str], None],
    pasted: Pasted | None = None,
) -> Signin:
    """Sign in, within so many seconds of waiting, and keep the tokens; gives the sign-in as it was recorded.

    `show` gets the address to go to and the redirect URI, once helm listens there; it must not wait. `pasted` is where
    the redirect may be pasted instead. The former sign-in stays as it was until this one is complete. Raises HelmError
    "refused", "not_configured", "unavailable", "timeout", "not_authorized", and "conflict" where the profile was
    changed meanwhile.
    """
    wanted = scopes.wanted(stores, workspace, service)
    # A secret that cannot be read is better known before somebody signs in than after.
    secret = tokens.client_secret(stores, service, wanted.token_url)
    attempt = begin(service, wanted, service.redirect_port or stores.config.oauth_port)
    returns = oauth_callback.redirect_uri(attempt.port)
    with oauth_callback.listening(attempt.port, attempt.state, _OTHERWISE) as listener:
        show(attempt.address, returns)
        callback = listener.wait(seconds, pasted)
        if callback is None:
            raise _timeout(listener, service, seconds)
        if callback.error is not None:
            listener.conclude(oauth_page.DENIED)
            raise _denied(service, callback, secret)
        _check_issuer(stores, service, callback)
        grant = _redeemed(stores, service, attempt, callback, secret)
        if profile(stores, service.name) != service:
            raise HelmError(
                "conflict", f"the profile {service.name} changed meanwhile, so nothing was kept; sign in once more"
            )
        kept = signin.keep(stores, service, grant, Connected(*wanted, callback.issuer))
        listener.conclude(oauth_page.CONNECTED)
    return kept


def begin(service: Service, wanted: Wanted, port: int) -> Attempt:
    """A sign-in with a state and a verifier of its own, each of 256 bits or more (RFC 7636, 4.1; RFC 6749, 10.10)."""
    state, verifier = token_urlsafe(32), token_urlsafe(64)
    ours = {
        "response_type": "code",
        "client_id": service.client_id or "",
        "redirect_uri": oauth_callback.redirect_uri(port),
        "scope": " ".join(wanted.scopes),
        "state": state,
        "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return Attempt(wanted, port, state, verifier, address(wanted.authorize_url, ours))


def address(authorize_url: str, ours: dict[str, str]) -> str:
    """A provider's address with its own query kept, but for the names that helm sets; an empty value is not sent."""
    beginning, _, query = authorize_url.partition("?")
    taken = ours.keys() | _REQUEST_OBJECT
    # Some servers separate by semicolons too.
    kept = (
        ";".join(one for one in part.split(";") if unquote_plus(one.partition("=")[0]) not in taken)
        for part in query.split("&")
    )
    added = (f"{name}={quote(value, safe='')}" for name, value in ours.items() if value)
    return f"{beginning}?{'&'.join([*filter(None, kept), *added])}"


def _redeemed(stores: Stores, service: Service, attempt: Attempt, callback: Callback, secret: str) -> "Grant":
    # A sign-in that does not come this far pays for no HTTP client.
    from helm_cli.drivers import oauth_token

    return oauth_token.redeem(
        oauth_token.Client(attempt.wanted.token_url, service.client_id or "", secret),
        callback.code or "",
        attempt.verifier,
        oauth_callback.redirect_uri(attempt.port),
        asked=attempt.wanted.scopes,
        now=stores.clock(),
    )


def _timeout(listener: Listener, service: Service, seconds: float) -> HelmError:
    told = f"nobody finished the sign-in to {service.name} within {seconds:g} s, so nothing was kept; "
    if listener.strange:
        return HelmError("timeout", told + "what came back belonged to another sign-in: go to the address shown last")
    return HelmError("timeout", told + "if the browser showed an error, see that the redirect URI is registered there")


def _denied(service: Service, callback: Callback, secret: str) -> HelmError:
    reason = f"{callback.error}: {callback.description}" if callback.description else f"{callback.error}"
    reason = wording.without(reason, secret)
    if len(reason) > MOST_CHARACTERS_TOLD:
        reason = reason[:MOST_CHARACTERS_TOLD] + "…"
    code = "unavailable" if callback.error in _PASSING else "not_authorized"
    return HelmError(code, f"{service.name} did not sign you in ({reason}); the former sign-in, if any, stays")


def _check_issuer(stores: Stores, service: Service, callback: Callback) -> None:
    """Who says that it signed the person in (RFC 9207) is of one profile always the same."""
    before = signins.find(stores.db, service.name)
    if before is not None and before.issuer is not None and callback.issuer != before.issuer:
        raise HelmError(
            "refused",
            f"another issuer than before answered the sign-in to {service.name}, so nothing was kept; if it is meant to"
            f" change, run helm oauth disconnect {service.name} first",
        )
