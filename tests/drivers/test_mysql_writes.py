"""A write of MySQL is whole or not there, and where nobody can know, that is what is said."""

import os
import signal
import time
from threading import Thread

import pytest

from helm_cli.drivers import Limits, mysql, mysql_statement
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.rig.mariadb import MariaDb, soon
from tests.rig.mysql8 import CUT, OK, OPEN, Mysql8, error, far, mysql8
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
    assert failed.message == ("Unknown table 'nosuchtable'; MySQL may commit parts of DROP by itself" + UNKNOWN)
    assert bench.outside("SHOW TABLES LIKE 'plain'") == []


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    "sql",
    [
        "START TRANSACTION",
        "COMMIT",
        "SAVEPOINT a",
        "LOCK TABLES tickets WRITE",
        "XA BEGIN 'a'",
        "/*!999999 DELETE */ CALL commits()",
        "/*!999999 DELETE */ COMMIT",
        " # a\n/*! DELETE */ FROM tickets",
        "/* a *//*M!999999 DELETE */ TRUNCATE tickets",
        "IF 1 THEN COMMIT; END IF",
        "BEGIN NOT ATOMIC COMMIT; END",
        "a: BEGIN NOT ATOMIC COMMIT; END",
        "CASE 1 WHEN 1 THEN COMMIT; END CASE",
        "LOOP COMMIT; END LOOP",
        "WHILE 1 DO COMMIT; END WHILE",
        "REPEAT COMMIT; UNTIL 1 END REPEAT",
        "FOR i IN 1..2 DO COMMIT; END FOR",
        "SET STATEMENT max_statement_time = 0 FOR DELETE FROM tickets",
        "EXECUTE IMMEDIATE 'COMMIT'",
        "HANDLER tickets OPEN",
    ],
)
def test_a_write_does_not_leave_its_transaction(bench: Bench, sql: str) -> None:
    failed = bench.refusal(sql, effect="write")
    assert (failed.code, failed.members) == ("refused", {})
    assert ids(bench) == [1, 2, 3]


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("sql", "undone"),
    [
        ("DELETE FROM tickets", True),
        ("(UPDATE tickets SET id = 1", True),
        ("WITH a AS (SELECT 1) DELETE FROM tickets", True),
        ("WITH a AS (DELETE FROM b) SELECT 1 INTO OUTFILE 'x'", False),
        ("WITH a AS (SELECT 1) /*!999999 DELETE */ SELECT 1 INTO OUTFILE 'x'", False),
        ("SELECT 1 INTO OUTFILE 'x'", False),
        ("CALL closes()", False),
        ("ALTER TABLE tickets ADD a INT", False),
        ("SET @a = 1", False),
    ],
)
def test_what_a_rollback_undoes(sql: str, undone: bool) -> None:
    assert mysql_statement.undoable(sql) is undone


@pytest.mark.contract("C105")
def test_a_procedure_that_commits_and_fails(bench: Bench) -> None:
    bench.outside(
        "CREATE OR REPLACE PROCEDURE commits() BEGIN DELETE FROM tickets WHERE id = 1; COMMIT;"
        " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END"
    )
    failed = bench.refusal("CALL commits()", effect="write")
    assert (failed.code, failed.members) == ("query_failed", {"applied": "unknown"})
    assert ids(bench) == [2, 3]


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TABLE new (i INT)", "CREATE command denied to the profile's user for table `new`"),
        ("CREATE TABLE tickets (i INT)", "CREATE command denied to the profile's user for table `tickets`"),
        ("DROP TABLE tickets", "DROP command denied to the profile's user for table `tickets`"),
        (
            "GRANT SELECT ON tickets TO helm_tester",
            "SELECT, GRANT command denied to the profile's user for table `tickets`",
        ),
        (
            "CREATE USER other",
            "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation",
        ),
        ("KILL 4000000000", "Unknown thread id: 4000000000"),
    ],
)
def test_what_is_refused_for_certain(bench: Bench, mariadb: MariaDb, sql: str, message: str) -> None:
    mariadb.outside("CREATE OR REPLACE USER 'helm_guest'@'%'")
    mariadb.outside("GRANT UPDATE ON app.plain TO 'helm_guest'@'%'")
    guest = bench._replace(profile=mariadb.profile(user="helm_guest"), secret=None)
    failed = guest.refusal(sql, effect="write")
    assert (failed.code, failed.message, failed.members) == ("query_failed", message, {})


