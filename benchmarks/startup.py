"""The start of the program: what `helm` costs before it does anything."""

import sys
from collections.abc import Iterator

from benchmarks.pairs import Row, Run, compared, side_by_side
from benchmarks.stage import HELM, stage


def version(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        ours = Run([sys.executable, "-c", HELM, "--version"], lambda out: out.startswith(b"helm "), env=on.env)
        one, other = side_by_side(rounds or 25, ours, on.nothing())
    yield compared("helm --version : python -c pass", one, other, 2)
