"""Whether a person has ever answered one of helm's questions in this home (design, section 6)."""

import sqlite3

from helm_cli.store import database


def mark(db: sqlite3.Connection) -> None:
    """A person answered a question here. It is never taken back. Raises HelmError("state")."""
    if not seen(db):
        database.run(db, "INSERT OR IGNORE INTO person (only_row) VALUES (1)")


def seen(db: sqlite3.Connection) -> bool:
    """Whether `mark` was ever called in this home. Raises HelmError("state")."""
    return database.row(db, "SELECT 1 FROM person") is not None
