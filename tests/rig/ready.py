"""A Python that has helm and its libraries loaded and forks itself for each run, for a run is mostly its imports.

    python -m tests.rig.ready DESCRIPTOR

It never runs anything of helm itself. A run begins at `helm_cli.__main__.entry`, in a process of its own, with the
arguments, environment, folder, umask and streams that it was asked for; how that one ended is written to the pipe that
came with the request. What only a true start shows (what a command imports, the environment and the arguments as the
kernel tells them, interrupts before the first line) is tested with one.
"""

import contextlib
import fcntl
import gc
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import sys
import termios
import time
from importlib import import_module
from typing import Any, Final, NoReturn

LENGTH: Final = struct.Struct("<I")
STATUS: Final = struct.Struct("<i")
# Standard input, output and error, and the pipe for the status; then, for a program at a terminal, its device.
STREAMS: Final = 4
MOST: Final = STREAMS + 1


def main() -> NoReturn:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    load()
    running: dict[int, int] = {}
    ended, signalled = socket.socketpair()
    signalled.setblocking(False)
    signal.set_wakeup_fd(signalled.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    selector.register(ended, selectors.EVENT_READ)
    own = [control, ended, signalled]
    while True:
        for key, _ in selector.select():
            if key.fileobj is control:
                asked = _asked(control)
                if asked is None:
                    os._exit(0)
                _begin(*asked, running, [*(each.fileno() for each in own), selector.fileno()], control)
            else:
                ended.recv(4096)
        _reap(running)


def load() -> None:
    """Everything, so that a run needs no file of it, and none that somebody without rights cannot read."""
    import helm_cli

    ours = [module.name for module in pkgutil.walk_packages(helm_cli.__path__, "helm_cli.")]
    for name in (*ours, "httpx", "psycopg", "tomlkit", "questionary", "jsonschema"):
        # The run that needs one that cannot be loaded is to tell it, and no other.
        with contextlib.suppress(Exception):
            import_module(name)
    gc.collect()
    # What is there already is left alone, and so stays one for all forks.
    gc.freeze()


def _asked(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    try:
        head, descriptors, _, _ = socket.recv_fds(control, LENGTH.size, MOST)
    except ConnectionError:
        return None
    if not head:
        return None
    data = bytearray()
    size: int = LENGTH.unpack(head)[0]
    while len(data) < size:
        data += control.recv(size - len(data))
    return json.loads(data), descriptors


def _begin(
    asked: dict[str, Any], descriptors: list[int], running: dict[int, int], own: list[int], control: socket.socket
) -> None:
    pid = os.fork()
    if pid == 0:
        _become(asked, descriptors, [*own, *running.values()])
    for descriptor in (*descriptors[:3], *descriptors[STREAMS:]):
        os.close(descriptor)
    running[pid] = descriptors[3]
    control.sendall(LENGTH.pack(pid))


def _reap(running: dict[int, int]) -> None:
    for pid in list(running):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            with contextlib.suppress(BrokenPipeError):
                os.write(running[pid], STATUS.pack(os.waitstatus_to_exitcode(status)))
            os.close(running.pop(pid))


def _become(asked: dict[str, Any], descriptors: list[int], own: list[int]) -> NoReturn:
    """The forked process as a fresh Python would be at this moment, and then helm."""
    status = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        if len(descriptors) > STREAMS:
            fcntl.ioctl(descriptors[STREAMS], termios.TIOCSCTTY, 0)
        for number, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, number)
        for descriptor in (*descriptors, *own):
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(asked["environment"])
        time.tzset()
        os.umask(asked["umask"])
        os.chdir(asked["folder"])
        sys.argv = ["helm", *asked["arguments"]]
        sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))
        from helm_cli.__main__ import entry

        entry()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    finally:
        os._exit(status)


def _stream(number: int) -> io.TextIOWrapper:
    """A standard stream as Python makes it at its start."""
    if number == 0:
        return io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, "r", closefd=False)), "utf-8", "surrogateescape", newline=None
        )
    raw = io.FileIO(number, "w", closefd=False)
    errors = "surrogateescape" if number == 1 else "backslashreplace"
    return io.TextIOWrapper(
        io.BufferedWriter(raw), "utf-8", errors, newline="\n", line_buffering=number == 2 or raw.isatty()
    )


if __name__ == "__main__":
    main()
