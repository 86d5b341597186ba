"""Statements run in a process of their own: it ends in time, in bounds, and what it held is free again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.drivers import Limits, driver, sqlite_worker
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.profile import Database
from tests.suites.driver import BRIEF, TICKETS, Bench, plan_of
from tests.suites.sqlite import COUNTING, contents

# Each is hours in one call into C code, where neither an interrupt nor the progress handler is looked at.
STUCK = [
    "instr(zeroblob(16000000), zeroblob(8000000) || x'01')",
    "replace(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1', '')",
    "trim(hex(zeroblob(500000)), replace(hex(zeroblob(500000)), '0', '1') || '0')",
    "hex(zeroblob(8000000)) LIKE '%' || hex(zeroblob(20000)) || '1'",
]


def worker_of(bench: Bench) -> int:
    """The id of the process that ran the last call, and will run the next."""
    bench.call("SELECT 1")
    return sqlite_worker.idle()[-1]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def peak_of(pid: int) -> int:
    """The most memory that a process held, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))


@pytest.mark.contract("C99", "C105")
@pytest.mark.parametrize("stuck", STUCK)
@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_stuck_statement_ends_with_its_process(bench: Bench, path: Path, stuck: str, effect: Effect) -> None:
    before = contents(path)
    pid = worker_of(bench)
    sql = f"SELECT {stuck} FROM tickets" if effect == "read" else f"UPDATE tickets SET title = {stuck}"
    begun = time.monotonic()
    error = bench.refusal(sql, effect=effect, limits=BRIEF)
    assert time.monotonic() - begun < BRIEF.seconds + 1.5
    assert (error.code, error.members) == ("timeout", {})
    assert gone(pid)
    assert contents(path) == before
    assert bench.call("UPDATE tickets SET title = title", effect="write", limits=BRIEF) == {"rowsAffected": 3}
    assert bench.outside("SELECT * FROM tickets") == TICKETS
    assert not gone(worker_of(bench))


@pytest.mark.contract("C105")
@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE", "PERSIST", "WAL"])
def test_what_a_killed_write_left_is_taken_back_at_once(bench: Bench, path: Path, mode: str) -> None:
    bench.outside(f"PRAGMA journal_mode = {mode}")
    bench.outside(f"CREATE TABLE many AS {COUNTING} LIMIT 30000) SELECT i, hex(zeroblob(200)) AS t FROM n")
    names = os.listdir(path.parent)
    # More pages change than the cache holds, so that half of it stands in the file when it gets stuck.
    sql = f"UPDATE many SET t = CASE WHEN i < 30000 THEN t || 'x' ELSE {STUCK[0]} END"
    error = bench.refusal(sql, effect="write", limits=Limits(seconds=1))
    assert (error.code, error.message) == ("timeout", "the write took longer than 1 s and was rolled back")
    assert bench.call("SELECT count(*) FROM many WHERE t LIKE '%x'")["rows"] == [[0]]
    assert bench.outside("PRAGMA integrity_check") == [("ok",)]
    left = [name for name in os.listdir(path.parent) if name != "app.db-journal" or mode != "PERSIST"]
    assert left == [name for name in names if name in left]


def test_a_killed_read_leaves_nothing_beside_a_wal_file(bench: Bench, path: Path) -> None:
    bench.outside("PRAGMA journal_mode = WAL")
    assert bench.refusal(f"SELECT {STUCK[0]} FROM tickets", limits=BRIEF).code == "timeout"
    assert os.listdir(path.parent) == ["app.db"]


@pytest.mark.contract("C105")
def test_a_process_that_dies_in_its_commit_says_that_nobody_knows(bench: Bench, path: Path) -> None:
    bench.outside("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
    bench.outside("CREATE TABLE children (id REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        rows = reader.execute("SELECT * FROM tickets")
        rows.fetchone()  # keeps the COMMIT waiting
        pid = worker_of(bench)
        killing = threading.Timer(0.5, os.kill, (pid, signal.SIGKILL))
        killing.start()
        error = bench.refusal("DELETE FROM tickets", effect="write")
        killing.join()
        rows.close()
    assert (error.code, error.members) == ("query_failed", {"applied": "unknown"})
    assert error.message == (
        "SQLite ended abruptly; the database may be damaged: let its program check it; it is unknown whether the"
        " write was applied: look before you repeat it"
    )
    assert bench.outside("SELECT * FROM tickets") == TICKETS


@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_process_that_dies_changes_nothing(bench: Bench, effect: Effect) -> None:
    killing = threading.Timer(0.3, os.kill, (worker_of(bench), signal.SIGSEGV))
    killing.start()
    error = bench.refusal(bench.slow if effect == "read" else bench.slow_write, effect=effect)
    killing.join()
    assert (error.code, error.message, error.members) == (
        "query_failed",
        "SQLite ended abruptly; the database may be damaged: let its program check it",
        {},
    )
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]


def test_a_process_that_died_between_two_calls_is_replaced(bench: Bench) -> None:
    pid = worker_of(bench)
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert worker_of(bench) != pid


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    "values",
    [
        "zeroblob(60000000), zeroblob(60000000), zeroblob(60000000), zeroblob(60000000)",
        ", ".join(["zeroblob(15000000)"] * 10),
        ", ".join(["hex(zeroblob(7000000))"] * 10),
        ", ".join(["a"] * 100) + " FROM (SELECT hex(zeroblob(7000000)) AS a)",
        ", ".join(["a"] * 100) + " FROM (SELECT zeroblob(15000000) AS a LIMIT 1 OFFSET 0)",
        "group_concat(a) FROM (SELECT hex(zeroblob(7000000)) AS a UNION ALL SELECT hex(zeroblob(7000001)))",
        "json_group_array(hex(zeroblob(4000000))) FROM tickets",
    ],
)
def test_memory_stays_flat_whatever_a_row_holds(bench: Bench, values: str) -> None:
    assert bench.refusal(f"SELECT {values}").code == "too_large"
    assert peak_of(worker_of(bench)) < 150
    assert bench.call("SELECT 1")["rows"] == [[1]]


