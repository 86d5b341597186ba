"""A query's plan: the statement as declared, the values in the order of its params, and what is refused."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli import kinds
from helm_cli.kinds import db
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plan import Plan
from helm_cli.model.profile import ENGINES, Database, Engine

SQL = {"sqlite": "SELECT ?, ?", "mysql": "SELECT ?, ?", "postgres": "SELECT $1, $2"}


def plan(
    arguments: dict[str, Any],
    params: tuple[str, ...] = ("status", "limit"),
    *,
    effect: Any = "read",
    declared: Engine = "sqlite",
    engine: Engine = "sqlite",
) -> Plan:
    operation = Operation("recent", effect, params, {"sql": SQL[declared]})
    connection = Connection("app", "db", "db", "local-app", (operation,), {"engine": declared})
    extension = Extension("tickets", "Tickets", "1", "", "helm", True, (connection,), ())
    profile = Database("local-app", engine, path="/somewhere/secret.db")
    return db.plan(extension, connection, operation, arguments, profile)


def refusal(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(HelmError) as caught:
        plan(*args, **kwargs)
    assert caught.value.code == "refused"
    return caught.value.message


def test_a_read() -> None:
    assert plan({"limit": 20, "status": "open"}) == Plan(
        kind="db",
        effect="read",
        extension="tickets",
        connection="app",
        operation="recent",
        group="db",
        profile="local-app",
        driver="sqlite",
        shape="rows",
        title="Confirm database write",
        verb="Run",
        noun="query",
        request={"engine": "sqlite", "sql": "SELECT ?, ?", "params": [["status", "open"], ["limit", 20]]},
    )


def test_a_write_returns_an_object() -> None:
    made = plan({"status": None, "limit": True}, effect="write")
    assert (made.effect, made.shape) == ("write", "object")
    assert made.request["params"] == [["status", None], ["limit", True]]


@pytest.mark.contract("C94")
def test_a_name_may_be_bound_twice() -> None:
    made = plan({"term": "'; DROP TABLE tickets; --"}, ("term", "term"))
    assert made.request["params"] == [["term", "'; DROP TABLE tickets; --"]] * 2
    assert made.request["sql"] == "SELECT ?, ?"


@pytest.mark.contract("C92")
@pytest.mark.parametrize("declared", ENGINES)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_must_be_that_of_the_profile(declared: Engine, engine: Engine) -> None:
    arguments = {"status": "open", "limit": 1}
    if declared == engine:
        assert plan(arguments, declared=declared, engine=engine).driver == engine
    else:
        assert refusal(arguments, declared=declared, engine=engine) == (
            f"the connection app is declared for {declared}, but the profile local-app is {engine};"
            f" use a {declared} profile of that name"
        )


def test_a_missing_argument_is_refused() -> None:
    assert refusal({"status": "open"}) == "recent needs the argument limit; give it, or null for NULL"


def test_an_unknown_argument_is_refused() -> None:
    arguments = {"status": "open", "limit": 1, "limt": 2}
    assert refusal(arguments) == "recent has no argument limt; it takes status, limit"
    assert refusal({"x\n\x1b": 1}, ()) == "recent has no argument 'x\\n\\x1b'; it takes no arguments"
    assert refusal({"x" * 5000: 1}, ()) == f"recent has no argument '{'x' * 64}'; it takes no arguments"


@pytest.mark.contract("C95", "C31")
@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([], "is a list; pass a string, a number, true, false or null"),
        ([1], "is a list; pass a string, a number, true, false or null"),
        ({}, "is an object; pass a string, a number, true, false or null"),
        ("x" * 4097, "has 4097 characters; at most 4096 are allowed"),
        ("\ud800", "holds a lone surrogate, which no UTF-8 text can carry"),
        (math.nan, "is not a finite number; pass a number, a string, true, false or null"),
        (-math.inf, "is not a finite number; pass a number, a string, true, false or null"),
        (2**63, "is beyond the 64 bits of an SQLite integer"),
        (-(2**63) - 1, "is beyond the 64 bits of an SQLite integer"),
    ],
)
def test_values_that_cannot_be_bound(value: Any, fault: str) -> None:
    assert refusal({"status": value, "limit": 1}) == f"the argument status {fault}"


@pytest.mark.contract("C95")
@pytest.mark.parametrize(
    "value", ["", "x" * 4096, "😀" * 4096, "a\0b", 0, -1, 2**63 - 1, -(2**63), 1.5, -0.0, True, False, None]
)
def test_values_that_can_be_bound(value: Any) -> None:
    assert plan({"status": value, "limit": 1}).request["params"] == [["status", value], ["limit", 1]]


def test_what_only_some_engines_can_bind() -> None:
    nul = "the argument status holds a NUL character, which Postgres cannot store"
    assert refusal({"status": "a\0", "limit": 1}, declared="postgres", engine="postgres") == nul
    for engine in ("postgres", "mysql"):
        made = plan({"status": 2**80, "limit": 1}, declared=engine, engine=engine)
        assert made.request["params"] == [["status", 2**80], ["limit", 1]]


def test_every_name_is_a_needed_scalar_for_a_caller() -> None:
    scalar = {"type": ["string", "number", "boolean", "null"], "maxLength": 4096}
    for params, properties in (
        (("term", "limit", "term"), {"term": scalar, "limit": scalar}),
        ((), {}),
        (None, {}),
    ):
        operation = Operation("recent", "read", params, {"sql": ""})
        assert db.schema(Connection("app", "db", "db", "local-app", (operation,), {}), operation) == {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        }


@pytest.mark.contract("C13")
@given(st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.text(), st.lists(st.integers())), max_size=3))
def test_no_refusal_tells_the_path(arguments: dict[str, Any]) -> None:
    message = refusal(arguments)
    assert "secret.db" not in message
    assert message.isprintable()


def test_a_kind_without_a_module_is_refused() -> None:
    with pytest.raises(HelmError, match=r"^this version of helm cannot call ftp connections yet; update helm$"):
        kinds.kind("ftp")
    assert vars(kinds.kind("db"))["plan"] is db.plan
