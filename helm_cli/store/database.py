"""How state.db is opened, changed all or nothing, and how its every failure is told."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any, Final

from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes
from helm_cli.store.schema import STEPS

NAME: Final = "state.db"
# What SQLite keeps beside it.
BESIDE: Final = ("-journal", "-wal", "-shm")
WAIT_SECONDS: Final = 15.0

_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)
_REASONS: Final = {
    sqlite3.SQLITE_BUSY: "another helm keeps it busy; try again when that one ended",
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it is not writable; make it and its folder writable for your user, see HELM_CLI_HOME",
    sqlite3.SQLITE_CANTOPEN: "permission denied; make it and its folder writable for your user, see HELM_CLI_HOME",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; see that it is sound and has space left",
    sqlite3.SQLITE_TOOBIG: "something is too large to be kept in it; make it smaller",
}


def open_state(home: Path) -> sqlite3.Connection:
    """The state of this home, made or brought up to this version first where that is needed.

    The caller closes it. Raises HelmError("state") where it cannot be had; nothing found there is overwritten.
    """
    homes.prepare(home)
    path = home / NAME
    _private(path)
    try:
        # A rollback journal also works on a network home. Cut to nothing rather than deleted, it costs less.
        db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
    except sqlite3.Error as error:
        raise trouble(str(path), error) from error
    try:
        run(db, "PRAGMA journal_mode = TRUNCATE")
        run(db, "PRAGMA synchronous = FULL")
        # What is wiped is gone from the file too.
        run(db, "PRAGMA secure_delete = ON")
        if version(db) != len(STEPS):
            migrate(db, path)
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def transaction(db: sqlite3.Connection, *, lasting: bool = True) -> Iterator[None]:
    """All of the block or nothing of it, one process at a time; a kill at any moment leaves the one or the other.

    What is not `lasting` may be forgotten by a power failure, and costs half the waiting for the disk. Inside another
    it is a part of that. Raises HelmError("state").
    """
    inside = db.in_transaction
    if inside:
        yield
        return
    if not lasting:
        run(db, "PRAGMA synchronous = NORMAL")
    try:
        # IMMEDIATE: a transaction that reads first and writes later could not wait for its turn.
        run(db, "BEGIN IMMEDIATE")
        yield
        run(db, "COMMIT")
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise
    finally:
        if not lasting:
            with suppress(sqlite3.Error):
                db.execute("PRAGMA synchronous = FULL")


@contextmanager
def reading(db: sqlite3.Connection) -> Iterator[None]:
    """All that the block reads is of one moment, and looked up at the price of one look.

    It is short, for nobody can write meanwhile, and writes nothing itself: it could not wait for its turn. Raises
    HelmError("state").
    """
    if db.in_transaction:
        yield
        return
    try:
        run(db, "BEGIN")
        yield
    finally:
        with suppress(sqlite3.Error):
            db.execute("COMMIT")


def abandon(db: sqlite3.Connection) -> None:
    """Nothing remains of a block of before that an interrupt ended where it could not see to that itself."""
    if db.in_transaction:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")


def rows(db: sqlite3.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement. Raises HelmError("state")."""
    try:
        return db.execute(sql, values).fetchall()
    except (sqlite3.Error, UnicodeEncodeError) as error:
        raise _told(db, error) from error


def row(db: sqlite3.Connection, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The first row of a statement, None where it has none. Raises HelmError("state")."""
    found = rows(db, sql, values)
    return found[0] if found else None


def run(db: sqlite3.Connection, sql: str, values: Sequence[Any] = ()) -> int:
    """Run a statement that changes something; how many rows it changed. Raises HelmError("state")."""
    try:
        return db.execute(sql, values).rowcount
    except (sqlite3.Error, UnicodeEncodeError) as error:
        raise _told(db, error) from error


def _told(db: sqlite3.Connection, error: sqlite3.Error | UnicodeEncodeError) -> HelmError:
    if isinstance(error, UnicodeEncodeError):
        return HelmError("state", "a path or name that is not UTF-8 cannot be recorded; rename it")
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        raise error  # A fault of helm's own, which is `internal`.
    return trouble(_path(db), error)


def trouble(path: str, error: sqlite3.Error) -> HelmError:
    """What SQLite met at this path, as it is told."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in _DAMAGED:
        return HelmError(
            "state",
            f"{path} is damaged ({error}); nothing was changed in it: put back a copy of it, or move it away and"
            " review your extensions again",
        )
    return HelmError("state", f"{path} cannot be used: {_REASONS.get(code) or str(error).lower()}")


def _path(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute("PRAGMA database_list").fetchone()[2]) or NAME
    except sqlite3.Error:
        return NAME


def _private(path: Path) -> None:
    """Make the file where there is none, and close it to everybody else, before SQLite takes its mode for its own."""
    with homes.told(path):
        try:
            found = os.stat(path)
        except FileNotFoundError:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, homes.FILE))
            os.chmod(path, homes.FILE)  # A umask of the user's own may have taken bits away.
            found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise HelmError("state", f"{path} is not a regular file; move it away")
        if found.st_mode & 0o077:
            os.chmod(path, stat.S_IMODE(found.st_mode) & homes.FILE)
    check_beside(path)


def check_beside(path: Path) -> None:
    """That SQLite finds no FIFO where a file of its own stands beside the state, at which it would wait for ever.

    Raises HelmError("state").
    """
    for end in BESIDE:
        # SQLite keeps them beside what a link leads to.
        beside = f"{os.path.realpath(path) if os.path.islink(path) else path}{end}"
        try:
            found = os.stat(beside)
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            step = f"mv {quote(beside)} {quote(beside)}.moved"
            raise HelmError("state", f"{beside} is not a regular file; take it away with: {step}")


def version(db: sqlite3.Connection) -> int:
    """The form of the state, 0 before it has any. Raises HelmError("state")."""
    found = row(db, "PRAGMA user_version")
    return int(found[0]) if found else 0


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the state up to this version of helm; `path` is what it is called. Raises HelmError("state")."""
    with transaction(db):
        found = version(db)  # Another process may have been here first.
        if found > len(STEPS):
            raise HelmError("state", f"{path} was written by a newer helm (form {found}); update this one")
        if found < 0 or (found == 0 and rows(db, "SELECT 1 FROM sqlite_master")):
            raise HelmError("state", f"{path} is a database that helm did not make; move it away")
        for step in STEPS[found:]:
            for statement in step:
                run(db, statement)
        run(db, f"PRAGMA user_version = {len(STEPS)}")
