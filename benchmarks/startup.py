"""The start of the program: what `helm` costs before it does anything."""

import sys
from collections.abc import Callable, Iterator

from benchmarks.pairs import Row, Run, compared, side_by_side
from benchmarks.stage import BARE, HELM, stage
from tests import example


def version(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        ours = Run([sys.executable, "-c", HELM, "--version"], lambda out: out.startswith(b"helm "), env=on.env)
        one, other = side_by_side(rounds or 25, ours, on.nothing())
    yield compared("helm --version : python -c pass", one, other, 2)


def page(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        ours = Run([sys.executable, "-c", HELM, "--help"], _begins(b"Usage: helm "), env=on.env)
        bare = Run([sys.executable, str(BARE / "typed.py"), "--help"], _begins(b"Usage: typed.py "), env=on.env)
        one, other = side_by_side(rounds or 10, ours, bare)
    yield compared("helm --help : a bare Typer script", one, other, 1.5)


def completion(rounds: int | None) -> Iterator[Row]:
    """What a Tab waits for where the shell asks the program."""
    with stage() as on:
        example.ready(on.helm, on.workspace)
        for asked, answer in (("db", b"local-app\tsqlite\n"), ("operation call app", b"recent\tread\n")):
            command = [sys.executable, "-c", HELM, "--complete", *asked.split()]
            ours = Run(command, _begins(answer), env=on.env, cwd=on.workspace)
            one, other = side_by_side(rounds or 25, ours, on.nothing())
            yield compared(f"helm --complete {asked} : python -c pass", one, other, 3)


def _begins(answer: bytes) -> Callable[[bytes], bool]:
    return lambda out: out.startswith(answer)
