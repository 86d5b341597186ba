"""Every SQLite value as JSON, and back through a bound argument."""

import base64
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helm_cli.model.jsontext import Scalar, dump, parse
from tests.suites.driver import Bench

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
)


@pytest.mark.contract("C102")
def test_one_row_of_all_types(bench: Bench) -> None:
    bench.outside(
        "CREATE TABLE everything (nil, small INTEGER, exact INTEGER, beyond INTEGER, least INTEGER, real REAL,"
        " whole REAL, high REAL, low REAL, price DECIMAL(10,2), yes BOOLEAN, day DATE, moment TIMESTAMP, words TEXT,"
        " bytes BLOB, empty BLOB, doc JSON)"
    )
    bench.outside(
        "INSERT INTO everything VALUES (NULL, 20, 9007199254740991, 9007199254740992, -9223372036854775808, 0.1, 2,"
        " 9e999, -9e999, '12.30', TRUE, '2024-02-30', '2024-01-02T03:04:05Z', 'é€😀' || char(10) || '\"',"
        " x'00ff10', x'', '{\"a\": 1}')"
    )
    data = bench.call("SELECT * FROM everything")
    assert dict(zip(data["columns"], data["rows"][0], strict=True)) == {
        "nil": None,
        "small": 20,
        "exact": 9007199254740991,
        "beyond": "9007199254740992",
        "least": "-9223372036854775808",
        "real": 0.1,
        "whole": 2.0,
        "high": "Infinity",
        "low": "-Infinity",
        "price": 12.3,
        "yes": 1,
        "day": "2024-02-30",
        "moment": "2024-01-02T03:04:05Z",
        "words": 'é€😀\n"',
        "bytes": "AP8Q",
        "empty": "",
        "doc": '{"a": 1}',
    }


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("-9007199254740991", -9007199254740991),
        ("-9007199254740992", "-9007199254740992"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775807 + 1", 9.223372036854775807e18),
        ("0.0 / 0.0", None),
        ("CAST(x'ff41c328' AS TEXT)", "\ufffdA\ufffd("),
        ("CAST(x'610062' AS TEXT)", "a\0b"),
        ("CAST(x'eda080' AS TEXT)", "\ufffd\ufffd\ufffd"),
        ("1 = 1", 1),
        ("date('2024-01-02')", "2024-01-02"),
    ],
)
def test_single_values(bench: Bench, sql: str, value: object) -> None:
    assert bench.call(f"SELECT {sql}")["rows"] == [[value]]


def test_names_of_columns_are_kept_as_they_are(bench: Bench) -> None:
    data = bench.call('SELECT 1 AS "", 2 AS "", 3 AS \'a [b]\', 4 AS "é"')
    assert data == {"columns": ["", "", "a [b]", "é"], "rows": [[1, 2, 3, 4]]}


def test_a_utf16_file(tmp_path: Path, bench: Bench) -> None:
    file = tmp_path / "wide.db"
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("PRAGMA encoding = 'UTF-16le'")
        db.execute("CREATE TABLE t AS SELECT 'é😀' AS a")
    profile = bench.profile._replace(path=str(file))
    assert bench._replace(profile=profile).call("SELECT a FROM t WHERE a = {}", "é😀")["rows"] == [["é😀"]]


@pytest.mark.contract("C94")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=SCALARS)
def test_an_argument_comes_back_as_it_was_bound(bench: Bench, value: Scalar) -> None:
    (found,) = bench.call("SELECT {}", value)["rows"][0]
    if isinstance(value, int) and abs(value) > 2**53 - 1:
        assert found == str(value)
    else:
        assert found == value
        assert isinstance(found, str) == isinstance(value, str)
        assert not isinstance(value, float) or math.copysign(1, found) == math.copysign(1, value)
    assert parse(dump(found)) == found


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60))
def test_any_bytes_are_an_answer(bench: Bench, raw: bytes) -> None:
    sql = f"SELECT x'{raw.hex()}', CAST(x'{raw.hex()}' AS TEXT)"
    blob, text = bench.call(sql)["rows"][0]
    assert base64.b64decode(blob, validate=True) == raw
    assert text == raw.decode("utf-8", "replace")
