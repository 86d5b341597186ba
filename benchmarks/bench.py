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
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import example
from tests.program import Finished, run
from tests.rig import mariadb, postgres

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
BARE_POSTGRES: Final = """
import json, sys, psycopg
where = {"host": "127.0.0.1", "port": sys.argv[1], "dbname": "zq_main", "user": sys.argv[2]}
with psycopg.connect(**where, password=sys.stdin.read()) as db:
    sql = "SELECT id, title, status FROM tickets WHERE status = %s ORDER BY id DESC LIMIT %s"
    cursor = db.execute(sql, ["open", 20])
    columns = [column.name for column in cursor.description]
    print(json.dumps({"ok": True, "data": {"columns": columns, "rows": cursor.fetchall()}, "error": None}))
"""
BARE_MYSQL: Final = """
import json, sys, mysql.connector
where = {"host": "127.0.0.1", "port": sys.argv[1], "database": "app", "user": sys.argv[2]}
with mysql.connector.connect(**where, password=sys.stdin.read(), use_pure=True, ssl_disabled=True) as db:
    cursor = db.cursor()
    cursor.execute("SELECT id, title, status FROM tickets WHERE status = %s ORDER BY id DESC LIMIT %s", ["open", 20])
    print(json.dumps({"ok": True, "data": {"columns": cursor.column_names, "rows": cursor.fetchall()}, "error": None}))
"""
# Runs helm, then prints its peak of memory in KiB.
PEAK: Final = """
import sys
from helm_cli.__main__ import main
main(sys.argv[1:])
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""
RECENT: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=20")
BATCH: Final = 400


def measure(command: list[str], statuses: tuple[int, ...] = (0,), stdin: bytes = b"") -> float:
    """The seconds of one run of a command in the current folder; its output is read and thrown away."""
    start = time.perf_counter()
    finished = subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - start
    assert finished.returncode in statuses, (command, finished.returncode)
    return seconds


def peak(*arguments: str) -> float:
    """The most memory that `helm` with these arguments held, in MiB, as Linux counts it for the process itself.

    Not `ru_maxrss`, which starts at what the parent held.
    """
    finished = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, check=True)
    return int(finished.stdout.splitlines()[-1]) / 1024


def side_by_side(rounds: int, *runs: Callable[[], float]) -> list[float]:
    """The median seconds of each, run in turn after one run that warms the disk."""
    for one in runs:
        one()
    times = [[one() for one in runs] for _ in range(rounds)]
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


def postgres_call(rounds: int, workspace: Path) -> bool:
    with postgres.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT n, 'Ticket ' || n, 'open' FROM generate_series(1, 200) n")
        example.ready_on_postgres(program, workspace, server)
        bare_command = [sys.executable, "-c", BARE_POSTGRES, str(server.port), server.profile().user or ""]
        command = helm(*RECENT, "--plugin", "pg-tickets")
        ours, bare = side_by_side(
            rounds, lambda: measure(command), lambda: measure(bare_command, stdin=postgres.PASSWORD.encode())
        )
    return report(
        "helm call on Postgres : bare psycopg script",
        ours / bare,
        "times",
        1.3,
        f"{ours * 1e3:.1f} / {bare * 1e3:.1f} ms",
    )


def mysql_call(rounds: int, workspace: Path) -> bool:
    with mariadb.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT seq, CONCAT('Ticket ', seq), 'open' FROM seq_1_to_200")
        example.ready_on_mysql(program, workspace, server)
        bare_command = [sys.executable, "-c", BARE_MYSQL, str(server.port), mariadb.USER]
        command = helm(*RECENT, "--plugin", "my-tickets")
        ours, bare = side_by_side(
            rounds, lambda: measure(command), lambda: measure(bare_command, stdin=mariadb.PASSWORD.encode())
        )
    return report(
        "helm call on MySQL : bare connector script",
        ours / bare,
        "times",
        1.3,
        f"{ours * 1e3:.1f} / {bare * 1e3:.1f} ms",
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
    seconds = statistics.median(measure(helm("call", "app", "endless"), statuses=(11,)) for _ in range(5))
    quick = report("a query of 10^8 rows is refused after", seconds, "s", 1, "too_many_rows")
    little, much = peak(*RECENT), peak("call", "app", "endless")
    return report("and holds more than a small call", much - little, "MiB", 30, f"{much:.1f} / {little:.1f}") and quick


def helm(*arguments: str) -> list[str]:
    return [sys.executable, "-c", HELM, *arguments]


def program(*arguments: str, cwd: Path, stdin: str = "") -> Finished:
    return run(helm(*arguments), cwd=cwd, stdin=stdin)


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
        kept = [version(rounds), call(rounds, file), batch(rounds), endless(), postgres_call(rounds, workspace)]
        kept.append(mysql_call(rounds, workspace))
        os.chdir("/")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
