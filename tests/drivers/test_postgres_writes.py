"""A Postgres write is one transaction: committed in time, or nothing, or said to be unknown."""

import time

import pytest

from helm_cli.drivers import Limits
from tests.rig.postgres import Postgres, Verdict, relay
from tests.suites.driver import BRIEF, TICKETS, Bench
from tests.suites.postgres import bench_of


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


def tickets(bench: Bench) -> list[tuple[object, ...]]:
    return bench.outside("SELECT * FROM tickets ORDER BY id")


@pytest.mark.contract("C104")
@pytest.mark.parametrize(
    ("sql", "affected"),
    [
        ("INSERT INTO tickets SELECT a, 'x', 'y' FROM generate_series(10, 5009) a RETURNING *, repeat('x', 500)", 5000),
        ("UPDATE tickets SET status = status", 3),
        ("DELETE FROM tickets WHERE id > 1 RETURNING id", 2),
        ("WITH gone AS (DELETE FROM tickets RETURNING id) UPDATE tickets SET title = 'x' WHERE id > 1", 2),
        ("MERGE INTO tickets t USING (VALUES (1), (9)) v (id) ON t.id = v.id WHEN MATCHED THEN UPDATE SET title = 'x'"
         " WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'x', 'y')", 2),
        ("INSERT INTO tickets VALUES (1, 'x', 'y') ON CONFLICT DO NOTHING", 0),
        ("CREATE TABLE more (a int)", 0),
        ("SELECT 1", 0),
        ("DO $$ BEGIN DELETE FROM tickets; END $$", 0),
        ("CALL closing()", 0),
        ("TRUNCATE tickets", 0),
    ],
)  # fmt: skip
def test_rows_affected(postgres: Postgres, bench: Bench, sql: str, affected: int) -> None:
    postgres.outside("CREATE PROCEDURE closing() LANGUAGE sql AS $$ UPDATE tickets SET status = 'closed' $$")
    assert bench.call(sql, effect="write") == {"rowsAffected": affected}
    assert postgres.quiet()
    changed = postgres.outside("SELECT count(*) FROM pg_class WHERE relname = 'more'") != [(0,)]
    idle = ("SELECT 1", "UPDATE tickets SET status = status")
    assert (tickets(bench) != TICKETS or changed) == (sql not in idle and "DO NOTHING" not in sql)


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("sql", "code", "message"),
    [
        ("INSERT INTO tickets VALUES (1, 'x', 'y')", "query_failed",
         'duplicate key value violates unique constraint "tickets_pkey" (Key (id)=(1) already exists)'),
        ("INSERT INTO notes VALUES (99)", "query_failed",
         'insert or update on table "notes" violates foreign key constraint "notes_ticket_fkey"'
         ' (Key (ticket)=(99) is not present in table "tickets")'),
        ("DELETE FROM tickets WHERE", "query_failed", "syntax error at end of input"),
        ("VACUUM", "query_failed", "VACUUM cannot run inside a transaction block"),
        ("CALL committing()", "query_failed", "invalid transaction termination"),
        ("COPY tickets FROM STDIN", "refused",
         "helm does not copy data through a query; declare a statement that reads or writes"),
        ("COPY tickets TO STDOUT", "refused",
         "helm does not copy data through a query; declare a statement that reads or writes"),
        *(
            (sql, "refused", "a write query runs in a transaction of helm's, which it cannot end or divide")
            for sql in ("COMMIT", "/* x */ END", "PREPARE TRANSACTION 'left'", "ROLLBACK AND CHAIN", "SAVEPOINT a",
                        "START TRANSACTION", "ABORT")
        ),
        (";", "refused", "the query holds no statement; correct the declaration"),
    ],
)  # fmt: skip
def test_a_write_that_fails_changes_nothing(
    postgres: Postgres, bench: Bench, sql: str, code: str, message: str
) -> None:
    postgres.outside("CREATE TABLE notes (ticket int REFERENCES tickets DEFERRABLE INITIALLY DEFERRED)")
    postgres.outside("CREATE PROCEDURE committing() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM tickets; COMMIT; END $$")
    error = bench.refusal(sql, effect="write")
    assert (error.code, error.message, error.members) == (code, message, {})
    assert tickets(bench) == TICKETS
    assert postgres.outside("SELECT count(*) FROM notes") == [(0,)]
    assert postgres.outside("SELECT gid FROM pg_prepared_xacts") == []
    assert postgres.quiet()


@pytest.mark.contract("C104")
def test_a_write_is_one_for_its_call_only(bench: Bench) -> None:
    assert bench.call("SET default_transaction_read_only = off", effect="write") == {"rowsAffected": 0}
    assert bench.refusal("DELETE FROM tickets RETURNING id").message == (
        'cannot execute DELETE in a read-only transaction; declare "write": true where it is meant to write'
    )


