"""A declared query takes what a caller has, whatever type the place of a placeholder has."""

from typing import Any

import pytest

from tests.rig.postgres import Postgres
from tests.suites.driver import Bench
from tests.suites.postgres import bench_of


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    made = bench_of(postgres)
    for statement in (
        "CREATE TYPE mood AS ENUM ('happy', 'sad')",
        "CREATE TABLE things (n int, big int8, small int2, price numeric, ratio float8, yes bool, words text, day date,"
        " moment timestamptz, plain timestamp, key uuid, doc jsonb, feel mood, tags text[], span interval, net inet)",
        "INSERT INTO things VALUES (1, 9007199254740993, 7, 12.50, 0.5, true, 'one', '2024-01-02',"
        " '2024-01-02 03:04:05Z', '2024-01-02 03:04:05', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"a\": 1}',"
        " 'happy', '{a,b}', '1 day', '10.0.0.1')",
    ):
        postgres.outside(statement)
    return made


@pytest.mark.contract("C94", "C95")
@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("words = $1", "one"),
        ("n::text = $1", 1),
        ("words <> $1", 20),
        ("words <> $1", True),
        ("words <> $1", 1.5),
        ("n = $1", 1),
        ("n = $1", "1"),
        ("n = $1", 1.0),
        ("n <> $1", 1.5),
        ("n < $1", 3_000_000_000),
        ("n < $1", 10**30),
        ("small < $1", 70_000),
        ("small = $1", 7),
        ("big = $1", 9007199254740993),
        ("big = $1", "9007199254740993"),
        ("price = $1", 12.5),
        ("price = $1", "12.50"),
        ("price < $1", 10**40),
        ("ratio = $1", 0.5),
        ("ratio = $1", "0.5"),
        ("yes = $1", True),
        ("yes = $1", "true"),
        ("yes = $1", 1),
        ("n = $1", True),
        ("day = $1", "2024-01-02"),
        ("moment = $1", "2024-01-02T03:04:05Z"),
        ("moment < $1", "2024-01-03"),
        ("key = $1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("doc @> $1", '{"a": 1}'),
        ("doc ->> $1 = '1'", "a"),
        ("(doc -> 'a') = $1", 1),
        ("feel = $1", "happy"),
        ("tags = $1", "{a,b}"),
        ("$1 = ANY (tags)", "a"),
        ("span = $1", "24:00:00"),
        ("net = $1", "10.0.0.1"),
        ("coalesce($1, 'x') <> words", 5),
        ("$1 IS NULL OR n = $1", 1),
        ("$1 IS NULL OR n = $1", "1"),
        ("$1 IS NULL OR n = $1", None),
        ("$1 IS NULL OR n <> $1", 1.5),
        ("$1 IS NULL OR big > $1", 5),
        ("$1 IS NULL OR words = $1", "one"),
        ("$1 IS NULL OR words <> $1", 5),
        ("$1 IS NULL OR moment < $1", "2024-01-03"),
        ("$1 IS NULL OR plain < $1", "2024-01-03"),
        ("$1 IS NULL OR day = $1", "2024-01-02"),
        ("$1 IS NULL OR key = $1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("$1 IS NULL OR feel = $1", "happy"),
        ("$1 IS NULL OR feel = $1", None),
        ("$1 IS NULL OR yes = $1", True),
        ("$1 IS NULL OR net = $1", "10.0.0.1"),
        ("$1 IS NULL OR tags = $1", "{a,b}"),
        ("$1 IS NULL OR price = $1", 12.5),
        ("$1 IS NULL OR ratio < $1", 12),
        ("length($1) = 1 AND words <> $1", "x"),
        ("format('%s', $1) = 'a%sb?'", "a%sb?"),
        ("concat($1, '!') = '5!'", 5),
        ("concat($1, '!') = 'true!'", "true"),
        ("jsonb_build_object('k', $1) = '{\"k\": 5}'", 5),
        ("jsonb_build_object('k', $1) = '{\"k\": \"5\"}'", "5"),
        ("jsonb_build_object('k', $1) = '{\"k\": true}'", True),
        ("date_trunc('day', $1::timestamptz) < now()", "2024-01-02"),
        ("date_trunc('day', $1) < now()", "2024-01-02"),
        ("moment > now() - $1::interval OR true", "1 day"),
        ("yes = $1", 1.0),
        ("to_jsonb($1) = '5'", 5),
        ("to_jsonb($1) = '\"five\"'", "five"),
        ("moment < now() - $1", "1 day"),
        ("n BETWEEN 0 AND $1", 1.5),
        ("$1 > n", 1.5),
        ("price = $1::numeric", 12.5),
        ("$1", True),
    ],
)
def test_a_value_goes_where_it_stands(bench: Bench, condition: str, value: Any) -> None:
    assert bench.call(f"SELECT count(*)::int FROM things WHERE {condition}", value)["rows"] == [[1]]


