"""Whatever a manifest holds, reading it ends, raises nothing, and is valid exactly when it can be built."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli import dialects
from helm_cli.model.content import Content

WORDS = [
    "id", "kind", "connections", "permissions", "write", "calls", "queries", "sql", "params", "engine", "service",
    "server", "operations", "writes", "root", "paths", "method", "path", "query", "body", "oauth2", "authorizeUrl",
    "tokenUrl", "scopes", "db", "http", "mcp", "files", "tdt-mcp", "GET", "POST", "sqlite", "postgres", "mysql",
    "project", "read", "list", "SELECT ?", "SELECT $1", "SELECT 1;;", "/a/{b}", "{b}", "**", "https://a.example.com",
    "http://[::1]/", "tier", "starlark", "", "\x00", "\u202e", "$schema",
]  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner),
    max_leaves=20,
)
VALID: dict[str, Any] = {
    "id": "x",
    "permissions": {"write": True},
    "widgets": [],
    "connections": [
        {"id": "t", "kind": "tdt-mcp", "operations": ["a"]},
        {"id": "m", "kind": "mcp", "server": "s", "operations": ["a"], "writes": ["b"]},
        {
            "id": "h",
            "kind": "http",
            "service": "s",
            "oauth2": {
                "authorizeUrl": "https://a.example.com/",
                "tokenUrl": "https://a.example.com/t",
                "scopes": ["a"],
            },
            "calls": {"go": {"method": "POST", "path": "/{a}", "query": {"q": "{b}"}, "body": {"c": "{d}"}}},
        },
        {"id": "f", "kind": "files", "root": "project", "paths": ["a/**"], "operations": ["read", "write"]},
        {
            "id": "d",
            "kind": "db",
            "service": "s",
            "engine": "sqlite",
            "queries": {"q": {"sql": "SELECT ?", "params": ["a"], "write": False}},
        },
    ],
}


def check(data: bytes) -> None:
    copy = Content({"manifest.json": data})
    reading = dialects.read(copy)
    assert (reading.extension is None) is bool(reading.faults)
    assert list(reading.faults) == sorted(set(reading.faults))
    lines = data.split(b"\n")
    for fault in reading.faults:
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
        f"{fault.path}{fault.message}".encode()
        assert fault.message.isprintable()
    if reading.extension is not None:
        assert dialects.build(copy) == reading.extension


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for step, inner in entries for place in places(inner, (*way, step)))]


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_bytes(data: bytes) -> None:
    check(data)


@settings(max_examples=300)
@given(
    st.text(alphabet="{}[]\",:\\ua01e+-.NaInfty/#'\n \ud800é", max_size=40).map(
        lambda text: text.encode("utf-8", "replace")
    )
)
def test_scraps_of_json(data: bytes) -> None:
    check(data)


@settings(max_examples=300)
@given(VALUES)
def test_any_document(document: Any) -> None:
    check(json.dumps(document).encode())


@settings(max_examples=300)
@given(st.data(), st.sampled_from(places(VALID)[1:]), VALUES)
def test_a_valid_manifest_with_another_value_somewhere(data: st.DataObject, place: tuple[Any, ...], value: Any) -> None:
    document = json.loads(json.dumps(VALID))
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    change = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if change == "replace":
        inner[place[-1]] = value
    elif change == "remove":
        del inner[place[-1]]
    elif isinstance(inner, dict):
        inner[data.draw(st.sampled_from(WORDS))] = value
    else:
        inner.append(value)
    check(json.dumps(document, indent=1).encode())


@settings(max_examples=300)
@given(st.integers(0, 1_000), st.sampled_from(list('{}[]",:\\x0\n')))
def test_a_valid_manifest_with_another_character_somewhere(at: int, character: str) -> None:
    text = json.dumps(VALID)
    check((text[: at % len(text)] + character + text[at % len(text) + 1 :]).encode())


def test_the_manifest_that_is_changed_is_valid() -> None:
    assert dialects.read(Content({"manifest.json": json.dumps(VALID).encode()})).faults == ()
