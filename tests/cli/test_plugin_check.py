"""`helm plugin check`: each declared query against the real databases, from the approved copy, with nothing run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.example import MANIFEST, database
from tests.program import Helm
from tests.rig import mariadb as rig
from tests.rig import postgres as postgres_rig
from tests.rig.mariadb import MariaDb
from tests.rig.postgres import Postgres

FILE = {"HELM_CLI_CREDENTIALS": "file"}


def approved(helm: Helm, workspace: Path, *connections: dict[str, Any]) -> str:
    """An extension with these connections, approved; its digest."""
    folder = workspace / "tickets"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({**MANIFEST, "connections": list(connections)}))
    digest: str = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace).json["digest"]
    ended = helm("plugin", "review", str(folder), "--approve", digest, cwd=workspace)
    assert ended.status == 0, ended
    return digest


def connection(engine: str, queries: dict[str, dict[str, Any]], profile: str = "local-app") -> dict[str, Any]:
    return {"id": "app", "kind": "db", "service": profile, "engine": engine, "queries": queries}


def results(told: Any) -> dict[str, str]:
    return {row["operation"]: row["result"] for row in told["operations"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def test_what_is_fine_ends_with_0(helm: Helm, workspace: Path) -> None:
    database(workspace / "app.db")
    helm("db", "add", "local-app", "--engine", "sqlite", "--path", "app.db", cwd=workspace)
    digest = approved(helm, workspace, *MANIFEST["connections"])
    before = (workspace / "app.db").read_bytes()
    ended = helm("plugin", "check", "tickets", cwd=workspace)
    operations = [(query["name"], query["effect"]) for query in queries()]
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "".join(f"app\t{name}\t{effect}\tok\t\n" for name, effect in operations)
    assert helm("plugin", "check", "tickets", "-o", "json", cwd=workspace).json == {
        "id": "tickets",
        "digest": digest,
        "ok": True,
        "operations": [
            {"connection": "app", "operation": name, "kind": "db", "effect": effect, "result": "ok", "message": ""}
            for name, effect in operations
        ],
    }
    assert (workspace / "app.db").read_bytes() == before
    assert helm("history", "-o", "json", cwd=workspace).json == []


def queries() -> list[dict[str, str]]:
    declared = MANIFEST["connections"][0]["queries"]
    return [{"name": name, "effect": "write" if query.get("write") else "read"} for name, query in declared.items()]


def test_the_first_failure_gives_the_status(helm: Helm, workspace: Path) -> None:
    database(workspace / "app.db")
    helm("db", "add", "local-app", "--engine", "sqlite", "--path", "app.db", cwd=workspace)
    fine = {"sql": "SELECT 1", "params": []}
    missing = {"sql": "SELECT * FROM gone", "params": []}
    writing = {"sql": "DELETE FROM tickets RETURNING id", "params": []}
    approved(
        helm,
        workspace,
        connection("sqlite", {"fine": fine, "missing": missing, "writing": writing}),
        {**connection("sqlite", {"other": fine}, "nobody"), "id": "app2"},
        {"id": "gh", "kind": "mcp", "server": "github", "operations": ["list"]},
    )
    ended = helm("plugin", "check", "tickets", cwd=workspace)
    assert (ended.status, ended.err) == (14, "helm: 3 of 5 operations of tickets would fail\n")
    assert ended.out == (
        "app\tfine\tread\tok\t\n"
        "app\tmissing\tread\tquery_failed\tno such table: gone\n"
        "app\twriting\tread\trefused\thelm does not let a read query use anything but SELECT, VALUES, EXPLAIN and"
        ' reading PRAGMAs; nothing changed; declare "write": true where it is meant to write\n'
        "app2\tother\tread\tnot_configured\tthere is no database profile nobody; add it with: helm db add nobody\n"
        "gh\tlist\tread\tnot checked\tmcp operations are not checked by this version of helm\n"
    )


def test_it_is_about_what_was_approved(helm: Helm, workspace: Path) -> None:
    database(workspace / "app.db")
    helm("db", "add", "local-app", "--engine", "sqlite", "--path", "app.db", cwd=workspace)
    approved(helm, workspace, connection("sqlite", {"fine": {"sql": "SELECT 1", "params": []}}))
    (workspace / "tickets" / "manifest.json").write_text("{}")
    ended = helm("plugin", "check", "tickets", cwd=workspace)
    assert (ended.status, ended.out, ended.err) == (
        0,
        "app\tfine\tread\tok\t\n",
        "helm: the folder of tickets changed since it was approved; this is about what was approved\n",
    )
    ended = helm("plugin", "check", "other", cwd=workspace)
    assert (ended.status, ended.out) == (3, "")
    assert helm("plugin", "check", "tickets", "-o", "csv", cwd=workspace).status == 2


def test_on_postgres(helm: Helm, workspace: Path, postgres: Postgres) -> None:
    postgres.fresh("CREATE TABLE tickets (id int PRIMARY KEY, status text)", "INSERT INTO tickets VALUES (1, 'open')")
    words = ("--host", "127.0.0.1", "--port", str(postgres.port), "--database", "zq_main", "--user", postgres_rig.OWNER)
    added = helm(
        *("db", "add", "local-app", "--engine", "postgres", *words, "--password-stdin"),
        stdin=postgres_rig.PASSWORD,
        env=FILE,
    )
    assert added.status == 0, added
    approved(
        helm,
        workspace,
        connection(
            "postgres",
            {
                "fine": {"sql": "SELECT id FROM tickets WHERE status = $1 LIMIT $2", "params": ["status", "limit"]},
                "missing": {"sql": "SELECT * FROM gone", "params": []},
                "writing": {"sql": "DELETE FROM tickets RETURNING id", "params": []},
                "program": {"sql": "COPY (SELECT 1) TO PROGRAM 'false'", "params": []},
                "close": {"sql": "UPDATE tickets SET status = 'x' WHERE id = $1", "params": ["id"], "write": True},
                "lost": {"sql": "UPDATE gone SET status = 'x'", "params": [], "write": True},
            },
        ),
    )
    ended = helm("plugin", "check", "tickets", "-o", "json", cwd=workspace, env=FILE)
    assert (ended.status, results(ended.json)) == (
        14,
        {
            "fine": "ok",
            "missing": "query_failed",
            "writing": "refused",
            "program": "refused",
            "close": "ok",
            "lost": "query_failed",
        },
    )
    assert postgres.outside("SELECT * FROM tickets") == [(1, "open")]
    assert postgres.quiet()


def test_on_mariadb(helm: Helm, workspace: Path, mariadb: MariaDb) -> None:
    mariadb.outside("CREATE OR REPLACE TABLE tickets (id INT PRIMARY KEY, status VARCHAR(20))")
    mariadb.outside("INSERT INTO tickets VALUES (1, 'open')")
    added = helm(
        *("db", "add", "local-app", "--engine", "mysql", "--socket", mariadb.socket, "--database", "app"),
        *("--user", rig.USER, "--password-stdin"),
        stdin=rig.PASSWORD,
        env=FILE,
    )
    assert added.status == 0, added
    approved(
        helm,
        workspace,
        connection(
            "mysql",
            {
                "fine": {"sql": "SELECT id FROM tickets WHERE status = ? LIMIT ?", "params": ["status", "limit"]},
                "missing": {"sql": "SELECT * FROM gone", "params": []},
                "writing": {"sql": "DELETE FROM tickets", "params": []},
                "close": {"sql": "UPDATE tickets SET status = 'x' WHERE id = ?", "params": ["id"], "write": True},
            },
        ),
    )
    ended = helm("plugin", "check", "tickets", "-o", "json", cwd=workspace, env=FILE)
    assert (ended.status, results(ended.json)) == (
        14,
        {"fine": "ok", "missing": "query_failed", "writing": "refused", "close": "ok"},
    )
    assert mariadb.outside("SELECT * FROM tickets") == [(1, "open")]
