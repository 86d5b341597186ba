"""How fast helm is, in ratios to bare Python and to other tools in the same run, so that the machine matters less.

    python benchmarks/bench.py [--rounds N] [--markdown] [NAME…]

Run it with the interpreter that has helm-cli and its tests' packages; without names it prints the whole table. A ratio
is the median of the ratios of interleaved pairs: of the time that passes (wall), or of the processor's time of the
whole process tree (CPU), whichever the row says it is judged by. Every answer is checked. The exit status is 1 where an
aim was missed, and 2 where something could not be measured.
"""

import argparse
import datetime
import resource
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import agent, databases, files, machine, memory, servers, services, startup
from benchmarks.pairs import Row


class Group(NamedTuple):
    """Rows of one subject: what each tells, and how they are found, in so many rounds or as many as it sees fit."""

    title: str
    found: Callable[[int | None], Iterator[Row]]
    rows: tuple[str, ...]


BATCH: Final = "a batch adds to each call of a loop : python -c pass"
THROUGH: Final = "through the agent : that script"
THROUGH_OR_NOT: Final = "through the agent : without it"
TABLE: Final[dict[str, Group]] = {
    "version": Group("Start", startup.version, ("helm --version : python -c pass",)),
    "help": Group("Help", startup.page, ("helm --help : a bare Typer script",)),
    "completion": Group(
        "Completion, where the shell asks",
        startup.completion,
        ("helm --complete db : python -c pass", "helm --complete operation call app : python -c pass"),
    ),
    "sqlite": Group(
        "A query on SQLite",
        databases.sqlite,
        (
            "cold : a bare sqlite3 script",
            "cold : sqlite-utils query",
            "cold : litecli -e",
            THROUGH_OR_NOT,
            BATCH,
        ),
    ),
    "postgres": Group(
        "A query on Postgres",
        databases.on_postgres,
        ("cold : a bare psycopg script", "cold : pgcli -c", THROUGH, BATCH),
    ),
    "mysql": Group("A query on MariaDB", databases.on_mysql, ("cold : a bare mysql.connector script", THROUGH, BATCH)),
    "service": Group(
        "A GET of a service", services.calls, ("cold : a bare httpx script", "cold : HTTPie", THROUGH, BATCH)
    ),
    "mcp": Group(
        "A tool of npm's server-everything",
        servers.everything,
        (
            "cold : a script on the SDK",
            "cold : fastmcp call",
            "cold : the MCP Inspector's --cli",
            THROUGH,
            BATCH,
        ),
    ),
    "tdt": Group("A tool of TDT", servers.tdt, ("cold : a script on the SDK", THROUGH, BATCH)),
    "files": Group(
        "Files of a tree of 100,000",
        files.calls,
        (
            "listing */*/*.md of 100,000 : a bare walk",
            "listing part-0?/*/*.md of 40,000 : a bare walk",
            "reading one : a bare script",
            THROUGH_OR_NOT,
            BATCH,
            "memory of reading 256 KiB, beyond a small one's",
            "memory of listing 100,000",
        ),
    ),
    "memory-db": Group(
        "Memory beyond a small query's",
        memory.databases,
        ("1,000 rows of 1 MiB", "10^8 rows, refused", "10^8 rows are refused after"),
    ),
    "memory-service": Group(
        "Memory beyond a small answer's",
        memory.bodies,
        ("a body of 1 MiB", "a body without end", "200 MiB in a gzip bomb"),
    ),
    "memory-mcp": Group("Memory beyond a small result's", memory.results, ("a tool's result without end",)),
    "memory-agent": Group("Memory that stays", agent.memory, ("the agent after 1,000 calls",)),
}

# What is said beside an aim that is not met, by title and row.
_SESSION: Final = (
    "each call is described first, in a read-only transaction of its own, and leaves the session as new, in several"
    " round trips where the script has one"
)
REASONS: Final[dict[tuple[str, str], str]] = {
    ("A query on Postgres", BATCH): _SESSION,
    ("A query on MariaDB", BATCH): _SESSION,
    ("A query on MariaDB", "cold : a bare mysql.connector script"): _SESSION,
    ("A GET of a service", BATCH): "0.93 ms, less than the one that is meant: starting Python took 11.3 ms in that run",
}


class Measured(NamedTuple):
    """What was found of a group; `whole` is whether that is all."""

    title: str
    rows: list[Row]
    whole: bool


def told(row: Row) -> str:
    """The row as a line of the table."""
    verdict = "met" if row.met else "MISSED"
    return f"  {row.what:<56} {row.value:8.2f} {row.unit:<5}  aim {row.aim:<5g} {verdict:<7} ({row.told})"


def cell(title: str, row: Row) -> str:
    """The row in the table of README: what it is held against, within what aim, and what is to be said of a miss."""
    what, _, other = row.what.partition(" : ")
    found = f"{row.value:.2f} times {other}" if row.unit == "times" else f"{row.value:.1f} {row.unit}"
    missed = "" if row.met else f", **missed**: {REASONS.get((title, row.what), 'no reason is known')}"
    return f"{what} {found} (≤ {row.aim:g}{missed})"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How fast helm is, in ratios.")
    parser.add_argument("--rounds", type=int, metavar="N", help="pairs a row; more are steadier")
    parser.add_argument("--markdown", action="store_true", help="the table as README has it, on standard output")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(TABLE)}; without one, all")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - TABLE.keys()
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TABLE)}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = sys.stderr if given.markdown else sys.stdout
    measured = [Measured(TABLE[name].title, *_measured(name, given.rounds, out)) for name in given.names or TABLE]
    if given.markdown:
        print(markdown(measured, datetime.date.today()))
    return max(2 if not group.whole else 0 if all(row.met for row in group.rows) else 1 for group in measured)


def _measured(name: str, rounds: int | None, out: TextIO) -> tuple[list[Row], bool]:
    """The rows of a group that could be measured, and whether those are all."""
    group = TABLE[name]
    print(group.title, file=out, flush=True)
    rows: list[Row] = []
    try:
        for row in group.found(rounds):
            print(told(row), file=out, flush=True)
            rows.append(row)
        if tuple(row.what for row in rows) != group.rows:
            raise AssertionError(f"{name} is to have {group.rows}")
    except Exception:
        # The others are measured all the same.
        print(f"  {name}: not measured", file=out, flush=True)
        traceback.print_exc()
        return rows, False
    return rows, True


def markdown(measured: list[Measured], day: datetime.date) -> str:
    """The table of README: when and on what it was measured, and a line for each group."""
    lines = [f"Measured on {day} on {machine.described()}:", "", "| what | measured (aim) |", "|---|---|"]
    for title, rows, whole in measured:
        cells = [cell(title, row) for row in rows] + ([] if whole else ["**not all could be measured**"])
        lines.append(f"| {title} | {'; '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
