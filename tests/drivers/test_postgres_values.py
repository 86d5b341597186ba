"""Every Postgres value as JSON, without loss."""

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helm_cli.drivers import Limits, driver
from helm_cli.drivers.postgres_values import decoder
from helm_cli.model.jsontext import Json, dump
from tests.rig.postgres import PASSWORD, Postgres
from tests.suites.driver import Bench, plan_of
from tests.suites.postgres import bench_of


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


# SQL of a value -> what it is in the answer.
VALUES: list[tuple[str, Json]] = [
    ("NULL", None),
    ("true", True),
    ("false", False),
    ("(-32768)::int2", -32768),
    ("2147483647", 2147483647),
    ("9223372036854775807", "9223372036854775807"),
    ("(-9223372036854775808)::int8", "-9223372036854775808"),
    ("1::int8", "1"),
    ("4294967295::oid", 4294967295),
    ("12345678901234567890.1230", "12345678901234567890.1230"),
    ("'NaN'::numeric", "NaN"),
    ("'-Infinity'::numeric", "-Infinity"),
    ("0.1::float4", 0.1),
    ("0.1::float8 + 0.2", 0.30000000000000004),
    ("1e300::float8", 1e300),
    ("5e-324::float8", 5e-324),
    ("'NaN'::float8", "NaN"),
    ("'Infinity'::float4", "Infinity"),
    ("'-Infinity'::float8", "-Infinity"),
    ("12.30::money", "$12.30"),
    ("'é€😀\"'::text", 'é€😀"'),
    ("''::text", ""),
    ("'ab'::char(4)", "ab  "),
    ("'x'::\"char\"", "x"),
    ("'name'::name", "name"),
    ("'\\x00ff10'::bytea", "AP8Q"),
    ("''::bytea", ""),
    ("'2024-02-29'::date", "2024-02-29"),
    ("'infinity'::date", "infinity"),
    ("'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("'99999-12-31'::date", "99999-12-31"),
    ("'24:00:00'::time", "24:00:00"),
    ("'03:04:05.678901'::time", "03:04:05.678901"),
    ("'03:04:05-07'::timetz", "03:04:05-07:00"),
    ("'03:04:05+05:30'::timetz", "03:04:05+05:30"),
    ("'2024-01-02 03:04:05.5'::timestamp", "2024-01-02T03:04:05.5"),
    ("'2024-01-02 03:04:05'::timestamp", "2024-01-02T03:04:05"),
    ("'-infinity'::timestamp", "-infinity"),
    ("'0001-01-01 00:00:00 BC'::timestamp", "0001-01-01 00:00:00 BC"),
    ("'99999-12-31 23:59:59'::timestamp", "99999-12-31 23:59:59"),
    ("'2024-01-02 03:04:05+02'::timestamptz", "2024-01-02T01:04:05+00:00"),
    ("'infinity'::timestamptz", "infinity"),
    ("'1 year 2 mons 3 days 04:05:06.789'::interval", "P1Y2M3DT4H5M6.789S"),
    ("'-1 day'::interval", "P-1D"),
    ("'1 year'::interval", "P1Y"),
    ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ('\'{"a": [1, 2.5, null, true], "b": {"c": "é"}}\'::json', {"a": [1, 2.5, None, True], "b": {"c": "é"}}),
    ("'{\"big\": 123456789012345678901234567890}'::jsonb", {"big": 123456789012345678901234567890}),
    ("'null'::jsonb", None),
    ("'\"text\"'::jsonb", "text"),
    ('\'{"a": 1, "a": 2}\'::json', '{"a": 1, "a": 2}'),
    ("'1e400'::jsonb", 10**400),
    ("'[12345678901234567890.123]'::jsonb", "[12345678901234567890.123]"),
    ("'{\"a\": 1e-400}'::json", '{"a": 1e-400}'),
    ("'[-0, 1]'::json", "[-0, 1]"),
    ("'[-0.5, 1.50, 1E5, 0.1]'::json", [-0.5, 1.5, 1e5, 0.1]),
    ('\'["-0", "1.e-400"]\'::json', ["-0", "1.e-400"]),
    ("'192.168.0.1/32'::inet", "192.168.0.1"),
    ("'192.168.0.0/24'::cidr", "192.168.0.0/24"),
    ("'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03"),
    ("B'0101'", "0101"),
    ("B'1'::bit(1)", "1"),
    ("'[1,5)'::int4range", "[1,5)"),
    ("'[2024-01-01,infinity]'::daterange", "[2024-01-01,infinity]"),
    ("'{[1,2),[5,6)}'::int4multirange", "{[1,2),[5,6)}"),
    ("'(1,2)'::point", "(1,2)"),
    ("ROW(1, 'a b', NULL)", '(1,"a b",)'),
    ("'<a>1</a>'::xml", "<a>1</a>"),
    ("'a b'::tsvector", "'a' 'b'"),
    ("'0/16B3748'::pg_lsn", "0/16B3748"),
    ("pg_sleep(0)", ""),
    ("'happy'::mood", "happy"),
    ("5::small", 5),
    ("ROW(1, 'x')::pair", "(1,x)"),
    ("ARRAY[1, NULL, 3]", [1, None, 3]),
    ("ARRAY[]::int[]", []),
    ("ARRAY[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("'[0:1]={5,6}'::int[]", [5, 6]),
    ("ARRAY[9223372036854775807]", ["9223372036854775807"]),
    ("ARRAY[1.50, 'NaN']::numeric[]", ["1.50", "NaN"]),
    ("ARRAY[1.5, 'Infinity']::float8[]", [1.5, "Infinity"]),
    ("ARRAY[true, false, NULL]", [True, False, None]),
    (
        "ARRAY['a,b', '{c}', 'd\"e', 'f\\g', 'NULL', '', 'h i', NULL, E'\\n']",
        ["a,b", "{c}", 'd"e', "f\\g", "NULL", "", "h i", None, "\n"],
    ),
    ("ARRAY['\\x00ff'::bytea]", ["AP8="]),
    ("ARRAY['2024-01-02 03:04:05', 'infinity']::timestamp[]", ["2024-01-02T03:04:05", "infinity"]),
    ("ARRAY['{\"a\": [1]}', 'null']::jsonb[]", [{"a": [1]}, None]),
    ("ARRAY['happy', 'sad']::mood[]", ["happy", "sad"]),
    ("ARRAY[5, 6]::small[]", [5, 6]),
    ("ARRAY['a', 'b']::words[]", ["a", "b"]),
    ("ARRAY[ROW(1, 'x')::pair]", '{"(1,x)"}'),
    ("ARRAY['[1,5)'::int4range]", '{"[1,5)"}'),
    ("'{(2,2),(1,1);(4,4),(3,3)}'::box[]", "{(2,2),(1,1);(4,4),(3,3)}"),
    ("'1 2 3'::int2vector", "1 2 3"),
]


@pytest.fixture
def typed(postgres: Postgres, bench: Bench) -> Bench:
    for statement in (
        "CREATE TYPE mood AS ENUM ('happy', 'sad')",
        "CREATE DOMAIN small AS int CHECK (VALUE < 10)",
        "CREATE DOMAIN words AS text",
        "CREATE TYPE pair AS (a int, b text)",
    ):
        postgres.outside(statement)
    return bench


@pytest.mark.contract("C102")
def test_one_row_of_all_types(typed: Bench) -> None:
    data = typed.call("SELECT " + ", ".join(sql for sql, _ in VALUES))
    told = dict(zip((sql for sql, _ in VALUES), data["rows"][0], strict=True))
    assert told == dict(VALUES)
    assert [type(value) for value in told.values()] == [type(value) for _, value in VALUES]
    assert dump(data)


@pytest.mark.contract("C102")
def test_what_the_role_or_the_database_sets_changes_no_value(postgres: Postgres, typed: Bench) -> None:
    odd = {
        "DateStyle": "'SQL, DMY'",
        "IntervalStyle": "'sql_standard'",
        "bytea_output": "'escape'",
        "extra_float_digits": "0",
        "default_transaction_read_only": "off",
    }
    for name, value in odd.items():
        postgres.outside(f"ALTER ROLE zq_trust SET {name} = {value}")
    try:
        profile = postgres.profile(user="zq_trust")
        postgres.outside("GRANT USAGE ON SCHEMA public TO zq_trust")
        plan = plan_of("SELECT " + ", ".join(sql for sql, _ in VALUES), engine="postgres")
        data: Any = driver("postgres").run(plan, profile, None, Limits())
        assert data["rows"] == [[value for _, value in VALUES]]
    finally:
        postgres.outside("ALTER ROLE zq_trust RESET ALL")


def test_bytes_in_the_escaped_form(bench: Bench) -> None:
    sql = "SELECT '\\x00615cff'::bytea FROM set_config('bytea_output', 'escape', true)"
    assert bench.call(sql)["rows"] == [[base64.b64encode(b"\0a\\\xff").decode()]]


@pytest.mark.parametrize("text", ["", "x", "{1", "}", "1}", "{1}2", "{{1}", '{"1}', "{1}}", "[0:1]="])
def test_a_text_that_is_no_array_stays_a_text(text: str) -> None:
    assert decoder(1007)(text) == text


@pytest.mark.parametrize(
    ("database", "sql", "told"),
    [
        ("zq_latin1", "SELECT 'é'::text, chr(233)", ["é", "é"]),
        ("zq_sql_ascii", "SELECT 'é'::text, chr(233), E'\\x80'::text", ["é", "\ufffd", "\ufffd"]),
    ],
)
def test_other_encodings(postgres: Postgres, database: str, sql: str, told: list[str]) -> None:
    plan = plan_of(sql, engine="postgres")
    data: Any = driver("postgres").run(plan, postgres.profile(database=database), PASSWORD, Limits())
    assert data["rows"] == [told]


def test_a_character_that_the_database_cannot_hold(postgres: Postgres, bench: Bench) -> None:
    error = bench._replace(profile=postgres.profile(database="zq_latin1")).refusal("SELECT {}::text", "€")
    assert error.code == "query_failed"
    assert "LATIN1" in error.message


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)),
        max_size=6,
    )
)
def test_any_texts_in_an_array(bench: Bench, items: list[str | None]) -> None:
    marks = ", ".join(["{}"] * len(items))
    assert bench.call(f"SELECT ARRAY[{marks}]::text[]", *items)["rows"] == [[items]]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(), st.binary(max_size=40), st.integers(-(2**63), 2**63 - 1))
def test_any_numbers_and_bytes(bench: Bench, number: float, raw: bytes, integer: int) -> None:
    sql = f"SELECT {{}}::float8, '\\x{raw.hex()}'::bytea, {{}}::int8"
    told, encoded, whole = bench.call(sql, repr(number), integer)["rows"][0]
    assert str(float(told)) == str(number)
    assert base64.b64decode(encoded) == raw
    assert whole == str(integer)
