"""What writing a file needs of the system beyond Python: to exchange two names, and to keep all that is not content."""

import errno
import fcntl
import os
import signal
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Final

# renameat2(2) of Linux, renameatx_np(2) of macOS: its name, and its flag for an exchange.
_EXCHANGE: Final = ("renameatx_np", 2) if sys.platform == "darwin" else ("renameat2", 2)
_NOT_HERE: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
# copyfile(3) of macOS: access control list, times and mode, extended attributes.
_METADATA: Final = 0x7
# What the system itself gives a file, and nobody else may.
_SYSTEMS_OWN: Final = ("security.", "trusted.")
CAPABILITIES: Final = "security.capability"
# FS_IOC_GETFLAGS and FS_APPEND_FL of Linux.
_GET_FLAGS: Final = 2 << 30 | struct.calcsize("l") << 16 | ord("f") << 8 | 1
_APPEND: Final = 0x20


def exchange(folder: int, one: str, other: str) -> bool:
    """Exchange what two names in a folder stand for, at once; False where the system or its disk cannot.

    Raises OSError: FileNotFoundError where one of them is not there.
    """
    name, flag = _EXCHANGE
    call = getattr(_library(), name, None)
    if call is None:
        return False
    import ctypes

    if call(folder, os.fsencode(one), folder, os.fsencode(other), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), other)


@contextmanager
def leased(opened: int) -> Iterator[Callable[[], bool]]:
    """Have whoever opens this file for writing wait until the block ends, which must be soon.

    What is given tells whether nobody has it open for writing, nor waits for that; always so where the system does
    not tell. `opened` is a descriptor for reading, and the caller must have none for writing.
    """
    given = _lease(opened)
    try:
        yield (lambda: fcntl.fcntl(opened, fcntl.F_GETLEASE) == fcntl.F_RDLCK) if given else (lambda: given is None)
    finally:
        if given:
            fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _lease(opened: int) -> bool | None:
    """Whether there is such a lease now; None where the system has none to give."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # Helm is told of who waits by this signal, where the usual one would end it.
        fcntl.fcntl(opened, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None
    return True


def only_adds(folder: int) -> bool:
    """Whether names can be put into a folder, and never be taken away again."""
    if sys.platform == "darwin":
        return bool(os.fstat(folder).st_flags & (stat.UF_APPEND | stat.SF_APPEND))
    with suppress(OSError):
        flags = fcntl.ioctl(folder, _GET_FLAGS, bytes(struct.calcsize("l")))
        return bool(struct.unpack("i", flags[:4])[0] & _APPEND)
    return False


def mounted_over(folder: int, opened: int) -> bool:
    """Whether a file was mounted on a name of its folder, so that no other can take that name.

    Where the system tells no mounts, only whether another disk is mounted there.
    """
    above, here = _mount(folder), _mount(opened)
    if above and here:
        # The device does not tell: one overlay has files of several.
        return above != here
    return os.fstat(folder).st_dev != os.fstat(opened).st_dev


def _mount(opened: int) -> str:
    with suppress(OSError), open(f"/proc/self/fdinfo/{opened}") as told:
        return next((line for line in told if line.startswith("mnt_id:")), "")
    return ""


def locked(folder: int) -> bool | None:
    """Take the lock of a folder, which ends with its last descriptor: False where another process has it.

    None where the disk knows no such locks.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def keep(old: int, new: int) -> None:
    """Give an open file the owner, mode, access lists and attributes of another. Raises OSError where one is lost."""
    of_old, of_new = os.fstat(old), os.fstat(new)
    if (of_old.st_uid, of_old.st_gid) != (of_new.st_uid, of_new.st_gid):
        os.fchown(new, of_old.st_uid, of_old.st_gid)
    if sys.platform == "darwin":
        if _library().fcopyfile(old, new, None, _METADATA) != 0:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        os.utime(new)
    else:
        _keep(old, new, of_old.st_mode & 0o7777)


def attributes(opened: int) -> list[str]:
    """The names of an open file's extended attributes; none where the disk has no such thing."""
    with suppress(OSError, AttributeError):
        return os.listxattr(opened)
    return []


def _keep(old: int, new: int, mode: int) -> None:
    wanted = attributes(old)
    for name in attributes(new):
        # A folder may give what is made in it rights that the file did not have: they go before the mode lets them in.
        if name not in wanted and not name.startswith(_SYSTEMS_OWN):
            os.removexattr(new, name)
    # After the owner, whose change takes bits of the mode away.
    os.fchmod(new, mode)
    for name in wanted:
        try:
            os.setxattr(new, name, os.getxattr(old, name))
        except OSError:
            if not name.startswith(_SYSTEMS_OWN):
                raise


@cache
def _library() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
