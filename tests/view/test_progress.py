"""The bar: drawn on a terminal, silent elsewhere, and gone before anything else is printed."""

import io

from helm_cli.view.progress import progress
from helm_cli.view.streams import Streams
from tests.rig.streams import streams_of


def written(streams: Streams) -> str:
    assert isinstance(streams.err, io.StringIO)
    return streams.err.getvalue()


def test_a_bar_is_drawn_and_taken_away() -> None:
    streams = streams_of(terminal=True)
    with progress(streams, "ca\x1blls", 4) as bar:
        bar.advance()
        assert written(streams) == "\rca\\u{1b}lls [######------------------] 1/4"
        bar.clear()
        bar.clear()
        assert written(streams).endswith(" 1/4\r\x1b[K")
        assert written(streams).count("\x1b[K") == 1


def test_it_is_gone_after_the_block() -> None:
    streams = streams_of(terminal=True)
    with progress(streams, "calls", 1) as bar:
        bar.advance()
    assert written(streams) == "\rcalls [########################] 1/1\r\x1b[K"


def test_a_thousand_steps_are_not_a_thousand_lines() -> None:
    streams = streams_of(terminal=True)
    with progress(streams, "calls", 1000) as bar:
        for _ in range(1000):
            bar.advance()
    assert written(streams).count("\rcalls") < 100


def test_more_steps_than_were_expected() -> None:
    streams = streams_of(terminal=True)
    with progress(streams, "calls", 0) as bar:
        bar.advance()
    assert "[########################] 1/0" in written(streams)


def test_nothing_in_a_pipe() -> None:
    streams = streams_of(terminal=False)
    with progress(streams, "calls", 2) as bar:
        bar.advance()
    assert written(streams) == ""
