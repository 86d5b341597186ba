"""How a piece of work that may block in foreign code still ends in time."""

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final, TypeVar

from helm_cli.drivers import interrupts

Result = TypeVar("Result")

# How long an interrupted piece of work may take to clean up before it is left behind.
GRACE: Final = 0.25


class Abandoned(Exception):
    """The work did not end within the grace after its deadline; its thread was left behind.

    `open_ended` is whether it had begun what cannot be taken back (`Deadline.begin_commit`), so that nobody
    knows whether it took effect. If not, it never will.
    """

    def __init__(self, *, open_ended: bool) -> None:
        super().__init__()
        self.open_ended = open_ended


class Deadline:
    """The one moment (of `time.monotonic`) by which the whole of a piece of work must be done.

    The work asks `over()` in its loops, gives the rest of its time to whatever it waits for, and puts into
    `interrupt` what ends its current wait from another thread. Once `stopped` it is over for ever.
    """

    __slots__ = ("committing", "ends", "interrupt", "stopped")

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.stopped = False
        self.committing = False
        self.interrupt: Callable[[], None] | None = None

    def over(self) -> bool:
        return self.stopped or monotonic() >= self.ends

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return 0.0 if self.stopped else max(0.0, self.ends - monotonic())

    def begin_commit(self) -> bool:
        """Whether there is still time to make a change for good; if so its outcome is open from here on.

        The mark is set before the time is looked at, and `run` looks at the mark after it stopped the time: work
        that was left behind without the mark cannot commit any more.
        """
        self.committing = True
        if self.over():
            self.committing = False
        return self.committing


def run(work: Callable[[Deadline], Result], seconds: float, grace: float = GRACE) -> Result:
    """What `work` returns or raises, waited for until `seconds` and the grace are over; then Abandoned.

    The work runs in a daemon thread, because nothing else ends while C code blocks: the caller goes on, and
    the process may end. Several may run at once. Ctrl-C in the caller stops the work in the same way, and so does
    what interrupts the call of a thread (`interrupts`).
    """
    deadline = Deadline(monotonic() + seconds)
    done, awake = threading.Event(), threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work(deadline))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()
            awake.set()

    try:
        with interrupts.waking(awake.set):
            threading.Thread(target=body, name="helm-call", daemon=True).start()
            awake.wait(seconds)
        if not done.is_set():
            interrupts.check()
    finally:
        if not done.is_set():
            _stop(deadline)
            done.wait(grace)
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else the error and this frame would keep each other, and all that it holds, alive
    if not results:
        raise Abandoned(open_ended=deadline.committing)
    return results[0]


def _stop(deadline: Deadline) -> None:
    deadline.stopped = True
    interrupt = deadline.interrupt
    if interrupt is not None:
        # What there was to interrupt may have closed in this moment, in whatever way its library says so.
        with suppress(Exception):
            interrupt()
