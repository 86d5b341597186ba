"""Which folders are workspaces because a review registered them."""

import sqlite3

from helm_cli.store import database


def register(db: sqlite3.Connection, path: str, now: float) -> None:
    """Remember a workspace by its resolved path; a second time changes nothing. Raises HelmError("state")."""
    database.run(db, "INSERT OR IGNORE INTO workspaces (path, registered_at) VALUES (?, ?)", (path, now))


def registered(db: sqlite3.Connection) -> list[str]:
    """Every registered workspace, sorted. Raises HelmError("state")."""
    return [path for (path,) in database.rows(db, "SELECT path FROM workspaces ORDER BY path")]


def is_registered(db: sqlite3.Connection, path: str) -> bool:
    """Whether this very path is one. Raises HelmError("state")."""
    return database.row(db, "SELECT 1 FROM workspaces WHERE path = ?", (path,)) is not None
