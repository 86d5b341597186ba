"""A copy in memory of a home's state: taken without a trace, and nothing that is done to it reaches the home."""

import os
import shutil
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.store import database
from helm_cli.store import home as homes

# Of the header's bytes: the version of the file's form that a writer needs; 2 is a write-ahead log.
_FORM: Final = 18
_LOGGED: Final = 2
# How many steps of SQLite's machine go by between two looks at the clock.
_STEPS: Final = 10_000
# What a killed writer left behind is put right by the next opening; in the place itself, that would be a change.
_TO_MEND: Final = (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY)
_BESIDE: Final = ("", "-journal", "-wal")


def take(home: Path, seconds: float = 5.0) -> sqlite3.Connection | None:
    """The state as it stands, in whatever form; None where the home has none yet.

    Who writes to it is waited for so long. The copy belongs to no thread, and serves one at a time. Raises
    HelmError("state").
    """
    path = home / database.NAME
    with homes.told(path):
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise HelmError("state", f"{path} is not a regular file; move it away")
        database.check_beside(path)
        with open(path, "rb") as file:
            logged = file.read(_FORM + 1)[_FORM:] == bytes([_LOGGED])
    try:
        return _mended(path) if logged else _copied(path, seconds)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) not in _TO_MEND:
            raise database.trouble(str(path), error) from None
        return _mended(path)


def blank() -> sqlite3.Connection:
    """The state of a home in which nothing happened yet."""
    db = _memory()
    database.migrate(db, Path(database.NAME))
    return db


def fault(db: sqlite3.Connection, seconds: float) -> str | None:
    """What is wrong with the database itself, as a clause; None where nothing is.

    TimeoutError where that is not known after so many seconds. Raises HelmError("state").
    """
    ends = time.monotonic() + seconds
    db.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    try:
        ((told,),) = database.rows(db, "PRAGMA quick_check(1)")
    except HelmError as error:
        raise (TimeoutError() if time.monotonic() > ends else error) from None
    finally:
        db.set_progress_handler(None, 0)
    return None if told == "ok" else " ".join(str(told).split())


def _copied(path: Path, seconds: float) -> sqlite3.Connection:
    """Raises sqlite3.Error."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", timeout=seconds, uri=True)) as source:
        source.execute("BEGIN")
        # With this look nobody can write until the copy is whole, so that it waits for nobody.
        source.execute("SELECT 1 FROM sqlite_master").fetchone()
        return _backed_up(source)


def _mended(path: Path) -> sqlite3.Connection:
    """The same of what a killed writer left, put right in a folder that is thrown away."""
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix="helm-look-") as folder:
            for end in _BESIDE:
                if os.path.exists(f"{path}{end}"):
                    shutil.copyfile(f"{path}{end}", f"{folder}/{database.NAME}{end}")
            with closing(sqlite3.connect(f"{folder}/{database.NAME}")) as source:
                source.execute("PRAGMA journal_mode = DELETE")
                return _backed_up(source)
    except OSError as error:
        reason = (error.strerror or "error").lower()
        told = f"{path} was being written when helm was killed, and cannot be copied to be looked at: {reason}"
        raise HelmError("state", f"{told}; the next call puts it right, see helm history") from None
    except sqlite3.Error as error:
        raise database.trouble(str(path), error) from None


def _backed_up(source: sqlite3.Connection) -> sqlite3.Connection:
    copy = _memory()
    source.backup(copy)
    return copy


def _memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
