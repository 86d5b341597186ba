"""What writing a file needs of the system beyond Python: to exchange two names, and to keep all that is not content."""

import errno
import fcntl
import os
import signal
import sys
from contextlib import suppress
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


def unwritten(opened: int) -> bool:
    """Whether nobody has this file open for writing; True where the system does not tell.

    `opened` is a descriptor for reading, and the caller must have none for writing.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return True
    try:
        # Whoever opens it meanwhile waits, and helm is told by this signal, where the usual one would end it.
        fcntl.fcntl(opened, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno != errno.EAGAIN
    return True


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
