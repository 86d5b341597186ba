"""5 s, 1000 rows, 1 MiB and flat memory, against a server that would send without end."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from helm_cli.drivers import Limits, kept, mysql
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.mariadb import PASSWORD, MariaDb
from tests.rig.mysql8 import OK, Mysql8, error, mysql8
from tests.suites.driver import Bench, plan_of

EOF = b"\xfe\0\0\2\0"
CHILD = """
import json, os, sys, time
from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.memory import peak
from tests.suites.driver import plan_of
profile, secret, sql = json.loads(sys.argv[1])
begun = time.monotonic()
try:
    driver("mysql").run(plan_of(sql, engine="mysql"), Database(**profile), secret, Limits())
    code = "ok"
except HelmError as error:
    code = error.code
took = time.monotonic() - begun
print(json.dumps([code, took, peak()]), flush=True)
os._exit(0)
"""


@pytest.fixture
def bench(mariadb: MariaDb) -> Bench:
    return mariadb.bench()


def in_a_child(bench: Bench, sql: str) -> tuple[str, float, int]:
    """The outcome of a read in a process of its own, how long it took, and its largest size in KiB."""
    command = [sys.executable, "-c", CHILD, json.dumps([bench.profile._asdict(), PASSWORD, sql])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    code, took, size = json.loads(done.stdout)
    return code, took, size


@pytest.mark.contract("C100")
def test_a_thousand_rows(bench: Bench) -> None:
    sql = "SELECT seq FROM seq_1_to_2000 LIMIT {}"
    assert bench.call(sql, 1000)["rows"] == [[str(number)] for number in range(1, 1001)]
    error = bench.refusal(sql, 1001)
    assert (error.code, error.message) == (
        "too_many_rows",
        "the query returns more than 1000 rows; add a LIMIT to it",
    )


@pytest.mark.contract("C100")
@pytest.mark.parametrize(
    ("value", "most"),
    [
        ("REPEAT('x', {})", 1024 * 1024 - len('[[""]]')),
        ("REPEAT(x'00', {})", (1024 * 1024 - len('[[""]]')) // 4 * 3),
        ("REPEAT('é', {})", (1024 * 1024 - len('[[""]]')) // 2),
        ("REPEAT('\n', {})", (1024 * 1024 - len('[[""]]')) // 2),
    ],
)
def test_a_mebibyte_of_rows(bench: Bench, value: str, most: int) -> None:
    assert len(bench.call(f"SELECT {value}", most)["rows"]) == 1
    error = bench.refusal(f"SELECT {value}", most + 1)
    assert (error.code, error.message) == (
        "too_large",
        "the query returns more than 1048576 bytes of row data; select less or add a LIMIT",
    )


@pytest.mark.contract("C99", "C100")
def test_a_hundred_million_rows_end_soon_and_small(bench: Bench, mariadb: MariaDb) -> None:
    _, _, empty = in_a_child(bench, "SELECT 1 FROM tickets WHERE id = 0")
    for sql, expected in {
        bench.endless: "too_many_rows",
        "SELECT a.seq, b.seq FROM seq_1_to_10000 a, seq_1_to_10000 b": "too_many_rows",
        "SELECT REPEAT('x', 300000000)": "too_large",
        "SELECT seq, REPEAT('x', 900000) FROM seq_1_to_100000000": "too_large",
    }.items():
        code, took, size = in_a_child(bench, sql)
        assert code == expected
        assert took < (2 if "REPEAT" not in sql else 5)  # the server is long in the making of a giant value
        assert size - empty < 40 * 1024
        assert mariadb.idle()


@pytest.mark.contract("C100")
@pytest.mark.parametrize("statement", ["SELECT", "START", "SET @helm", "EXECUTE", "ROLLBACK"])
@pytest.mark.parametrize("endless", [True, False], ids=["many", "long"])
def test_what_is_no_row_is_limited_too(statement: str, endless: bool) -> None:
    column = b"\3def\0\0\0\1a\0\x0c\x3f\0\1\0\0\0\3\0\0\0\0\0"
    begin = b"\0\1\0\0\0\xff\xff\0\0\0\0\0" if statement == "SELECT" else b"\xfd\xff\xff\xff"
    flood = (begin, *[column] * 40_000) if endless else (error(1064, "x" * 70_000),)
    good = {"SELECT": (b"\0\1\0\0\0\1\0\0\0\0\0\0", column, EOF), "EXECUTE": (b"\1", column, EOF, b"\0011", EOF)}
    with mysql8(Mysql8(sign_in=(OK,), answers={**good, statement: flood})) as server:
        profile = Database("local-app", "mysql", host="127.0.0.1", port=server.port, user="helm_tester")
        begun = time.monotonic()
        with pytest.raises(HelmError) as caught:
            mysql.run(plan_of("SELECT 1", engine="mysql"), profile, "x", Limits())
        assert time.monotonic() - begun < 4
    assert caught.value.code == "too_large"


@pytest.mark.contract("C100")
def test_a_value_that_the_server_itself_will_not_send_is_not_null(bench: Bench, mariadb: MariaDb) -> None:
    mariadb.outside("SET GLOBAL max_allowed_packet = 1048576 * 4")
    try:
        assert bench.refusal("SELECT REPEAT('x', 5000000)").code == "too_large"
        assert bench.call("SELECT 1 / 0")["rows"] == [[None]]  # a warning of another kind
    finally:
        mariadb.outside("SET GLOBAL max_allowed_packet = 1024 * 1024 * 1024")


@pytest.mark.contract("C99")
def test_five_seconds_are_the_limit(bench: Bench, mariadb: MariaDb) -> None:
    begun = time.monotonic()
    error = bench.refusal("SELECT SLEEP(30)")
    assert 5 <= time.monotonic() - begun < 6
    assert (error.code, error.message) == ("timeout", "the query took longer than 5 s; add a LIMIT or an index")
    assert mariadb.idle()


@pytest.mark.contract("C99")
def test_a_row_now_and_then_does_not_prolong_it(bench: Bench, mariadb: MariaDb) -> None:
    begun = time.monotonic()
    error = bench.refusal("SELECT seq, SLEEP(0.05) FROM seq_1_to_1000", limits=Limits(seconds=0.6))
    assert time.monotonic() - begun < 1.6
    assert error.code == "timeout"
    assert mariadb.idle()


def test_many_calls_at_once_keep_their_own_limits(bench: Bench) -> None:
    def outcome(index: int) -> Any:
        try:
            if index % 3 == 0:
                return bench.call("SELECT {}", index)["rows"]
            return bench.call(bench.endless if index % 3 == 1 else bench.slow, limits=Limits(seconds=1.5))
        except HelmError as error:
            return error.code

    expected = [[[[str(index)]], "too_many_rows", "timeout"][index % 3] for index in range(12)]
    with kept.open_ones(), ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outcome, range(12))) == expected


def test_nothing_of_a_call_stays_open(bench: Bench, mariadb: MariaDb) -> None:
    for _ in range(2):
        bench.call("SELECT 1")
        bench.refusal(bench.endless)
        bench.refusal("DELETE FROM tickets")
        bench.refusal("SELECT nothing", limits=Limits(seconds=1))
        bench.call("UPDATE tickets SET id = id", effect="write")
    with kept.open_ones():
        bench.call("SELECT 1")
    count = f"SELECT count(*) FROM information_schema.processlist WHERE user = '{bench.profile.user}'"
    give_up = time.monotonic() + 2
    while mariadb.outside(count) != [(0,)]:
        assert time.monotonic() < give_up
