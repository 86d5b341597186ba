"""What SQLite's own errors mean in the codes and words of helm."""

import re
import sqlite3
from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import AS_WRITE, timed_out
from helm_cli.drivers.rows import too_large
from helm_cli.drivers.sqlite_file import MOST_HEAP_BYTES, MOST_TEMPORARY_BYTES
from helm_cli.drivers.sqlite_guard import NO_READ, Guard
from helm_cli.drivers.sqlite_job import Job
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Scalar

# What executing a statement raises because of the statement, its values or its file.
RAISED: Final = (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, MemoryError)

# A lock that was waited for until the deadline is reported this much early: SQLite waits in whole milliseconds.
_LOCK_SLACK: Final = 0.05

_NUMERAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

READ_ONLY: Final = "attempt to write a readonly database"

_HINTS: Final = {
    sqlite3.SQLITE_READONLY_ROLLBACK: "a program that wrote to this file was killed; open it once with a program"
    " that may write",
    sqlite3.SQLITE_READONLY_RECOVERY: "a program that wrote to this file was killed; open it once with a program"
    " that may write",
    sqlite3.SQLITE_READONLY_CANTINIT: "it is in WAL mode and its folder cannot be written to",
    sqlite3.SQLITE_READONLY_DIRECTORY: "it is in WAL mode and its folder cannot be written to",
}
_UNAVAILABLE: Final = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite database, or it is encrypted",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened, or it is in WAL mode and its folder cannot be written to",
    sqlite3.SQLITE_PERM: "may not be opened",
}


def translated(error: BaseException, job: Job, guard: Guard | None, deadline: Deadline) -> HelmError:
    """The error to report for one of RAISED, from a statement that changed nothing."""
    effect, limits = job.effect, job.limits
    if guard is not None and guard.denied is not None:
        hint = f"; {AS_WRITE}" if guard.denied == NO_READ else ""
        return HelmError("refused", f"helm does not let a {effect} query use {guard.denied}; nothing changed{hint}")
    if not isinstance(error, sqlite3.Error) or not hasattr(error, "sqlite_errorcode"):
        return _before_sqlite(error)
    code, base = error.sqlite_errorcode, error.sqlite_errorcode & 0xFF
    if base == sqlite3.SQLITE_INTERRUPT:
        return timed_out(effect, limits)
    if base == sqlite3.SQLITE_BUSY and deadline.remaining() < _LOCK_SLACK:
        return HelmError("timeout", f"the database stayed locked for {limits.seconds:g} s; try again later")
    if effect == "read" and (base == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_WRITE):
        return _no_room()  # a read writes nothing but temporary files
    if base == sqlite3.SQLITE_TOOBIG:
        return too_large(limits)
    if base in _UNAVAILABLE:
        return HelmError("unavailable", f"the database file {_UNAVAILABLE[base]}; check the profile's file")
    return HelmError("query_failed", f"{error}{_explained(code, job)}")


def _explained(code: int, job: Job) -> str:
    """What follows SQLite's own words, "" where they are enough."""
    if code in _HINTS:
        return f"; {_HINTS[code]}"
    if code == sqlite3.SQLITE_MISMATCH:
        return f": {_mismatched(job)}"
    return f"; {AS_WRITE}" if code == sqlite3.SQLITE_READONLY and job.effect == "read" else ""


def _mismatched(job: Job) -> str:
    """What SQLite means: it does not say where, so every argument is named that can be it."""
    pairs = zip(job.arguments, job.values, strict=True)
    names = list(dict.fromkeys(name for name, value in pairs if not _whole(value)))
    rule = "a LIMIT, an OFFSET and an INTEGER PRIMARY KEY take whole numbers only"
    if not names:
        return f"{rule}; look at the query"
    return f"{rule}; look at the argument{'s' if len(names) > 1 else ''} {' and '.join(names)}"


def _whole(value: Scalar) -> bool:
    """Whether SQLite takes a value for a whole number of 64 bits."""
    if value is None or (isinstance(value, str) and not _NUMERAL.fullmatch(value.strip())):
        return False
    number = float(value)
    return number.is_integer() and abs(number) < 2.0**63


def _before_sqlite(error: BaseException) -> HelmError:
    """What Python's module refuses by itself, before SQLite runs anything."""
    message = str(error)
    if "bindings" in message or "Binding" in message:
        return HelmError("refused", "the query has not as many placeholders as its params; correct the declaration")
    if "one statement" in message:
        return HelmError("refused", "the query holds more than one statement; declare each on its own")
    if isinstance(error, OverflowError):
        return HelmError("refused", "an argument is beyond the 64 bits of an SQLite integer")
    if isinstance(error, MemoryError):
        most = MOST_HEAP_BYTES // 2**20
        return HelmError("too_large", f"the query needs more than {most} MiB of memory; select less or add a LIMIT")
    return HelmError("refused", f"the query cannot be prepared: {message}")


def _no_room() -> HelmError:
    most = MOST_TEMPORARY_BYTES // 2**20
    return HelmError(
        "query_failed",
        f"the query sorts or groups more than {most} MiB, or the disk is full; add a WHERE, a LIMIT or an index",
    )
