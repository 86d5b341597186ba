"""What SQLite's own errors mean in the codes and words of helm."""

import sqlite3
from typing import Final

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import timed_out
from helm_cli.drivers.rows import too_large
from helm_cli.drivers.sqlite_file import MOST_HEAP_BYTES, MOST_TEMPORARY_BYTES
from helm_cli.drivers.sqlite_guard import Guard
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect

# What executing a statement raises because of the statement, its values or its file.
RAISED: Final = (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, MemoryError)

# A lock that was waited for until the deadline is reported this much early: SQLite waits in whole milliseconds.
_LOCK_SLACK: Final = 0.05

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


def translated(
    error: BaseException, effect: Effect, guard: Guard | None, deadline: Deadline, limits: Limits
) -> HelmError:
    """The error to report for one of RAISED, from a statement that changed nothing."""
    if guard is not None and guard.denied is not None:
        return HelmError("refused", f"helm does not let a {effect} query use {guard.denied}; nothing changed")
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
    hint = f"; {_HINTS[code]}" if code in _HINTS else ""
    return HelmError("query_failed", f"{error}{hint}")


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
