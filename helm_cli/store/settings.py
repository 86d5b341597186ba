"""What a team filled in for a plugin's settings: values, and of what is secret only which store has it."""

import json
import sqlite3
from typing import Final, Literal, NamedTuple

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Place
from helm_cli.store import database

_ONE: Final = "workspace = ? AND extension = ?"


class Filled(NamedTuple):
    """One setting as it was filled in, of the type that it had then.

    `value` is a string's own, or the name of a connection's service profile. Where `place` is set, the value is in that
    credential store, and `value` is "".
    """

    type: Literal["string", "secret", "connection"]
    value: str
    place: Place | None = None


def put(db: sqlite3.Connection, workspace: str, extension: str, key: str, filled: Filled) -> None:
    """Fill a setting in, in place of what it was. Raises HelmError("state")."""
    text = jsontext.dump({"type": filled.type, "value": filled.value, "place": filled.place})
    sql = "INSERT OR REPLACE INTO settings (workspace, extension, key, value) VALUES (?, ?, ?, ?)"
    database.run(db, sql, (workspace, extension, key, text))


def listed(db: sqlite3.Connection, workspace: str, extension: str) -> dict[str, Filled]:
    """What is filled in, by key. Raises HelmError("state")."""
    sql = f"SELECT key, value FROM settings WHERE {_ONE} ORDER BY key"
    return {key: _filled(text) for key, text in database.rows(db, sql, (workspace, extension))}


def remove(db: sqlite3.Connection, workspace: str, extension: str, key: str) -> None:
    """Empty a setting. Raises HelmError("state")."""
    database.run(db, f"DELETE FROM settings WHERE {_ONE} AND key = ?", (workspace, extension, key))


def _filled(text: str) -> Filled:
    try:
        return Filled(**json.loads(text))
    except (ValueError, TypeError):
        raise HelmError("state", "a setting in state.db cannot be read; set it again") from None
