"""Postgres keeps what every database driver keeps, and a read stays one whatever it is made of."""

import pytest

from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from tests.rig.postgres import Postgres
from tests.suites.driver import TICKETS, Bench, DriverSuite, plan_of
from tests.suites.postgres import bench_of


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


class TestPostgres(DriverSuite):
    """The bench is that of this module."""


REFUSED = 'a read query must return columns; declare "write": true where it is meant to write'


@pytest.mark.contract("C93", "C97")
@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("COMMIT; DROP TABLE tickets", "refused"),
        ("COMMIT", REFUSED),
        ("COPY (SELECT 1) TO PROGRAM 'touch {marker}'", REFUSED),
        ("COPY (SELECT 1) TO '{marker}'", REFUSED),
        ("COPY tickets TO STDOUT", REFUSED),
        ("COPY tickets FROM STDIN", REFUSED),
        ("WITH gone AS (DELETE FROM tickets RETURNING *) SELECT * FROM gone", "query_failed"),
        ("INSERT INTO tickets VALUES (4, 'Four', 'open') RETURNING id", "query_failed"),
        ("SELECT set_config('transaction_read_only', 'off', false)", "query_failed"),
        ("SELECT set_config('transaction_read_only', 'off', false), vandal()", "query_failed"),
        ("SELECT vandal()", "query_failed"),
        ("SET TRANSACTION READ WRITE", REFUSED),
        ("CALL vandalise()", REFUSED),
        ("CALL vandalise_and_say(1)", "query_failed"),
        ("CALL commit_and_say(1)", "query_failed"),
        ("DO $$ BEGIN DELETE FROM tickets; COMMIT; END $$", REFUSED),
        ("SELECT nextval('counter')", "query_failed"),
        ("SELECT setval('counter', 99)", "query_failed"),
        ("SELECT * FROM tickets FOR UPDATE", "query_failed"),
        ("SELECT * INTO copied FROM tickets", REFUSED),
        ("EXPLAIN ANALYZE DELETE FROM tickets", "query_failed"),
        ("PREPARE TRANSACTION 'left'", REFUSED),
        ("PREPARE stays AS SELECT 1", REFUSED),
        ("LISTEN anything", REFUSED),
        ("LOCK TABLE tickets", REFUSED),
        ("CHECKPOINT", REFUSED),
        ("REINDEX TABLE tickets", REFUSED),
        ("VACUUM", REFUSED),
        ("LOAD 'auto_explain'", REFUSED),
        ("ALTER SYSTEM SET work_mem = '1MB'", REFUSED),
        ("SELECT", REFUSED),
        ("SELECT lo_create(4711), 1 / 0", "query_failed"),
    ],
)
def test_a_read_changes_nothing(postgres: Postgres, bench: Bench, sql: str, code: str) -> None:
    marker = postgres.folder / "marker"
    postgres.outside("CREATE SEQUENCE counter")
    postgres.outside(
        "CREATE FUNCTION vandal() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM set_config('transaction_read_only', 'off', true); DELETE FROM tickets; RETURN 1; END $$"
    )
    body = "LANGUAGE plpgsql AS $$ BEGIN COMMIT; SET default_transaction_read_only = off; DELETE FROM tickets; END $$"
    postgres.outside(f"CREATE PROCEDURE vandalise() {body}")
    postgres.outside(f"CREATE PROCEDURE commit_and_say(INOUT a int) {body}")
    postgres.outside(f"CREATE PROCEDURE vandalise_and_say(INOUT a int) {body.replace('COMMIT; ', '')}")
    before = everything(postgres)
    error = bench.refusal(sql.replace("{marker}", str(marker)))
    assert (error.message if code == REFUSED else error.code) == code, error.message
    assert everything(postgres) == before
    assert not marker.exists()
    assert postgres.quiet()


def everything(postgres: Postgres) -> list[object]:
    return [
        postgres.outside("SELECT * FROM tickets ORDER BY id"),
        postgres.outside("SELECT last_value, is_called FROM counter"),
        postgres.outside("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"),
        postgres.outside("SELECT gid FROM pg_prepared_xacts"),
        postgres.outside("SELECT oid FROM pg_largeobject_metadata"),
    ]


