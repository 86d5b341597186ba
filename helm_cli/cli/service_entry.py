"""How a service profile is put together from options, and from questions where a person can be asked."""

from functools import partial
from typing import Any, Final, NamedTuple, get_args

from helm_cli.cli import one_of
from helm_cli.cli.entry import asked, can_ask, check_new, piped_secret, typed_secret
from helm_cli.cli.given import check_filled, option
from helm_cli.cli.here import Here, note
from helm_cli.grammar import token, url
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Format, Service
from helm_cli.store.groups import GROUPS


class Given(NamedTuple):
    """What the options said, None or False where they said nothing."""

    name: str | None = None
    base_url: str | None = None
    header: str | None = None
    format: str | None = None
    token_stdin: bool = False
    ask_token: bool = False
    no_token: bool = False
    oauth2: bool = False
    client_id: str | None = None
    client_secret_stdin: bool = False
    ask_client_secret: bool = False
    redirect_port: int | None = None
    no_redirect_port: bool = False
    authorize_url: str | None = None
    token_url: str | None = None
    no_sign_in_urls: bool = False


# Options that go with one way to sign in alone.
_TOKEN: Final = ("header", "format", "token_stdin", "ask_token", "no_token")
_OAUTH2: Final = (
    "client_id", "client_secret_stdin", "ask_client_secret", "redirect_port", "no_redirect_port", "authorize_url",
    "token_url", "no_sign_in_urls",
)  # fmt: skip
# Of each of these one alone can be meant.
_EXCLUSIVE: Final = (
    ("token_stdin", "ask_token", "no_token", "client_secret_stdin", "ask_client_secret"),
    ("redirect_port", "no_redirect_port"),
    ("authorize_url", "no_sign_in_urls"),
    ("token_url", "no_sign_in_urls"),
)
# Option of an edit -> the fields that it empties.
_EMPTIED: Final = {"no_redirect_port": ("redirect_port",), "no_sign_in_urls": ("authorize_url", "token_url")}
# What the wizard offers -> the option that says so.
_WAYS: Final = {"a token": None, "OAuth2": "oauth2", "nothing": "no_token"}


def complete(place: Here, given: Given, *, force: bool) -> tuple[Service, Given]:
    """A whole profile without its secret, and what was given together with how the person says that it signs in.

    With `force` it may replace another. Raises HelmError "usage" where something is missing that nobody can be asked
    for, or does not go together, "conflict" for a name that is taken, and "declined" where the person stops answering.
    """
    check_filled(given._asdict())
    _check_together(given)
    asking = can_ask(place)
    new = partial(check_new, place, "service", force=force)
    name = given.name or asked(place, asking, "NAME", "Name of the profile", check=new)
    new(name)
    base_url = _base(given.base_url or asked(place, asking, "--base-url", "Base URL", check=_base))
    if given.base_url is None and not given.oauth2 and not _told(given, _TOKEN):
        way = _WAYS[asked(place, asking, "--token-stdin", "Its calls are authorized by", list(_WAYS))]
        given = given._replace(oauth2=way == "oauth2", no_token=way == "no_token")
    if not given.oauth2:
        header = given.header or "Authorization"
        format_ = given.format or ("bearer" if header.lower() == "authorization" else "raw")
        return Service(name, base_url, header, _format(format_)), given
    client_id = given.client_id or asked(place, asking, "--client-id", "Client id", check=_check_client)
    profile = Service(
        name,
        base_url,
        client_id=client_id,
        redirect_port=given.redirect_port,
        authorize_url=given.authorize_url,
        token_url=given.token_url,
    )
    return profile, given


def changed(old: Service, given: Given) -> Service:
    """A profile with what was given in place of what it had. Raises HelmError "usage"."""
    check_filled(given._asdict())
    for field in _told(given, _TOKEN if old.oauth2 else _OAUTH2):
        way = "that signs in by OAuth2" if old.oauth2 else "without OAuth2"
        step = f"leave it out, or replace the profile with: helm service add {old.name} --force"
        raise HelmError("usage", f"{option(field)} does not go with a profile {way}; {step}")
    _check_together(given, oauth2=old.oauth2)
    mine = _OAUTH2 if old.oauth2 else _TOKEN
    if not _told(given, ("base_url", *mine)):
        options = [option(field) for field in ("base_url", *mine)]
        raise HelmError("usage", f"nothing to change; give {', '.join(options[:-1])} or {options[-1]}")
    fields = [field for field in _told(given, Service._fields) if field != "name"]
    new: dict[str, Any] = {field: getattr(given, field) for field in fields}
    new |= {field: None for told in _told(given, (*_EMPTIED,)) for field in _EMPTIED[told]}
    if given.base_url is not None:
        new["base_url"] = _base(given.base_url)
    if given.format is not None:
        new["format"] = _format(given.format)
    return old._replace(**new)


