"""Where the user sends the calls of a plugin's named tools, and for which approved content that holds."""

import sqlite3
from collections.abc import Collection
from typing import Final

from helm_cli.model.plugin import Bound
from helm_cli.store import database

_COLUMNS: Final = "tool, service, method, path, body"
_ONE: Final = "workspace = ? AND extension = ?"


def bind(db: sqlite3.Connection, workspace: str, extension: str, digest: str, to: Bound, now: float) -> None:
    """Bind a tool, in place of any former binding, for the content of this digest. Raises HelmError("state")."""
    database.run(
        db,
        f"INSERT OR REPLACE INTO bindings (workspace, extension, digest, bound_at, {_COLUMNS})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (workspace, extension, digest, now, *to),
    )


def listed(db: sqlite3.Connection, workspace: str, extension: str, digest: str | None = None) -> tuple[Bound, ...]:
    """The bindings of an extension by tool: those that hold for this digest, or all of them (None).

    Raises HelmError("state").
    """
    also, values = ("", ()) if digest is None else (" AND digest = ?", (digest,))
    sql = f"SELECT {_COLUMNS} FROM bindings WHERE {_ONE}{also} ORDER BY tool"
    return tuple(Bound(*found) for found in database.rows(db, sql, (workspace, extension, *values)))


def hold(db: sqlite3.Connection, workspace: str, extension: str, digest: str, shown: Collection[Bound]) -> None:
    """The content of this digest was approved, and these bindings were shown with it: they hold for it from now on.

    One that was changed after it was shown does not. Raises HelmError("state").
    """
    with database.transaction(db):
        for to in shown:
            database.run(
                db,
                f"UPDATE bindings SET digest = ? WHERE {_ONE} AND tool = ? AND service = ? AND method = ? AND path = ?"
                " AND body IS ?",
                (digest, workspace, extension, *to),
            )


def remove(db: sqlite3.Connection, workspace: str, extension: str, tool: str) -> bool:
    """Whether the tool was bound, and no longer is. Raises HelmError("state")."""
    return database.run(db, f"DELETE FROM bindings WHERE {_ONE} AND tool = ?", (workspace, extension, tool)) == 1


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> None:
    """Forget every binding of an extension. Raises HelmError("state")."""
    database.run(db, f"DELETE FROM bindings WHERE {_ONE}", (workspace, extension))
