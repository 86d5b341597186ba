"""Which services the user is signed in to, to what extent and how long; of the tokens only where they are kept."""

import sqlite3
from typing import Any, Final, NamedTuple, get_args

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Place
from helm_cli.store import database


class Signin(NamedTuple):
    """One OAuth2 sign-in, by the name of its service profile.

    `scopes` were granted, `asked` asked for. `issuer` is the `iss` of the callback, None where it had none. `place` is
    the store that has its tokens. `signed_in_at` and `expires` (the end of the access token) are seconds since the
    epoch, `life` is how many the token lives at all; both None where the service does not say. `refreshable` says
    that there is a refresh token. `ended` is why it serves no call any more, a clause, None while it does. `ids` are
    those of the sign-ins that its stored tokens may be of: its own, and the former one's while that is replaced.
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
    ids: tuple[str, ...] = ()


class Damaged(HelmError):
    """A row that helm cannot have written; its code is "state"."""


_NUMBER: Final = (int, float)
# Of what Python can tell as a date.
_MOST_SECONDS: Final = 1e11
# Of each column, in their order.
_TYPES: Final[tuple[tuple[type, ...], ...]] = (
    *((str,),) * 6,
    (str, type(None)),
    (str,),
    _NUMBER,
    (*_NUMBER, type(None)),
    (*_NUMBER, type(None)),
    (int,),
    (str, type(None)),
    (str,),
)
_COLUMNS: Final = ", ".join(Signin._fields)
_ONE: Final = "WHERE service = ?"


def find(db: sqlite3.Connection, service: str) -> Signin | None:
    """The sign-in to this service, ended or not. Raises HelmError("state"), and Damaged which is one."""
    found = database.row(db, f"SELECT {_COLUMNS} FROM signins {_ONE}", (service,))
    return _signin(found) if found else None


def listed(db: sqlite3.Connection) -> list[Signin]:
    """Every sign-in, by the name of its service. Raises HelmError("state")."""
    return [_signin(found) for found in database.rows(db, f"SELECT {_COLUMNS} FROM signins ORDER BY service")]


def save(db: sqlite3.Connection, signin: Signin) -> None:
    """Record a sign-in in place of the former one to the same service. Raises HelmError("state")."""
    values = [" ".join(value) if isinstance(value, tuple) else value for value in signin]
    database.run(db, f"INSERT OR REPLACE INTO signins ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)


def end(db: sqlite3.Connection, service: str, reason: str) -> None:
    """The sign-in to this service serves no call any more, for this reason. Raises HelmError("state")."""
    database.run(db, f"UPDATE signins SET ended = ? {_ONE}", (reason, service))


def forget(db: sqlite3.Connection, service: str) -> bool:
    """Take a sign-in away. False where there was none. Raises HelmError("state")."""
    return database.run(db, f"DELETE FROM signins {_ONE}", (service,)) == 1


def _signin(found: tuple[Any, ...]) -> Signin:
    row = Signin(*found)
    sound = all(isinstance(value, types) for value, types in zip(found, _TYPES, strict=True))
    numbers = [value for value in found if isinstance(value, float)]
    if not sound or row.place not in get_args(Place) or any(abs(value) > _MOST_SECONDS for value in numbers):
        raise Damaged(
            "state",
            f"state.db holds a sign-in to {row.service} that cannot be read; take it away with: helm oauth disconnect"
            f" {row.service}",
        )
    # No scope and no id holds a space (RFC 6749, 3.3).
    scopes, asked, ids = (tuple(text.split()) for text in (found[4], found[5], found[-1]))
    return row._replace(scopes=scopes, asked=asked, ids=ids, refreshable=bool(row.refreshable))
