"""What whole-program tests and benchmarks call: a file of tickets, and an extension that reads and closes them."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.program import Finished
from tests.rig import mariadb
from tests.rig.mariadb import MariaDb
from tests.rig.postgres import OWNER, PASSWORD, Postgres

NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT i FROM n"
RECENT: Final = "SELECT id, title, status FROM tickets WHERE status = ? ORDER BY id DESC LIMIT ?"

MANIFEST: Final[dict[str, Any]] = {
    "id": "tickets",
    "name": "Tickets",
    "version": "1.0.0",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "app",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {
                "recent": {"sql": RECENT, "params": ["status", "limit"]},
                "endless": {"sql": NUMBERS, "params": []},
                "close": {
                    "sql": "UPDATE tickets SET status = 'closed' WHERE id = ?",
                    "params": ["id"],
                    "write": True,
                },
            },
        }
    ],
}


def database(path: Path) -> None:
    """A new file of 200 tickets, ids 1 to 200, every second of them open."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL)")
        db.executemany(
            "INSERT INTO tickets VALUES (?, ?, ?)",
            [(number, f"Ticket {number}", "open" if number % 2 else "closed") for number in range(1, 201)],
        )
    db.close()


def status(file: Path, number: int = 1) -> str:
    """How a ticket stands in the file."""
    with closing(sqlite3.connect(file)) as db:
        return str(db.execute("SELECT status FROM tickets WHERE id = ?", (number,)).fetchone()[0])


def ready(helm: Callable[..., Finished], workspace: Path) -> Path:
    """The example, added, reviewed and approved in `workspace` the way a fresh CI job does; returns the database."""
    file = workspace / "app.db"
    database(file)
    folder = workspace / "tickets"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST, indent=2))
    _well(helm("db", "add", "local-app", "--engine", "sqlite", "--path", str(file), cwd=workspace))
    told = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace)
    _well(helm("plugin", "review", str(folder), "--approve", told.json["digest"], cwd=workspace))
    return file


def ready_on_postgres(helm: Callable[..., Finished], workspace: Path, server: Postgres) -> None:
    """The example as the extension `pg-tickets` on the profile `pg`, for a server that has the table `tickets`."""
    sql = RECENT.replace("?", "$1", 1).replace("?", "$2", 1)
    queries = {"recent": {"sql": sql, "params": ["status", "limit"]}}
    connection = {"id": "app", "kind": "db", "service": "pg", "engine": "postgres", "queries": queries}
    folder = workspace / "pg-tickets"
    folder.mkdir()
    manifest = {"id": "pg-tickets", "name": "Tickets", "version": "1.0.0", "connections": [connection]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    where = ["--host", "127.0.0.1", "--port", str(server.port), "--database", "zq_main", "--user", OWNER]
    adding = ["db", "add", "pg", "--engine", "postgres", *where, "--password-stdin"]
    _well(helm(*adding, cwd=workspace, stdin=PASSWORD))
    told = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace)
    _well(helm("plugin", "review", str(folder), "--approve", told.json["digest"], cwd=workspace))


def ready_on_mysql(helm: Callable[..., Finished], workspace: Path, server: MariaDb) -> None:
    """The example as the extension `my-tickets` on the profile `my`, for a server that has the table `tickets`."""
    queries = {"recent": {"sql": RECENT, "params": ["status", "limit"]}}
    connection = {"id": "app", "kind": "db", "service": "my", "engine": "mysql", "queries": queries}
    folder = workspace / "my-tickets"
    folder.mkdir()
    manifest = {"id": "my-tickets", "name": "Tickets", "version": "1.0.0", "connections": [connection]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    where = ["--host", "127.0.0.1", "--port", str(server.port), "--database", "app", "--user", mariadb.USER]
    adding = ["db", "add", "my", "--engine", "mysql", *where, "--password-stdin"]
    _well(helm(*adding, cwd=workspace, stdin=mariadb.PASSWORD))
    told = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace)
    _well(helm("plugin", "review", str(folder), "--approve", told.json["digest"], cwd=workspace))


def _well(finished: Finished) -> None:
    assert finished.status == 0, finished
