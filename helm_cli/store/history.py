"""What was called and how it ended; because it is counted there, also how many more calls a minute has room for."""

import math
import sqlite3
from typing import Final, NamedTuple

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import repaired
from helm_cli.store import database

WINDOW_SECONDS: Final = 60.0
# How many calls, and how many refusals, are kept: refusals are free, and must not push the calls out.
CALLS_KEPT: Final = 9_000
REFUSALS_KEPT: Final = 1_000

# Processes read the clock a moment before they write; what is further ahead was written before the clock was set back.
_CLOCK_SECONDS: Final = 5.0
_TIDY_EVERY: Final = 100
_LONGEST_NAME: Final = 256


class Entry(NamedTuple):
    """One call: when it began (seconds since 1970) and how long it took (whole milliseconds).

    `outcome` is "ok", the code of an error, or "running", which is what a killed call stays.
    """

    id: int
    at: float
    workspace: str
    extension: str
    connection: str
    operation: str
    outcome: str
    ms: int
    arguments_digest: str


_ENTRY: Final = ", ".join(Entry._fields)


def begin(
    db: sqlite3.Connection,
    workspace: str,
    extension: str,
    connection: str,
    operation: str,
    arguments_digest: str,
    now: float,
    per_minute: int,
) -> int:
    """Count a call that is about to be made; its id, for `end`.

    Where the extension made `per_minute` calls in this workspace within the last 60 seconds, in whatever processes,
    it is recorded as refused and not counted: HelmError("rate_limited") with `retry_after` in whole seconds, at
    least 1 (contract, Security). A clock that was set back shuts nobody out. Raises HelmError("state").
    """
    window = (now - WINDOW_SECONDS, now + _CLOCK_SECONDS)
    call = (now, workspace, extension, connection, operation, arguments_digest)
    with database.transaction(db, lasting=False):
        full = database.row(
            db,
            "SELECT at FROM calls WHERE counted = 1 AND workspace = ? AND extension = ? AND at > ? AND at <= ?"
            " ORDER BY at DESC LIMIT 1 OFFSET ?",
            (workspace, extension, *window, per_minute - 1),
        )
        id = _insert(db, call, "rate_limited" if full else "running", 0, counted=not full)
    if full:
        wait = max(1, math.ceil(full[0] + WINDOW_SECONDS - now))
        raise HelmError(
            "rate_limited",
            f"the extension {extension} made {per_minute} calls within a minute; try again in {wait} s",
            {"retry_after": wait},
        )
    return id


def record(
    db: sqlite3.Connection,
    workspace: str,
    extension: str,
    connection: str,
    operation: str,
    arguments_digest: str,
    now: float,
    outcome: str,
    ms: int,
) -> None:
    """Record a call that was refused before it was counted. Raises HelmError("state")."""
    call = (now, workspace, extension, connection, operation, arguments_digest)
    with database.transaction(db, lasting=False):
        _insert(db, call, outcome, ms, counted=False)


def end(db: sqlite3.Connection, id: int, outcome: str, ms: int) -> None:
    """How a counted call ended, and after how many milliseconds. Raises HelmError("state")."""
    with database.transaction(db, lasting=False):
        database.run(db, "UPDATE calls SET outcome = ?, ms = ? WHERE id = ?", (outcome, ms, id))


def entries(db: sqlite3.Connection, *, workspace: str | None = None, limit: int = 50) -> list[Entry]:
    """The last calls of a workspace, or of all (None), newest first. Raises HelmError("state")."""
    where, values = ("", (limit,)) if workspace is None else ("WHERE workspace = ?", (workspace, limit))
    found = database.rows(db, f"SELECT {_ENTRY} FROM calls {where} ORDER BY id DESC LIMIT ?", values)
    return [Entry(*entry) for entry in found]


def _insert(
    db: sqlite3.Connection, call: tuple[float, str, str, str, str, str], outcome: str, ms: int, *, counted: bool
) -> int:
    now, workspace, extension, connection, operation, arguments_digest = call
    # A refused call's names are the caller's own words: of any length, and perhaps no text at all.
    named = (_name(extension), _name(connection), _name(operation))
    database.run(
        db,
        "INSERT INTO calls (at, workspace, extension, connection, operation, arguments_digest, outcome, ms, counted)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (now, workspace, *named, arguments_digest, outcome, ms, counted),
    )
    ((id,),) = database.rows(db, "SELECT last_insert_rowid()")
    if id % _TIDY_EVERY == 0:
        _tidy(db, now)
    return int(id)


def _tidy(db: sqlite3.Connection, now: float) -> None:
    # What the rate window still needs stays, however many calls that are.
    window = (now - WINDOW_SECONDS, now + _CLOCK_SECONDS)
    for counted, kept in ((1, CALLS_KEPT), (0, REFUSALS_KEPT)):
        database.run(
            db,
            "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE counted = ? ORDER BY id DESC LIMIT -1 OFFSET ?)"
            " AND NOT (counted = 1 AND at > ? AND at <= ?)",
            (counted, kept, *window),
        )


def _name(text: str) -> str:
    return str(repaired(text))[:_LONGEST_NAME]
