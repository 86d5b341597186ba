"""Streams for a test: what is written is kept, and the test says what kind of place it goes to."""

import io

from helm_cli.view.streams import Streams


def streams_of(*, terminal: bool, width: int = 80, color: bool = False) -> Streams:
    """Standard output and error that are both a terminal, or both pipes."""
    return Streams(io.StringIO(), io.StringIO(), terminal, terminal, width, color)
