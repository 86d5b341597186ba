"""What a review warns of, and what it does not, so that a warning is still read."""

import json
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.broker import warnings
from helm_cli.model.content import Content
from tests.broker.folders import FIVE_KINDS, manifest

MCP = (
    "Helm cannot know which tools of a server write data. If a plugin lists a write tool under operations, "
    "Helm does not ask for confirmation. Check the list."
)
BY_NAME = "by its name this tool writes data, and it stands under operations: it runs without confirmation"


def told(declared: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [caution[:3] for caution in warnings.of(dialects.build(content(declared)))]


def content(declared: dict[str, Any]) -> Content:
    return Content({"manifest.json": json.dumps(declared).encode()})


def of_tools(*names: str, kind: str = "mcp") -> list[str]:
    entry = {"id": "gh", "kind": kind, "server": "github", "operations": list(names)}
    return [operation for _, operation, _ in told(manifest(connections=[entry]))]


def of_query(sql: str, engine: str = "sqlite", write: bool = False) -> list[tuple[str, str, str]]:
    entry = {
        "id": "app",
        "kind": "db",
        "service": "x",
        "engine": engine,
        "queries": {"q": {"sql": sql, "write": write}},
    }
    return told(manifest(connections=[entry]))


def of_paths(*paths: str) -> list[str]:
    entry = {"id": "notes", "kind": "files", "root": "workspace", "paths": list(paths), "operations": ["read"]}
    return [message for _, _, message in told(manifest(connections=[entry]))]


@pytest.mark.contract("C9")
def test_every_mcp_connection_has_the_contracts_warning() -> None:
    two = [
        {"id": "gh", "kind": "mcp", "server": "github", "operations": ["list_issues"]},
        {"id": "jira", "kind": "mcp", "server": "jira", "writes": ["create_issue"]},
    ]
    assert told(manifest(permissions={"write": True}, connections=two)) == [("gh", "", MCP), ("jira", "", MCP)]


def test_an_extension_of_all_five_kinds() -> None:
    assert told(FIVE_KINDS) == [("gh", "", MCP), ("gh", "delete_issue", BY_NAME)]


@pytest.mark.parametrize(
    "name",
    ["create_issue", "delete-file", "updatePage", "merge_pull_request", "issue_write", "DropTable", "tdt_brain_store"],
)
def test_a_tool_that_sounds_like_a_write(name: str) -> None:
    assert of_tools(name) == ["", name]
    assert of_tools(name, kind="tdt-mcp") == [name]


@pytest.mark.parametrize(
    "name",
    [
        "list_issues",
        "get_commit",
        "search_code",
        "readFile",
        "tdt_workspace_status",
        "describe_updates",
        "whoami",
        "---",
    ],
)
def test_a_tool_that_does_not(name: str) -> None:
    assert of_tools(name) == [""]


@pytest.mark.parametrize("sql", ["DELETE FROM t", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "VACUUM"])
def test_sql_that_cannot_run_read_only(sql: str) -> None:
    message = "this SQL looks like a write and is declared as a read: the database will refuse it"
    assert of_query(sql) == [("app", "q", message)]


@pytest.mark.parametrize(
    ("sql", "begins"), [("SELCT 1", "begins with SELCT"), ("(1)", "begins with no word"), ("help", "begins with HELP")]
)
def test_sql_that_is_more_likely_a_slip(sql: str, begins: str) -> None:
    message = (
        f"this SQL {begins}, not with SELECT, VALUES, TABLE, WITH or another that reads: the database will refuse it"
    )
    assert of_query(sql) == [("app", "q", message)]


@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mysql"])
def test_a_write_whose_rows_nobody_gets(engine: str) -> None:
    message = "the rows of its RETURNING are not returned: a write answers with rowsAffected alone"
    assert of_query("DELETE FROM t returning id", engine, write=True)[-1:] == [("app", "q", message)]
    for sql in ("DELETE FROM t", "DELETE FROM t -- RETURNING id", "UPDATE t SET a = 'RETURNING'"):
        assert of_query(sql, engine, write=True) == []


def test_sql_that_can() -> None:
    assert of_query("SELECT 'delete from t', \"update\" FROM t -- drop") == []


def test_permission_that_nothing_needs() -> None:
    message = "the extension asks for permission to write and declares no write"
    assert told(manifest(permissions={"write": True})) == [("", "", message)]


@pytest.mark.parametrize(
    ("scopes", "wide"),
    [
        (["calendar.read", "offline_access"], ""),
        (["calendar.write", "repo:admin", "read"], "calendar.write, repo:admin"),
        (
            ["https://graph.example.com/Mail.Send", "Calendars.ReadWrite"],
            "https://graph.example.com/Mail.Send, Calendars.ReadWrite",
        ),
        (["allow", "sender", "writers"], ""),
    ],
)
def test_scopes_wider_than_the_calls(scopes: list[str], wide: str) -> None:
    oauth2 = {"authorizeUrl": "https://a.example/a", "tokenUrl": "https://a.example/t", "scopes": scopes}
    calls: dict[str, Any] = {"events": {"method": "GET", "path": "/events"}}
    entry = {"id": "cal", "kind": "http", "service": "calendar", "oauth2": oauth2, "calls": calls}
    message = f"the scopes are wider than the calls, of which none writes: {wide}"
    assert told(manifest(connections=[entry])) == ([("cal", "", message)] if wide else [])
    calls["cancel"] = {"method": "DELETE", "path": "/events", "write": True}
    assert told(manifest(permissions={"write": True}, connections=[entry])) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".env", "matches files that often hold secrets: .env"),
        ("**", "matches files that often hold secrets: .env, .env.local, .git-credentials, .netrc and 14 more"),
        ("config/.env*", "matches files that often hold secrets: .env, .env.local"),
        ("**/*.pem", "matches files that often hold secrets: server.pem"),
        (".git/**", "matches files that often hold secrets: .git/config"),
        ("keys/id_*", "matches files that often hold secrets: id_ed25519, id_rsa"),
        ("deploy/credentials.yaml", "names what sounds like a secret"),
        ("*", "matches files that often hold secrets: .env, .env.local, .git-credentials, .netrc and 9 more"),
    ],
)
def test_globs_that_match_secrets(path: str, message: str) -> None:
    assert of_paths(path) == [f"the glob {path} {message}"]


def test_globs_that_do_not() -> None:
    assert of_paths("docs/**", "*.md", "src/**/*.py", ".tdt-project/tdt-software-production/**", "data/*.json") == []
