"""How a call that runs in a thread beside others is ended from outside, as Ctrl-C ends the one call of a process."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final


class Interrupt:
    """The end of one call, asked for from any thread and for good; what the call waits for meanwhile is woken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: list[Callable[[], None]] = []
        self.came = False

    def set(self) -> None:
        with self._lock:
            self.came = True
            for wake in self._wakes:
                wake()

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Has `wake` called when the interrupt comes while the block runs, or at once when it came before."""
        with self._lock:
            self._wakes.append(wake)
            if self.came:
                wake()
        try:
            yield
        finally:
            with self._lock:
                self._wakes.remove(wake)


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C waits until the block is done: what was made in it is known by then to whoever takes it away again."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_own: Final = threading.local()


@contextmanager
def obeyed(interrupt: Interrupt) -> Iterator[None]:
    """The call that this thread makes in the block ends with KeyboardInterrupt soon after the interrupt comes."""
    _own.interrupt = interrupt
    try:
        yield
    finally:
        del _own.interrupt


@contextmanager
def waking(wake: Callable[[], None]) -> Iterator[None]:
    """As `Interrupt.waking`, for the call of this thread; nothing where it obeys none."""
    interrupt: Interrupt | None = getattr(_own, "interrupt", None)
    if interrupt is None:
        yield
        return
    with interrupt.waking(wake):
        yield


def check() -> None:
    """Raises KeyboardInterrupt where the call of this thread was interrupted."""
    interrupt: Interrupt | None = getattr(_own, "interrupt", None)
    if interrupt is not None and interrupt.came:
        raise KeyboardInterrupt


@contextmanager
def descriptor() -> Iterator[int | None]:
    """What can be read from as soon as the call of this thread is interrupted; None where it obeys no interrupt."""
    if getattr(_own, "interrupt", None) is None:
        yield None
        return
    heard, told = os.pipe()
    try:
        with waking(lambda: _write(told)):
            yield heard
    finally:
        os.close(heard)
        os.close(told)


def _write(told: int) -> None:
    os.write(told, b"!")