@pytest.mark.parametrize(
    ("sql", "values", "told"),
    [
        ("SELECT id FROM tickets ORDER BY id LIMIT $1 OFFSET $2", ["2", 1.0], [[2], [3]]),
        ("SELECT id FROM tickets ORDER BY id LIMIT $1", [None], [[1], [2], [3]]),
        ("SELECT $1 + $2", [1, 2], [[3]]),
        ("SELECT $1 + $2", ["1", "2"], [[3]]),
        ("SELECT $1 + $2", [1.5, 2], [[3.5]]),
        ("SELECT $1 + 1", ["3"], [[4]]),
        ("SELECT $1", ["x"], [["x"]]),
        ("SELECT $1", [5], [["5"]]),
        ("SELECT $1", [None], [[None]]),
        ("SELECT $2, $1", ["a", "b"], [["b", "a"]]),
        ("SELECT $1, $1, $2", ["a", "b"], [["a", "a", "b"]]),
        ("SELECT id FROM tickets WHERE ($1 IS NULL OR status = $1) AND ($2 IS NULL OR id = $2)", ["open", 2], [[2]]),
        ("SELECT count(*) FROM tickets WHERE ($1 IS NULL OR id > $1) AND ($2 IS NULL OR title = $2)",
         [None, None], [["3"]]),
        ("SELECT CASE WHEN $1 THEN 'yes' ELSE 'no' END", [False], [["no"]]),
        ("SELECT upper($1)", [True], [["TRUE"]]),
        ("SELECT $1 -> $2", ['{"a": [5]}', "a"], [[[5]]]),
        ("VALUES ($1, $2::int)", ["a", "7"], [["a", 7]]),
    ],
)  # fmt: skip
def test_several_values(bench: Bench, sql: str, values: list[Any], told: list[Any]) -> None:
    assert bench.call(sql, *values)["rows"] == told


@pytest.mark.parametrize(
    ("sql", "value", "message"),
    [
        ("SELECT 1 FROM things WHERE n = $1", "abc", 'invalid input syntax for type integer: "abc"'),
        ("SELECT 1 FROM things WHERE key = $1", "x", 'invalid input syntax for type uuid: "x"'),
        ("SELECT 1 FROM things WHERE feel = $1", "angry", 'invalid input value for enum mood: "angry"'),
        ("SELECT 1 FROM things WHERE $1 IS NULL OR missing = 2", 1, 'column "missing" does not exist'),
        ("SELECT substr('abc', $1)", 3_000_000_000, 'value "3000000000" is out of range for type integer'),
        ("SELECT nosuch($1)", 1, "function nosuch(unknown) does not exist"),
    ],
)
def test_what_does_not_fit_is_told_in_the_words_of_the_server(bench: Bench, sql: str, value: Any, message: str) -> None:
    error = bench.refusal(sql, value)
    assert (error.code, error.message) == ("query_failed", message)


def test_writes_take_the_same_values(postgres: Postgres, bench: Bench) -> None:
    sql = "INSERT INTO things (n, big, price, yes, words, day, feel, doc) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    values = ["5", 6.0, 1.25, 0, 99, "2024-02-29", "sad", "[1]"]
    assert bench.call(sql, *values, effect="write") == {"rowsAffected": 1}
    found = postgres.outside(
        "SELECT n, big, price::text, yes, words, day::text, feel, doc::text FROM things WHERE n = 5"
    )
    assert found == [(5, 6, "1.25", False, "99", "2024-02-29", "sad", "[1]")]
    error = bench.refusal("INSERT INTO things (n) VALUES ($1)", 2**40, effect="write")
    assert (error.code, error.message) == ("query_failed", "integer out of range")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM tickets WHERE id = $1::int",
        "SELECT id FROM tickets WHERE id = ($1)::pg_catalog.int8",
        "SELECT id FROM tickets WHERE id = CAST ($1 AS integer)",
        "SELECT id FROM tickets WHERE $1 IS NULL OR id = $1::int",
        "SELECT id FROM tickets LIMIT $1",
        "SELECT id FROM tickets OFFSET ($1 + 1)",
        "SELECT id FROM tickets FETCH FIRST $1 ROWS ONLY",
        "SELECT substr('abc', $1)",
        "INSERT INTO things (n) VALUES ($1)",
        "UPDATE things SET n = $1",
        "DELETE FROM things WHERE n = $1",
    ],
)
def test_a_fraction_is_never_rounded(postgres: Postgres, bench: Bench, sql: str) -> None:
    error = bench.refusal(sql, 1.5, effect="read" if sql.startswith("SELECT") else "write")
    assert (error.code, error.message) == (
        "refused",
        "$1 takes an integer, and its value is a fraction; give a whole number",
    )
    assert postgres.outside("SELECT n FROM things") == [(1,)]


def test_a_search_path_leads_nobody_astray(postgres: Postgres, bench: Bench) -> None:
    for statement in (
        "CREATE FUNCTION public.to_regtype(text) RETURNS regtype LANGUAGE sql AS $$ SELECT 'xml'::regtype $$",
        "CREATE TABLE public.pg_type (oid oid)",
        "ALTER ROLE zq_owner SET search_path = public, pg_catalog",
    ):
        postgres.outside(statement)
    try:
        sql = "SELECT ARRAY[feel] FROM things WHERE $1 IS NULL OR feel = $1"
        assert bench.call(sql, "happy")["rows"] == [[["happy"]]]
    finally:
        postgres.outside("ALTER ROLE zq_owner RESET ALL")
