"""Which folders are workspaces because a review registered them, and which of TDT's profiles each of them uses."""

import sqlite3
from typing import get_args

from helm_cli.model.profile import TdtProfile
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


def tdt_profile(db: sqlite3.Connection, path: str) -> TdtProfile:
    """The profile that TDT is started with in this workspace: "read-only" unless a person chose. HelmError("state")."""
    found = database.row(db, "SELECT tdt_profile FROM workspaces WHERE path = ?", (path,))
    known: tuple[TdtProfile, ...] = get_args(TdtProfile)
    return next((profile for profile in known if found and profile == found[0]), "read-only")


def set_tdt_profile(db: sqlite3.Connection, path: str, profile: TdtProfile, now: float) -> None:
    """Choose that profile; the workspace is registered if it was not. Raises HelmError("state")."""
    sql = (
        "INSERT INTO workspaces (path, registered_at, tdt_profile) VALUES (?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET tdt_profile = excluded.tdt_profile"
    )
    database.run(db, sql, (path, now, profile))
