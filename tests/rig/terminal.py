"""How a test sits at a terminal: a program on a pseudo-terminal of its own, keys with their timing, the screen."""

import os
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fcntl import ioctl
from select import select
from typing import Any, Final, Literal

import pyte

from tests.program import HELM, environment
from tests.rig import forked

SECONDS: Final = 20.0

ENTER, ESC, DOWN, UP = b"\r", b"\x1b", b"\x1b[B", b"\x1b[A"
CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH = b"\x03", b"\x04", b"\x1a", b"\x1c"

# Becomes the session's leader with the terminal as its own, then the program. In a program of its own because a
# fork in a process with threads is unsafe.
_LEADER: Final = """
import fcntl, os, sys, termios
terminal = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
os.close(terminal)
os.execvp(sys.argv[2], sys.argv[2:])
"""

Place = Literal["terminal", "pipe", "null"]
Started = subprocess.Popen[bytes] | forked.Forked


def uncounted(line: str) -> str:
    """The line without how long its question still stands, which depends on when one looks."""
    return re.sub(r" [0-5]:[0-9][0-9] left\.$", "", line)


class Terminal:
    """A running program and the terminal that it runs on.

    `raw` is every byte the terminal was sent, `out` and `err` what went to the pipes that took their place, `before`
    the terminal's settings before the program began.
    """

    def __init__(
        self, process: Started, controller: int, device: int, size: tuple[int, int], before: list[Any]
    ) -> None:
        self.process = process
        self.before = before
        self.raw = b""
        self.out = b""
        self.err = b""
        self._controller = controller
        self._device = device
        self._screen = pyte.Screen(size[0] or 80, size[1] or 24)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = threading.Condition()
        self._over = False
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def send(self, *keys: bytes | float) -> None:
        """Presses keys, each with one write; a number is a pause in seconds."""
        for key in keys:
            if isinstance(key, bytes):
                os.write(self._controller, key)
            else:
                time.sleep(key)

    def wait_for(self, text: str, times: int = 1, seconds: float = SECONDS) -> None:
        """Waits until the text stands on the screen so many times."""

        def there() -> bool:
            return self._text().count(text) >= times

        with self._changed:
            self._changed.wait_for(lambda: there() or self._over, seconds)
            assert there(), f"no {text!r} ({times} times) on the screen:\n{self._text()}"

    def screen(self) -> list[str]:
        """The lines on the screen without blanks at their ends and without empty lines below the last."""
        with self._changed:
            return self._text().split("\n")

    def attributes(self) -> list[Any]:
        """The settings of the terminal, as termios gives them."""
        return termios.tcgetattr(self._device)

    def resize(self, columns: int, rows: int) -> None:
        with self._changed:
            self._screen.resize(rows, columns)
        _set_size(self._device, columns, rows)
        os.kill(self.process.pid, signal.SIGWINCH)

    def hang_up(self) -> None:
        """Closes the terminal as a window does that is closed."""
        self._stop()
        for name in ("_device", "_controller"):
            if (fd := getattr(self, name)) >= 0:
                os.close(fd)
                setattr(self, name, -1)

    def status(self, seconds: float = SECONDS) -> int:
        """Waits for the end of the program: its exit status, negative where a signal ended it."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not done in {seconds} s:\n{self._text()}") from None
        self.out, self.err = out or b"", err or b""
        self._stop()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
        self.hang_up()

    def _text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    def _read(self) -> None:
        while True:
            waiting = bool(select([self._controller], [], [], 0.02)[0])
            if not waiting and self._over:
                return
            if waiting:
                try:
                    data = os.read(self._controller, 65536)
                except OSError:
                    return
                with self._changed:
                    self.raw += data
                    self._stream.feed(data)
                    self._changed.notify_all()

    def _stop(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        if self._reader.is_alive():
            self._reader.join()


@contextmanager
def at_terminal(
    *command: str,
    stdin: Place | bytes = "terminal",
    stdout: Place = "terminal",
    stderr: Place = "terminal",
    env: Mapping[str, str | None] | None = None,
    size: tuple[int, int] = (80, 24),
    early: bytes = b"",
) -> Iterator[Terminal]:
    """Runs a command in a session whose controlling terminal is new; it is ended, with its group, after the block.

    Bytes as `stdin` come through a pipe, which is then closed. `size` is columns and rows. `early` are keys
    pressed before the program starts. LINES and COLUMNS are not set, so that the terminal's own size counts.
    """
    controller, device = os.openpty()
    _set_size(device, *size)
    name, before = os.ttyname(device), termios.tcgetattr(device)
    told = environment({"LINES": None, "COLUMNS": None, **(env or {})})
    streams: tuple[Place, ...] = ("pipe" if isinstance(stdin, bytes) else stdin, stdout, stderr)
    if list(command[: len(HELM)]) == HELM and forked.fits(told):
        process = _forked(list(command[len(HELM) :]), told, streams, device)
    else:
        places: dict[Place, int] = {"terminal": device, "pipe": subprocess.PIPE, "null": subprocess.DEVNULL}
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LEADER, name, *command],
            env=told,
            stdin=places[streams[0]],
            stdout=places[stdout],
            stderr=places[stderr],
            start_new_session=True,
        )
    terminal = Terminal(process, controller, device, size, before)
    try:
        terminal.send(early)
        if isinstance(stdin, bytes) and process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
            process.stdin = None
        yield terminal
    finally:
        terminal.close()


def _forked(arguments: list[str], env: dict[str, str], streams: tuple[Place, ...], device: int) -> Started:
    with open(os.devnull, "r+b", buffering=0) as nothing:
        places: dict[Place, int | None] = {"terminal": device, "pipe": None, "null": nothing.fileno()}
        first, second, third = (places[place] for place in streams)
        return forked.begin(arguments, env, None, (first, second, third), terminal=device)


def _set_size(device: int, columns: int, rows: int) -> None:
    ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