@pytest.mark.usefixtures("fresh")
def test_a_large_file_that_is_sorted_takes_no_more_memory(bench: Bench) -> None:
    bench.outside(f"CREATE TABLE many AS {COUNTING} LIMIT 100000) SELECT i, hex(randomblob(200)) AS t FROM n")
    sql = "SELECT count(*), min(t) > '' FROM (SELECT t FROM many ORDER BY t LIMIT 100000 OFFSET 0)"
    assert bench.call(sql)["rows"] == [[100000, 1]]
    assert bench.call("SELECT i FROM many ORDER BY t, i DESC LIMIT 1")["rows"]
    assert bench.call("SELECT count(DISTINCT t) FROM many")["rows"] == [[100000]]
    assert bench.call("CREATE INDEX by_t ON many (t)", effect="write") == {"rowsAffected": 0}
    assert peak_of(worker_of(bench)) < 100


def test_a_sort_may_not_fill_the_disk(bench: Bench) -> None:
    error = bench.refusal(f"{COUNTING}) SELECT i FROM n ORDER BY hex(zeroblob(100000)) || i", limits=Limits(seconds=20))
    assert (error.code, error.message) == (
        "query_failed",
        "the query sorts or groups more than 128 MiB, or the disk is full; add a WHERE, a LIMIT or an index",
    )
    assert bench.call("SELECT 1")["rows"] == [[1]]


def test_a_write_may_write_more_than_a_read(bench: Bench, path: Path) -> None:
    bench.call("SELECT 1")
    sql = f"CREATE TABLE much AS {COUNTING} LIMIT 12) SELECT zeroblob(12000000) FROM n"
    assert bench.call(sql, effect="write", limits=Limits(seconds=30)) == {"rowsAffected": 0}
    assert path.stat().st_size > 128 * 1024 * 1024
    assert bench.call("SELECT count(*) FROM much")["rows"] == [[12]]


def test_what_a_large_row_may_be_read_for(bench: Bench) -> None:
    bench.outside("CREATE TABLE photos AS SELECT 1 AS id, zeroblob(40000000) AS photo, 'x' AS name, 'tail' AS tail")
    assert bench.call("SELECT id, name, tail, length(photo), typeof(photo) FROM photos")["rows"] == [
        [1, "x", "tail", 40000000, "blob"]
    ]
    bench.outside("UPDATE photos SET photo = zeroblob(10000000)")
    assert bench.call("SELECT hex(substr(photo, 1, 2)) FROM photos ORDER BY name")["rows"] == [["0000"]]
    assert bench.call("UPDATE photos SET name = 'y'", effect="write") == {"rowsAffected": 1}


ONE_CALL = """
import os, sys, time, threading
from helm_cli.drivers import Limits, driver
from helm_cli.model.profile import Database
from tests.suites.driver import plan_of
if sys.argv[4] == "threads":
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print(os.getpid(), flush=True)
plan = plan_of(sys.argv[2], effect=sys.argv[3])
print(driver("sqlite").run(plan, Database("local-app", "sqlite", path=sys.argv[1]), None, Limits()), flush=True)
os._exit(0)
"""


