"""Which services the user is signed in to, to what extent and how long; of the tokens only where they are kept."""

import sqlite3
from typing import Any, Final, NamedTuple

from helm_cli.model.profile import Place
from helm_cli.store import database


class Signin(NamedTuple):
    """One OAuth2 sign-in, by the name of its service profile.

    `scopes` were granted, `asked` asked for. `issuer` is the `iss` of the callback, None where it had none. `place` is
    the store that has its tokens. `signed_in_at` and `expires` (the end of the access token) are seconds since the
    epoch, `life` is how many the token lives at all; both None where the service does not say. `refreshable` says
    that there is a refresh token. `ended` is why it serves no call any more, a clause, None while it does.
    """

    service: str
    client_id: str
    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]
    asked: tuple[str, ...]
    issuer: str | None
    place: Place
    signed_in_at: float
    expires: float | None
    life: float | None
    refreshable: bool
    ended: str | None = None


_COLUMNS: Final = ", ".join(Signin._fields)
_ONE: Final = "WHERE service = ?"


def find(db: sqlite3.Connection, service: str) -> Signin | None:
    """The sign-in to this service, ended or not. Raises HelmError("state")."""
    found = database.row(db, f"SELECT {_COLUMNS} FROM signins {_ONE}", (service,))
    return _signin(found) if found else None


def listed(db: sqlite3.Connection) -> list[Signin]:
    """Every sign-in, by the name of its service. Raises HelmError("state")."""
    return [_signin(found) for found in database.rows(db, f"SELECT {_COLUMNS} FROM signins ORDER BY service")]


def save(db: sqlite3.Connection, signin: Signin) -> None:
    """Record a sign-in in place of the former one to the same service. Raises HelmError("state")."""
    values = signin._replace(scopes=_text(signin.scopes), asked=_text(signin.asked))  # type: ignore[arg-type]  # columns
    database.run(db, f"INSERT OR REPLACE INTO signins ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)


def end(db: sqlite3.Connection, service: str, reason: str) -> None:
    """The sign-in to this service serves no call any more, for this reason. Raises HelmError("state")."""
    database.run(db, f"UPDATE signins SET ended = ? {_ONE}", (reason, service))


def forget(db: sqlite3.Connection, service: str) -> bool:
    """Take a sign-in away. False where there was none. Raises HelmError("state")."""
    return database.run(db, f"DELETE FROM signins {_ONE}", (service,)) == 1


def _signin(found: tuple[Any, ...]) -> Signin:
    row = Signin(*found)
    return row._replace(
        scopes=tuple(found[4].split()),
        asked=tuple(found[5].split()),
        refreshable=bool(row.refreshable),
    )


def _text(scopes: tuple[str, ...]) -> str:
    # A scope token holds no space (RFC 6749, 3.3).
    return " ".join(scopes)
