"""How a signal that asks the process to end becomes an exit, on whose way out a terminal is given back."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# All that ends a process which does not see to it, but for what tells of a fault of its own.
ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)


@contextmanager
def endings() -> Iterator[None]:
    """While the block runs, what ends a process (`ENDING`) raises SystemExit with 128 + the signal's number.

    One that is ignored, as under nohup, or has a handler already is left as it is.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


@contextmanager
def deferred(wake: Callable[[], object]) -> Iterator[list[int]]:
    """While the block runs, such a signal only has `wake` called, and stands in the list; it is delivered afterwards.

    For where an exception in whatever runs just then would be swallowed.
    """
    came: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        came.append(number)
        wake()

    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, hold)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for held in came:
            deliver(held)


def deliver(number: int) -> None:
    """Have a signal that was held back do what it would have done, but where that is to kill: raises SystemExit."""
    if callable(signal.getsignal(number)):
        signal.raise_signal(number)
    raise SystemExit(128 + number)
