"""What SQLite's own words are helped out with: which argument does not fit, and what a read that writes should be."""

from typing import Any

import pytest

from helm_cli.drivers.outcome import AS_WRITE
from helm_cli.model.extension import Effect
from tests.suites.driver import Bench

RULE = "datatype mismatch: a LIMIT, an OFFSET and an INTEGER PRIMARY KEY take whole numbers only; look at the "


@pytest.mark.parametrize(
    ("sql", "values", "look"),
    [
        ("SELECT id FROM tickets WHERE status = {} LIMIT {}", ("7", "abc"), "argument a1"),
        ("SELECT id FROM tickets WHERE status = {} LIMIT {}", ("open", "abc"), "arguments a0 and a1"),
        ("SELECT id FROM tickets LIMIT {}", (1.5,), "argument a0"),
        ("SELECT id FROM tickets LIMIT {}", ("1_0",), "argument a0"),
        ("SELECT id FROM tickets LIMIT {}", (None,), "argument a0"),
        ("SELECT id FROM tickets LIMIT {}", (1e300,), "argument a0"),
        ("SELECT id FROM tickets WHERE id = {} LIMIT 'x'", (True,), "query"),
    ],
)
def test_a_number_that_is_none(bench: Bench, sql: str, values: tuple[Any, ...], look: str) -> None:
    error = bench.refusal(sql, *values)
    assert (error.code, error.message) == ("query_failed", RULE + look)


def test_a_key_that_is_none(bench: Bench) -> None:
    bench.outside("CREATE TABLE keyed (id INTEGER PRIMARY KEY)")
    assert bench.refusal("INSERT INTO keyed VALUES ({})", "x", effect="write").message == f"{RULE}argument a0"


@pytest.mark.parametrize("value", [2, "2", " 2 ", "2.0", 2.0, "2e0", True])
def test_whatever_sqlite_takes_for_a_number(bench: Bench, value: Any) -> None:
    assert len(bench.call("SELECT id FROM tickets LIMIT {}", value)["rows"]) == int(float(value))


@pytest.mark.parametrize(("effect", "hinted"), [("read", True), ("write", False)])
def test_what_a_write_that_is_a_read_should_be(bench: Bench, effect: Effect, hinted: bool) -> None:
    sql = "DELETE FROM tickets" if effect == "read" else "ATTACH 'x' AS x"
    assert bench.refusal(sql, effect=effect).message.endswith(f"; {AS_WRITE}") is hinted
