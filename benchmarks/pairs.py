"""What one run costs and whether its answer was right, runs side by side, and the ratio of two of them."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

OVERSEER: Final = str(Path(__file__).with_name("overseer.py"))
SECONDS: Final = 120.0

By = Literal["wall", "CPU"]

# What a batch may add to a call: 1 ms (design, section 11) on a machine where Python alone takes 12.5 to start.
A_BATCH: Final = 0.08
MORE: Final = 400
CLOCKS: Final[tuple[By, By]] = ("CPU", "wall")


class Wrong(Exception):
    """A run that failed, answered wrongly or left a process behind: there is nothing to measure."""


class Run(NamedTuple):
    """A command, what it is given, and whether what it printed is the right answer."""

    command: Sequence[str]
    right: Callable[[bytes], bool]
    stdin: bytes = b""
    env: Mapping[str, str] = os.environ
    cwd: Path | None = None
    statuses: tuple[int, ...] = (0,)


# A run that does its work so many times.
Counted = Callable[[int], Run]


class Cost(NamedTuple):
    """Seconds: `wall` until the command ended, `cpu` user and system of its whole process tree."""

    wall: float
    cpu: float

    def by(self, by: By) -> float:
        return self.wall if by == "wall" else self.cpu


class Row(NamedTuple):
    """One line of the table: `value` is to be `aim` at the most. `told` says how it was found."""

    what: str
    value: float
    unit: str
    aim: float
    told: str

    @property
    def met(self) -> bool:
        return self.value <= self.aim


def cost(run: Run) -> Cost:
    """Of one run without a terminal. Raises Wrong."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(run.stdin)
        given.seek(0)
        told, telling = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", OVERSEER, str(telling), *run.command],
                stdin=given,
                stdout=out,
                stderr=err,
                env=run.env,
                cwd=run.cwd,
                pass_fds=[telling],
                start_new_session=True,
            )
        finally:
            os.close(telling)
        try:
            process.wait(SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        with open(told, "rb") as report:
            ended = json.loads(report.read() or b"{}")
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read()
    if not ended or ended["left"] or ended["status"] not in run.statuses or not run.right(printed):
        raise Wrong(f"{' '.join(run.command)[:300]}\n{ended}\n{printed[:500]!r}\n{said[-1500:]!r}")
    return Cost(ended["wall"], ended["cpu"])


def side_by_side(rounds: int, *runs: Run) -> list[list[Cost]]:
    """The costs of each, one of every round, after one run of each that warms the disk.

    Every other round goes backwards, so that none always follows the same one.
    """
    for run in runs:
        cost(run)
    columns: list[list[Cost]] = [[] for _ in runs]
    for turn in range(rounds):
        order = range(len(runs))
        for at in order if turn % 2 == 0 else reversed(order):
            columns[at].append(cost(runs[at]))
    return columns


def ratio(ours: Sequence[Cost], theirs: Sequence[Cost], by: By) -> float:
    """The median of the ratios of the pairs: what slows both runs of a round does not show."""
    return statistics.median(one.by(by) / other.by(by) for one, other in zip(ours, theirs, strict=True))


def median(costs: Sequence[Cost], by: By) -> float:
    return statistics.median(one.by(by) for one in costs)


def compared(what: str, ours: Sequence[Cost], theirs: Sequence[Cost], aim: float, by: By = "wall") -> Row:
    """The row of one ratio, judged by the one clock and told by both."""
    other: By = "CPU" if by == "wall" else "wall"
    told = f"by {by}; {other} {ratio(ours, theirs, other):.2f}; {len(ours)} pairs"
    return Row(what, ratio(ours, theirs, by), "times", aim, told)


def held(what: str, much: float, little: float, aim: float) -> Row:
    """How many MiB more one call held than another."""
    return Row(what, much - little, "MiB", aim, f"{much:.1f} / {little:.1f} MiB")


def each(one: Sequence[Cost], many: Sequence[Cost], more: int, by: By) -> float:
    """The milliseconds of one more piece of work, of runs that differ by `more` of them."""
    return (median(many, by) - median(one, by)) / more * 1e3


def batch(rounds: int | None, ours: Counted, loop: Counted, nothing: Run) -> Row:
    """What a batch adds to each call of a loop in one script, told by what it takes to start Python on this machine."""
    counts = (1, 1 + MORE)
    runs = [*map(ours, counts), *map(loop, counts), nothing]
    one, many, one_bare, many_bare, start = side_by_side(rounds or 5, *runs)
    cpu, wall = (each(one, many, MORE, by) for by in CLOCKS)
    bare, bare_wall = (each(one_bare, many_bare, MORE, by) for by in CLOCKS)
    added = cpu - bare
    told = (
        f"by CPU: adds {added:.2f} ms to {bare:.2f}, {cpu / bare:.1f} times; wall {wall - bare_wall:.2f} to"
        f" {bare_wall:.2f}; {MORE} more calls"
    )
    return Row("a batch adds to each call of a loop : python -c pass", added / start_of(start), "times", A_BATCH, told)


def start_of(costs: Sequence[Cost]) -> float:
    """The milliseconds of the processor that Python's own start takes, by which others are told for any machine."""
    return median(costs, "CPU") * 1e3
