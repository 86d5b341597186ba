"""What connections.txt lets a manifest declare, and what it does not, item by item of the checklist."""

import json
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.extension import Fault


def faults(*connections: dict[str, Any], **top: Any) -> tuple[Fault, ...]:
    manifest = {"id": "x", **top, "connections": list(connections)}
    return dialects.read(Content({"manifest.json": json.dumps(manifest).encode()})).faults


def messages(*connections: dict[str, Any], **top: Any) -> list[str]:
    return [fault.message for fault in faults(*connections, **top)]


def http(**call: Any) -> dict[str, Any]:
    return {"id": "gh", "kind": "http", "service": "s", "calls": {"go": {"method": "GET", "path": "/", **call}}}


def oauth(
    authorize: str = "https://a.example.com/", token: str = "https://a.example.com/t", scopes: Any = ("a",)
) -> Any:
    return {**http(), "oauth2": {"authorizeUrl": authorize, "tokenUrl": token, "scopes": list(scopes)}}


def mcp(**lists: Any) -> dict[str, Any]:
    return {"id": "gh", "kind": "mcp", "server": "s", **lists}


def files(*paths: str, operations: tuple[str, ...] = ("read",)) -> dict[str, Any]:
    return {"id": "sp", "kind": "files", "root": "workspace", "paths": list(paths), "operations": list(operations)}


def db(query: dict[str, Any], engine: str = "sqlite") -> dict[str, Any]:
    return {"id": "app", "kind": "db", "service": "s", "engine": engine, "queries": {"go": query}}


@pytest.mark.contract("C1")
def test_the_kinds_are_five() -> None:
    assert messages({"id": "a", "kind": "ftp"}) == ['"kind" must be tdt-mcp, mcp, http, files or db, not "ftp"']
    assert not faults({"id": "a", "kind": "tdt-mcp", "operations": ["t"]}, {**mcp(operations=["t"]), "id": "b"})
    assert not faults(http(), files("a"), db({"sql": "SELECT 1"}))


@pytest.mark.contract("C2")
def test_ids_are_required_and_unique() -> None:
    assert [(fault.path, fault.message) for fault in faults(mcp(operations=["t"]), http())] == [
        (
            "connections[1].id",
            'the id "gh" is used twice, by connections[0] and connections[1]; ids are unique in a manifest',
        )
    ]
    nameless = mcp(operations=["t"])
    del nameless["id"]
    assert messages(nameless) == ['entry 1 of "connections" lacks the required field "id"']


WRITES = {
    "http": (http(method="POST", write=True), "connections[0].calls.go.write", "go"),
    "mcp": (mcp(writes=["create"]), "connections[0].writes[0]", "create"),
    "tdt-mcp": ({"id": "t", "kind": "tdt-mcp", "writes": ["apply"]}, "connections[0].writes[0]", "apply"),
    "files": (files("a", operations=("read", "write")), "connections[0].operations[1]", "write"),
    "db": (db({"sql": "DELETE FROM t", "write": True}), "connections[0].queries.go.write", "go"),
}


@pytest.mark.contract("C4")
@pytest.mark.parametrize("kind", WRITES)
def test_a_write_needs_the_permission(kind: str) -> None:
    connection, path, name = WRITES[kind]
    message = f'"{name}" is a write; declare "permissions": {{ "write": true }} at the top of the manifest'
    for permissions in (None, {}, {"write": False}):
        without: dict[str, Any] = {} if permissions is None else {"permissions": permissions}
        assert [(fault.path, fault.message) for fault in faults(connection, **without)] == [(path, message)]
    assert not faults(connection, permissions={"write": True})


@pytest.mark.contract("C21")
@pytest.mark.parametrize(("count", "valid"), [(0, False), (1, True), (16, True), (17, False)])
def test_calls_are_one_to_sixteen(count: int, valid: bool) -> None:
    calls = {f"c{index}": {"method": "GET", "path": "/"} for index in range(count)}
    assert bool(faults({"id": "gh", "kind": "http", "service": "s", "calls": calls})) is not valid


@pytest.mark.contract("C33", "C44")
def test_methods() -> None:
    valid = set()
    for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"):
        for body in ({}, {"body": {"a": 1}}, {"body": None}):
            for write in ({}, {"write": False}, {"write": True}):
                if not faults(http(method=method, **body, **write), permissions={"write": True}):
                    valid.add((method, bool(body), write.get("write", False)))
    reads = {("GET", False, False), ("POST", True, False)}
    writes = {(method, body, True) for method in ("POST", "PUT", "PATCH", "DELETE") for body in (True, False)}
    assert valid == reads | writes


