"""Whom the team lists as the approvers of each role, by the numbers of their users."""

import sqlite3
from collections.abc import Iterable
from typing import Final

from helm_cli.store import database

_ONE: Final = "workspace = ? AND extension = ?"


def listed(db: sqlite3.Connection, workspace: str, extension: str) -> dict[str, tuple[int, ...]]:
    """The users of each role that has a list, by uid. Raises HelmError("state")."""
    # A name may be given to another person, and files know their owners by number only.
    sql = f'SELECT role, user FROM approvers WHERE {_ONE} ORDER BY role, CAST("user" AS INTEGER)'
    found: dict[str, tuple[int, ...]] = {}
    for role, user in database.rows(db, sql, (workspace, extension)):
        found[role] = (*found.get(role, ()), int(user))
    return found


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> None:
    """Forget every list of an extension. Raises HelmError("state")."""
    database.run(db, f"DELETE FROM approvers WHERE {_ONE}", (workspace, extension))


def put(db: sqlite3.Connection, workspace: str, extension: str, role: str, uids: Iterable[int]) -> None:
    """Make these the approvers of a role, in place of those it had; no list at all where there are none.

    Raises HelmError("state").
    """
    with database.transaction(db):
        database.run(db, f"DELETE FROM approvers WHERE {_ONE} AND role = ?", (workspace, extension, role))
        for uid in dict.fromkeys(uids):
            sql = 'INSERT INTO approvers (workspace, extension, role, "user") VALUES (?, ?, ?, ?)'
            database.run(db, sql, (workspace, extension, role, str(uid)))
