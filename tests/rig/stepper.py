"""The kernel as a stepper: a process and all that it starts are held before each system call that changes something.

It is done by seccomp(2), whose filter hands the call to the supervisor and waits (Linux 5.19): no debugger and no
rights are needed. `run` lets so many calls go on and kills the process at the next; what it had started is let go on,
or dies with it.
"""

import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn

# Name -> its number on x86_64 and on aarch64, None where there is none; every one that changes what others can see.
_CHANGING: Final[dict[str, tuple[int | None, int | None]]] = {
    "write": (1, 64), "pwrite64": (18, 68), "writev": (20, 66), "pwritev": (296, 70), "sendfile": (40, 71),
    "sendto": (44, 206), "fsync": (74, 82), "fdatasync": (75, 83), "truncate": (76, 45), "ftruncate": (77, 46),
    "fallocate": (285, 47), "copy_file_range": (326, 285),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None),
    "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
    "unlink": (87, None), "unlinkat": (263, 35),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "fchownat": (260, 54),
    "setxattr": (188, 5), "fsetxattr": (190, 7), "utimensat": (280, 88),
}  # fmt: skip
_OPENING: Final = (257, 56)
_SECCOMP: Final = (317, 277)
_MACHINES: Final = {"x86_64": 0, "aarch64": 1}

_NO_NEW_PRIVILEGES: Final = 38
_SET_FILTER: Final = 1
# A listener is wanted; and only a signal that kills ends the wait, so that no call is counted twice.
_FLAGS: Final = 1 << 3 | 1 << 5
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _GIVE = 0x20, 0x15, 0x45, 0x06
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_RECEIVE, _ANSWER, _GO_ON = 0xC0502100, 0xC0182101, 1
_THIRD_ARGUMENT: Final = 16 + 2 * 8
_SUBREAPER: Final = 36

_library: Final = ctypes.CDLL(None, use_errno=True)


class Ended(NamedTuple):
    """How a process ended: `status` (negative: the signal), how many calls were seen of it and all that it started.

    `at` is the name of the call before which it was killed, "" where it was not; `own` whether it was its own.
    """

    status: int
    calls: int
    at: str
    own: bool


def run(body: Callable[[], object], step: int = 0, *, everybody: bool = False) -> Ended:
    """Have a child do this, and kill it before its so many-th changing call; with 0, only count.

    `everybody`: what it started is killed at the same moment. Only returns when nothing of it is left.
    """
    _library.prctl(_SUBREAPER, 1, 0, 0, 0)
    ours, its = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        _supervised(its, body)
    its.close()
    with ours:
        _, [listener], _, _ = socket.recv_fds(ours, 1, 1)
    try:
        calls, at, own = _watched(listener, child, step, everybody=everybody)
    finally:
        os.close(listener)
    return Ended(_reaped(child), calls, at, own)


def _supervised(its: socket.socket, body: Callable[[], object]) -> NoReturn:
    status = 1
    try:
        listener = _filtered()
        socket.send_fds(its, [b"l"], [listener])
        os.close(listener)
        its.close()
        body()
        status = 0
    finally:
        os._exit(status)


def _filtered() -> int:
    machine = _MACHINES[os.uname().machine]
    numbers = sorted(number for pair in _CHANGING.values() if (number := pair[machine]) is not None)
    # Each comparison jumps over what is left of them to the end, where the two answers stand.
    program = [(_LOAD, 0, 0, 0)]
    for place, number in enumerate(numbers):
        program.append((_IF_EQUAL, len(numbers) - place + 3, 0, number))
    program += [
        (_IF_EQUAL, 0, 2, _OPENING[machine]),
        (_LOAD, 0, 0, _THIRD_ARGUMENT),
        (_IF_ANY_BIT, 1, 0, os.O_CREAT | os.O_TRUNC),
        (_GIVE, 0, 0, _ALLOW),
        (_GIVE, 0, 0, _NOTIFY),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_ = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    assert _library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    listener = int(_library.syscall(_SECCOMP[machine], _SET_FILTER, _FLAGS, filter_))
    assert listener >= 0, os.strerror(ctypes.get_errno())
    return listener


def _watched(listener: int, child: int, step: int, *, everybody: bool) -> tuple[int, str, bool]:
    machine = _MACHINES[os.uname().machine]
    names = {pair[machine]: name for name, pair in _CHANGING.items()} | {_OPENING[machine]: "openat"}
    calls, at, own = 0, "", False
    seen = {child}
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    while True:
        [(_, event)] = waiting.poll()
        if not event & select.POLLIN:
            # Nobody is left who has the filter.
            return calls, at, own
        notice = bytearray(80)
        try:
            fcntl.ioctl(listener, _RECEIVE, notice)
        except OSError:
            continue  # It was killed between the two.
        id_, process, _, number = struct.unpack_from("QIIi", notice)
        seen.add(process)
        calls += 1
        if calls == step:
            at, own = names[number], process == child
            for one in [*(_below(child, seen) if everybody else ()), child]:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        # It is gone where it was killed.
        with suppress(OSError):
            fcntl.ioctl(listener, _ANSWER, struct.pack("QqiI", id_, 0, 0, _GO_ON))


def _below(child: int, seen: set[int]) -> list[int]:
    """Every process that came of the child; one that lost its parent is ours by now."""
    found: list[int] = [one for one in (child, *_children(os.getpid())) if one in seen]
    for one in found:
        found += [other for other in _children(one) if other not in found]
    return found


def _children(process: int) -> list[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children") as children:
            return [int(child) for child in children.read().split()]
    except OSError:
        return []


def _reaped(child: int) -> int:
    status = os.waitpid(child, 0)[1]
    # What it left behind is dead by now; whatever else this process started is not waited for.
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return os.waitstatus_to_exitcode(status)
