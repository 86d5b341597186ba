"""A folder that several people write to: its owner says whose a file is, and nothing there is followed."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes

# Of a folder that anybody may fill, no more is read.
MOST_FILES: Final = 20_000
# Others never write it: what they wrote would pass for the owner's.
MODE: Final = 0o644
_OTHERS_WRITE: Final = 0o022
_UNFINISHED: Final = ".new"
_ATTEMPTS: Final = 10


class File(NamedTuple):
    """The bytes of a file, the user that it belongs to, and how many names it has."""

    data: bytes
    uid: int
    names: int


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """The folder's descriptor.

    Raises HelmError("state") where there is none, or where people could take each other's files away: one that others
    may write needs the sticky bit.
    """
    with homes.told(path):
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            told = f"the folder {path} is missing; let root make it, with: mkdir -m 3770 {path}"
            raise HelmError("state", told) from None
    try:
        mode = os.fstat(folder).st_mode
        if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            raise HelmError(
                "state",
                f"in {path} people can take each other's files away; its owner mends that with: chmod +t {path}",
            )
        yield folder
    finally:
        os.close(folder)


def owner(folder: int) -> int:
    """Whose the folder is: that user may take away whatever is in it. Raises HelmError("state")."""
    with _told("cannot be read"):
        return os.fstat(folder).st_uid


def names(folder: int) -> list[str]:
    """The names in a folder, sorted, but for those that begin with a dot. Raises HelmError("state") for too many."""
    found = []
    with _told("cannot be listed"), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                found.append(entry.name)
            if len(found) > MOST_FILES:
                raise HelmError("state", f"the folder of drafts holds over {MOST_FILES:,} files; take old ones away")
    return sorted(found)


def read(folder: int, name: str, most: int) -> File | None:
    """A file, None where there is none.

    Raises ValueError, a clause that follows the file's name, for what is not believed: no regular file, a link, a file
    that others than its owner may write, that cannot be read, or of more than `most` bytes.
    """
    try:
        # Without O_NONBLOCK a FIFO would hold whoever reads it.
        number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"cannot be read: {(error.strerror or 'it failed').lower()}") from None
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is no regular file")
        if found.st_mode & _OTHERS_WRITE:
            raise ValueError("can be written by others than its owner")
        with open(number, "rb", closefd=False) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {(error.strerror or 'it failed').lower()}") from None
    finally:
        os.close(number)
    if len(data) > most:
        raise ValueError(f"is over {most:,} bytes")
    return File(data, found.st_uid, found.st_nlink)


def create(folder: int, name: str, data: bytes, *, everybody: bool) -> bool:
    """Put a file in place, whole from the first moment, where there is none of this name: of any number one wins.

    `everybody` who gets into the folder may read it; else as the user's umask has it. False where there is one.
    Raises HelmError("state").
    """

    def linked(unfinished: str) -> bool:
        try:
            os.link(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        return True

    return _placed(folder, data, linked, everybody=everybody)


def replace(folder: int, name: str, data: bytes) -> None:
    """Put a file that everybody there may read in the place of the user's own of this name. Raises HelmError("state").

    It has one name from its first moment, so that whoever reads it can tell that its owner put it there.
    """

    def renamed(unfinished: str) -> bool:
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
        return True

    _placed(folder, data, renamed, everybody=True)


def remove(folder: int, name: str) -> None:
    """Take a file of the user's own away. Raises HelmError("state")."""
    with _told("cannot be changed"), suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)


def hidden(folder: int, name: str) -> bool:
    """Whether a file cannot be read by the others who may look into its folder. Raises HelmError("state")."""
    with _told("cannot be read"):
        of_file = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        return bool(os.fstat(folder).st_mode & 0o050 and not of_file & 0o040)


def _placed(folder: int, data: bytes, place: Callable[[str], bool], *, everybody: bool) -> bool:
    _clear(folder)
    with _told("cannot be changed"):
        for _ in range(_ATTEMPTS):
            # Another writer of this user may clear the file away in the moment between its creation and its lock.
            with suppress(FileNotFoundError):
                return _attempt(folder, data, place, everybody)
    raise HelmError("state", "the folder of drafts is gone, or files vanish from it; see drafts_dir in config.toml")


def _attempt(folder: int, data: bytes, place: Callable[[str], bool], everybody: bool) -> bool:
    """Write a file under a passing name, and have it placed."""
    name = f".{os.urandom(8).hex()}{_UNFINISHED}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(name, flags, MODE, dir_fd=folder)
    try:
        # The lock says that this file's writer lives. It is let go by every end of the process.
        fcntl.flock(number, fcntl.LOCK_EX)
        if everybody:
            os.fchmod(number, MODE)
        view = memoryview(data)
        while view:
            view = view[os.write(number, view) :]
        os.fsync(number)
        return place(name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        os.close(number)
        os.fsync(folder)


def _clear(folder: int) -> None:
    """Remove what killed writers of this user left; what has a living writer is locked."""
    with _told("cannot be listed"):
        left = [name for name in os.listdir(folder) if name.startswith(".") and name.endswith(_UNFINISHED)]
    for name in left:
        with suppress(OSError):
            if os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid != os.geteuid():
                continue
            number = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=folder)
            finally:
                os.close(number)


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise HelmError("state", f"the folder of drafts {what}: {reason}; see drafts_dir in config.toml") from error
