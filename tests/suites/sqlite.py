"""The bench of a SQLite file, and what to look at beside it."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from helm_cli.model.profile import Database
from tests.suites.driver import TICKETS, Bench

COUNTING = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"


def outside(path: Path) -> Callable[[str], list[tuple[Any, ...]]]:
    def execute(sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            return db.execute(sql).fetchall()

    return execute


def contents(path: Path) -> dict[str, str]:
    """The SHA-256 of every file beside `path` and itself, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.parent.iterdir()}


def bench_of(path: Path) -> Bench:
    """A Bench on this file, which need not exist."""
    return Bench(
        profile=Database("local-app", "sqlite", path=str(path)),
        secret=None,
        nowhere=Database("local-app", "sqlite", path=str(path.parent / "missing.db")),
        outside=outside(path),
        endless=f"{COUNTING} LIMIT 100000000) SELECT i FROM n",
        slow=f"{COUNTING}) SELECT i FROM n WHERE i < 0",
        slow_write=f"{COUNTING}) DELETE FROM tickets WHERE id IN (SELECT i FROM n WHERE i < 0) OR id = 1",
    )


def tickets_file(path: Path) -> Bench:
    """A new file with the table `tickets`, and its bench."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT, status TEXT)")
        db.executemany("INSERT INTO tickets VALUES (?, ?, ?)", TICKETS)
    return bench_of(path)
