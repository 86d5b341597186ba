"""Which definitions of a server's tools a person was shown when they approved an extension."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Final

from helm_cli.model import jsontext
from helm_cli.model.jsontext import Json
from helm_cli.store import database

# The definition of each declared tool of a connection, by its name; None where the server had no such tool.
Pins = Mapping[str, dict[str, Json] | None]

_ONE: Final = "workspace = ? AND extension = ?"


def pin(
    db: sqlite3.Connection, workspace: str, extension: str, seen: Mapping[str, Pins], declared: Collection[str]
) -> None:
    """Remember what was shown, for each connection that was `seen`, in place of what was before.

    What was shown before of the other `declared` connections stays; of any other connection it is forgotten.
    Raises HelmError("state").
    """
    with database.transaction(db):
        for connection in pinned(db, workspace, extension).keys() - (set(declared) - seen.keys()):
            sql = f"DELETE FROM tools WHERE {_ONE} AND connection = ?"
            database.run(db, sql, (workspace, extension, connection))
        for connection, pins in seen.items():
            for name, definition in pins.items():
                database.run(
                    db,
                    "INSERT INTO tools (workspace, extension, connection, name, definition) VALUES (?, ?, ?, ?, ?)",
                    (workspace, extension, connection, name, jsontext.dump(jsontext.repaired(definition))),
                )


def names(db: sqlite3.Connection, workspace: str, extension: str) -> dict[str, list[str]]:
    """By connection, the names of the tools that its server had when the extension was approved. HelmError("state")."""
    sql = f"SELECT connection, name FROM tools WHERE {_ONE} AND definition <> 'null' ORDER BY connection, name"
    found: dict[str, list[str]] = {}
    for connection, name in database.rows(db, sql, (workspace, extension)):
        found.setdefault(connection, []).append(name)
    return found


def pinned(db: sqlite3.Connection, workspace: str, extension: str) -> dict[str, dict[str, dict[str, Json] | None]]:
    """What was shown of each connection when the extension was approved. Raises HelmError("state")."""
    sql = f"SELECT connection, name, definition FROM tools WHERE {_ONE} ORDER BY connection, name"
    found: dict[str, dict[str, dict[str, Json] | None]] = {}
    for connection, name, definition in database.rows(db, sql, (workspace, extension)):
        found.setdefault(connection, {})[name] = json.loads(definition)
    return found
