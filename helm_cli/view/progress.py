"""How far a long run is: one line on standard error, redrawn in place, that never mixes with anything printed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from helm_cli.view.streams import Streams
from helm_cli.view.text import shown

BAR_CELLS: Final = 24
REDRAW_SECONDS: Final = 0.1


class Progress:
    """The bar of one run. `advance` counts; `clear` takes the bar off before something else is printed or asked.

    It is drawn by its caller's own thread, so nothing of it can appear while a question is open.
    """

    def __init__(self, streams: Streams, label: str, total: int | None) -> None:
        self._streams = streams
        self._label = shown(label)
        self._total = total
        self._done = 0
        self._drawn = False
        self._drawn_at = 0.0

    def advance(self) -> None:
        self._done += 1
        now = time.monotonic()
        shows = self._streams.err_terminal and self._streams.voice != "quiet"
        if shows and now - self._drawn_at >= REDRAW_SECONDS:
            self._drawn, self._drawn_at = True, now
            self._put(f"\r{self._label} {self._far()}")

    def clear(self) -> None:
        if self._drawn:
            self._drawn = False
            self._put("\r\x1b[K")

    def _far(self) -> str:
        if self._total is None:
            return str(self._done)
        full = BAR_CELLS * self._done // max(self._total, self._done)
        return f"[{'#' * full}{'-' * (BAR_CELLS - full)}] {self._done}/{self._total}"

    def _put(self, text: str) -> None:
        self._streams.err.write(text)
        self._streams.err.flush()


@contextmanager
def progress(streams: Streams, label: str, total: int | None) -> Iterator[Progress]:
    """A bar for `total` steps, or a count where `total` is None, on a standard error that is a terminal.

    Nothing elsewhere, and nothing of it is left after the block.
    """
    bar = Progress(streams, label, total)
    try:
        yield bar
    finally:
        bar.clear()
