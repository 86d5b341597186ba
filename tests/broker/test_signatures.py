"""How operations are written with their arguments: of every kind, and of tools that a person was shown."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import approve, review, signatures
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.review import Review
from helm_cli.store import tools
from tests.broker.folders import write

CONNECTIONS: dict[str, dict[str, Any]] = {
    "app": {
        "kind": "db",
        "service": "a",
        "engine": "sqlite",
        "queries": {
            "recent": {"sql": "SELECT ?, ?, ?", "params": ["a", "b", "a"]},
            "close": {"sql": "DELETE FROM t", "write": True},
        },
    },
    "web": {
        "kind": "http",
        "service": "web",
        "calls": {"issues": {"method": "GET", "path": "/{owner}", "query": {"state": "{state}"}}},
    },
    "ws": {"kind": "files", "root": "workspace", "paths": ["*.md"], "operations": ["list", "read", "write"]},
    "sp": {"kind": "files", "root": "project", "paths": ["*.md"], "operations": ["write", "read", "list"]},
    "gh": {"kind": "mcp", "server": "gh", "operations": ["known", "many", "none", "unknown"], "writes": ["odd"]},
}


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path), "the current folder")


@pytest.fixture
def approved(home: Path, here: Workspace, tmp_path: Path) -> Iterator[Stores]:
    entries = [{"id": id_, **entry} for id_, entry in CONNECTIONS.items()]
    write(tmp_path / "all", {"id": "all", "permissions": {"write": True}, "connections": entries})
    stores = Stores(home)
    found = review.review(stores, here, str(tmp_path / "all"))
    assert isinstance(found, Review), found
    approve.by_person(stores, found)
    yield stores
    stores.close()


@pytest.mark.parametrize(
    ("connection", "written"),
    [
        ("app", ["recent(a, b)", "close() (writes)"]),
        ("web", ["issues(owner, [state])"]),
        ("ws", ["list()", "read(path or paths)", "write(path, text, expected_sha256) (writes)"]),
        (
            "sp",
            [
                "write(project, path, text, expected_sha256) (writes)",
                "read(project, path or paths)",
                "list(project)",
            ],
        ),
        ("nobodys", []),
    ],
)
def test_of_each_kind(approved: Stores, here: Workspace, connection: str, written: list[str]) -> None:
    assert signatures.of(approved, here, connection) == written


def test_of_tools_as_far_as_a_person_was_shown_them(approved: Stores, here: Workspace) -> None:
    unknown = ["known(…)", "many(…)", "none(…)", "unknown(…)", "odd(…) (writes)"]
    assert signatures.of(approved, here, "gh") == unknown
    schemas: dict[str, Any] = {
        "known": {"type": "object", "properties": {"owner": {}, "limit\x1b": {}}, "required": ["owner"]},
        "many": {"type": "object", "properties": {f"a{number}": {} for number in range(20)}},
        "none": {"type": "object", "properties": {}},
        "odd": {"type": "object", "properties": [], "required": 3},
    }
    seen: Any = {"gh": {name: {"name": name, "inputSchema": schema} for name, schema in schemas.items()}}
    tools.pin(approved.db, here.path, "all", seen, list(CONNECTIONS))
    first = ", ".join(f"[a{number}]" for number in range(16))
    assert signatures.of(approved, here, "gh") == [
        r"known(owner, ['limit\x1b'])",
        f"many({first}, …)",
        "none()",
        "unknown(…)",
        "odd() (writes)",
    ]
