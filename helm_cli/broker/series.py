"""What is remembered from one call to the next where a process makes many in a row."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Final

from helm_cli.store import history

# How often what expired is looked for.
_SWEEP_SECONDS: Final = 1.0


class Series:
    """Calls in a row, of all threads of one batch.

    `counts` are as `history.begin` wants them. `more` is whether the next call is sure to come, and soon: then what is
    told of how the one before it ended waits for that.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], history.Count] = {}
        self.more = True
        # Entry -> when it began (`monotonic`): those of which the history does not tell yet how they ended.
        self.running: dict[int, float] = {}
        self._over = False
        # Of a kind that this thread can take again: an interrupt in the midst of `beginning` must not shut it out.
        self._turn = threading.RLock()
        self._ended: deque[history.Ended] = deque()
        self._swept: float | None = None

    def add(self, ended: history.Ended) -> None:
        self._ended.append(ended)

    @contextmanager
    def told(self) -> Iterator[list[history.Ended]]:
        """The calls that ended, which the block tells of; they wait on where it fails."""
        ended: list[history.Ended] = []
        with suppress(IndexError):
            while True:
                ended.append(self._ended.popleft())
        try:
            yield ended
        except BaseException:
            self._ended.extendleft(reversed(ended))
            raise
        for one in ended:
            self.running.pop(one.id, None)

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """The block begins a call. Raises CancelledError where the series is over."""
        with self._turn:
            if self._over:
                raise CancelledError
            yield

    def begun(self, entry: int) -> None:
        self.running[entry] = time.monotonic()

    def end(self) -> None:
        """No call begins from now on."""
        with self._turn:
            self._over, self.more = True, False

    def left(self) -> list[tuple[int, int]]:
        """The entries that are running, in threads that nobody waits for, with for how many milliseconds."""
        now = time.monotonic()
        return [(entry, round((now - begun) * 1000)) for entry, begun in [*self.running.items()]]

    def sweeps(self, now: float) -> bool:
        """Whether it is time to look for what expired."""
        due = self._swept is None or not 0 <= now - self._swept < _SWEEP_SECONDS
        if due:
            self._swept = now
        return due
