"""A read of MySQL changes nothing, whatever its SQL holds, and leaves nothing running."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.drivers import kept
from helm_cli.model.extension import Effect
from tests.rig.mariadb import MariaDb
from tests.suites.driver import BRIEF, TICKETS, Bench

SETUP = [
    "CREATE OR REPLACE SEQUENCE numbers",
    "CREATE OR REPLACE TABLE plain (i INT) ENGINE=MyISAM",
    "INSERT INTO plain VALUES (1)",
    "CREATE OR REPLACE FUNCTION writes() RETURNS INT BEGIN INSERT INTO tickets VALUES (901, 'f', 'f'); RETURN 1; END",
    "CREATE OR REPLACE FUNCTION writes_plain() RETURNS INT BEGIN INSERT INTO plain VALUES (2); RETURN 1; END",
    "CREATE OR REPLACE PROCEDURE breaks_out() BEGIN COMMIT; SET SESSION TRANSACTION READ WRITE;"
    " START TRANSACTION READ WRITE; INSERT INTO tickets VALUES (902, 'p', 'p'); COMMIT; SELECT 1; END",
]


@pytest.fixture
def bench(mariadb: MariaDb) -> Bench:
    bench = mariadb.bench()
    for sql in SETUP:
        mariadb.outside(sql)
    return bench


def state(mariadb: MariaDb) -> str:
    """A digest of everything in the database and of the settings of the server."""
    digest = hashlib.sha256()
    for sql in (
        "SHOW TABLES",
        "SELECT * FROM tickets",
        "SELECT * FROM plain",
        "SELECT next_not_cached_value FROM numbers",
        "SELECT * FROM mysql.table_stats",
        "SELECT user, host FROM mysql.user",
        "SELECT * FROM mysql.general_log",
        "SHOW GLOBAL VARIABLES WHERE variable_name NOT RLIKE 'gtid|timestamp|lsn|^debug'",
        "SHOW PROCEDURE STATUS WHERE db = 'app'",
    ):
        digest.update(repr(mariadb.outside(sql)).encode())
    return digest.hexdigest()


def files(mariadb: MariaDb) -> list[str]:
    """What stands beside the server's data: what a query wrote to a file of its own would too."""
    return sorted(path.name for path in mariadb.folder.iterdir())


REFUSED = [
    "COMMIT",
    "DO SLEEP(0)",
    "SET GLOBAL max_connections = 17",
    "SET SESSION TRANSACTION READ WRITE",
    "SET @a = 1",
    "SET STATEMENT tx_read_only = 0 FOR SELECT writes()",
    "CALL breaks_out()",
    "/*!50000 CALL */ breaks_out()",
    "HANDLER tickets OPEN",
    "LOCK TABLES tickets WRITE",
    "FLUSH TABLES",
    "ANALYZE TABLE tickets PERSISTENT FOR ALL",
    "/*!50000 ANALYZE */ TABLE tickets PERSISTENT FOR ALL",
    "/*!999999 SELECT */ ANALYZE TABLE tickets PERSISTENT FOR ALL",
    "/*!999999 SELECT */ OPTIMIZE TABLE plain",
    "/*!999999 SELECT */ SET GLOBAL max_connections = 17",
    "/*!999999 SELECT */ CALL breaks_out()",
    "/*!999999 SELECT */ COMMIT",
    "/*!999999 SELECT */ XA RECOVER",
    "/*!999999 SELECT */ DELETE FROM tickets RETURNING id",
    "-- a\n ( /* b */ /*M!999999 SELECT */ 1)",
    "CHECK TABLE plain",
    "REPAIR TABLE plain",
    "SELECT 1 INTO OUTFILE '{folder}/out'",
    "SELECT 1 /*!50000 INTO OUTFILE '{folder}/out' */",
    "SELECT 1 /*M!100000 INTO DUMPFILE '{folder}/out' */",
    "SELECT 1 UNION SELECT 2 INTO OUTFILE '{folder}/out'",
    "WITH a AS (SELECT 1) SELECT * FROM a INTO OUTFILE '{folder}/out'",
    "SELECT 1 INTO @a",
    "BEGIN NOT ATOMIC INSERT INTO tickets VALUES (9, 'Nine', 'open'); COMMIT; END",
    "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE plain",
    "LOAD DATA INFILE '/etc/hostname' INTO TABLE plain",
    "XA BEGIN 'a'",
    "PREPARE a FROM 'DELETE FROM tickets'",
    "EXECUTE IMMEDIATE 'DELETE FROM tickets'",
    "KILL 1",
    "SHUTDOWN",
    "CREATE TEMPORARY TABLE tickets (id INT)",
    "INSERT INTO tickets VALUES (9, 'Nine', 'open') RETURNING id",
]
FAILED = [
    "SELECT 1; DROP TABLE tickets",
    "SELECT 1 /*! ; DROP TABLE tickets */",
    "SELECT writes()",
    "SELECT writes_plain()",
    "SELECT NEXTVAL(numbers)",
    "SELECT SETVAL(numbers, 100)",
    "SELECT * FROM tickets FOR UPDATE",
    "WITH a AS (SELECT 1) DELETE FROM tickets",
    "EXPLAIN EXTENDED DELETE FROM tickets",
]


