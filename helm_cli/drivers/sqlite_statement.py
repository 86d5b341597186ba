"""How one statement runs on a SQLite file: read-only twice over, in time, and never half."""

import math
import os
import sqlite3
from binascii import b2a_base64
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, cast

from helm_cli.drivers import sqlite_file, sqlite_wal
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import AS_WRITE, timed_out, unknown
from helm_cli.drivers.rows import collect
from helm_cli.drivers.sqlite_faults import RAISED, READ_ONLY, translated
from helm_cli.drivers.sqlite_guard import Guard
from helm_cli.drivers.sqlite_job import Job
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# Integers beyond it lose digits in a reader that keeps numbers as doubles (design, section 8).
_EXACT: Final = 2**53 - 1

# What SQLite reads over before a statement, with the byte order mark.
_BLANK: Final = " \t\r\n\f\v\ufeff;"

# Failures of COMMIT after which the transaction is certainly not in the file.
_NOT_COMMITTED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_FULL)


def perform(job: Job, clock: Deadline, announce_commit: Callable[[], None]) -> Json:
    """The data of a job's envelope, None where it has none. HelmError with the codes of a db call.

    `announce_commit` is called before every COMMIT; what it raises rolls the write back. No other connection of
    this process may have the file open.
    """
    if not _code(job.sql) and job.what != "mend":
        raise HelmError("refused", "the query holds no statement; correct the declaration")
    path = sqlite_file.locate(job.name, job.path)
    if job.what == "mend":
        return _mend(job, path, clock)
    if job.what == "run" and job.effect == "write":
        return _write(job, path, clock, announce_commit)
    act = _compile if job.what == "prepare" else _select
    return sqlite_wal.without_trace(path, clock, lambda immutable: act(job, path, clock, immutable=immutable))


def _compile(job: Job, path: str, clock: Deadline, *, immutable: bool) -> Json:
    guard = Guard(job.effect)
    code = _code(job.sql)
    explained = code if code[:7].upper() == "EXPLAIN" else "EXPLAIN " + code
    try:
        with sqlite_file.connect(path, "ro", clock, immutable=immutable) as db:
            db.set_authorizer(guard)
            if job.effect == "read":
                _check_returns_columns(db, job)
                guard.begun = False
            db.execute(explained, job.values).close()
    except RAISED as error:
        raise translated(error, job, guard, clock) from None
    return None


def _select(job: Job, path: str, clock: Deadline, *, immutable: bool) -> Json:
    guard = Guard("read")
    try:
        with sqlite_file.connect(path, "ro", clock, immutable=immutable) as db:
            db.set_authorizer(guard)
            _check_returns_columns(db, job)
            guard.begun = False
            with closing(db.execute(job.sql, job.values)) as cursor:
                data = collect([column[0] for column in cursor.description or ()], cursor, _value, job.limits)
    except RAISED as error:
        raise translated(error, job, guard, clock) from None
    # One long call into C code notices neither an interrupt nor the progress handler, and may end late.
    if clock.over():
        raise timed_out("read", job.limits)
    return cast(Json, data)


def _check_returns_columns(db: sqlite3.Connection, job: Job) -> None:
    """Prepares the query without running it: its parameters must fit, and it must give columns."""
    code = _code(job.sql)
    if code[:7].upper() == "EXPLAIN" or code[:6].upper() == "PRAGMA":
        return  # the guard lets only those through that give columns
    program = db.execute("EXPLAIN " + code, job.values)
    if not any(step[1] == "ResultRow" for step in program):
        raise HelmError("refused", f"a read query must return columns; {AS_WRITE}")


def _write(job: Job, path: str, clock: Deadline, announce_commit: Callable[[], None]) -> Json:
    if os.access(path, os.R_OK) and not os.access(path, os.W_OK):
        # Trying it would leave files beside a WAL database that nobody could remove.
        raise HelmError("query_failed", READ_ONLY)
    guard = Guard("write")
    try:
        with sqlite_file.connect(path, "rw", clock) as db:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("BEGIN IMMEDIATE")
            db.set_authorizer(guard)
            for _ in db.execute(job.sql, job.values):  # rows of RETURNING left unread would fail the COMMIT
                pass
            db.set_authorizer(None)
            affected = db.execute("SELECT changes()").fetchone()[0]
            _commit(db, job, clock, announce_commit)
    except RAISED as error:
        raise translated(error, job, guard, clock) from None
    return {"rowsAffected": affected}


def _commit(db: sqlite3.Connection, job: Job, clock: Deadline, announce_commit: Callable[[], None]) -> None:
    db.execute(f"PRAGMA busy_timeout = {int(clock.remaining() * 1000)}")
    if clock.over():
        raise timed_out("write", job.limits)
    announce_commit()
    try:
        db.execute("COMMIT")
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in _NOT_COMMITTED:
            raise
        raise unknown("query_failed", str(error)) from None


def _mend(job: Job, path: str, clock: Deadline) -> Json:
    if job.effect == "read":
        sqlite_wal.tidy(path)
        return None
    try:
        with sqlite_file.connect(path, "rw", clock) as db:
            db.execute("SELECT count(*) FROM sqlite_master").close()
    except RAISED as error:
        raise translated(error, job, None, clock) from None
    return None


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
