"""Where helm keeps its files, and how a file there is made: private from its first byte, whole at every moment."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from helm_cli.model.errors import HelmError

FOLDER: Final = 0o700
FILE: Final = 0o600
MOST_BYTES: Final = 4 * 1024 * 1024
_NEW: Final = ".new"
_ATTEMPTS: Final = 10
_REASONS: Final = {
    errno.EACCES: "permission denied; make it readable and writable for your user",
    errno.EPERM: "the file system does not permit it; keep helm's home on an ordinary disk, see HELM_CLI_HOME",
    errno.EROFS: "the file system is read-only; name another home in HELM_CLI_HOME",
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EFBIG: "the file would be larger than this process may write; raise its limit (ulimit -f)",
    errno.ENOTDIR: "a file stands where a folder should be; move it away or name another home in HELM_CLI_HOME",
    errno.EISDIR: "a folder stands where a file should be; move it away",
}


class Held(HelmError):
    """A lock that another process did not let go in time; its code is "state"."""


def locate() -> Path:
    """The home: HELM_CLI_HOME, else `~/.helm`; absolute, and not created here.

    Raises HelmError("state") where neither says where that is: a relative HOME, an empty one, or none for a user
    that the system does not know, would put secrets wherever helm is run.
    """
    if named := os.environ.get("HELM_CLI_HOME"):
        return Path(os.path.abspath(named))
    home = os.path.expanduser("~")
    if not os.path.isabs(home) or os.environ.get("HOME") == "":
        raise HelmError("state", "your home folder is not known: HOME is no absolute path; name one in HELM_CLI_HOME")
    return Path(home, ".helm")


def prepare(home: Path) -> None:
    """See to it that a folder of helm's is there, is the user's own, and is closed to everybody else.

    Raises HelmError("state") where that cannot be had.
    """
    with told(home):
        try:
            found = os.stat(home)
        except FileNotFoundError:
            _make(home)
            found = os.stat(home)
        if not stat.S_ISDIR(found.st_mode):
            raise HelmError("state", f"{home} is not a folder; move it away or name another home in HELM_CLI_HOME")
        if found.st_uid != os.geteuid():
            raise HelmError(
                "state",
                f"{home} belongs to another user; name a folder of your own in HELM_CLI_HOME, or do not use sudo",
            )
        if found.st_mode & 0o077:
            os.chmod(home, stat.S_IMODE(found.st_mode) & FOLDER)


def read(path: Path) -> bytes | None:
    """The bytes of a file of helm's, None where there is none. Raises HelmError("state") where it cannot be read."""
    with told(path):
        try:
            # Without O_NONBLOCK a FIFO in the file's place would hold every call for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise HelmError("state", f"{path} is not a regular file; move it away")
            if found.st_size > MOST_BYTES:
                raise HelmError("state", f"{path} is larger than 4 MiB, which no file of helm's is; move it away")
            return _whole(descriptor)
        finally:
            os.close(descriptor)


def write_private(path: Path, data: bytes) -> None:
    """Put a file in place, 0600, so that whoever reads it, also after a kill or a power failure, finds old or new.

    Raises HelmError("state") where it cannot be written; the old file then stands unchanged.
    """
    _placed(path, data, _replaced)


@contextmanager
def replacing(path: Path, data: bytes) -> Iterator[None]:
    """As `write_private`, for what belongs to something else: all of it is on the disk before the block begins.

    After the block only its name is changed, for which the fullest disk has room; where the block raises, nothing is.
    """
    with ExitStack() as stack:
        with told(path):
            _clear(path.parent)
            unfinished = _begun(stack, path, data)
        yield
        with told(path):
            os.replace(unfinished, path)
            _sync(path.parent)


def create_private(path: Path, data: bytes) -> bool:
    """As `write_private`, but only where there is no such file: of any number at once one wins. False if it exists."""
    return _placed(path, data, _linked)


def put_private(path: Path, data: bytes, *, over: bool) -> bool:
    """As `create_private`, in a folder that is not helm's own: nothing else there is touched. `over` replaces a file.

    Raises OSError where it cannot be written.
    """
    with _unfinished(path, data) as unfinished:
        placed = (_replaced if over else _linked)(unfinished, path)
        _sync(path.parent)
        return placed


def remove(path: Path) -> bool:
    """Take a file away for good. False if there was none."""
    with told(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return False
        _sync(path.parent)
    return True


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[int]:
    """Hold the lock of this file, which ends with the process whatever ends it.

    Gives its descriptor: a process that inherits that holds the lock too. Raises Held when another process holds it
    for longer than `seconds`, and HelmError("state").
    """
    with told(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, FILE)
    try:
        deadline = time.monotonic() + seconds
        while not _taken(descriptor, path):
            if time.monotonic() >= deadline:
                raise Held("state", f"another helm has held {path} for {seconds:g} seconds; try again when it ended")
            time.sleep(0.005)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn every OSError of the block into HelmError("state") that names the file and what to do."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or f"{(error.strerror or 'it failed').lower()}; look at that path"
        raise HelmError("state", f"{path} cannot be used: {reason}") from error


def _make(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, FOLDER)
        # A umask of the user's own may have taken bits away.
        os.chmod(folder, FOLDER)


def _replaced(unfinished: str, path: Path) -> bool:
    os.replace(unfinished, path)
    return True


def _linked(unfinished: str, path: Path) -> bool:
    # O_EXCL on the name itself would show others, and leave after a kill, a file that is not whole.
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return False
    return True


def _placed(path: Path, data: bytes, place: Callable[[str, Path], bool]) -> bool:
    with told(path):
        _clear(path.parent)
        for _ in range(_ATTEMPTS):
            # Another writer may clear the file away in the moment between its creation and its lock.
            with suppress(FileNotFoundError), _unfinished(path, data) as unfinished:
                placed = place(unfinished, path)
                _sync(path.parent)
                return placed
    raise _vanishing(path)


def _begun(stack: ExitStack, path: Path, data: bytes) -> str:
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError):
            return stack.enter_context(_unfinished(path, data))
    raise _vanishing(path)


def _vanishing(path: Path) -> HelmError:
    return HelmError(
        "state", f"{path} cannot be written: its folder is gone, or files vanish from it; look at that path"
    )


@contextmanager
def _unfinished(path: Path, data: bytes) -> Iterator[str]:
    """A file beside the path that holds the data, and is gone after the block, unless it has another name by then."""
    unfinished = f"{path.parent}/.{os.urandom(8).hex()}{_NEW}"
    descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
    try:
        # The lock says that this file's writer lives. It is let go by every end of the process.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not os.fstat(descriptor).st_nlink:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        os.fchmod(descriptor, FILE)
        _write(descriptor, data)
        os.fsync(descriptor)
        yield unfinished
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        os.close(descriptor)


def _whole(descriptor: int) -> bytes:
    pieces: list[bytes] = []
    # Not by a file object: each call reads some files, and making one costs more than all else here.
    while piece := os.read(descriptor, 65536):
        pieces.append(piece)
    return b"".join(pieces)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _clear(folder: Path) -> None:
    """Remove what killed writers left; what has a living writer is locked."""
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(_NEW):
            with suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(folder / name)
                finally:
                    os.close(descriptor)


def _taken(descriptor: int, path: Path) -> bool:
    with told(path):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