@pytest.mark.contract("C98")
@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_read_is_refused_before_it_runs(bench: Bench, mariadb: MariaDb, sql: str) -> None:
    before, beside = state(mariadb), files(mariadb)
    error = bench.refusal(sql.replace("{folder}", str(mariadb.folder)))
    assert error.code == "refused", error.message
    assert (state(mariadb), files(mariadb)) == (before, beside)
    assert mariadb.idle()


@pytest.mark.contract("C98")
@pytest.mark.parametrize("sql", FAILED)
def test_what_writes_all_the_same_the_server_refuses(bench: Bench, mariadb: MariaDb, sql: str) -> None:
    before = state(mariadb)
    assert bench.refusal(sql).code in ("refused", "query_failed")
    assert state(mariadb) == before
    assert mariadb.idle()


@pytest.mark.parametrize("sql", ["DELETE FROM tickets", "SELECT writes()", "SELECT NEXT VALUE FOR numbers"])
def test_a_read_that_writes_is_told_what_it_should_be(bench: Bench, sql: str) -> None:
    assert bench.refusal(sql).message.endswith('; declare "write": true where it is meant to write')


@pytest.mark.contract("C98")
@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SHOW PROCESSLIST", "Id"),
        ("SHOW FULL PROCESSLIST", "Id"),
        ("SHOW WARNINGS", "Level"),
        ("SHOW ENGINE INNODB STATUS", "Type"),
        ("SHOW PROFILES", "Query_ID"),
        ("SHOW MASTER STATUS", "File"),
    ],
)
def test_whatever_show_tells_is_a_read(bench: Bench, sql: str, column: str) -> None:
    assert bench.call(sql)["columns"][0] == column


@pytest.mark.contract("C93", "C98")
def test_a_commit_before_a_second_statement_drops_nothing(bench: Bench) -> None:
    assert bench.refusal("COMMIT; DROP TABLE tickets").code == "refused"
    error = bench.refusal("SELECT 1; COMMIT; DROP TABLE tickets")
    assert error.code == "query_failed"
    assert bench.outside("SELECT id, title, status FROM tickets") == TICKETS


@pytest.mark.parametrize(
    "sql", ["SELECT SLEEP(30)", "SELECT GET_LOCK('a', 30), SLEEP(30)", "SELECT BENCHMARK(1000000000, SHA2('a', 512))"]
)
@pytest.mark.contract("C99")
def test_nothing_runs_on_after_the_deadline(bench: Bench, mariadb: MariaDb, sql: str) -> None:
    error = bench.refusal(sql, limits=BRIEF)
    assert (error.code, error.message) == ("timeout", "the query took longer than 0.4 s; add a LIMIT or an index")
    assert mariadb.idle()


@pytest.mark.contract("C100")
def test_nothing_runs_on_after_too_many_rows(bench: Bench, mariadb: MariaDb) -> None:
    assert bench.refusal(bench.endless).code == "too_many_rows"
    assert bench.refusal(f"{bench.endless} UNION ALL {bench.slow}").code == "too_many_rows"
    assert mariadb.idle()


def test_the_session_settings_of_one_read_do_not_reach_the_next(bench: Bench) -> None:
    with kept.open_ones():
        first = bench.call("SELECT CONNECTION_ID(), @left := 5, GET_LOCK('left', 0), LAST_INSERT_ID(7)")["rows"][0]
        second = bench.call("SELECT CONNECTION_ID(), @left, IS_FREE_LOCK('left'), LAST_INSERT_ID()")["rows"][0]
        assert first[0] == second[0], "the connection was not kept"
        assert second[1:] == [None, 1, "0"]
        assert bench.call("SELECT @helm_statement LIKE '%LIKE%', 'é', @@collation_connection")["rows"] == [
            [1, "é", "utf8mb4_general_ci"]
        ]
        assert bench.refusal("SELECT writes()").code == "query_failed"
        bench.call("UPDATE tickets SET status = 'open'", effect="write")
        assert bench.refusal("SELECT writes()").code == "query_failed"


def test_a_kept_connection_that_died_is_replaced(bench: Bench, mariadb: MariaDb) -> None:
    with kept.open_ones():
        number = bench.call("SELECT CONNECTION_ID()")["rows"][0][0]
        mariadb.outside(f"KILL {number}")
        assert bench.call("SELECT CONNECTION_ID()")["rows"][0][0] != number


@pytest.fixture
def secret_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "secret"
    path.write_text("1\n")
    path.chmod(0o600)
    yield path


@pytest.mark.parametrize("effect", ["read", "write"])
def test_no_file_of_this_machine_is_sent(bench: Bench, secret_file: Path, effect: Effect) -> None:
    error = bench.refusal(f"LOAD DATA LOCAL INFILE '{secret_file}' INTO TABLE plain", effect=effect)
    assert error.code in ("refused", "query_failed")
    assert bench.outside("SELECT * FROM plain") == [(1,)]
