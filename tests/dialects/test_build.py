"""A valid manifest becomes exactly the extension that it declares; a copy that is not valid becomes none."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation

# The examples of connections.txt, but for line breaks as they stand there.
EXAMPLES = {
    "tdt and http": """
"connections": [
  { "id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_workspace_status", "tdt_reminder_list"] },
  { "id": "gh", "kind": "http", "service": "github",
    "calls": {
      "issues": { "method": "GET", "path": "/repos/{owner}/{repo}/issues",
                  "query": { "per_page": "{limit}", "state": "open" } }
    } }
]""",
    "graphql": """
"connections": [
{ "id": "linear", "kind": "http", "service": "linear",
  "calls": {
    "teams": { "method": "POST", "path": "/graphql",
               "body": { "query": "query($first: Int) { teams(first: $first) { nodes { id name } } }",
                         "variables": { "first": "{limit}" } } }
  } }]""",
    "http write": """
"permissions": { "write": true },
"connections": [{ "id": "gh", "kind": "http", "service": "github",
  "calls": {
    "close": { "method": "PATCH", "path": "/repos/{owner}/{repo}/issues/{number}",
               "body": { "state": "closed" }, "write": true }
  } }]""",
    "oauth2": """
"connections": [
{ "id": "cal", "kind": "http", "service": "calendar",
  "oauth2": {
    "authorizeUrl": "https://auth.example.com/authorize?access_type=offline",
    "tokenUrl": "https://auth.example.com/token",
    "scopes": ["calendar.read"]
  },
  "calls": { "events": { "method": "GET", "path": "/events" } } }]""",
    "mcp": """
"permissions": { "write": true },
"connections": [
{ "id": "gh", "kind": "mcp", "server": "github", "operations": ["list_issues", "get_issue"],
  "writes": ["create_issue"] }]""",
    "files": """
"permissions": { "write": true },
"connections": [
{ "id": "sp", "kind": "files", "root": "project",
  "paths": [".tdt-project/tdt-software-production/**"], "operations": ["list", "read", "write"] }]""",
    "db": """
"connections": [
{ "id": "app", "kind": "db", "service": "local-app", "engine": "postgres",
  "queries": {
    "recent": { "sql": "SELECT id, title, status FROM tickets WHERE status = $1 ORDER BY id DESC LIMIT $2",
                "params": ["status", "limit"] }
  } }]""",
    "db write": """
