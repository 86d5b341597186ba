"""What the file that is written beside another is called, and how what a killed write left of it is put right.

Its name says all that is needed for it: which file it is for, which text was there, and which one comes. Whoever
finds it knows whether the exchange had taken place, and takes nothing away that somebody else wrote meanwhile.
"""

import hashlib
import os
import re
import stat
from contextlib import suppress
from typing import Final

from helm_cli.drivers import files_system, files_walk

PREFIX: Final = ".helm-write-"
# While it is not whole yet.
PART: Final = ".part"
_NAME: Final = re.compile(rf"{re.escape(PREFIX)}([0-9a-f]{{16}})-([0-9a-f]{{16}})-([0-9a-f]{{16}})({re.escape(PART)})?")
_DIGITS: Final = 16
# Longer than any text that is written, so that of a longer one no digest is right.
_MOST_BYTES: Final = 1024 * 1024


def name(target: str, old: str, new: str) -> str:
    """The name beside `target` for a text whose SHA-256 is `new`, which replaces the one whose SHA-256 is `old`."""
    return f"{PREFIX}{_digest_of(target)}-{old[:_DIGITS]}-{new[:_DIGITS]}"


def is_one(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def clear(folder: int) -> None:
    """Put right what killed writes left in a folder, unless a living one has its lock. Raises OSError."""
    own = files_walk.listed(folder)
    try:
        if files_system.locked(own):
            settle_all(folder)
    finally:
        os.close(own)


def settle_all(folder: int) -> None:
    """The same for the living one that has the lock. Raises OSError."""
    for found in os.listdir(folder):
        if is_one(found):
            settle(folder, found)


def settle(folder: int, spare: str) -> None:
    """Put right what a write left under this name, as far as it can be known. Raises OSError.

    A text of helm's own, or the one that it replaced, goes; so does one that is not whole. What somebody else wrote
    in the moment of the exchange goes back to its place.
    """
    parts = _NAME.fullmatch(spare)
    if parts is None or not _is_ours(folder, spare, parts[1]):
        return
    if parts[4] or _content(folder, spare) in (parts[2], parts[3]):
        os.unlink(spare, dir_fd=folder)
        return
    target = _named(folder, parts[1])
    if target is not None and _content(folder, target) == parts[3]:
        give_back(folder, spare, target)


def give_back(folder: int, spare: str, target: str) -> bool:
    """Put what was exchanged out back in its place. Raises OSError.

    False where somebody has changed what was put there in its stead: that stays, and `spare` is kept too.
    """
    parts = _NAME.fullmatch(spare)
    if parts is None or not files_system.exchange(folder, spare, target):
        return False
    if _content(folder, spare) == parts[3]:
        os.unlink(spare, dir_fd=folder)
        return True
    files_system.exchange(folder, spare, target)
    return False


def _is_ours(folder: int, spare: str, target: str) -> bool:
    """Whether a file could only be put there by who may change the target: others may share the folder."""
    try:
        owner = os.stat(spare, dir_fd=folder, follow_symlinks=False).st_uid
    except FileNotFoundError:
        return False
    if owner == os.geteuid():
        return True
    with suppress(OSError):
        found = _named(folder, target)
        return found is not None and os.stat(found, dir_fd=folder, follow_symlinks=False).st_uid == owner
    return False


def _named(folder: int, digest: str) -> str | None:
    return next((found for found in os.listdir(folder) if not is_one(found) and _digest_of(found) == digest), None)


def _digest_of(target: str) -> str:
    return hashlib.sha256(os.fsencode(target)).hexdigest()[:_DIGITS]


def _content(folder: int, name: str) -> str:
    """The beginning of the SHA-256 of a regular file's bytes; "" for anything else."""
    with suppress(OSError):
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return ""
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            data = files_walk.content(opened, _MOST_BYTES)
        finally:
            os.close(opened)
        return hashlib.sha256(data).hexdigest()[:_DIGITS]
    return ""