@pytest.mark.contract("C99", "C105")
def test_deferred_triggers_run_inside_the_deadline(postgres: Postgres, bench: Bench) -> None:
    for statement in (
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON tickets DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION wait()",
    ):
        postgres.outside(statement)
    begun = time.monotonic()
    error = bench.refusal("UPDATE tickets SET title = 'x'", effect="write", limits=BRIEF)
    assert time.monotonic() - begun < BRIEF.seconds + 0.5
    assert (error.code, error.message, error.members) == (
        "timeout",
        "the write took longer than 0.4 s and was rolled back",
        {},
    )
    assert postgres.quiet(0.5)
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C105")
@pytest.mark.parametrize("verdict", ["unanswered", "cut"])
def test_a_lost_answer_to_commit_is_unknown(postgres: Postgres, bench: Bench, verdict: Verdict) -> None:
    with relay(postgres.port, b"COMMIT", verdict) as port:
        through = bench._replace(profile=postgres.profile(port=port))
        error = through.refusal("DELETE FROM tickets WHERE id = 1", effect="write")
    assert (error.code, error.members) == ("unavailable", {"applied": "unknown"})
    assert error.message == (
        "the connection to the database was lost during COMMIT; it is unknown whether the write was applied:"
        " look before you repeat it"
    )
    assert postgres.quiet()
    assert tickets(bench) == (TICKETS[1:] if verdict == "unanswered" else TICKETS)


@pytest.mark.contract("C99", "C105")
def test_a_commit_without_an_answer_in_time_is_unknown(postgres: Postgres, bench: Bench) -> None:
    with relay(postgres.port, b"COMMIT", "held") as port:
        through = bench._replace(profile=postgres.profile(port=port))
        begun = time.monotonic()
        error = through.refusal("DELETE FROM tickets WHERE id = 1", effect="write", limits=Limits(seconds=0.6))
        assert time.monotonic() - begun < 1.6
    assert (error.code, error.members) == ("timeout", {"applied": "unknown"})
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C105")
def test_a_lost_connection_before_commit_changed_nothing(postgres: Postgres, bench: Bench) -> None:
    with relay(postgres.port, b"SET CONSTRAINTS", "cut") as port:
        through = bench._replace(profile=postgres.profile(port=port))
        error = through.refusal("DELETE FROM tickets", effect="write")
    assert (error.code, error.message, error.members) == (
        "unavailable",
        "the connection to the database was lost and nothing was changed; try again",
        {},
    )
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C105")
def test_what_fails_at_commit_itself_is_a_failure(postgres: Postgres, bench: Bench) -> None:
    for statement in (
        "CREATE TABLE notes (ticket int CONSTRAINT late REFERENCES tickets DEFERRABLE INITIALLY DEFERRED)",
        "CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN SET CONSTRAINTS late DEFERRED; INSERT INTO notes VALUES (99); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER first AFTER UPDATE ON tickets DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION put_off()",
    ):
        postgres.outside(statement)
    error = bench.refusal("UPDATE tickets SET title = 'x' WHERE id = 1", effect="write")
    assert (error.code, error.members) == ("query_failed", {})
    assert error.message.startswith('insert or update on table "notes" violates foreign key constraint "late"')
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C105")
@pytest.mark.parametrize("sqlstate", ["08006", "08007", "40003", "57P01", "57P02"])
def test_an_error_at_commit_that_leaves_it_open_is_unknown(postgres: Postgres, bench: Bench, sqlstate: str) -> None:
    for statement in (
        "CREATE TABLE notes (ticket int)",
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'who knows' USING ERRCODE = '{sqlstate}'; END $$",
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION fail()",
        "CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN SET CONSTRAINTS late DEFERRED; INSERT INTO notes VALUES (99); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER first AFTER UPDATE ON tickets DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION put_off()",
    ):
        postgres.outside(statement)
    error = bench.refusal("UPDATE tickets SET title = 'x' WHERE id = 1", effect="write")
    assert (error.code, error.message, error.members) == (
        "query_failed",
        "COMMIT ended with an error: who knows; it is unknown whether the write was applied: look before you repeat it",
        {"applied": "unknown"},
    )


@pytest.mark.contract("C104")
@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (INSERT INTO tickets VALUES (7, 'x', 'y') RETURNING *) SELECT * FROM a",
        "WITH a AS (UPDATE tickets SET title = 'x' RETURNING *) (SELECT * FROM a)",
        "WITH a(b) AS MATERIALIZED (WITH c AS (SELECT 1) DELETE FROM tickets RETURNING id) TABLE a",
        "EXPLAIN ANALYZE INSERT INTO tickets VALUES (8, 'x', 'y')",
        "EXPLAIN (ANALYZE, COSTS off) DELETE FROM tickets",
    ],
)
def test_rows_that_nobody_would_count(bench: Bench, sql: str) -> None:
    error = bench.refusal(sql, effect="write")
    assert (error.code, error.message) == (
        "refused",
        "the rows that this query changes cannot be counted; write its INSERT, UPDATE, DELETE or MERGE as the"
        " statement itself",
    )
    assert tickets(bench) == TICKETS


def test_what_only_looks_like_such_rows(bench: Bench) -> None:
    for sql in (
        "SELECT * FROM tickets FOR UPDATE",
        "EXPLAIN DELETE FROM tickets",
        "WITH a AS (SELECT id AS update FROM tickets FOR NO KEY UPDATE) SELECT update, 'DELETE FROM' FROM a",
    ):
        assert bench.call(sql, effect="write") == {"rowsAffected": 0}
    sql = "WITH a AS (SELECT 9) INSERT INTO tickets SELECT *, 'x', 'y' FROM a"
    assert bench.call(sql, effect="write") == {"rowsAffected": 1}
