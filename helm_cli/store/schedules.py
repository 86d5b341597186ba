"""Up to when each schedule of a plugin was looked at, so that what is due is told once."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

from helm_cli.store import database

# A clock's ordinary unrest; one that was further ahead was wrong, and would silence a schedule until then.
CLOCK_SECONDS: Final = 5.0

_ONE: Final = "workspace = ? AND extension = ?"


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> None:
    """Forget up to when the schedules of an extension were looked at. Raises HelmError("state")."""
    database.run(db, f"DELETE FROM schedules WHERE {_ONE}", (workspace, extension))


def marks(db: sqlite3.Connection, workspace: str, extension: str) -> dict[str, float]:
    """Up to when each schedule that was ever asked for was looked at, or came due. Raises HelmError("state")."""
    return dict(database.rows(db, f"SELECT cron, last FROM schedules WHERE {_ONE}", (workspace, extension)))


def take(
    db: sqlite3.Connection,
    workspace: str,
    extension: str,
    crons: Iterable[str],
    now: float,
    is_due: Callable[[str, float], bool],
) -> list[str]:
    """Those of the schedules that are due, each of which is marked as told, in their own order.

    `is_due` says whether a schedule came due after an instant, and at `now` at the latest. One that is seen for the
    first time is marked and is not due; however often one came due since, it is due once; of any number of processes
    at once, one is told of it. Schedules that the extension no longer has are forgotten. Raises HelmError("state").
    """
    declared = list(dict.fromkeys(crons))
    due = []
    with database.transaction(db):
        known_marks = marks(db, workspace, extension)
        for gone in known_marks.keys() - set(declared):
            database.run(db, f"DELETE FROM schedules WHERE {_ONE} AND cron = ?", (workspace, extension, gone))
        for cron in declared:
            last = known_marks.get(cron)
            known = last is not None and last <= now + CLOCK_SECONDS
            if known and last is not None and not is_due(cron, last):
                continue
            if known:
                due.append(cron)
            values = (workspace, extension, cron, now)
            database.run(
                db, "INSERT OR REPLACE INTO schedules (workspace, extension, cron, last) VALUES (?, ?, ?, ?)", values
            )
    return due