@pytest.mark.contract("C97")
def test_a_read_always_ends_with_a_rollback(postgres: Postgres, bench: Bench) -> None:
    assert bench.call("SELECT lo_create(4711)") == {"columns": ["lo_create"], "rows": [[4711]]}
    assert postgres.outside("SELECT oid FROM pg_largeobject_metadata") == []
    assert bench.call("SHOW transaction_read_only")["rows"] == [["on"]]
    assert bench.call("SHOW default_transaction_read_only")["rows"] == [["on"]]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("TABLE tickets", ["id", "title", "status"]),
        ("VALUES (1, 'One', 'open'), (2, 'Two', 'open')", ["column1", "column2", "column3"]),
        ("WITH t AS (SELECT * FROM tickets) SELECT * FROM t;", ["id", "title", "status"]),
        ("EXPLAIN DELETE FROM tickets", ["QUERY PLAN"]),
        ("SHOW search_path", ["search_path"]),
        ("SELECT 1 /* ? $2 */ AS \"a%s?\", '$3;' -- $4;\n;;", ["a%s?", "?column?"]),
    ],
)
def test_what_reads_is_read(bench: Bench, sql: str, columns: list[str]) -> None:
    assert bench.call(sql)["columns"] == columns


@pytest.mark.contract("C94")
def test_placeholders_and_what_looks_like_them(bench: Bench) -> None:
    sql = "SELECT $1::text, $2, '$3', '%s ?', $1 || '%', '{\"a\": 1}'::jsonb ? 'a', 7 % 4 -- ? $5"
    assert bench.call(sql, "x", 5)["rows"] == [["x", "5", "$3", "%s ?", "x%", True, 3]]


def test_what_no_text_of_postgres_can_hold(bench: Bench) -> None:
    error = bench.refusal("SELECT 1\0, 2")
    assert (error.code, error.message) == ("refused", "the query holds a NUL character; correct the declaration")


@pytest.mark.contract("C103")
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM missing", 'relation "missing" does not exist'),
        ("SELECT 1 / 0", "division by zero"),
        ("SELECT 'x'::int", 'invalid input syntax for type integer: "x"'),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("SELECT id + 'a'::text FROM tickets", "operator does not exist: integer + text"),
        ("SELECT 1; SELECT 2", None),
    ],
)
def test_the_words_of_the_server(bench: Bench, sql: str, message: str | None) -> None:
    error = bench.refusal(sql)
    if message is None:
        assert (error.code, error.message) == (
            "refused",
            "the query is not one statement: cannot insert multiple commands into a prepared statement",
        )
    else:
        assert (error.code, error.message, error.members) == ("query_failed", message, {})


@pytest.mark.parametrize("sqlstate", ["57P01", "42601", "08006"])
def test_an_error_that_a_function_raises_is_its_own(postgres: Postgres, bench: Bench, sqlstate: str) -> None:
    postgres.outside(
        "CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '{sqlstate}'; END $$"
    )
    error = bench.refusal("SELECT fail()")
    assert (error.code, error.message, error.members) == ("query_failed", "on purpose", {})


def test_the_name_of_the_database_is_not_told(postgres: Postgres, bench: Bench) -> None:
    restricted = bench._replace(profile=postgres.profile(user="zq_trust"))
    error = restricted.refusal("CREATE SCHEMA other", effect="write")
    assert (error.code, error.message) == ("query_failed", "permission denied for database")


@pytest.mark.parametrize(
    ("sql", "values", "effect", "code"),
    [
        ("SELECT id FROM tickets WHERE id = $1", (1,), "read", None),
        ("DELETE FROM tickets", (), "write", None),
        ("SELECT * FROM missing", (), "read", "query_failed"),
        ("SELECT id FROM tickets WHERE id = $1", (), "read", "refused"),
        ("DELETE FROM tickets RETURNING id", (), "read", "refused"),
        ("COMMIT", (), "read", "refused"),
        ("COMMIT", (), "write", "refused"),
    ],
)
def test_a_query_is_checked_without_running(
    postgres: Postgres, bench: Bench, sql: str, values: tuple[int, ...], effect: Effect, code: str | None
) -> None:
    plan = plan_of(sql, *values, engine="postgres", effect=effect)
    prepare = driver("postgres").prepare
    if code is None:
        assert prepare(plan, bench.profile, bench.secret, Limits()) is None
    else:
        with pytest.raises(HelmError) as caught:
            prepare(plan, bench.profile, bench.secret, Limits())
        assert caught.value.code == code
    assert postgres.outside("SELECT * FROM tickets ORDER BY id") == TICKETS
    assert postgres.quiet()


def test_the_probe(postgres: Postgres, bench: Bench) -> None:
    (version,) = postgres.outside("SHOW server_version")[0]
    probe = driver("postgres").probe
    assert probe(bench.profile, bench.secret, Limits()) == f"PostgreSQL {version.split()[0]}, 1 table"
    secured = postgres.profile(tls="require")
    assert probe(secured, bench.secret, Limits()) == f"PostgreSQL {version.split()[0]}, 1 table, TLS"
