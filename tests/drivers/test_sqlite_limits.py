"""5 s, 1000 rows, 1 MiB and flat memory, against statements made to break them."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import Limits
from helm_cli.model.errors import HelmError
from tests.suites.driver import BRIEF, Bench
from tests.suites.sqlite import COUNTING

# Endless in one call into C code, where neither an interrupt nor the progress handler is looked at.
STUCK = "instr(zeroblob(16000000), zeroblob(8000000) || x'01')"

CHILD = """
import json, os, sys, time
from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.memory import peak
from tests.suites.driver import plan_of
begun = time.monotonic()
try:
    limits = Limits(seconds=float(sys.argv[3]))
    driver("sqlite").run(plan_of(sys.argv[2]), Database("local-app", "sqlite", path=sys.argv[1]), None, limits)
    code = "ok"
except HelmError as error:
    code = error.code
took = time.monotonic() - begun
print(json.dumps([code, took, peak()]), flush=True)
os._exit(0)
"""


def in_a_child(path: Path, sql: str, seconds: float = 5.0) -> tuple[str, float, int]:
    """The outcome of a read in a process of its own, how long it took, and its largest size in KiB."""
    command = [sys.executable, "-c", CHILD, str(path), sql, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    code, took, size = json.loads(done.stdout)
    return code, took, size


@pytest.mark.contract("C100")
def test_a_thousand_rows(bench: Bench) -> None:
    sql = COUNTING + " LIMIT {}) SELECT i FROM n"
    assert bench.call(sql, 1000)["rows"] == [[number] for number in range(1, 1001)]
    error = bench.refusal(sql, 1001)
    assert (error.code, error.message) == (
        "too_many_rows",
        "the query returns more than 1000 rows; add a LIMIT to it",
    )


@pytest.mark.contract("C100")
@pytest.mark.parametrize(
    ("value", "most"),
    [
        ("printf('%.*c', {}, 'x')", 1024 * 1024 - len('[[""]]')),
        ("zeroblob({})", (1024 * 1024 - len('[[""]]')) // 4 * 3),
        ("replace(hex(zeroblob({} / 2)), '0', char(233))", (1024 * 1024 - len('[[""]]')) // 2),
        ("replace(hex(zeroblob({} / 2)), '0', char(10))", (1024 * 1024 - len('[[""]]')) // 2),
    ],
)
def test_a_mebibyte_of_rows(bench: Bench, value: str, most: int) -> None:
    sql = f"SELECT {value}"
    most -= most % 2 if "hex" in value else 0
    assert len(bench.call(sql, most)["rows"]) == 1
    more = most + (2 if "hex" in value else 1)
    error = bench.refusal(sql, more)
    assert (error.code, error.message) == (
        "too_large",
        "the query returns more than 1048576 bytes of row data; select less or add a LIMIT",
    )


@pytest.mark.contract("C99", "C100")
@pytest.mark.parametrize(
    "sql",
    [
        f"{COUNTING} LIMIT 100000000) SELECT i FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000) SELECT a.i, b.i FROM n a, n b",
    ],
)
def test_a_hundred_million_rows_end_soon_and_small(path: Path, sql: str) -> None:
    _, _, empty = in_a_child(path, "SELECT 1 WHERE 0")
    code, took, size = in_a_child(path, sql)
    assert code == "too_many_rows"
    assert took < 1
    assert size - empty < 30 * 1024


@pytest.mark.contract("C99")
@pytest.mark.parametrize(
    "sql",
    [
        f"{COUNTING}) SELECT i FROM n WHERE i < 0",
        f"{COUNTING}) SELECT count(*) FROM n",
        f"{COUNTING} LIMIT 100000000) SELECT i FROM n ORDER BY random()",
        f"{COUNTING} LIMIT 100000) SELECT count(*) FROM n a, n b, n c",
        f"{COUNTING} LIMIT 100000000) SELECT length(group_concat(i)) FROM n WHERE i < 5000000 OR i % 7 = 9",
        f"{COUNTING}) SELECT i FROM n WHERE i % 5000000 = 0",  # a row now and then
    ],
)
def test_slow_statements_end_at_the_deadline(bench: Bench, sql: str) -> None:
    begun = time.monotonic()
    error = bench.refusal(sql, limits=BRIEF)
    assert time.monotonic() - begun < BRIEF.seconds + 0.4
    assert (error.code, error.message) == ("timeout", "the query took longer than 0.4 s; add a LIMIT or an index")


@pytest.mark.contract("C99")
def test_a_statement_stuck_in_c_code_is_left_behind_and_the_process_ends(path: Path) -> None:
    begun = time.monotonic()
    code, took, _ = in_a_child(path, f"SELECT {STUCK}", seconds=1.0)
    assert code == "timeout"
    assert 1 <= took < 2
    assert time.monotonic() - begun < 4


@pytest.mark.contract("C99")
def test_a_value_that_is_long_in_the_making_is_not_returned_late(path: Path) -> None:
    code, took, _ = in_a_child(path, "SELECT length(hex(randomblob(8000000)))", seconds=0.01)
    assert code == "timeout"
    assert took < 1


@pytest.mark.contract("C99")
@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT length(hex(randomblob(3000000)))"])
def test_an_answer_just_after_the_deadline_is_a_timeout(bench: Bench, sql: str) -> None:
    for seconds in (0.0, 0.00001, 0.00002):
        assert bench.refusal(sql, limits=Limits(seconds=seconds)).code == "timeout"


@pytest.mark.parametrize("sql", ["SELECT zeroblob(400000000)", "SELECT instr(zeroblob(400000000), x'01')"])
def test_a_giant_value_is_too_large(path: Path, sql: str) -> None:
    code, took, size = in_a_child(path, sql)
    assert code == "too_large"
    assert took < 1
    assert size < 100 * 1024


def test_a_long_value_that_is_not_returned_may_be_read(bench: Bench) -> None:
    bench.outside("CREATE TABLE photos AS SELECT zeroblob(5000000) AS photo")
    assert bench.call("SELECT length(photo) FROM photos")["rows"] == [[5000000]]
    assert bench.refusal("SELECT photo FROM photos").code == "too_large"


def test_many_calls_at_once_keep_their_own_limits(bench: Bench) -> None:
    def outcome(index: int) -> Any:
        try:
            if index % 3 == 0:
                return bench.call("SELECT {}", index)["rows"]
            sql = bench.endless if index % 3 == 1 else bench.slow
            return bench.call(sql, limits=Limits(seconds=1.5))
        except HelmError as error:
            return error.code

    expected = [[[[index]], "too_many_rows", "timeout"][index % 3] for index in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(outcome, range(24))) == expected


def test_no_connection_stays_open(bench: Bench) -> None:
    def opened() -> list[str]:
        folder = Path("/proc/self/fd")
        links = [os.readlink(folder / name) for name in os.listdir(folder) if os.path.islink(folder / name)]
        return [link for link in links if link.startswith(str(Path(bench.profile.path or "").parent))]

    bench.call("SELECT 1")
    first = opened()
    assert len(first) <= 1  # to look at the header, which must not be closed while the process lives
    for _ in range(3):
        bench.call("SELECT 1")
        bench.refusal(bench.endless)
        bench.refusal("DELETE FROM tickets")
        bench.call("UPDATE tickets SET id = id", effect="write")
    assert opened() == first
