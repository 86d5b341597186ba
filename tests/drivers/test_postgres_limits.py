"""5 s, 1000 rows, 1 MiB and flat memory on Postgres, against statements and servers made to break them."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from helm_cli.drivers import Limits
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.profile import Database, Tls
from tests.rig.postgres import PASSWORD, Postgres, relay, silent
from tests.suites.driver import BRIEF, Bench
from tests.suites.postgres import bench_of

CHILD = """
import json, os, sys, time
from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database, Tls
from tests.rig.memory import peak
from tests.suites.driver import plan_of
profile, secret, sql, effect = json.loads(sys.stdin.read())
postgres = driver("postgres")
begun = time.monotonic()
try:
    postgres.run(plan_of(sql, engine="postgres", effect=effect), Database(**profile), secret, Limits())
    code = "ok"
except HelmError as error:
    code = error.code
took = time.monotonic() - begun
print(json.dumps([code, took, peak()]), flush=True)
os._exit(0)
"""


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


def in_a_child(
    postgres: Postgres, sql: str, effect: Effect = "read", profile: Database | None = None
) -> tuple[str, float, int]:
    """The outcome of a call in a process of its own, how long it took, and its largest size in KiB."""
    given = json.dumps([(profile or postgres.profile())._asdict(), PASSWORD, sql, effect])
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=given, capture_output=True, text=True, check=True, timeout=60
    )
    code, took, size = json.loads(done.stdout)
    return code, took, size


@pytest.mark.contract("C99", "C100")
@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT generate_series(1, 100000000)", "too_many_rows"),
        (
            "SELECT a, b, repeat('x', 200) FROM generate_series(1, 10000) a, generate_series(1, 10000) b",
            "too_many_rows",
        ),
        ("SELECT repeat('x', 1000) FROM generate_series(1, 10000) a, generate_series(1, 10000) b", "too_many_rows"),
        ("SELECT repeat('x', 300000000)", "too_large"),
        ("SELECT a, repeat('x', 300000000) FROM generate_series(1, 3) a", "too_large"),
        ("SELECT decode(repeat('00', 150000000), 'hex')", "too_large"),
        ("SELECT repeat('x', 5000000)", "too_large"),
        ("SELECT string_to_array(repeat('x,', 5000000), ',')", "too_large"),
    ],
)
def test_what_is_endless_ends_soon_and_small(postgres: Postgres, sql: str, code: str) -> None:
    _, _, idle = in_a_child(postgres, "SELECT 1")
    outcome, took, size = in_a_child(postgres, sql)
    assert outcome == code
    assert took < (2 if code == "too_many_rows" else 5)
    assert size - idle < 40 * 1024
    assert postgres.quiet()


@pytest.mark.contract("C100")
@pytest.mark.parametrize("way", ["socket", "tls"])
def test_a_row_is_as_small_on_every_way(postgres: Postgres, way: str) -> None:
    profile = postgres.profile(host=None, socket=str(postgres.folder), tls=None)
    if way == "tls":
        profile = postgres.profile(tls="require")
    _, _, idle = in_a_child(postgres, "SELECT 1", profile=profile)
    outcome, _, size = in_a_child(postgres, "SELECT repeat('x', 100000000)", profile=profile)
    assert outcome == "too_large"
    assert size - idle < 40 * 1024


@pytest.fixture
def talkative(postgres: Postgres, bench: Bench) -> Bench:
    """Functions and a trigger of the server's that say more than anybody reads."""
    for statement in (
        "CREATE FUNCTION cry(n int) RETURNS int LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION '%', repeat('E', n) USING DETAIL = repeat('D', n); END $$",
        "CREATE FUNCTION chat() RETURNS int LANGUAGE plpgsql AS"
        " $$ BEGIN FOR i IN 1..100 LOOP RAISE INFO '%', repeat('N', 300000); END LOOP; RETURN 1; END $$",
        "CREATE FUNCTION cry_late() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION '%', repeat('E', 50000000); END $$",
        "CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON tickets DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION cry_late()",
    ):
        postgres.outside(statement)
    return bench


