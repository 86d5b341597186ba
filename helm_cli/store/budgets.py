"""How many tokens a plugin used in which month, and the limit that the team gave it."""

import sqlite3
from typing import Final

from helm_cli.store import database

# So much fits into a JSON number that everybody reads exactly.
MOST_TOKENS: Final = 2**53 - 1

_ONE: Final = "workspace = ? AND extension = ?"


def used(db: sqlite3.Connection, workspace: str, extension: str, month: str) -> int:
    """The tokens of one month, "2026-07". Raises HelmError("state")."""
    sql = f"SELECT tokens FROM usage WHERE {_ONE} AND month = ?"
    found = database.row(db, sql, (workspace, extension, month))
    return int(found[0]) if found else 0


def add(db: sqlite3.Connection, workspace: str, extension: str, month: str, tokens: int, run: str | None) -> None:
    """Count tokens, for the run of this id too where there is one; of any number at once none is lost.

    More than MOST_TOKENS is never counted. Raises HelmError("state").
    """
    with database.transaction(db):
        database.run(
            db,
            "INSERT INTO usage (workspace, extension, month, tokens) VALUES (?, ?, ?, MIN(?, ?))"
            " ON CONFLICT (workspace, extension, month) DO UPDATE SET tokens = MIN(tokens + excluded.tokens, ?)",
            (workspace, extension, month, tokens, MOST_TOKENS, MOST_TOKENS),
        )
        if run is not None:
            sql = "UPDATE runs SET tokens = MIN(tokens + MIN(?, ?), ?) WHERE id = ?"
            database.run(db, sql, (tokens, MOST_TOKENS, MOST_TOKENS, run))


def limit(db: sqlite3.Connection, workspace: str, extension: str) -> int | None:
    """The team's own limit a month, 0 for none; None where the plugin's own holds. Raises HelmError("state")."""
    found = database.row(db, f"SELECT monthly_tokens FROM budgets WHERE {_ONE}", (workspace, extension))
    return int(found[0]) if found else None


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> None:
    """Forget the team's limit; what was used stays counted. Raises HelmError("state")."""
    database.run(db, f"DELETE FROM budgets WHERE {_ONE}", (workspace, extension))


def set_limit(db: sqlite3.Connection, workspace: str, extension: str, tokens: int) -> None:
    """Put the team's limit in place of the plugin's own; 0 is no limit. Raises HelmError("state")."""
    sql = "INSERT OR REPLACE INTO budgets (workspace, extension, monthly_tokens) VALUES (?, ?, ?)"
    database.run(db, sql, (workspace, extension, tokens))
