"""A write of MySQL is whole or not there, and where nobody can know, that is what is said."""

import os
import signal
import time
from threading import Thread

import pytest

from helm_cli.drivers import Limits, mysql
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.mariadb import MariaDb, soon
from tests.rig.mysql8 import CUT, OK, OPEN, Mysql8, error, mysql8
from tests.suites.driver import BRIEF, TICKETS, Bench, plan_of

# COM_STMT_PREPARE_OK of a statement without columns and placeholders.
PREPARED = b"\0\1\0\0\0\0\0\0\0\0\0\0"
UNKNOWN = "; it is unknown whether the write was applied: look before you repeat it"


@pytest.fixture
def bench(mariadb: MariaDb) -> Bench:
    bench = mariadb.bench()
    mariadb.outside("CREATE OR REPLACE TABLE plain (i INT PRIMARY KEY) ENGINE=MyISAM")
    return bench


def ids(bench: Bench) -> list[int]:
    return [row[0] for row in bench.outside("SELECT id FROM tickets ORDER BY id")]


@pytest.mark.contract("C104")
@pytest.mark.parametrize(
    ("sql", "values", "affected"),
    [
        ("INSERT INTO tickets VALUES ({}, {}, {})", [7, "Seven", None], 1),
        ("INSERT INTO tickets VALUES (7, 'a', ''), (8, 'b', '') RETURNING id, title", [], 2),
        ("DELETE FROM tickets WHERE status = {} RETURNING id", ["open"], 2),
        ("REPLACE INTO tickets VALUES (1, 'New', 'open')", [], 2),
        ("INSERT INTO tickets VALUES (1, 'New', 'open') ON DUPLICATE KEY UPDATE title = 'Old'", [], 2),
        ("UPDATE tickets SET title = title", [], 3),
        ("UPDATE tickets SET title = {} WHERE id = {}", ["x", "1"], 1),
        ("DELETE FROM tickets WHERE id > 99", [], 0),
        ("UPDATE tickets a, tickets b SET a.title = b.title WHERE a.id = 1 AND b.id = 2", [], 1),
        ("CREATE OR REPLACE TABLE other (id INT)", [], 0),
        ("TRUNCATE TABLE plain", [], 0),
        ("SET @a = 1", [], 0),
        ("SELECT id FROM tickets", [], 0),
    ],
)
def test_rows_affected(bench: Bench, sql: str, values: list[object], affected: int) -> None:
    assert bench.call(sql, *values, effect="write") == {"rowsAffected": affected}


@pytest.mark.contract("C104")
def test_a_procedure_with_several_results(bench: Bench) -> None:
    bench.outside(
        "CREATE OR REPLACE PROCEDURE closes(a INT) BEGIN SELECT 1 / 0; SELECT id FROM tickets;"
        " UPDATE tickets SET status = 'closed' WHERE id <= a; END"
    )
    assert bench.call("CALL closes({})", 2, effect="write") == {"rowsAffected": 2}
    assert bench.outside("SELECT count(*) FROM tickets WHERE status = 'closed'") == [(3,)]


@pytest.mark.contract("C105")
def test_a_constraint_that_fails_changes_nothing(bench: Bench) -> None:
    failed = bench.refusal("INSERT INTO tickets VALUES (7, 'a', ''), (1, 'b', '')", effect="write")
    assert (failed.code, failed.message) == ("query_failed", "Duplicate entry '1' for key 'PRIMARY'")
    assert ids(bench) == [1, 2, 3]


@pytest.mark.contract("C105")
def test_what_cannot_be_rolled_back_is_said(bench: Bench) -> None:
    failed = bench.refusal("INSERT INTO plain VALUES (1), (2), (1)", effect="write")
    assert failed.code == "query_failed"
    assert failed.members == {"applied": "unknown"}
    assert failed.message == "Duplicate entry '1' for key 'PRIMARY'; it could not be rolled back whole" + UNKNOWN
    failed = bench.refusal("DROP TABLE plain, nosuchtable", effect="write")
    assert failed.members == {"applied": "unknown"}
    assert failed.message == ("Unknown table 'app.nosuchtable'; MySQL may commit parts of DROP by itself" + UNKNOWN)
    assert bench.outside("SHOW TABLES LIKE 'plain'") == []


@pytest.mark.contract("C105")
@pytest.mark.parametrize("sql", ["START TRANSACTION", "SAVEPOINT a", "LOCK TABLES tickets WRITE", "XA BEGIN 'a'"])
def test_a_write_does_not_leave_its_transaction(bench: Bench, sql: str) -> None:
    failed = bench.refusal(sql, effect="write")
    assert failed.code == "refused"


@pytest.mark.contract("C99", "C105")
def test_a_slow_write_is_proven_to_be_rolled_back(bench: Bench, mariadb: MariaDb) -> None:
    failed = bench.refusal("UPDATE tickets SET title = SLEEP(30)", effect="write", limits=BRIEF)
    assert (failed.code, failed.members) == ("timeout", {})
    assert failed.message == "the write took longer than 0.4 s and was rolled back"
    assert mariadb.idle()
    failed = bench.refusal(
        "INSERT INTO plain SELECT id + SLEEP(id * 0.2 - 0.2) FROM tickets", effect="write", limits=BRIEF
    )
    assert (failed.code, failed.members) == ("timeout", {"applied": "unknown"})


