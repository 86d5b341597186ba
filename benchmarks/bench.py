"""How fast helm is, in ratios to bare Python measured side by side, so that the machine does not matter.

    python benchmarks/bench.py [ROUNDS]

Each ratio is of medians over ROUNDS (default 25) interleaved runs. Run it with the interpreter that has helm-cli.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import example
from tests.program import Finished, run

# A console script as pip writes it, `import re` and all.
HELM: Final = "import re, sys; from helm_cli.__main__ import entry; sys.exit(entry())"
BARE: Final = """
import json, sqlite3, sys
from pathlib import Path
db = sqlite3.connect(Path(sys.argv[1]).as_uri() + "?mode=ro", uri=True)
cursor = db.execute(sys.argv[2], ["open", 20])
columns = [column[0] for column in cursor.description]
print(json.dumps({"ok": True, "data": {"columns": columns, "rows": cursor.fetchall()}, "error": None}))
"""
RECENT: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=20")
BATCH: Final = 400


class Measured(NamedTuple):
    """A run: seconds by the clock, and the most memory it held, in KiB."""

    seconds: float
    memory: int


def measure(command: list[str], statuses: tuple[int, ...] = (0,), stdin: bytes = b"") -> Measured:
    """One run of a command in the current folder; its output is read and thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert process.stdin
    process.stdin.write(stdin)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in statuses, (command, process.returncode)
    return Measured(seconds, resident(usage))


def resident(usage: resource.struct_rusage) -> int:
    """The peak of memory held, in KiB; macOS counts in bytes."""
    return usage.ru_maxrss // 1024 if sys.platform == "darwin" else usage.ru_maxrss


def side_by_side(rounds: int, *runs: Callable[[], Measured]) -> list[float]:
    """The median seconds of each, run in turn after one run that warms the disk."""
    for one in runs:
        one()
    times = [[one().seconds for one in runs] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def report(what: str, value: float, unit: str, aim: float, told: str) -> bool:
    kept = value <= aim
    print(f"{what:<46} {value:7.2f} {unit:<10} aim {aim:g} {'' if kept else '  MISSED'}  ({told})")
    return kept


def version(rounds: int) -> bool:
    ours, bare = side_by_side(
        rounds, lambda: measure(helm("--version")), lambda: measure([sys.executable, "-c", "pass"])
    )
    return report("helm --version : python -c pass", ours / bare, "times", 2, f"{ours * 1e3:.1f} / {bare * 1e3:.1f} ms")


def call(rounds: int, file: Path) -> bool:
    bare_command = [sys.executable, "-c", BARE, str(file), example.RECENT]
    ours, bare = side_by_side(rounds, lambda: measure(helm(*RECENT)), lambda: measure(bare_command))
    return report(
        "helm call on SQLite : bare sqlite3 script", ours / bare, "times", 4, f"{ours * 1e3:.1f} / {bare * 1e3:.1f} ms"
    )


def batch(rounds: int) -> bool:
    line = json.dumps({"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 20}}) + "\n"
    one, many = (line.encode() * count for count in (1, 1 + BATCH))
    command = helm("call", "--batch", "-")
    short, long = side_by_side(
        max(5, rounds // 5), lambda: measure(command, stdin=one), lambda: measure(command, stdin=many)
    )
    each = (long - short) / BATCH * 1e3
    return report("one more call in a batch", each, "ms", 1, f"{BATCH} more calls, {(long - short) * 1e3:.0f} ms")


def endless() -> bool:
    little = measure(helm(*RECENT))
    # What the parent held when it started a child counts as the child's, so the least peak seen must be its own.
    assert little.memory > resident(resource.getrusage(resource.RUSAGE_SELF)), "this process outgrew what it measures"
    command = helm("call", "app", "endless")
    runs = [measure(command, statuses=(11,)) for _ in range(5)]
    seconds = statistics.median(run.seconds for run in runs)
    memory = statistics.median(run.memory for run in runs) - little.memory
    quick = report("a query of 10^8 rows is refused after", seconds, "s", 1, "too_many_rows")
    return (
        report("and holds more than a small call", memory / 1024, "MiB", 30, f"{little.memory / 1024:.0f} MiB")
        and quick
    )


def helm(*arguments: str) -> list[str]:
    return [sys.executable, "-c", HELM, *arguments]


def program(*arguments: str, cwd: Path) -> Finished:
    return run(helm(*arguments), cwd=cwd)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        os.environ |= {"HOME": folder, "HELM_CLI_HOME": f"{folder}/home", "HELM_CLI_CREDENTIALS": "file"}
        os.environ |= {"PYTHONPATH": sys.path[0]}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        file = example.ready(program, workspace)
        # The rate limit is not what is measured here.
        Path(folder, "home", "config.toml").write_text("[limits]\ncalls_per_minute = 100000\n")
        os.chdir(workspace)
        kept = [version(rounds), call(rounds, file), batch(rounds), endless()]
        os.chdir("/")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