@pytest.mark.contract("C105")
def test_a_file_of_this_machine_is_refused_for_certain(bench: Bench) -> None:
    failed = bench.refusal("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE plain", effect="write")
    assert (failed.code, failed.members) == ("query_failed", {})


@pytest.mark.contract("C105")
def test_a_write_that_returns_too_much_is_rolled_back(bench: Bench) -> None:
    large = "RETURNING 1, REPEAT('x', 20000000)"
    failed = bench.refusal(f"INSERT INTO tickets VALUES (9, 'a', 'b'), (10, 'a', 'b') {large}", effect="write")
    assert (failed.code, failed.members) == ("too_large", {})
    assert failed.message == "the write returns a row that is too large to be read; it was rolled back"
    assert ids(bench) == [1, 2, 3]
    failed = bench.refusal(f"INSERT INTO plain VALUES (9) {large}", effect="write")
    assert (failed.code, failed.members) == ("too_large", {"applied": "unknown"})
    assert bench.outside("SELECT i FROM plain") == [(9,)]


@pytest.mark.contract("C94", "C105")
def test_a_number_for_a_text_column_changes_nothing(bench: Bench) -> None:
    for sql in ("DELETE FROM tickets WHERE title = {}", "UPDATE tickets SET status = 'x' WHERE title = {}"):
        failed = bench.refusal(sql, 0, effect="write")
        assert (failed.code, failed.members) == ("query_failed", {})
        assert "Truncated incorrect DECIMAL value: 'One'" in failed.message
        assert bench.outside("SELECT id, title, status FROM tickets") == TICKETS
    assert bench.call("DELETE FROM tickets WHERE title = {}", "0", effect="write") == {"rowsAffected": 0}


@pytest.mark.contract("C94", "C105")
def test_a_fraction_is_not_cut(bench: Bench) -> None:
    bench.outside("CREATE OR REPLACE TABLE prices (id INT, n DECIMAL(10,2), d DOUBLE, s VARCHAR(9))")
    assert bench.call("INSERT INTO prices VALUES (1, {}, {}, {})", 1.5, 0.1, 2.5, effect="write") == {"rowsAffected": 1}
    assert [tuple(map(str, row)) for row in bench.outside("SELECT * FROM prices")] == [("1", "1.50", "0.1", "2.5")]
    failed = bench.refusal("UPDATE prices SET n = {}", 0.125, effect="write")
    assert (failed.code, failed.members) == ("query_failed", {})
    assert failed.message == (
        "the server took an argument for another value: Data truncated for column 'n' at row 1;"
        " the write was rolled back"
    )
    assert [tuple(map(str, row)) for row in bench.outside("SELECT n FROM prices")] == [("1.50",)]
    # What the declaration itself rounds is its own affair.
    assert bench.call("UPDATE prices SET n = n * 1.234 WHERE id = {}", 1, effect="write") == {"rowsAffected": 1}


@pytest.mark.contract("C105")
@pytest.mark.parametrize("value", ["x" * 30, 2**40])
def test_what_does_not_fit_fails_in_every_kind_of_table(bench: Bench, value: object) -> None:
    bench.outside("CREATE OR REPLACE TABLE small (s VARCHAR(9), i INT) ENGINE=MyISAM")
    column = "s" if isinstance(value, str) else "i"
    assert bench.refusal(f"INSERT INTO small ({column}) VALUES ({{}})", value, effect="write").code == "query_failed"
    assert bench.outside("SELECT * FROM small") == []


@pytest.mark.contract("C99")
def test_a_far_server_is_told_to_stop() -> None:
    answers = {"UPDATE": (PREPARED,), "START": (OPEN,), "EXECUTE": (), "KILL": (OK,)}
    with mysql8(Mysql8(sign_in=(OK,), answers=answers)) as server, far(server.port, 0.05) as port:
        profile = Database("local-app", "mysql", host="127.0.0.1", port=port, user="helm_tester")
        begun = time.monotonic()
        with pytest.raises(HelmError) as caught:
            mysql.run(plan_of("UPDATE t SET a = 1", engine="mysql", effect="write"), profile, "x", Limits(seconds=1.5))
        assert time.monotonic() - begun < 2.5
        assert soon(lambda: server.statements[-1] == "KILL QUERY 7", within=1)
    assert (caught.value.code, caught.value.members) == ("timeout", {"applied": "unknown"})


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