@pytest.mark.contract("C99")
def test_rows_that_stay_locked(bench: Bench, mariadb: MariaDb) -> None:
    blocker = Thread(target=mariadb.outside, args=("UPDATE tickets SET title = SLEEP(1) WHERE id = 1",))
    blocker.start()
    assert soon(lambda: mariadb.outside("SELECT 1 FROM information_schema.processlist WHERE state = 'User sleep'"))
    failed = bench.refusal("DELETE FROM tickets", effect="write", limits=BRIEF)
    assert (failed.code, failed.members) == ("timeout", {})
    blocker.join()
    assert ids(bench) == [1, 2, 3]


@pytest.mark.contract("C99")
@pytest.mark.parametrize("sql", ["SELECT SLEEP(9)", "UPDATE tickets SET title = SLEEP(9)"])
def test_a_server_that_stops_in_the_middle(bench: Bench, mariadb: MariaDb, sql: str) -> None:
    def stop() -> None:
        soon(lambda: any("SLEEP" in info for info in mariadb.running()))
        os.kill(mariadb.process, signal.SIGSTOP)

    stopper = Thread(target=stop)
    stopper.start()
    write = sql.startswith("UPDATE")
    begun = time.monotonic()
    try:
        failed = bench.refusal(sql, effect="write" if write else "read", limits=Limits(seconds=1.5))
        assert time.monotonic() - begun < 2.5
    finally:
        stopper.join()
        os.kill(mariadb.process, signal.SIGCONT)
    assert (failed.code, failed.members) == ("timeout", {"applied": "unknown"} if write else {})
    assert soon(lambda: not mariadb.running()), "the server's own clock did not end it"
    assert bench.outside("SELECT id, title, status FROM tickets") == TICKETS


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("sql", "code", "members"),
    [
        ("UPDATE tickets SET title = SLEEP(30)", "unavailable", {"applied": "unknown"}),
        ("SELECT SLEEP(30)", "unavailable", {}),
    ],
)
def test_a_connection_that_ends_in_the_middle(
    bench: Bench, mariadb: MariaDb, sql: str, code: str, members: dict[str, str]
) -> None:
    def cut() -> None:
        soon(lambda: any("SLEEP" in info for info in mariadb.running()))
        [(number,)] = mariadb.outside(
            f"SELECT id FROM information_schema.processlist WHERE user = '{bench.profile.user}'"
        )
        mariadb.outside(f"KILL HARD CONNECTION {number}")

    cutter = Thread(target=cut)
    cutter.start()
    failed = bench.refusal(sql, effect="write" if members else "read")
    cutter.join()
    assert (failed.code, failed.members) == (code, members)
    assert bench.outside("SELECT id, title, status FROM tickets") == TICKETS


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("answer", "code", "message", "known"),
    [
        ((CUT,), "unavailable", "the connection to the database server was lost during the COMMIT", False),
        ((), "timeout", "the write took longer than 0.4 s", False),
        ((error(1180, "Got error 5 during COMMIT"),), "query_failed", "Got error 5 during COMMIT", False),
        ((error(1213, "Deadlock found"),), "query_failed", "Deadlock found", True),
    ],
    ids=["cut", "silent", "error", "deadlock"],
)
def test_the_answer_to_a_commit(answer: tuple[bytes, ...], code: str, message: str, known: bool) -> None:
    answers = {"UPDATE": (PREPARED,), "START": (OPEN,), "EXECUTE": (OPEN,), "COMMIT": answer}
    with mysql8(Mysql8(sign_in=(OK,), answers=answers)) as server:
        profile = Database("local-app", "mysql", host="127.0.0.1", port=server.port, user="helm_tester")
        begun = time.monotonic()
        with pytest.raises(HelmError) as caught:
            mysql.run(plan_of("UPDATE t SET a = 1", engine="mysql", effect="write"), profile, "x", BRIEF)
        assert time.monotonic() - begun < 1.4
    assert (caught.value.code, caught.value.members) == (code, {} if known else {"applied": "unknown"})
    assert caught.value.message == message + ("" if known else UNKNOWN)
    assert server.statements[-1] == "COMMIT"


@pytest.mark.contract("C104")
def test_all_that_a_write_sends() -> None:
    with mysql8(Mysql8(sign_in=(OK,), answers={"UPDATE": (PREPARED,), "START": (OPEN,), "EXECUTE": (OPEN,)})) as server:
        profile = Database("local-app", "mysql", host="127.0.0.1", port=server.port, user="helm_tester")
        plan = plan_of("UPDATE t SET a = 1", engine="mysql", effect="write")
        assert mysql.run(plan, profile, "x", Limits()) == {"rowsAffected": 1}
    assert server.statements[-6:] == [
        server.statements[-6],
        "START TRANSACTION READ WRITE",
        f"SET @helm_statement = _utf8mb4 x'{b'UPDATE t SET a = 1'.hex()}'",
        "PREPARE helm_statement FROM @helm_statement",
        "EXECUTE helm_statement",
        "COMMIT",
    ]
