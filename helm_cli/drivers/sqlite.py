"""How a planned query runs on a SQLite file: read-only twice over, in time, and never half."""

import math
import sqlite3
from binascii import b2a_base64
from contextlib import closing
from typing import Any, Final, NamedTuple, cast

from helm_cli.drivers import Limits, sqlite_file
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import in_time, timed_out, unknown
from helm_cli.drivers.rows import collect
from helm_cli.drivers.sqlite_faults import RAISED, translated
from helm_cli.drivers.sqlite_guard import Guard
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, Scalar
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Profile

# Integers beyond it lose digits in a reader that keeps numbers as doubles (design, section 8).
_EXACT: Final = 2**53 - 1

# What SQLite reads over before a statement, with the byte order mark.
_BLANK: Final = " \t\r\n\f\v\ufeff;"

# Failures of COMMIT after which the transaction is certainly not in the file.
_NOT_COMMITTED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_FULL)

_TABLES: Final = "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"


class _Query(NamedTuple):
    sql: str
    values: list[Scalar]
    effect: Effect


def run(plan: Plan, profile: Profile, secret: str | None, limits: Limits) -> Json:
    """`{"columns", "rows"}` of a read, `{"rowsAffected"}` of a write that was committed.

    An INTEGER beyond ±(2^53-1) and an infinity is a string, a BLOB base64, invalid UTF-8 in TEXT U+FFFD.
    HelmError with the codes of a db call (contract, Database; design, section 8). A write that failed was
    rolled back, unless the error has `"applied": "unknown"`.
    """
    pairs = cast(list[tuple[str, Scalar]], plan.request["params"])
    query = _Query(str(plan.request["sql"]), [value for _, value in pairs], plan.effect)
    if not _code(query.sql):
        raise HelmError("refused", "the query holds no statement; correct the declaration")
    perform = _write if plan.effect == "write" else _read
    return in_time(lambda clock: perform(query, sqlite_file.locate(profile), limits, clock), plan.effect, limits)


def probe(profile: Profile, secret: str | None, limits: Limits) -> str:
    """The version of SQLite that read the file's schema, and how much is in it. HelmError as for `run`."""
    query = _Query(_TABLES, [], "read")
    found = in_time(lambda clock: _read(query, sqlite_file.locate(profile), limits, clock), "read", limits)
    count = cast(Any, found)["rows"][0][0]
    return f"SQLite {sqlite3.sqlite_version}, {count} table{'' if count == 1 else 's'}"


def _read(query: _Query, path: str, limits: Limits, clock: Deadline) -> Json:
    before = sqlite_file.quiet(path)
    if before is not None:
        try:
            data = _select(query, path, limits, clock, immutable=True)
        except HelmError:
            if sqlite_file.stamp(path) == before:
                raise
        else:
            if sqlite_file.stamp(path) == before:
                return data
    return _select(query, path, limits, clock, immutable=False)


def _select(query: _Query, path: str, limits: Limits, clock: Deadline, *, immutable: bool) -> Json:
    guard = Guard("read")
    try:
        with sqlite_file.connect(path, "ro", clock, immutable=immutable) as db:
            db.set_authorizer(guard)
            _check_returns_columns(db, query)
            guard.begun = False
            with closing(db.execute(query.sql, query.values)) as cursor:
                data = collect([column[0] for column in cursor.description or ()], cursor, _value, limits)
    except RAISED as error:
        raise translated(error, "read", guard, clock, limits) from None
    # One long call into C code notices neither an interrupt nor the progress handler, and may end late.
    if clock.over():
        raise timed_out("read", limits)
    return data


def _check_returns_columns(db: sqlite3.Connection, query: _Query) -> None:
    """Prepares the query without running it: its parameters must fit, and it must give columns."""
    code = _code(query.sql)
    if code[:7].upper() == "EXPLAIN" or code[:6].upper() == "PRAGMA":
        return  # the guard lets only those through that give columns
    program = db.execute("EXPLAIN " + code, query.values)
    if not any(step[1] == "ResultRow" for step in program):
        raise HelmError("refused", "a read query must return columns; declare this one as a write")


def _write(query: _Query, path: str, limits: Limits, clock: Deadline) -> Json:
    guard = Guard("write")
    try:
        with sqlite_file.connect(path, "rw", clock) as db:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("BEGIN IMMEDIATE")
            db.set_authorizer(guard)
            for _ in db.execute(query.sql, query.values):  # rows of RETURNING left unread would fail the COMMIT
                pass
            db.set_authorizer(None)
            affected = db.execute("SELECT changes()").fetchone()[0]
            _commit(db, limits, clock)
    except RAISED as error:
        raise translated(error, "write", guard, clock, limits) from None
    return {"rowsAffected": affected}


def _commit(db: sqlite3.Connection, limits: Limits, clock: Deadline) -> None:
    db.execute(f"PRAGMA busy_timeout = {int(clock.remaining() * 1000)}")
    if not clock.begin_commit():
        raise timed_out("write", limits)
    try:
        db.execute("COMMIT")
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in _NOT_COMMITTED:
            clock.committing = False
            raise
        raise unknown("query_failed", str(error)) from None


def _code(sql: str) -> str:
    """The text from its first code on: without the spaces, comments and empty statements before it."""
    rest = sql.lstrip(_BLANK)
    while rest.startswith(("--", "/*")):
        end = "\n" if rest.startswith("--") else "*/"
        rest = rest[2:].partition(end)[2].lstrip(_BLANK)
    return rest


def _value(value: Any) -> Json:
    if isinstance(value, bytes):
        return b2a_base64(value, newline=False).decode("ascii")
    if isinstance(value, int) and not -_EXACT <= value <= _EXACT:
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return cast(Json, value)
