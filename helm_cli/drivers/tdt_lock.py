"""Who may start the server of a TDT workspace: one process at a time, and the next in line can be seen to wait."""

import fcntl
import os
import threading
from contextlib import suppress
from hashlib import sha256
from time import monotonic
from typing import Final

from helm_cli.drivers import interrupts
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Brain

_POLL_SECONDS: Final = 0.02
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def acquire(target: Brain, seconds: float) -> int:
    """The descriptor of the workspace's lock, which is held by every process that has it open.

    Whoever waits is the next, which `awaited` tells the holder. HelmError "unavailable" where it is not had within
    `seconds`, "state" where helm's own files cannot be used.
    """
    ends = monotonic() + seconds
    queue = _opened(target, "next")
    try:
        _wait(queue, ends, seconds)
        lock = _opened(target, "child")
        try:
            _wait(lock, ends, seconds)
        except BaseException:
            os.close(lock)
            raise
        return lock
    finally:
        os.close(queue)


def awaited(target: Brain) -> bool:
    """Whether another process waits for the lock."""
    try:
        queue = _opened(target, "next")
    except HelmError:
        return False
    try:
        return not _taken(queue)
    finally:
        os.close(queue)


def _wait(descriptor: int, ends: float, seconds: float) -> None:
    awake = threading.Event()
    with interrupts.waking(awake.set):
        while not _taken(descriptor):
            if monotonic() >= ends:
                raise HelmError(
                    "unavailable",
                    f"another helm has used this workspace's TDT for {seconds:g} s, and only one can at a time;"
                    " call again when it is done",
                )
            awake.wait(_POLL_SECONDS)
            interrupts.check()


def _taken(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _opened(target: Brain, what: str) -> int:
    name = sha256(os.fsencode(target.folder)).hexdigest()[:32]
    path = os.path.join(target.locks, f"tdt-{name}.{what}")
    try:
        with suppress(FileExistsError):
            os.mkdir(target.locks, 0o700)
        return os.open(path, _FLAGS, 0o600)
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise HelmError("state", f"{path} cannot be used: {reason}; look at that path") from None
