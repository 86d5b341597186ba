"""How a file in WAL mode is read so that nothing of helm's stays beside it."""

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

from helm_cli.drivers.deadline import Deadline
from helm_cli.model.errors import HelmError

Result = TypeVar("Result")

# By when a second write to a file shows in its time: some ticks of the kernel's clock; where times are whole
# milliseconds or seconds, FAT's 2 s.
_FINE_SECONDS: Final = 0.05
_COARSE_SECONDS: Final = 2.0
# How often a file is looked at that others keep writing to.
_TRIES: Final = 5
# The bytes of a database that SQLite locks: pending, reserved, and 510 shared ones (the SQLite file format, 1.3).
# Who has a WAL database open holds a shared one, from before it opens the files beside it.
_LOCKS: Final = (512, 0x40000000)


class Look(NamedTuple):
    """What changes when a file is written or replaced; `wal` is its mode, `log` the size of its `-wal`."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    wal: bool
    log: int

    def same_file(self, other: "Look") -> bool:
        return self[:5] == other[:5]

    def unsettled(self) -> float:
        """Seconds until a further write would surely show in `modified_ns`; a time to come shows it at once."""
        age = abs(time.time_ns() - self.modified_ns) / 1e9
        return (_FINE_SECONDS if self.modified_ns % 1_000_000 else _COARSE_SECONDS) - age


def look(path: str) -> Look:
    """The file as it is now; one that cannot be looked at is nothing, and not in WAL mode."""
    try:
        found = os.stat(path)
        wal = _header_says_wal(path)
    except OSError:
        return Look(0, 0, 0, 0, 0, wal=False, log=0)
    stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return Look(*stamp, wal=wal, log=_size(path + "-wal") if wal else 0)


def without_trace(path: str, deadline: Deadline, read: Callable[[bool], Result]) -> Result:
    """What `read(immutable)` returns or raises, of one state of the file.

    A plain read-only connection to a WAL file that nobody has open makes `-wal` and `-shm`, cannot remove them,
    and locks out whoever may not write to them. So such a file is read as immutable, between two equal looks at
    it. HelmError "unavailable" where no read is possible without a trace.
    """
    for _ in range(_TRIES):
        seen = look(path)
        if not seen.wal or (seen.log and os.path.exists(path + "-shm")):
            return read(False)
        if seen.log:
            break
        wait = seen.unsettled()
        if wait > 0 and not deadline.over():
            time.sleep(min(wait, deadline.remaining()))
            continue
        answer = _frozen(path, seen, read)
        if answer is not None:
            return answer[0]
    return _tidied(path, read)


def tidy(path: str) -> None:
    """Removes `-shm` and an empty `-wal`, unless any program has the file open: then that one will."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with suppress(OSError):
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, *_LOCKS)
        if look(path).wal:
            if not _size(path + "-wal"):
                with suppress(FileNotFoundError):
                    os.unlink(path + "-wal")
            os.unlink(path + "-shm")
    os.close(descriptor)


def _frozen(path: str, seen: Look, read: Callable[[bool], Result]) -> tuple[Result] | None:
    """What an immutable read of the file returns or raises; None when the file was written to meanwhile."""
    try:
        answer = read(True)
    except HelmError:
        if look(path).same_file(seen):
            raise
        return None
    return (answer,) if look(path).same_file(seen) else None


def _tidied(path: str, read: Callable[[bool], Result]) -> Result:
    """A plain read after which the files that it made are removed."""
    if not os.access(path, os.W_OK):
        raise HelmError(
            "unavailable",
            "the database is in WAL mode and was not closed by the program that wrote to it, and helm may not write"
            " to it; open it once with a program that may",
        )
    try:
        return read(False)
    finally:
        tidy(path)


def _header_says_wal(path: str) -> bool:
    # Bytes 18 and 19 are 2 in WAL mode (the SQLite file format, section 1.3). Closing a file drops every lock that
    # this process has on it, so none of its connections may be open now.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, 2, 18) == b"\2\2"
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
