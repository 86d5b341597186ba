"""With what a call is authorized: a secret of its profile, or an OAuth2 sign-in that covers what was declared."""

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.extension import Connection
from helm_cli.model.profile import Target


def check(stores: Stores, connection: Connection, target: Target) -> None:
    """That calls of this connection can be authorized, as far as helm's own state tells; nothing is sent.

    Raises HelmError "not_authorized" before the first sign-in or after it ended, and "refused" where the connection
    and the profile do not agree on how to sign in, or a declared scope was not granted (contract, OAuth2).
    """


def secret(stores: Stores, target: Target) -> str | None:
    """What a call on this target is sent with, None for nothing; an access token is refreshed first where it must be.

    Raises HelmError "not_configured", "not_authorized" and "unavailable".
    """
    return secrets.read(stores, target)