@pytest.mark.contract("C35")
@pytest.mark.parametrize("path", ["x", "//x", "/a/../b", "/./a", "/..", "/%2e%2E/a", "/a?b", "/a#b", ""])
def test_paths_that_could_leave_the_base_url(path: str) -> None:
    assert [fault.path for fault in faults(http(path=path))] == ["connections[0].calls.go.path"]


@pytest.mark.contract("C49", "C50", "C51")
def test_oauth_urls() -> None:
    good = "https://auth.example.com/authorize"
    for url in ("http://127.0.0.1:8080/a", "http://localhost/a", good):
        assert not faults(oauth(authorize=url + "?access_type=offline", token=url))
    for url in ("http://example.com/", "https://u:p@example.com/", "https://example.com/#x", "ftp://example.com/"):
        assert [fault.path for fault in faults(oauth(authorize=url))] == ["connections[0].oauth2.authorizeUrl"]
        assert [fault.path for fault in faults(oauth(token=url))] == ["connections[0].oauth2.tokenUrl"]
    assert messages(oauth(token=good + "?a=b")) == [
        '"tokenUrl" must not contain a query; only authorizeUrl can have one'
    ]


@pytest.mark.contract("C52")
def test_scopes() -> None:
    assert not faults(oauth(scopes=[f"s{index}" for index in range(32)]))
    assert not faults(oauth(scopes=["https://www.googleapis.com/auth/calendar.readonly", "user:email", "!#[]~"]))
    assert messages(oauth(scopes=[f"s{index}" for index in range(33)])) == [
        '"scopes" has 33 entries; at most 32 are allowed'
    ]
    for scope in ("a b", "", 'a"b', "a\\b", "ä", "a\n"):
        assert [fault.path for fault in faults(oauth(scopes=[scope]))] == ["connections[0].oauth2.scopes[0]"]


@pytest.mark.contract("C70")
def test_a_tool_is_in_one_list() -> None:
    both = mcp(operations=["a", "b"], writes=["b"])
    assert messages(both, permissions={"write": True}) == [
        'the tool "b" stands in "operations" too; list it in one of the two'
    ]
    assert not faults(mcp(operations=["a"], writes=["b"]), permissions={"write": True})


@pytest.mark.contract("C79")
def test_globs_are_one_to_sixteen_and_relative() -> None:
    assert not faults(files(*(f"p{index}/**" for index in range(16))))
    assert faults(files())
    assert faults(files(*(f"p{index}" for index in range(17))))
    for glob in ("/etc/passwd", "../a", "a/..", "./a", "a/./b", "a\\b", "a//b", ""):
        assert [fault.path for fault in faults(files(glob))] == ["connections[0].paths[0]"]


@pytest.mark.contract("C93")
def test_queries() -> None:
    def queries(count: int) -> dict[str, Any]:
        return {**db({}), "queries": {f"q{index}": {"sql": "SELECT 1"} for index in range(count)}}

    assert [bool(faults(queries(count))) for count in (0, 1, 32, 33)] == [True, False, False, True]
    assert messages(db({"sql": "SELECT 1; DROP TABLE t"})) == [
        '"go" has 2 statements; a query is exactly one statement'
    ]
    assert messages(db({"sql": "SELECT ?"}, engine="postgres"))
    assert messages(db({"sql": "SELECT $1", "params": ["a"]}, engine="mysql"))
    assert messages(db({"sql": "SELECT ?", "params": []})) == [
        '"go" has 1 placeholder (? for sqlite), but "params" names 0; name one argument for each, in order'
    ]
    assert not faults(
        db({"sql": "SELECT 1;", "params": []}), {**db({"sql": "SELECT ?, '?'", "params": ["a"]}), "id": "b"}
    )
    assert not faults(db({"sql": "SELECT $1, $1, $2", "params": ["a", "a"]}, engine="postgres"))


def test_the_graphical_side_is_tolerated_and_named() -> None:
    manifest = {"id": "x", "widgets": [{"deep": {"kind": "ftp"}}], "connections": [], "settings": None, "icon": "a.svg"}
    reading = dialects.read(Content({"manifest.json": json.dumps(manifest).encode()}))
    assert reading.faults == ()
    assert reading.extension is not None
    assert reading.extension.unused == ("widgets", "settings", "icon")


def test_an_empty_list_beside_a_full_one_is_no_fault() -> None:
    assert not faults(mcp(operations=[], writes=["a"]), permissions={"write": True})
    assert not faults(mcp(operations=["a"], writes=[]))