def secret(place: Here, profile: Service, given: Given) -> str:
    """The token or the client secret of a new profile, "" for none. Raises HelmError "usage" and "declined"."""
    asking = can_ask(place)
    if profile.oauth2:
        if given.client_secret_stdin:
            return _piped(place, profile)
        if not asking:
            return ""
        return _typed(place, profile, "empty for a public client")
    if given.no_token:
        return ""
    if given.token_stdin:
        return _piped(place, profile)
    if not asking:
        step = "give it, or --no-token for a service without one, or run this in a terminal to be asked"
        raise HelmError("usage", f"--token-stdin is missing; {step}")
    return _typed(place, profile, "empty for none")


def new_secret(place: Here, old: Service, new: Service, given: Given) -> str | None:
    """The secret of a profile that was changed, "" where it has none any more, None where the former stays.

    Raises HelmError "usage" and "declined".
    """
    if given.no_token:
        return ""
    if given.token_stdin or given.client_secret_stdin:
        return _piped(place, new)
    if given.ask_token or given.ask_client_secret:
        if not can_ask(place):
            kind = "client-secret" if new.oauth2 else "token"
            raise HelmError("usage", f"--ask-{kind} needs a terminal; give --{kind}-stdin")
        away = f"empty takes it away{', for a public client' if new.oauth2 else ''}"
        none = "empty for a public client" if new.oauth2 else "empty for none"
        return _typed(place, new, away if old.credential is not None else none)
    moved = old.credential is not None and new.secret_target_digest() != old.secret_target_digest()
    if moved and can_ask(place):
        return _typed(place, new, "for its new target; empty to enter it later") or None
    return None


def _check_together(given: Given, *, oauth2: bool | None = None) -> None:
    if given.oauth2 if oauth2 is None else oauth2:
        for field in _told(given, _TOKEN):
            raise HelmError("usage", f"{option(field)} does not go with --oauth2; leave it out")
    else:
        for field in _told(given, _OAUTH2):
            raise HelmError("usage", f"{option(field)} goes with --oauth2; give that too")
    for group in _EXCLUSIVE:
        several = _told(given, group)
        if len(several) > 1:
            first, second = map(option, several[:2])
            raise HelmError("usage", f"{first} and {second} exclude each other; give one of them")


def _told(given: Given, fields: tuple[str, ...]) -> list[str]:
    return [field for field in fields if getattr(given, field, None) not in (None, False)]


def _base(text: str) -> str:
    wrong = url.base_fault(text)
    if wrong is not None:
        raise HelmError("usage", f"--base-url {wrong}")
    return url.base(text)


def _check_client(client_id: str) -> None:
    wrong = GROUPS["service"].fault(Service("a", "https://a", client_id=client_id))
    if wrong:
        raise HelmError("usage", wrong)


def _format(name: str) -> Format:
    formats: tuple[Format, ...] = get_args(Format)
    return one_of("--format", name, formats)


def _piped(place: Here, profile: Service) -> str:
    if profile.oauth2:
        return fit(place, profile, piped_secret("the client secret", "--client-secret-stdin"))
    text = piped_secret("the token", "--token-stdin")
    if not text:
        raise HelmError("usage", "the token on standard input is empty; give --no-token for none")
    return fit(place, profile, text)


def _typed(place: Here, profile: Service, hint: str) -> str:
    what = "Client secret" if profile.oauth2 else "Token"
    return fit(place, profile, typed_secret(place, f"{what} of {profile.name} ({hint})", partial(_kept, profile)))


def fit(place: Here, profile: Service, text: str) -> str:
    """A secret as it is kept, which is told where it is not what was entered. Raises HelmError as `_kept`."""
    kept = _kept(profile, text)
    if kept != text:
        note(place.streams, 'the token is kept without the "Bearer" before it, which every call adds')
    return kept


def _kept(profile: Service, text: str) -> str:
    """A secret as it is kept. Raises HelmError "usage" for what could not be sent, without a word of it."""
    bearer = not profile.oauth2 and profile.format == "bearer"
    kept = token.without_scheme(text) if bearer else text
    wrong = (token.bearer_fault if bearer else token.fault)(kept) if text else None
    if wrong is not None:
        raise HelmError("usage", f"the {'client secret' if profile.oauth2 else 'token'} {wrong}")
    return kept