def one_call(path: Path, sql: str, effect: Effect, threads: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", ONE_CALL, str(path), sql, effect, threads]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def soon(what: Callable[[], object]) -> bool:
    patience = time.monotonic() + 10
    while time.monotonic() < patience:
        if what():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("threads", ["alone", "threads"])
def test_a_copy_or_a_new_process_alike(bench: Bench, path: Path, threads: str) -> None:
    process = one_call(path, "SELECT id, 'é', x'00ff' FROM tickets WHERE id = 1", "read", threads)
    told, complaints = process.communicate(timeout=30)
    assert told.splitlines()[1:] == ["{'columns': ['id', \"'é'\", \"x'00ff'\"], 'rows': [[1, 'é', 'AP8=']]}"]
    assert complaints == ""


@pytest.mark.contract("C105")
@pytest.mark.parametrize("threads", ["alone", "threads"])
def test_a_write_ends_without_effect_when_helm_is_killed(bench: Bench, path: Path, threads: str) -> None:
    before = contents(path)
    sql = f"DELETE FROM tickets WHERE ({COUNTING} LIMIT 4000000) SELECT max(i) FROM n) > 0"
    process = one_call(path, sql, "write", threads)
    assert soon(lambda: children(process.pid))
    (pid,) = children(process.pid)
    assert soon(lambda: (path.parent / "app.db-journal").exists() or len(os.listdir(f"/proc/{pid}/fd")) > 3)
    process.kill()
    told, _ = process.communicate(timeout=1)  # the pipe closed with it: its child holds none of its files
    assert told == f"{process.pid}\n"
    assert soon(lambda: gone(pid))
    assert contents(path) == before
    assert bench.outside("SELECT * FROM tickets") == TICKETS


@pytest.mark.contract("C105")
def test_ctrl_c_ends_a_write_without_effect(bench: Bench, path: Path) -> None:
    before = contents(path)
    process = one_call(path, f"UPDATE tickets SET title = {STUCK[0]}", "write", "alone")
    assert soon(lambda: children(process.pid))
    (pid,) = children(process.pid)
    assert soon(lambda: any("app.db" in os.path.realpath(fd) for fd in Path(f"/proc/{pid}/fd").glob("*")))
    begun = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, complaints = process.communicate(timeout=10)
    assert time.monotonic() - begun < 3
    assert complaints.splitlines()[-1] == "KeyboardInterrupt"
    assert soon(lambda: gone(pid))
    assert contents(path) == before


def test_a_second_process_draws_other_random_numbers(path: Path) -> None:
    code = (
        "import json, sqlite3\nfrom helm_cli.drivers import Limits, driver\nfrom tests.suites.driver import plan_of\n"
        "from helm_cli.model.profile import Database\n"
        "sqlite3.connect(':memory:').execute('SELECT random()').fetchone()\n"
        f"profile = Database('local-app', 'sqlite', path={str(path)!r})\n"
        "run = lambda: driver('sqlite').run(plan_of('SELECT random() / 1000000'), profile, None, Limits())\n"
        "print(json.dumps([run()['rows'][0][0] for _ in range(3)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert len(set(json.loads(done.stdout))) == 3


def test_no_process_and_no_descriptor_stays(path: Path, bench: Bench) -> None:
    def held() -> int:
        return len(os.listdir("/proc/self/fd"))

    bench.call("SELECT 1")
    first = worker_of(bench), held()
    for _ in range(3):
        assert bench.refusal(f"SELECT {STUCK[0]}", limits=Limits(seconds=0.05)).code == "timeout"
        assert bench.refusal("DELETE FROM tickets").code == "refused"
    assert held() == first[1]
    worker = sqlite_worker.start()
    worker.kill()
    assert gone(worker.pid)
    assert held() == first[1]


def test_as_many_processes_wait_as_calls_ran_side_by_side(bench: Bench) -> None:
    with ThreadPoolExecutor(20) as pool:
        sql = f"{COUNTING} LIMIT 300000) SELECT max(i) FROM n"
        found = list(pool.map(lambda _: bench.call(sql, limits=Limits(seconds=60))["rows"], range(20)))
    assert found == [[[300000]]] * 20
    assert len(set(sqlite_worker.idle())) == len(sqlite_worker.idle()) <= 16


def test_a_system_without_more_descriptors_is_told(path: Path) -> None:
    code = (
        "import resource\nfrom helm_cli.drivers import Limits, driver, sqlite_worker, sqlite_serve\n"
        "driver('sqlite')\nfrom helm_cli.model.errors import HelmError\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))\n"
        "try:\n    sqlite_worker.start()\nexcept HelmError as error:\n    print(error.code, error.message)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "unavailable no process can be started for the query: Too many open files\n"


def test_a_prepared_statement_is_not_run(bench: Bench, path: Path) -> None:
    before = contents(path)
    for effect, sql in [("read", "SELECT * FROM tickets"), ("write", "DELETE FROM tickets")]:
        plan = plan_of(sql, effect=effect)  # type: ignore[arg-type]  # one of the two
        driver("sqlite").prepare(plan, bench.profile, None, Limits())
    with pytest.raises(HelmError) as caught:
        driver("sqlite").prepare(plan_of("DELETE FROM nosuch", effect="write"), bench.profile, None, Limits())
    assert (caught.value.code, caught.value.message) == ("query_failed", "no such table: nosuch")
    with pytest.raises(HelmError) as caught:
        driver("sqlite").prepare(plan_of("DELETE FROM tickets"), bench.profile, None, Limits())
    assert caught.value.code == "refused"
    with pytest.raises(HelmError) as caught:
        profile = Database("local-app", "sqlite", path=str(path.parent / "missing.db"))
        driver("sqlite").prepare(plan_of("SELECT 1"), profile, None, Limits())
    assert caught.value.code == "unavailable"
    assert contents(path) == before
