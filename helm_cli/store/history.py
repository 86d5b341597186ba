"""What was called and how it ended; because it is counted there, also how many more calls a minute has room for."""

import math
import sqlite3
from collections.abc import Callable, Sequence
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
# In bytes of UTF-8: what is longer is known by its digest alone, so that ten thousand calls stay small.
LONGEST_ARGUMENTS: Final = 4096


class Call(NamedTuple):
    """What was asked for, and by whom ("process 7 in /home/me/app").

    `arguments` is their JSON text, None where only their digest is kept.
    """

    workspace: str
    extension: str
    connection: str
    operation: str
    arguments_digest: str
    asked_by: str = ""
    arguments: str | None = None


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
    asked_by: str = ""
    arguments: str | None = None


class Ended(NamedTuple):
    """How the counted call of this id ended, and after how many milliseconds."""

    id: int
    outcome: str
    ms: int


class Count(NamedTuple):
    """At `at`, so many calls at the most were within the last minute or later; `id` was the last of all entries."""

    calls: int
    id: int
    at: float


class Filter(NamedTuple):
    """Which calls are meant: None is any. `since` is in seconds since 1970.

    `outcome` is one outcome, or "failed": every other than "ok" and "running".
    """

    workspace: str | None = None
    extension: str | None = None
    connection: str | None = None
    operation: str | None = None
    outcome: str | None = None
    since: float | None = None


ANY: Final = Filter()
_COUNTED: Final = "counted = 1 AND workspace = ? AND extension = ? AND at > ?"
_ENTRY: Final = ", ".join(Entry._fields)


def begin(
    db: sqlite3.Connection,
    call: Call,
    now: float,
    per_minute: int,
    *,
    ended: Sequence[Ended] = (),
    counts: dict[tuple[str, str], Count] | None = None,
    known: Callable[[int], object] = lambda id: None,
) -> int:
    """Count a call that is about to be made; its id, for `end`. What `ended` before it is told with it.

    Where the extension made `per_minute` calls in this workspace within the last 60 seconds, in whatever processes,
    it is recorded as refused and not counted: HelmError("rate_limited") with `retry_after` in whole seconds, at
    least 1 (contract, Security). A clock that was set back shuts nobody out. `counts` is what one process remembers
    from call to call, so that thousands a minute are not counted again for each. `known` is told the id before it
    lasts, for whatever may end the process right then. Raises HelmError("state").
    """
    counts = {} if counts is None else counts
    with database.transaction(db, lasting=False):
        _end(db, ended)
        full = _full(db, call, now, per_minute, counts)
        id = _insert(db, call, now, "rate_limited" if full else "running", 0, counted=full is None)
        if full is None:
            known(id)
    if full is not None:
        wait = max(1, math.ceil(full + WINDOW_SECONDS - now))
        raise HelmError(
            "rate_limited",
            f"the extension {call.extension} made {per_minute} calls within a minute; try again in {wait} s",
            {"retry_after": wait},
        )
    return id


def record(
    db: sqlite3.Connection, call: Call, now: float, outcome: str, ms: int, *, ended: Sequence[Ended] = ()
) -> None:
    """Record a call that was refused before it was counted, and what `ended` before it. Raises HelmError("state")."""
    with database.transaction(db, lasting=False):
        _end(db, ended)
        _insert(db, call, now, outcome, ms, counted=False)


def end(db: sqlite3.Connection, *ended: Ended) -> None:
    """How counted calls ended. Raises HelmError("state")."""
    with database.transaction(db, lasting=False):
        _end(db, ended)


def lose(db: sqlite3.Connection, id: int, outcome: str, ms: int = 0) -> None:
    """How a counted call ended that another process or thread made, unless that one said so itself.

    Raises HelmError("state").
    """
    with database.transaction(db, lasting=False):
        database.run(db, "UPDATE calls SET outcome = ?, ms = ? WHERE id = ? AND outcome = 'running'", (outcome, ms, id))


def entries(db: sqlite3.Connection, wanted: Filter = ANY, *, limit: int = 50) -> list[Entry]:
    """The last calls that are `wanted`, newest first. Raises HelmError("state")."""
    terms, values = _terms(wanted)
    where = f"WHERE {' AND '.join(terms)}" if terms else ""
    found = database.rows(db, f"SELECT {_ENTRY} FROM calls {where} ORDER BY id DESC LIMIT ?", (*values, limit))
    return [Entry(*entry) for entry in found]


def _terms(wanted: Filter) -> tuple[list[str], list[str | float]]:
    terms: list[str] = []
    values: list[str | float] = []
    for name, value in wanted._asdict().items():
        if value is None:
            continue
        if (name, value) == ("outcome", "failed"):
            terms.append("outcome NOT IN ('ok', 'running')")
            continue
        terms.append("at >= ?" if name == "since" else f"{name} = ?")
        values.append(value)
    return terms, values


def _end(db: sqlite3.Connection, ended: Sequence[Ended]) -> None:
    for id, outcome, ms in ended:
        database.run(db, "UPDATE calls SET outcome = ?, ms = ? WHERE id = ?", (outcome, ms, id))


def _full(
    db: sqlite3.Connection, call: Call, now: float, per_minute: int, counts: dict[tuple[str, str], Count]
) -> float | None:
    """When the call was made that takes the last place of this minute; None while there is room."""
    ((last,),) = database.rows(db, "SELECT coalesce(max(id), 0) FROM calls")
    whose = (call.workspace, call.extension)
    known = counts.get(whose)
    # Time only takes calls out of the window, while it goes forward, and only later entries can be new ones in it.
    if known and known.at <= now and known.id <= last and known.calls + last - known.id < per_minute:
        return None
    since = now - WINDOW_SECONDS
    ((calls,),) = database.rows(db, f"SELECT count(*) FROM calls WHERE {_COUNTED}", (*whose, since))
    if calls < per_minute:
        counts[whose] = Count(calls, last, now)
        return None
    found = database.row(
        db,
        f"SELECT at FROM calls WHERE {_COUNTED} AND at <= ? ORDER BY at DESC LIMIT 1 OFFSET ?",
        (*whose, since, now + _CLOCK_SECONDS, per_minute - 1),
    )
    return float(found[0]) if found else None


def _insert(db: sqlite3.Connection, call: Call, now: float, outcome: str, ms: int, *, counted: bool) -> int:
    # A refused call's names are the caller's own words: of any length, and perhaps no text at all.
    named = (_name(call.extension), _name(call.connection), _name(call.operation))
    kept = call.arguments
    if kept is not None and len(kept.encode()) > LONGEST_ARGUMENTS:
        kept = None
    database.run(
        db,
        "INSERT INTO calls (at, workspace, extension, connection, operation, arguments_digest, asked_by, arguments,"
        " outcome, ms, counted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (now, call.workspace, *named, call.arguments_digest, _name(call.asked_by), kept, outcome, ms, counted),
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
