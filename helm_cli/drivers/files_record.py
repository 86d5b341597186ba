"""What helm writes down in its own home before it writes a file, so that it later touches only leftovers of its own.

Nothing in a folder is trusted by its name: what a killed write left there is known by its record alone, which nobody
but the user can make.
"""

import errno
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from helm_cli.model.errors import HelmError

PREFIX: Final = ".helm-write-"
_FOLDER: Final = "writes"
_DIGITS: Final = 32
# Longer than any line: a name has 255 bytes.
_MOST_LINE: Final = 8192

Identity = tuple[int, int]


class Record(NamedTuple):
    """One unfinished write: `folder`, `old` and `spare` by device and inode, `before` and `after` by their SHA-256.

    `spare` is None until the file beside the target was made; `whole` says that the new text was all in it.
    """

    home: str
    id: str
    folder: Identity
    target: str
    old: Identity
    owner: int
    before: str
    after: str
    spare: Identity | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        """What the file beside the target is called: nobody can know it before it is there."""
        return PREFIX + self.id


def begin(home: str, folder: int, target: str, old: os.stat_result, before: str, after: str) -> Record:
    """Write down a write of which nothing is in the folder yet. Raises HelmError "state"."""
    where = os.fstat(folder)
    record = Record(
        home, secrets.token_hex(_DIGITS // 2), (where.st_dev, where.st_ino), target,
        (old.st_dev, old.st_ino), old.st_uid, before, after,
    )  # fmt: skip
    try:
        if not home:
            raise FileNotFoundError
        os.makedirs(os.path.join(home, _FOLDER), mode=0o700, exist_ok=True)
        while not _created(record):
            record = record._replace(id=secrets.token_hex(_DIGITS // 2))
    except OSError:
        raise _unkept() from None
    return record


def made(record: Record, opened: int) -> Record:
    """Write down which file was made beside the target, while nothing is in it. Raises HelmError "state"."""
    found = os.fstat(opened)
    record = record._replace(spare=(found.st_dev, found.st_ino))
    try:
        _append(record, [found.st_dev, found.st_ino])
    except OSError:
        raise _unkept() from None
    return record


def finished(record: Record) -> Record:
    """Write down that the new text is all in it; a power failure does not undo that. Raises HelmError "state"."""
    try:
        _append(record, ["whole"], sync=True)
    except OSError:
        raise _unkept() from None
    return record._replace(whole=True)


def drop(record: Record) -> None:
    with suppress(OSError):
        os.unlink(_path(record.home, record.id))


def read(home: str, id: str) -> Record | None:
    """The record of this id; None where there is none, or no whole one."""
    with suppress(OSError, ValueError, TypeError, IndexError):
        with open(_path(home, id), "rb") as file:
            # What a kill cut off has no end.
            lines = [json.loads(line) for line in file.read().split(b"\n")[:-1]]
        folder, target, old, owner, before, after = lines[0]
        spare: Identity | None = (lines[1][0], lines[1][1]) if len(lines) > 1 else None
        return Record(
            home, id, (folder[0], folder[1]), target, (old[0], old[1]), owner, before, after, spare, len(lines) > 2
        )  # fmt: skip
    return None


def of(home: str, folder: int) -> Iterator[Record]:
    """The records of unfinished writes in this folder; what was killed before it had written one is cleared away."""
    where = os.fstat(folder)
    for id in _ids(home):
        record = read(home, id)
        if record is None:
            _clear(home, id)
        elif record.folder == (where.st_dev, where.st_ino):
            yield record


def names(home: str) -> frozenset[str]:
    """What all unfinished writes call their files."""
    return frozenset(PREFIX + id for id in _ids(home))


def _ids(home: str) -> list[str]:
    if not home:
        return []
    with suppress(OSError):
        return os.listdir(os.path.join(home, _FOLDER))
    return []


def _created(record: Record) -> bool:
    """Whether the record stands; False where somebody took it for that of a dead process before it was locked."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    opened = os.open(_path(record.home, record.id), flags, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        _write(opened, [*record[2:8]])
        return os.fstat(opened).st_nlink > 0
    except OSError:
        drop(record)
        raise
    finally:
        os.close(opened)


def _clear(home: str, id: str) -> None:
    """Take a record away in which nothing stands and whose writer is dead: nothing was made under its name yet."""
    with suppress(OSError):
        opened = os.open(_path(home, id), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if b"\n" not in os.pread(opened, _MOST_LINE, 0):
                os.unlink(_path(home, id))
        finally:
            os.close(opened)


def _write(opened: int, values: list[object]) -> None:
    """One line, in one piece: of another, a disk that is full takes the beginning."""
    line = _line(values)
    if os.write(opened, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _append(record: Record, values: list[object], *, sync: bool = False) -> None:
    opened = os.open(_path(record.home, record.id), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        _write(opened, values)
        if sync:
            os.fsync(opened)
    finally:
        os.close(opened)


def _line(values: list[object]) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _path(home: str, id: str) -> str:
    return os.path.join(home, _FOLDER, id)


def _unkept() -> HelmError:
    return HelmError(
        "state",
        "helm cannot write down in its own home what it is about to do, so it does nothing; see that it is writable",
    )
