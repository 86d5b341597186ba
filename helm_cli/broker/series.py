"""What is remembered from one call to the next where a process makes many in a row."""

from collections import deque
from collections.abc import Iterator
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

    def sweeps(self, now: float) -> bool:
        """Whether it is time to look for what expired."""
        due = self._swept is None or not 0 <= now - self._swept < _SWEEP_SECONDS
        if due:
            self._swept = now
        return due
