"""How fast helm is, in ratios to bare Python and to other tools in the same run, so that the machine matters less.

    python benchmarks/bench.py [--rounds N] [NAME…]

Run it with the interpreter that has helm-cli and its tests' packages; without names it prints the whole table. A ratio
is the median of the ratios of interleaved pairs: of the time that passes (wall), or of the processor's time of the
whole process tree (CPU), whichever the row says it is judged by. Every answer is checked. The exit status is 1 where an
aim was missed, and 2 where something could not be measured.
"""

import argparse
import resource
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import agent, databases, files, servers, services, startup
from benchmarks.pairs import Row

# Each gives its rows as it has them, for so many rounds, or as many as it sees fit.
TABLE: Final[dict[str, Callable[[int | None], Iterator[Row]]]] = {
    "version": startup.version,
    "sqlite": databases.sqlite,
    "endless": databases.endless,
    "postgres": databases.on_postgres,
    "mysql": databases.on_mysql,
    "service": services.calls,
    "service-limits": services.limits,
    "mcp": servers.everything,
    "mcp-limits": servers.limits,
    "tdt": servers.tdt,
    "files": files.listing,
    "agent-memory": agent.memory,
}


def told(row: Row) -> str:
    """The row as a line of the table."""
    verdict = "met" if row.met else "MISSED"
    return f"{row.what:<58} {row.value:8.2f} {row.unit:<5}  aim {row.aim:<5g} {verdict:<7} ({row.told})"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How fast helm is, in ratios.")
    parser.add_argument("--rounds", type=int, metavar="N", help="pairs a row; more are steadier")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(TABLE)}; without one, all")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - TABLE.keys()
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TABLE)}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    status = 0
    for name in given.names or TABLE:
        try:
            for row in TABLE[name](given.rounds):
                print(told(row), flush=True)
                status = max(status, 0 if row.met else 1)
        except Exception:
            # The others are measured all the same.
            print(f"{name}: not measured", flush=True)
            traceback.print_exc()
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
