"""How helm takes the controlling terminal for one conversation, and gives it back as it was, whatever ends it."""

import os
import select
import signal
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, Literal, NamedTuple, TextIO

from helm_cli.model.errors import HelmError
from helm_cli.view.ending import ENDING, deliver

# How a conversation with a person ends; "expired" at its time limit, "hasty" is a no: a yes too quick to be one.
Answer = Literal["confirmed", "declined", "hasty", "expired"]

# Whatever ran before may have left colours, line drawing, mouse or focus reports, or a hidden cursor behind.
KNOWN_STATE: Final = (
    "\x1b[0m\x0f\x1b(B\x1b[?1l\x1b>\x1b[4l\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l"
)
LEFT_STATE: Final = "\x1b[0m\x1b[?2004l\x1b[?25h"

QUIET_SECONDS: Final = 0.1
NEVER_QUIET_SECONDS: Final = 5.0

# A stop would hand the shell a terminal in raw mode; restoring it from the background would stop as well.
_IGNORED: Final = (signal.SIGTSTP, signal.SIGTTOU)


class Terminal(NamedTuple):
    """The controlling terminal, in raw mode. `signals` are those that came meanwhile, `wake` who wants to know."""

    fd: int
    keys: TextIO
    screen: TextIO
    signals: list[int]
    wake: list[Callable[[], object]]

    def size(self) -> tuple[int, int]:
        """Columns and rows; 80 and 24 where the terminal does not say."""
        try:
            columns, rows = os.get_terminal_size(self.fd)
        except OSError:
            columns, rows = 0, 0
        return columns or 80, rows or 24

    def write(self, text: str) -> None:
        self.screen.write(text)
        self.screen.flush()

    def quiet(self) -> bool:
        """Drops every key and terminal reply until 100 ms pass without one.

        False when that does not come about in 5 s, or when the terminal is gone or a signal comes meanwhile.
        """
        until = time.monotonic() + NEVER_QUIET_SECONDS
        while select.select([self.fd], [], [], QUIET_SECONDS)[0]:
            if time.monotonic() > until or self.signals or not _read(self.fd):
                return False
        return True


@contextmanager
def controlling() -> Iterator[Terminal]:
    """The controlling terminal for the time of the block; its settings are the same before and after.

    SIGINT, and everything that asks the process to end, is held back until the terminal is restored; then the
    process's own handler gets it, or SystemExit(128 + n) is raised; SIGINT is an answer (no) and goes no further.
    Only the main thread may call it. Raises HelmError `confirmation_required` where there is no terminal, and
    OSError or termios.error when it is gone meanwhile.
    """
    assert threading.current_thread() is threading.main_thread(), "only the main thread can hold signals back"
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise HelmError("confirmation_required", "there is no terminal to ask a person at") from None
    signals: list[int] = []
    wake: list[Callable[[], object]] = []
    with (
        # Around all else, so that a signal is told whatever goes wrong with a terminal that is gone.
        _signals_held(signals, wake),
        open(fd, encoding="utf-8") as keys,
        open(fd, "w", encoding="utf-8", errors="replace", newline="", closefd=False) as screen,
    ):
        terminal = Terminal(fd, keys, screen, signals, wake)
        with _raw(terminal):
            yield terminal


@contextmanager
def _raw(terminal: Terminal) -> Iterator[None]:
    before = termios.tcgetattr(terminal.fd)
    try:
        termios.tcsetattr(terminal.fd, termios.TCSANOW, _raw_settings(before))
        # Only now: what a line-wise terminal has not handed over yet escapes a flush.
        termios.tcflush(terminal.fd, termios.TCIFLUSH)
        termios.tcflow(terminal.fd, termios.TCOON)
        terminal.write(KNOWN_STATE)
        yield
    finally:
        # A terminal that is gone needs no restoring.
        with suppress(OSError, termios.error):
            terminal.write(LEFT_STATE)
        with suppress(OSError, termios.error):
            termios.tcflush(terminal.fd, termios.TCIFLUSH)
            termios.tcsetattr(terminal.fd, termios.TCSANOW, before)


def _raw_settings(before: list[Any]) -> list[Any]:
    iflag, oflag, cflag, lflag, ispeed, ospeed, cc = before
    iflag &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
    lflag &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    cc = list(cc)
    cc[termios.VMIN], cc[termios.VTIME] = 1, 0
    return [iflag, oflag | termios.OPOST | termios.ONLCR, cflag | termios.CREAD, lflag, ispeed, ospeed, cc]


@contextmanager
def _signals_held(signals: list[int], wake: list[Callable[[], object]]) -> Iterator[None]:
    def hold(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        for waiting in wake:
            waiting()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING, *_IGNORED)}
    for number, handler in before.items():
        # Who runs helm under nohup wants it to outlive the terminal.
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_IGN if number in _IGNORED else hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for came in signals:
            if came != signal.SIGINT:
                deliver(came)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""