@pytest.mark.contract("C100", "C103")
def test_a_message_is_cut_and_says_so(talkative: Bench) -> None:
    error = talkative.refusal("SELECT cry(3000)")
    assert (error.code, error.message) == (
        "query_failed",
        f"{'E' * 3000} ({'D' * 1096} … (cut by helm))",
    )
    error = talkative.refusal("SELECT cry(5000000)")
    assert (error.code, error.message) == ("query_failed", f"{'E' * 4096} … (cut by helm)")


@pytest.mark.contract("C100")
def test_a_trigger_that_says_too_much(postgres: Postgres, talkative: Bench) -> None:
    sql = "UPDATE tickets SET title = 'x' WHERE id = 1"
    error = talkative.refusal(sql, effect="write")
    assert (error.code, error.message, error.members) == (
        "query_failed",
        "the database answers with more text than helm reads; the write was rolled back; correct what the query calls",
        {},
    )
    assert postgres.outside("SELECT title FROM tickets WHERE id = 1") == [("One",)]
    _, _, idle = in_a_child(postgres, "SELECT 1")
    outcome, _, size = in_a_child(postgres, sql, "write")
    assert outcome == "query_failed"
    assert size - idle < 40 * 1024


def test_notices_are_no_rows(talkative: Bench) -> None:
    error = talkative.refusal("SELECT chat()")
    assert (error.code, error.message) == (
        "query_failed",
        "the database sends more notices than helm reads; correct what the query calls",
    )


