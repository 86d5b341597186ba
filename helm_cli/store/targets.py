"""To which home and which target each stored secret belongs, so that it is never sent elsewhere (design, section 3)."""

import re
import sqlite3
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.store import database

_ID: Final = re.compile(r"[0-9a-f]{32}")


def home(db: sqlite3.Connection) -> str:
    """The id of this home, which no other has: homes of one user share a keychain. Raises HelmError("state")."""
    found = database.row(db, "SELECT id FROM home")
    if found is None or not isinstance(found[0], str) or not _ID.fullmatch(found[0]):
        raise HelmError("state", "state.db no longer says which home it is of; move it away, and set up this home anew")
    return found[0]


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
