"""A run of helm that begins in milliseconds: forked from a Python of the tests' own that has loaded it (`ready`)."""

import atexit
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from tests.rig.ready import LENGTH, STATUS

# What a Python obeys only at its start; a run with others than those of the tests has to be a true start.
_AT_START: Final = ("PYTHON", "LC_", "LANG")
_lock: Final = threading.Lock()


class Forked:
    """A process as `subprocess.Popen` gives one, as far as the tests ask; a member of no group but its own."""

    def __init__(self, pid: int, status: int, stdin: int | None, stdout: int | None, stderr: int | None) -> None:
        self.pid = pid
        self.returncode: Any = None
        self.stdin: Any = None if stdin is None else io.FileIO(stdin, "wb")
        self.stdout: Any = None if stdout is None else io.FileIO(stdout, "rb")
        self.stderr: Any = None if stderr is None else io.FileIO(stderr, "rb")
        self._status = status

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        ended = self._ended(timeout)
        if ended is None:
            raise subprocess.TimeoutExpired("helm", timeout or 0)
        return ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: bytes = b"", timeout: float | None = None) -> tuple[bytes, bytes]:
        """What it prints until nobody holds its streams any more. Raises `subprocess.TimeoutExpired`."""
        until = None if timeout is None else time.monotonic() + timeout
        feeding = threading.Thread(target=self._feed, args=(given,), daemon=True)
        feeding.start()
        texts: dict[Any, bytearray] = {stream: bytearray() for stream in (self.stdout, self.stderr) if stream}
        open_ = set(texts)
        while open_:
            left = None if until is None else until - time.monotonic()
            readable, _, _ = select.select(open_, [], [], left if left is None else max(left, 0))
            if not readable:
                raise subprocess.TimeoutExpired("helm", timeout or 0)
            for stream in readable:
                data = stream.read(65536)
                texts[stream] += data
                if not data:
                    open_.remove(stream)
        self.wait(None if until is None else max(until - time.monotonic(), 0))
        feeding.join()
        for stream in texts:
            stream.close()
        return bytes(texts.get(self.stdout, b"")), bytes(texts.get(self.stderr, b""))

    def _feed(self, given: bytes) -> None:
        if self.stdin is None:
            return
        try:
            view = memoryview(given)
            while view:
                view = view[self.stdin.write(view) :]
        except BrokenPipeError:
            pass
        self.stdin.close()

    def _ended(self, timeout: float | None) -> int | None:
        with _lock:
            known = self.returncode
        if known is not None or not select.select([self._status], [], [], timeout)[0]:
            return None if known is None else int(known)
        with _lock:
            if self.returncode is None:
                (self.returncode,) = STATUS.unpack(os.read(self._status, STATUS.size))
                os.close(self._status)
            ended: int = self.returncode
            return ended


def fits(environment: Mapping[str, str]) -> bool:
    """Whether a run with this environment begins as a true start would."""
    told = {name: value for name, value in environment.items() if name.startswith(_AT_START)}
    return told == {name: value for name, value in os.environ.items() if name.startswith(_AT_START)}


def begin(
    arguments: list[str],
    environment: Mapping[str, str],
    folder: str | None,
    streams: tuple[int | None, int | None, int | None],
    terminal: int | None = None,
) -> Forked:
    """Runs helm. A stream is a descriptor to give, or None for a pipe to it; `terminal` is to be its own."""
    theirs, ours = _pipes(streams)
    read, written = os.pipe()
    os.set_inheritable(written, False)
    umask = os.umask(0)
    os.umask(umask)
    asked = json.dumps(
        {
            "arguments": arguments,
            "environment": dict(environment),
            "folder": os.path.abspath(folder or "."),
            "umask": umask,
        }
    ).encode()
    sent = [*theirs, written, *([] if terminal is None else [terminal])]
    with _lock:
        control, _ = _server()
        socket.send_fds(control, [LENGTH.pack(len(asked))], sent)
        control.sendall(asked)
        pid: int = LENGTH.unpack(control.recv(LENGTH.size))[0]
    os.close(written)
    for mine, given in zip(theirs, streams, strict=True):
        if given is None:
            os.close(mine)
    return Forked(pid, read, *ours)


def _pipes(streams: tuple[int | None, ...]) -> tuple[list[int], list[int | None]]:
    theirs: list[int] = []
    ours: list[int | None] = []
    for number, given in enumerate(streams):
        if given is not None:
            theirs.append(given)
            ours.append(None)
            continue
        read, written = os.pipe()
        theirs.append(read if number == 0 else written)
        ours.append(written if number == 0 else read)
    return theirs, ours


_servers: Final[dict[int, tuple[socket.socket, int]]] = {}


def parent() -> int:
    """The process that a run has as its parent."""
    with _lock:
        return _server()[1]


def _server() -> tuple[socket.socket, int]:
    """The way to the one that forks, which is started with the first run of this process and ends with it; its id."""
    here = os.getpid()
    if here not in _servers:
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.rig.ready", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        _servers[here] = ours, process.pid
        atexit.register(_end, ours, process)
    return _servers[here]


def _end(control: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    control.close()
    process.wait()