@contextmanager
def answering(*answers: bytes, endless: bytes = b"") -> Iterator[int]:
    """A port that says one of these for each piece of what it hears, and then something without end."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    for answer in answers:
                        client.recv(65536)
                        client.sendall(answer)
                    while endless:
                        client.sendall(endless)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


WELCOME = b"R" + struct.pack("!ii", 8, 0) + b"K" + struct.pack("!iii", 12, 1, 1) + b"Z" + struct.pack("!i", 5) + b"I"


@pytest.mark.parametrize("welcome", [WELCOME, WELCOME[:9]])
def test_a_server_whose_message_never_ends(postgres: Postgres, bench: Bench, welcome: bytes) -> None:
    endless = b"SERROR\0C42000\0M" + b"x" * 65536
    flood = b"E" + struct.pack("!i", 10**9)
    first = [welcome, flood] if welcome == WELCOME else [welcome + flood]
    _, _, idle = in_a_child(postgres, "SELECT 1")
    with answering(*first, endless=endless) as port:
        outcome, took, size = in_a_child(postgres, "SELECT 1", profile=postgres.profile(port=port))
    assert outcome == ("query_failed" if welcome == WELCOME else "unavailable")
    assert took < 2
    assert size - idle < 40 * 1024


@pytest.mark.parametrize(
    ("answer", "tls"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "disable"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "require"),
        (b"SSH-2.0-x\r\n", "disable"),
        (b"SSH-2.0-x\r\n", "require"),
    ],
)
def test_what_is_no_postgres(bench: Bench, answer: bytes, tls: Tls) -> None:
    with answering(answer) as port:
        error = bench._replace(profile=bench.profile._replace(port=port, tls=tls)).refusal("SELECT 1")
    assert (error.code, error.message) == (
        "unavailable",
        "no Postgres server answered at the profile's host and port; check them",
    )


@pytest.mark.contract("C99")
@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_function_that_will_not_be_cancelled(postgres: Postgres, bench: Bench, effect: Effect) -> None:
    postgres.outside(
        "CREATE FUNCTION deaf() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP BEGIN PERFORM pg_sleep(30);"
        " EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"
    )
    begun = time.monotonic()
    error = bench.refusal("SELECT deaf()", effect=effect, limits=BRIEF)
    assert time.monotonic() - begun < BRIEF.seconds + 0.5
    assert error.code == "timeout"
    assert postgres.quiet(0.5)


@pytest.mark.contract("C100")
def test_a_thousand_rows(bench: Bench) -> None:
    sql = "SELECT generate_series(1, {})"
    assert bench.call(sql, 1000)["rows"] == [[number] for number in range(1, 1001)]
    assert bench.refusal(sql, 1001).message == "the query returns more than 1000 rows; add a LIMIT to it"


@pytest.mark.contract("C100")
@pytest.mark.parametrize(
    ("value", "most"),
    [
        ("repeat('x', {})", 1024 * 1024 - len('[[""]]')),
        ("repeat('é', {})", (1024 * 1024 - len('[[""]]')) // 2),
        ("repeat(E'\\n', {})", (1024 * 1024 - len('[[""]]')) // 2),
        ("decode(repeat('00', {}), 'hex')", (1024 * 1024 - len('[[""]]')) // 4 * 3),
        ("('[' || repeat('1, ', {}) || '1]')::json", (1024 * 1024 - len("[[[1]]]")) // 2),
    ],
)
def test_a_mebibyte_of_rows(bench: Bench, value: str, most: int) -> None:
    sql = f"SELECT {value}"
    assert len(bench.call(sql, most)["rows"]) == 1
    error = bench.refusal(sql, most + 1)
    assert (error.code, error.message) == (
        "too_large",
        "the query returns more than 1048576 bytes of row data; select less or add a LIMIT",
    )


@pytest.mark.contract("C99")
@pytest.mark.parametrize(
    ("sql", "effect"),
    [
        ("SELECT pg_sleep(30)", "read"),
        ("SELECT set_config('statement_timeout', '0', true), pg_sleep(30)", "read"),
        ("SELECT stubborn()", "read"),
        ("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b", "read"),
        ("SELECT a, pg_sleep(0.02) FROM generate_series(1, 900) a", "read"),
        ("SELECT * FROM tickets, pg_advisory_xact_lock(1)", "read"),
        ("UPDATE tickets SET title = 'x' WHERE pg_sleep(30) IS NULL", "write"),
        ("UPDATE tickets SET title = 'x'", "write"),
        ("DO $$ BEGIN PERFORM pg_sleep(30); END $$", "write"),
        ("INSERT INTO slow VALUES (1)", "write"),
    ],
)
def test_the_servers_work_ends_with_the_deadline(postgres: Postgres, bench: Bench, sql: str, effect: Effect) -> None:
    for statement in (
        "CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql SET statement_timeout = 0 AS"
        " $$ BEGIN PERFORM pg_sleep(30); RETURN 1; END $$",
        "CREATE TABLE slow (a int)",
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION wait()",
    ):
        postgres.outside(statement)
    before = postgres.outside("SELECT * FROM tickets ORDER BY id")
    with postgres.session() as other:
        other.execute("BEGIN")
        other.execute("SELECT pg_advisory_lock(1)")
        other.execute("UPDATE tickets SET status = status")
        begun = time.monotonic()
        error = bench.refusal(sql, effect=effect, limits=BRIEF)
        assert time.monotonic() - begun < BRIEF.seconds + 0.5
        other.execute("ROLLBACK")
    assert (error.code, error.members) == ("timeout", {})
    assert "0.4 s" in error.message
    assert postgres.quiet(0.5)
    assert postgres.outside("SELECT * FROM tickets ORDER BY id") == before
    assert postgres.outside("SELECT * FROM slow") == []


@pytest.mark.contract("C99")
def test_a_query_that_stops_sending_is_ended_on_the_server(postgres: Postgres, bench: Bench) -> None:
    sql = "SELECT a, repeat('x', 9000), CASE WHEN a > 9 THEN pg_sleep(30) END FROM generate_series(1, 100) a"
    assert bench.refusal(sql, limits=Limits(rows=4)).code == "too_many_rows"
    assert postgres.quiet(0.5)


@pytest.mark.contract("C99")
@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_port_that_never_answers(bench: Bench, effect: Effect) -> None:
    with silent() as port:
        begun = time.monotonic()
        away = bench._replace(profile=bench.profile._replace(port=port))
        error = away.refusal("SELECT 1", effect=effect, limits=BRIEF)
        assert time.monotonic() - begun < BRIEF.seconds + 0.5
        assert (error.code, error.members) == ("unavailable", {})
        assert error.message == "the server did not answer the sign-in in time; nothing was run"


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.contract("C99")
def test_a_server_that_is_stopped_before_the_call(postgres: Postgres, bench: Bench) -> None:
    with stopped(postgres.pid):
        begun = time.monotonic()
        assert bench.refusal("SELECT 1", limits=BRIEF).code == "unavailable"
        assert time.monotonic() - begun < BRIEF.seconds + 0.5


@pytest.mark.contract("C99", "C105")
@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_server_that_stops_in_the_middle(postgres: Postgres, bench: Bench, effect: Effect) -> None:
    sql = bench.slow if effect == "read" else bench.slow_write
    errors = in_the_background(bench, sql, effect, Limits(seconds=1.2))
    pid = until_it_runs(postgres)
    with stopped(pid, postgres.pid):
        error = errors()
    assert (error.code, error.members) == ("timeout", {})
    assert error.message.startswith("the write took" if effect == "write" else "the query took")
    assert postgres.quiet()
    assert len(postgres.outside("SELECT * FROM tickets")) == 3


@pytest.mark.contract("C103", "C105")
@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ("read", "the connection to the database was lost before its answer was whole; try again"),
        ("write", "the connection to the database was lost and nothing was changed; try again"),
    ],
)
def test_a_session_that_dies_in_the_middle(postgres: Postgres, bench: Bench, effect: Effect, message: str) -> None:
    sql = bench.slow if effect == "read" else bench.slow_write
    errors = in_the_background(bench, sql, effect, Limits())
    postgres.outside(f"SELECT pg_terminate_backend({until_it_runs(postgres)})")
    error = errors()
    assert (error.code, error.message, error.members) == ("unavailable", message, {})


def test_a_query_that_somebody_else_cancels(postgres: Postgres, bench: Bench) -> None:
    errors = in_the_background(bench, bench.slow_write, "write", Limits())
    runs = until_it_runs(postgres)
    # One that comes while the statement is only prepared is forgotten, so it is asked until the session is over.
    while found := [entry for entry in postgres.running() if int(entry[0]) == runs]:
        if found[0][1] == "active" and "pg_sleep" in found[0][2]:
            postgres.outside(f"SELECT pg_cancel_backend({runs})")
        time.sleep(0.02)
    error = errors()
    assert (error.code, error.message, error.members) == (
        "query_failed",
        "canceling statement due to user request",
        {},
    )


def test_a_write_that_returns_too_much_is_rolled_back(postgres: Postgres, bench: Bench) -> None:
    error = bench.refusal("DELETE FROM tickets RETURNING repeat('x', 100000000)", effect="write")
    assert (error.code, error.members) == ("too_large", {})
    assert len(postgres.outside("SELECT * FROM tickets")) == 3


@pytest.mark.parametrize("mark", [b"BEGIN READ", b"SELECT id", b"ROLLBACK"])
def test_a_line_that_is_cut(postgres: Postgres, bench: Bench, mark: bytes) -> None:
    with relay(postgres.port, mark, "cut") as port:
        through = bench._replace(profile=postgres.profile(port=port))
        if mark == b"ROLLBACK":  # the answer was whole by then
            assert through.call("SELECT id FROM tickets WHERE id = 1")["rows"] == [[1]]
        else:
            assert through.refusal("SELECT id FROM tickets").code == "unavailable"
    assert postgres.quiet()


def test_ctrl_c_ends_the_query_on_the_server(postgres: Postgres, bench: Bench) -> None:
    def interrupt() -> None:
        until_it_runs(postgres)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        bench.call(bench.slow)
    assert postgres.quiet(0.5)


def test_many_calls_at_once_keep_their_own_limits(postgres: Postgres, bench: Bench) -> None:
    def outcome(index: int) -> Any:
        try:
            if index % 3 == 0:
                return bench.call("SELECT {}::int", index)["rows"]
            sql = bench.endless if index % 3 == 1 else bench.slow
            return bench.call(sql, limits=Limits(seconds=1.5))
        except HelmError as error:
            return error.code

    expected = [[[[index]], "too_many_rows", "timeout"][index % 3] for index in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(outcome, range(24))) == expected
    assert postgres.quiet()


def in_the_background(bench: Bench, sql: str, effect: Effect, limits: Limits) -> Any:
    """Begins a call; what is returned waits for its error, which must come within a second of its limit."""
    pool = ThreadPoolExecutor(1)
    begun = time.monotonic()
    future = pool.submit(bench.refusal, sql, effect=effect, limits=limits)

    def error() -> HelmError:
        found = future.result(limits.seconds + 1 - (time.monotonic() - begun))
        pool.shutdown()
        return found

    return error


def until_it_runs(postgres: Postgres) -> int:
    """The process of the server that runs helm's statement, once it does."""
    for _ in range(500):
        for pid, state, query in postgres.running():
            if state == "active" and "pg_sleep" in query:
                return int(pid)
        time.sleep(0.005)
    raise AssertionError("no statement of helm's runs")
