"""For which target each stored secret was entered, so that it is never sent to another one (design, section 3)."""

import sqlite3

from helm_cli.store import database


def remember(db: sqlite3.Connection, account: str, target_digest: str) -> None:
    """The secret of this account was entered for this target. Raises HelmError("state")."""
    database.run(db, "INSERT OR REPLACE INTO targets (account, digest) VALUES (?, ?)", (account, target_digest))


def target(db: sqlite3.Connection, account: str) -> str | None:
    """The digest of the target that the account's secret was entered for, None where there is none."""
    found = database.row(db, "SELECT digest FROM targets WHERE account = ?", (account,))
    return found[0] if found else None


def forget(db: sqlite3.Connection, account: str) -> None:
    """The secret of this account is gone. Raises HelmError("state")."""
    database.run(db, "DELETE FROM targets WHERE account = ?", (account,))
