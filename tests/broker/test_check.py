"""What a check says of each declared query, with nothing run."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import check
from helm_cli.broker.check import Finding
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.profile import Database
from helm_cli.store import profiles
from tests.example import NUMBERS, database
from tests.rig.postgres import silent


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    database(path)
    return path


@pytest.fixture
def stores(home: Path, file: Path) -> Iterator[Stores]:
    opened = Stores(home)
    profiles.create(home, Database("app", "sqlite", path=str(file)))
    yield opened
    opened.close()


HERE = Workspace("/", "named")


def extension(*connections: Connection, write_permitted: bool = True) -> Extension:
    return Extension("tickets", "", "", "", "manifest.json", write_permitted, connections, ())


def database_connection(*operations: Operation, profile: str = "app", engine: str = "sqlite") -> Connection:
    return Connection("app", "db", "db", profile, operations, {"engine": engine})


def read(sql: str, *params: str, name: str = "q") -> Operation:
    return Operation(name, "read", params, {"sql": sql})


def write(sql: str, *params: str, name: str = "w") -> Operation:
    return Operation(name, "write", params, {"sql": sql})


def found(stores: Stores, operation: Operation, **changes: Any) -> tuple[str, str]:
    (finding,) = check.check(stores, HERE, extension(database_connection(operation, **changes)))
    return finding.result, finding.message


@pytest.mark.parametrize(
    "operation",
    [
        read("SELECT id FROM tickets WHERE status = ? LIMIT ?", "status", "limit"),
        read("SELECT id FROM tickets WHERE id = ? OR id = ?", "id", "id"),
        read(NUMBERS),
        read("PRAGMA table_info(tickets)"),
        read("EXPLAIN QUERY PLAN SELECT * FROM tickets"),
        write("UPDATE tickets SET status = 'x' WHERE id = ?", "id"),
        write("DELETE FROM tickets RETURNING id"),
        write("DROP TABLE tickets"),
        write("CREATE TABLE more (id)"),
    ],
)
def test_what_would_work_is_ok_and_nothing_ran(stores: Stores, file: Path, operation: Operation) -> None:
    before = file.read_bytes()
    assert found(stores, operation) == ("ok", "")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["app.db"]


@pytest.mark.parametrize(
    ("operation", "result", "message"),
    [
        (read("SELECT * FROM gone"), "query_failed", "no such table: gone"),
        (read("SELECT gone FROM tickets"), "query_failed", "no such column: gone"),
        (read("SELEC 1"), "query_failed", 'near "SELEC": syntax error'),
        (write("UPDATE gone SET a = 1"), "query_failed", "no such table: gone"),
        (
            read("SELECT ?"),
            "refused",
            "the query has not as many placeholders as its params; correct the declaration",
        ),
        (
            read("SELECT 1; SELECT 2"),
            "refused",
            "the query holds more than one statement; declare each on its own",
        ),
        (
            read("DELETE FROM tickets"),
            "refused",
            "helm does not let a read query use anything but SELECT, VALUES, EXPLAIN and reading PRAGMAs; nothing"
            ' changed; declare "write": true where it is meant to write',
        ),
        (
            read("PRAGMA journal_mode = WAL"),
            "refused",
            "helm does not let a read query use PRAGMA journal_mode with a value; nothing changed",
        ),
        (
            write("ATTACH 'x.db' AS x"),
            "refused",
            "helm does not let a write query use ATTACH; nothing changed",
        ),
    ],
)
def test_what_would_fail_is_told(stores: Stores, file: Path, operation: Operation, result: str, message: str) -> None:
    before = file.read_bytes()
    assert found(stores, operation) == (result, message)
    assert file.read_bytes() == before


def test_the_profile_is_a_part_of_it(stores: Stores, file: Path) -> None:
    one = read("SELECT 1")
    assert found(stores, one, profile="other") == (
        "not_configured",
        "there is no database profile other; add it with: helm db add other",
    )
    assert found(stores, one, engine="postgres") == (
        "refused",
        "the connection app is declared for postgres, but the profile app is sqlite; use a postgres profile of that"
        " name",
    )
    (stores.home / "profiles" / "db" / "app.toml").write_text("engine = 1\n")
    assert found(stores, one)[0] == "state"
    profiles.replace(stores.home, Database("app", "sqlite", path=str(file.parent / "gone.db")))
    assert found(stores, one)[0] == "unavailable"


def test_a_server_that_does_not_answer_is_waited_for_once(stores: Stores) -> None:
    with silent() as port:
        nowhere = Database("shop", "postgres", host="127.0.0.1", port=port, database="d", user="u", tls="disable")
        profiles.create(stores.home, nowhere)
        connection = database_connection(
            *(read("SELECT 1", name=f"q{number}") for number in range(20)), profile="shop", engine="postgres"
        )
        begun = time.monotonic()
        findings = check.check(stores, HERE, extension(connection))
    assert [finding.operation for finding in check.failed(findings)] == [f"q{number}" for number in range(20)]
    assert len({(finding.result, finding.message) for finding in findings}) == 1
    assert time.monotonic() - begun < 7


def test_a_write_without_permission_would_be_refused(stores: Stores) -> None:
    told = check.check(
        stores, HERE, extension(database_connection(write("DELETE FROM tickets")), write_permitted=False)
    )
    assert (told[0].result, "permissions.write" in told[0].message) == ("refused", True)


def test_other_kinds_are_listed_as_not_checked(stores: Stores) -> None:
    mcp = Connection("gh", "mcp", "mcp", "github", (Operation("list", "read", None, {}),), {})
    findings = check.check(
        stores, HERE, extension(mcp, database_connection(read("SELECT 1"), read("SELECT x", name="bad")))
    )
    assert findings[0] == Finding(
        "gh", "list", "mcp", "read", "not checked", "mcp operations are not checked by this version of helm"
    )
    assert [finding.result for finding in findings] == ["not checked", "ok", "query_failed"]
    assert [finding.operation for finding in check.failed(findings)] == ["bad"]


def test_a_wal_database_is_left_as_it_is(stores: Stores, file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    os.utime(file, (1, 1))
    assert found(stores, read("SELECT id FROM tickets")) == ("ok", "")
    assert [path.name for path in file.parent.iterdir()] == ["app.db"]
