"""How a signal that asks the process to end becomes an exit, on whose way out a terminal is given back."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def endings() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP raise SystemExit with 128 + their number.

    One that is ignored, as under nohup, or has a handler already is left as it is.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