"permissions": { "write": true },
"connections": [{ "id": "app", "kind": "db", "service": "local-app", "engine": "postgres",
  "queries": {
    "close": { "sql": "UPDATE tickets SET status = 'closed' WHERE id = $1", "params": ["id"], "write": true }
  } }]""",
}

CONNECTIONS = {
    "tdt and http": (
        Connection(
            "tdt",
            "tdt-mcp",
            None,
            None,
            (Operation("tdt_workspace_status", "read", None, {}), Operation("tdt_reminder_list", "read", None, {})),
            {},
        ),
        Connection(
            "gh",
            "http",
            "service",
            "github",
            (
                Operation(
                    "issues",
                    "read",
                    ("owner", "repo", "limit"),
                    {
                        "method": "GET",
                        "path": "/repos/{owner}/{repo}/issues",
                        "query": {"per_page": "{limit}", "state": "open"},
                        "path_names": ("owner", "repo"),
                    },
                ),
            ),
            {},
        ),
    ),
    "graphql": (
        Connection(
            "linear",
            "http",
            "service",
            "linear",
            (
                Operation(
                    "teams",
                    "read",
                    ("limit",),
                    {
                        "method": "POST",
                        "path": "/graphql",
                        "query": {},
                        "path_names": (),
                        "body": {
                            "query": "query($first: Int) { teams(first: $first) { nodes { id name } } }",
                            "variables": {"first": "{limit}"},
                        },
                    },
                ),
            ),
            {},
        ),
    ),
    "http write": (
        Connection(
            "gh",
            "http",
            "service",
            "github",
            (
                Operation(
                    "close",
                    "write",
                    ("owner", "repo", "number"),
                    {
                        "method": "PATCH",
                        "path": "/repos/{owner}/{repo}/issues/{number}",
                        "query": {},
                        "path_names": ("owner", "repo", "number"),
                        "body": {"state": "closed"},
                    },
                ),
            ),
            {},
        ),
    ),
    "oauth2": (
        Connection(
            "cal",
            "http",
            "service",
            "calendar",
            (Operation("events", "read", (), {"method": "GET", "path": "/events", "query": {}, "path_names": ()}),),
            {
                "oauth2": {
                    "authorizeUrl": "https://auth.example.com/authorize?access_type=offline",
                    "tokenUrl": "https://auth.example.com/token",
                    "scopes": ("calendar.read",),
                }
            },
        ),
    ),
    "mcp": (
        Connection(
            "gh",
            "mcp",
            "mcp",
            "github",
            (
                Operation("list_issues", "read", None, {}),
                Operation("get_issue", "read", None, {}),
                Operation("create_issue", "write", None, {}),
            ),
            {},
        ),
    ),
    "files": (
        Connection(
            "sp",
            "files",
            None,
            None,
            (
                Operation("list", "read", None, {}),
                Operation("read", "read", None, {}),
                Operation("write", "write", None, {}),
            ),
            {"root": "project", "paths": (".tdt-project/tdt-software-production/**",)},
        ),
    ),
    "db": (
        Connection(
            "app",
            "db",
            "db",
            "local-app",
            (
                Operation(
                    "recent",
                    "read",
                    ("status", "limit"),
                    {"sql": "SELECT id, title, status FROM tickets WHERE status = $1 ORDER BY id DESC LIMIT $2"},
                ),
            ),
            {"engine": "postgres"},
        ),
    ),
    "db write": (
        Connection(
            "app",
            "db",
            "db",
            "local-app",
            (
                Operation(
                    "close", "write", ("id",), {"sql": "UPDATE tickets SET status = 'closed' WHERE id = $1"}
                ),
            ),
            {"engine": "postgres"},
        ),
    ),
}  # fmt: skip


def content(text: str) -> Content:
    return Content({"manifest.json": text.encode(), "README.md": b"Hello"})


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_contract(name: str) -> None:
    copy = content(f'{{"id": "x", {EXAMPLES[name]}}}')
    reading = dialects.read(copy)
    assert reading.faults == ()
    expected = Extension("x", "x", "", "", "manifest.json", "permissions" in EXAMPLES[name], CONNECTIONS[name], ())
    assert reading.extension == expected
    assert dialects.build(copy) == expected


def test_who_the_extension_is() -> None:
    top = (
        '"$schema": "s", "id": "x-1", "name": "X", "version": "1.2", "description": "D", "pages": [], "connections": []'
    )
    expected = Extension("x-1", "X", "1.2", "D", "manifest.json", False, (), ("pages",))
    assert dialects.build(content(f"{{{top}}}")) == expected


def test_a_body_of_null_is_declared_and_a_missing_one_is_not() -> None:
    manifest = """{"id": "x", "permissions": {"write": true}, "connections": [
        {"id": "a", "kind": "http", "service": "s", "calls": {
            "null": {"method": "POST", "path": "/", "body": null},
            "none": {"method": "DELETE", "path": "/{a}/{b}/{a}", "query": {"q": "{c}, {b} { c }"}, "write": true},
            "deep": {"method": "POST", "path": "/", "body": [{"k": ["{z}", "x{y}", "{z}", "{ w }"], "{key}": 1}]}}}]}"""
    assert dialects.read(content(manifest)).faults == ()
    null, none, deep = dialects.build(content(manifest)).connections[0].operations
    assert (null.params, null.spec["body"]) == ((), None)
    assert (none.params, none.spec["path_names"]) == (("a", "b", "c"), ("a", "b", "a"))
    assert "body" not in none.spec
    assert deep.params == ("z",)


def good() -> dict[str, Any]:
    return {
        "id": "x",
        "permissions": {"write": True},
        "connections": [
            {"id": "t", "kind": "tdt-mcp", "operations": ["a"]},
            {"id": "m", "kind": "mcp", "server": "s", "operations": ["a"], "writes": ["b"]},
            {"id": "h", "kind": "http", "service": "s", "calls": {"go": {"method": "GET", "path": "/"}}},
            {"id": "f", "kind": "files", "root": "project", "paths": ["a"], "operations": ["read"]},
            {"id": "d", "kind": "db", "service": "s", "engine": "sqlite", "queries": {"q": {"sql": "SELECT 1"}}},
        ],
    }


BROKEN: dict[str, tuple[tuple[Any, ...], Any]] = {
    "connections": (("connections",), {}),
    "id": (("id",), 1),
    "name": (("name",), None),
    "permissions": (("permissions",), True),
    "permission of text": (("permissions", "write"), "true"),
    "permission of one": (("permissions", "write"), 1),
    "entry": (("connections", 0), "x"),
    "kind": (("connections", 0, "kind"), "ftp"),
    "kind of a list": (("connections", 0, "kind"), []),
    "tools": (("connections", 0, "operations"), "a"),
    "tool": (("connections", 1, "writes"), [1]),
    "tool in both": (("connections", 1, "operations"), ["b"]),
    "server": (("connections", 1, "server"), None),
    "method": (("connections", 2, "calls", "go", "method"), "TRACE"),
    "read that writes": (("connections", 2, "calls", "go", "method"), "PUT"),
    "read without body": (("connections", 2, "calls", "go", "method"), "POST"),
    "write that reads": (("connections", 2, "calls", "go", "write"), True),
    "write of text": (("connections", 2, "calls", "go", "write"), "false"),
    "query value": (("connections", 2, "calls", "go", "query"), {"a": 1}),
    "path": (("connections", 2, "calls", "go", "path"), ["/"]),
    "scopes": (("connections", 2, "oauth2"), {"authorizeUrl": "a", "tokenUrl": "b", "scopes": "c"}),
    "token URL": (("connections", 2, "oauth2"), {"authorizeUrl": "a"}),
    "root": (("connections", 3, "root"), "/"),
    "verb": (("connections", 3, "operations"), ["delete"]),
    "globs": (("connections", 3, "paths"), "**"),
    "engine": (("connections", 4, "engine"), "oracle"),
    "queries": (("connections", 4, "queries"), []),
    "sql": (("connections", 4, "queries", "q", "sql"), None),
    "params": (("connections", 4, "queries", "q", "params"), "ab"),
    "write null": (("connections", 4, "queries", "q", "write"), None),
}


def test_what_the_broken_copies_are_made_from() -> None:
    assert dialects.read(content(json.dumps(good()))).faults == ()


@pytest.mark.parametrize("name", BROKEN)
def test_an_approved_copy_that_cannot_be_read_grants_nothing(name: str) -> None:
    (*way, last), value = BROKEN[name]
    document: Any = good()
    inner = document
    for step in way:
        inner = inner[step]
    inner[last] = value
    assert_unreadable(content(json.dumps(document)))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"id": "x"', "[" * 5_000, '{"id": "x", "id": "y", "connections": []}']
)
def test_an_approved_copy_that_is_no_manifest(text: str) -> None:
    assert_unreadable(content(text))
    assert_unreadable(Content({"manifest.json": b"\xff"}))


def test_an_approved_copy_without_a_manifest() -> None:
    with pytest.raises(HelmError) as raised:
        dialects.build(Content({}))
    assert (raised.value.code, raised.value.message) == (
        "state",
        "the approved copy of the extension cannot be read; review the extension again",
    )


def test_an_approved_copy_with_a_body_deeper_than_the_stack() -> None:
    body = "[" * 900 + "]" * 900
    calls = f'{{"c": {{"method": "POST", "path": "/", "body": {body}}}}}'
    manifest = f'{{"id": "x", "connections": [{{"id": "a", "kind": "http", "service": "s", "calls": {calls}}}]}}'
    try:
        built = dialects.build(content(manifest))
    except HelmError as error:
        assert error.code == "state"
    else:
        assert built.connections[0].operations[0].effect == "read"


def assert_unreadable(copy: Content) -> None:
    with pytest.raises(HelmError) as raised:
        dialects.build(copy)
    assert (raised.value.code, raised.value.message) == (
        "state",
        "the approved copy of manifest.json cannot be read; review the extension again",
    )


def test_building_loads_nothing_that_checks() -> None:
    program = (
        "import sys; from helm_cli import dialects; from helm_cli.model.content import Content;"
        'dialects.build(Content({\'manifest.json\': b\'{"id": "x", "connections": []}\'}));'
        "print(*sorted({'jsonschema', 'difflib', 'pathlib', 'helm_cli.dialects.manifest_check',"
        " 'helm_cli.dialects.json_source', 'helm_cli.grammar.sql', 'helm_cli.grammar.url'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_building_a_typical_manifest_takes_no_time() -> None:
    copy = content(json.dumps(good()))
    dialects.build(copy)
    took = []
    for _ in range(50):
        began = time.perf_counter()
        dialects.build(copy)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.0005
