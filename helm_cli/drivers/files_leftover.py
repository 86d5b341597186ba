"""How what an unfinished write left beside a file is put right: known by its record, and nobody's text taken away."""

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from typing import Final

from helm_cli.drivers import files_record, files_system, files_walk
from helm_cli.drivers.files_record import Record

# Longer than any text that is written, so that of a longer one no digest is right.
_MOST_BYTES: Final = 1024 * 1024
_MOST_NAME_BYTES: Final = 255


def settle_all(home: str, folder: int) -> None:
    """Put right what killed writes left in a folder whose lock the caller has. Raises OSError."""
    for record in files_record.of(home, folder):
        settle(folder, record)


def settle(folder: int, record: Record) -> None:
    """Put right what a write left, as far as it can be known, and forget it. Raises OSError.

    A text of helm's own, or the one that it replaced, goes; so does one that is not whole. What somebody else wrote
    in the moment of the exchange goes back to its place, or else stays beside it under a name of its own.
    """
    with suppress(FileNotFoundError):
        _settle(folder, record, os.stat(record.name, dir_fd=folder, follow_symlinks=False))
    files_record.drop(record)


def give_back(folder: int, record: Record) -> bool:
    """Put what was exchanged out back in its place. Raises OSError.

    False where somebody has changed what was put there in its stead: that stays, and the other is still beside it.
    """
    if not files_system.exchange(folder, record.name, record.target):
        return False
    if _removed(folder, record, record.after):
        return True
    files_system.exchange(folder, record.name, record.target)
    return False


def set_aside(folder: int, record: Record) -> str:
    """Give what is beside the target a name that is like the target's, and its own to keep. Raises OSError."""
    stem, suffix = os.path.splitext(record.target)
    end = f".kept-{secrets.token_hex(4)}{suffix}"
    room = _MOST_NAME_BYTES - len(os.fsencode(end))
    name = os.fsencode(stem)[:room].decode(errors="ignore") + end
    os.rename(record.name, name, src_dir_fd=folder, dst_dir_fd=folder)
    return name


def _settle(folder: int, record: Record, found: os.stat_result) -> None:
    identity = (found.st_dev, found.st_ino)
    if record.spare is None:
        # It was made in the moment of the kill, and may as well be another file by now: then it is not empty.
        if stat.S_ISREG(found.st_mode) and not found.st_size and found.st_uid == os.geteuid():
            os.unlink(record.name, dir_fd=folder)
        return
    if identity == record.spare:
        if not record.whole:
            os.unlink(record.name, dir_fd=folder)
        elif not _removed(folder, record, record.after):
            set_aside(folder, record)
        return
    if identity == record.old and _removed(folder, record, record.before):
        return
    if not (_may_go_back(folder, record, found) and give_back(folder, record)):
        set_aside(folder, record)


def _may_go_back(folder: int, record: Record, found: os.stat_result) -> bool:
    """Whether helm's own text stands in the target's place, and the other is of one who could have put it there."""
    if found.st_uid not in (os.geteuid(), record.owner):
        return False
    with suppress(OSError):
        there = os.stat(record.target, dir_fd=folder, follow_symlinks=False)
        return (there.st_dev, there.st_ino) == record.spare
    return False


def _removed(folder: int, record: Record, digest: str) -> bool:
    """Remove the file beside the target if it has this text and nobody has it open for writing; whether it did."""
    with suppress(OSError):
        if not stat.S_ISREG(os.stat(record.name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        opened = os.open(record.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            with files_system.leased(opened) as quiet:
                same = quiet() and hashlib.sha256(files_walk.content(opened, _MOST_BYTES)).hexdigest() == digest
                if same and quiet():
                    os.unlink(record.name, dir_fd=folder)
                    return True
        finally:
            os.close(opened)
    return False
