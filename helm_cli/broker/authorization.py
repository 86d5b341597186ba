"""With what a call is authorized: a secret of its profile, or an OAuth2 sign-in that covers what was declared."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model import wording
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.profile import Database, Service, Target

_UNAUTHORIZED = 401


def check(stores: Stores, connection: Connection, target: Target) -> None:
    """That calls of this connection can be authorized, as far as helm's own state tells; nothing is sent.

    Raises HelmError "not_authorized" before the first sign-in or after it ended, "not_configured" where the profile
    changed since, and "refused" where the connection and the profile do not agree on how to sign in, or a declared
    scope was not granted (contract, OAuth2).
    """
    if not isinstance(target, Service):
        return
    declared = connection.spec.get("oauth2")
    if declared is None and not target.oauth2:
        return
    if declared is None and connection.kind == "tools":
        raise HelmError(
            "refused",
            f"no connection setting of the plugin names {target.name}, so its sign-in is not used for the plugin's"
            f" tools; run helm plugin settings ID set KEY --service {target.name}",
        )
    if declared is None:
        raise HelmError(
            "refused",
            f"{connection.id} declares no oauth2, so the sign-in to {target.name} is not used for it; declare oauth2 in"
            " the extension, or use a service profile with a token",
        )
    if not target.oauth2:
        raise HelmError(
            "refused",
            f"{connection.id} declares oauth2, but the service profile {target.name} does not sign in by OAuth2;"
            f" replace it with: helm service add {target.name} --oauth2 --force",
        )
    _check_signin(stores, connection, target, declared)


def _check_signin(stores: Stores, connection: Connection, service: Service, declared: Any) -> None:
    from helm_cli.broker import signin, tokens
    from helm_cli.store import signins

    found = signins.find(stores.db, service.name)
    if found is not None and found.token_url != service.addresses(declared)[1]:
        raise HelmError(
            "refused",
            f"{connection.id} declares another token URL than the one that {service.name} signed in with; if that is"
            f" right, {tokens.again(service)}",
        )
    granted = signin.current(stores, service).scopes
    missing = [scope for scope in declared["scopes"] if scope not in granted]
    if missing:
        raise HelmError(
            "refused",
            f"the sign-in to {service.name} was not granted what {connection.id} declares ({', '.join(missing)});"
            f" {tokens.again(service)}",
        )


def secret(stores: Stores, target: Target) -> str | None:
    """What a call on this target is sent with, None for nothing; an access token is refreshed first where it must be.

    Raises HelmError "not_configured", "not_authorized", "unavailable" and "state".
    """
    if isinstance(target, Service) and target.oauth2:
        from helm_cli.broker import signin

        return signin.token(stores, target)
    return secrets.read(stores, target)


@contextmanager
def authorized(stores: Stores, target: Target) -> Iterator[str | None]:
    """The block sends something to this target, with what it is given (`secret`); no error repeats a word of that.

    Where a service does not take a token of its sign-in (401), the error says what to do. Nothing is sent again: the
    next call renews the token first.
    """
    given = secret(stores, target)
    try:
        yield given
    except HelmError as error:
        # The same error, and not one in its place: that would carry the first along.
        error.message = unsaid(error.message, target, given)
        if isinstance(target, Service) and target.oauth2 and error.outer.get("status") == _UNAUTHORIZED:
            from helm_cli.broker import signin, tokens

            with suppress(HelmError):
                signin.doubt(stores, target)
            error.message += f"; if a second call is refused too, {tokens.again(target)}"
        error.args = (error.message,)
        raise


def unsaid(text: str, target: Target, given: str | None) -> str:
    """A text that the other side had a part in, without the secret that it was given."""
    # A database is never given a password as it is. What it tells may repeat a caller's argument, and to hide the
    # password there would tell the caller that it was guessed.
    return text if isinstance(target, Database) else wording.without(text, given)
