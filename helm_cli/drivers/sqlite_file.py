"""How a SQLite file is opened without creating it, waiting for it, or leaving anything beside it."""

import os
import sqlite3
import stat
import time
from contextlib import closing
from functools import cache
from typing import Final, Literal, NamedTuple
from urllib.parse import quote

from helm_cli.drivers.deadline import Deadline
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile

# No single value, also within an expression, grows beyond this; the row data itself is limited in `rows`.
MOST_BYTES_A_VALUE: Final = 64 * 1024 * 1024
# In steps of SQLite's virtual machine: about 50 µs of work.
STEPS_BETWEEN_CHECKS: Final = 2000
# Coarser than the time stamps of any file system in use (FAT counts in 2 s).
SETTLED_SECONDS: Final = 2.0


class Stamp(NamedTuple):
    """What changes when a file is written or replaced."""

    device: int
    inode: int
    size: int
    modified_ns: int


def locate(profile: Profile) -> str:
    """The absolute path of the profile's file, links resolved.

    HelmError "unavailable" unless it is a regular file: opening a FIFO would wait for ever.
    """
    try:
        path = os.path.realpath(profile.path or "")
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise _unavailable(profile, "does not exist") from None
    except (OSError, ValueError):
        raise _unavailable(profile, "cannot be reached") from None
    if not stat.S_ISREG(mode):
        raise _unavailable(profile, "is not a regular file")
    return path


def connect(
    path: str, mode: Literal["ro", "rw"], deadline: Deadline, *, immutable: bool = False
) -> closing[sqlite3.Connection]:
    """A connection that closes with its context; it gives up at the deadline, from whichever thread.

    `mode` never creates the file. Raises what sqlite3 raises.
    """
    # Quoted, because a "#" or "?" in a path would cut off the mode, and absolute, because ":memory:" would not
    # be a file.
    uri = f"file://{quote(os.fsencode(path))}?mode={mode}" + ("&immutable=1" if immutable else "")
    db = sqlite3.connect(
        uri, uri=True, timeout=deadline.remaining(), isolation_level=None, check_same_thread=False, cached_statements=0
    )
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES_A_VALUE)
    db.text_factory = _text
    db.set_progress_handler(deadline.over, STEPS_BETWEEN_CHECKS)
    deadline.interrupt = db.interrupt
    return closing(db)


def quiet(path: str) -> Stamp | None:
    """The stamp of a WAL database that nobody has open; None for every other.

    A plain read of such a file would leave `-wal` and `-shm` files behind, and fail where they cannot be made.
    It may be read as immutable instead, if its stamp is the same afterwards.
    """
    found = stamp(path)
    if found is None or not _is_wal(path, found) or _size(path + "-wal"):
        return None
    settled = time.time_ns() - found.modified_ns > SETTLED_SECONDS * 1e9
    return found if settled else None


def stamp(path: str) -> Stamp | None:
    """The stamp of the file now, None when it cannot be looked at."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _is_wal(path: str, found: Stamp) -> bool:
    # Bytes 18 and 19 of the header are 2 in WAL mode (the SQLite file format, section 1.3).
    try:
        return os.pread(_kept_open(path, found.device, found.inode), 2, 18) == b"\2\2"
    except OSError:
        return False


@cache
def _kept_open(path: str, device: int, inode: int) -> int:
    """A descriptor of this very file, never closed, one for each file.

    Closing any descriptor of a file drops every lock that SQLite holds on it in this process, in other threads
    too ("How To Corrupt An SQLite Database File", section 2.2).
    """
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _unavailable(profile: Profile, what: str) -> HelmError:
    return HelmError(
        "unavailable",
        f"the database file of the profile {profile.name} {what}; look at it with `helm db show {profile.name}`",
    )
