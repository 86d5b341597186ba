"""The explorer: reads that cannot write, writes that are turned on, and tokens for one statement and one target."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import explorer
from helm_cli.broker.explorer import Columns, Desk, Writes
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from helm_cli.store import confirmations, history, profiles
from tests.example import database

DELETE = "DELETE FROM tickets WHERE id = 1"
COUNT = "SELECT count(*) FROM tickets"


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    database(path)
    return path


@pytest.fixture
def stores(home: Path, clock: Clock, file: Path) -> Iterator[Stores]:
    opened = Stores(home, clock=clock)
    profiles.create(home, Database("app", "sqlite", path=str(file)))
    yield opened
    opened.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk("app", Workspace(str(tmp_path), "the current folder"), "shell")


def tickets(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute(COUNT).fetchone()[0])


def code(envelope: Envelope) -> Any:
    error = envelope["error"]
    return error["code"] if isinstance(error, dict) else "ok"


def refusal(stores: Stores, desk: Desk, sql: str, writes: Writes | None) -> tuple[str, str]:
    with pytest.raises(HelmError) as refused:
        explorer.ask(stores, desk, sql, writes)
    return refused.value.code, refused.value.message


@pytest.mark.contract("C96")
def test_a_read_binds_its_values_and_cannot_write(stores: Stores, desk: Desk, file: Path) -> None:
    envelope = explorer.read(stores, desk, "SELECT id, title FROM tickets WHERE id = ? OR title = ?", [2, "Ticket 3"])
    assert envelope["data"] == {"columns": ["id", "title"], "rows": [[2, "Ticket 2"], [3, "Ticket 3"]]}
    assert code(explorer.read(stores, desk, DELETE)) == "refused"
    assert code(explorer.read(stores, desk, COUNT + "; " + DELETE)) == "refused"
    assert code(explorer.read(stores, desk, "SELECT ?", [["list"]])) == "refused"
    assert code(explorer.read(stores, desk, "SELECT ?")) == "refused"
    assert code(explorer.read(stores, desk, "SELECT * FROM gone")) == "query_failed"
    assert code(explorer.read(stores, desk, "SELECT 1 FROM tickets a, tickets b")) == "too_many_rows"
    assert tickets(file) == 200


def test_what_there_is_is_listed_described_and_named(stores: Stores, desk: Desk, file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE VIEW seen AS SELECT id FROM tickets")
    listed = ["schema", "name", "type", "columns", "rows"]
    assert explorer.tables(stores, desk)["data"] == {
        "columns": listed,
        "rows": [["main", "seen", "view", None, None], ["main", "tickets", "table", 3, None]],
    }
    described = {
        "columns": ["column", "type", "nullable", "default", "key"],
        "rows": [
            ["id", "INTEGER", "no", None, "primary"],
            ["title", "TEXT", "no", None, None],
            ["status", "TEXT", "no", None, None],
        ],
    }
    assert explorer.describe(stores, desk, '"tickets"')["data"] == described
    names = [Columns(None, "tickets", ("id", "title", "status"))]
    assert explorer.names(stores, desk) == [*names, Columns(None, "seen", ("id",))]
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE VIEW broken AS SELECT id FROM gone")
    assert explorer.names(stores, desk) == names
    file.unlink()
    with pytest.raises(HelmError) as failed:
        explorer.names(stores, desk)
    assert failed.value.code == "unavailable"


def test_the_plan_says_that_nobody_but_the_person_asks(stores: Stores, desk: Desk) -> None:
    plan = explorer.ask(stores, desk, DELETE, explorer.turned_on(stores, desk)).plan
    assert (plan.title, plan.verb, plan.effect, plan.extension) == (
        "Confirm database write",
        "Run",
        "write",
        "(none: you, in the explorer)",
    )
    assert (plan.group, plan.profile, plan.request) == (
        "db",
        "app",
        {"engine": "sqlite", "sql": DELETE, "params": []},
    )
    assert confirmations.waiting(stores.db, stores.clock()) == []


@pytest.mark.contract("C106", "C107")
def test_a_token_sends_its_statement_once(stores: Stores, desk: Desk, file: Path) -> None:
    writes = explorer.turned_on(stores, desk)
    asked = explorer.ask(stores, desk, DELETE, writes)
    assert tickets(file) == 200
    assert explorer.write(stores, desk, DELETE, writes, asked.token)["data"] == {"rowsAffected": 1}
    assert code(explorer.write(stores, desk, DELETE, writes, asked.token)) == "confirmation_required"
    assert tickets(file) == 199


@pytest.mark.contract("C107")
@pytest.mark.parametrize("other", [DELETE.replace("1", "2"), DELETE + " ", DELETE.lower(), DELETE + "\n"])
def test_one_changed_character_needs_another_token(stores: Stores, desk: Desk, file: Path, other: str) -> None:
    writes = explorer.turned_on(stores, desk)
    asked = explorer.ask(stores, desk, DELETE, writes)
    assert code(explorer.write(stores, desk, other, writes, asked.token)) == "confirmation_required"
    assert tickets(file) == 200
    assert code(explorer.write(stores, desk, DELETE, writes, asked.token)) == "ok"


@pytest.mark.contract("C106", "C107")
def test_a_token_is_bound_to_the_profile(stores: Stores, desk: Desk, file: Path, tmp_path: Path) -> None:
    """Of another profile of the same file, and of the same profile once it goes elsewhere."""
    asked = explorer.ask(stores, desk, DELETE, explorer.turned_on(stores, desk))
    profiles.create(stores.home, Database("twin", "sqlite", path=str(file)))
    twin = desk._replace(profile="twin")
    on = explorer.turned_on(stores, twin)
    assert code(explorer.write(stores, twin, DELETE, on, asked.token)) == "confirmation_required"
    database(tmp_path / "other.db")
    profiles.replace(stores.home, Database("app", "sqlite", path=str(tmp_path / "other.db")))
    on = explorer.turned_on(stores, desk)
    assert code(explorer.write(stores, desk, DELETE, on, asked.token)) == "confirmation_required"
    assert (tickets(file), tickets(tmp_path / "other.db")) == (200, 200)


def test_a_token_expires_and_a_declined_one_is_used_up(stores: Stores, desk: Desk, clock: Clock, file: Path) -> None:
    writes = explorer.turned_on(stores, desk)
    asked = explorer.ask(stores, desk, DELETE, writes)
    assert asked.expires == clock.now + 300
    clock.now += 301
    assert code(explorer.write(stores, desk, DELETE, writes, asked.token)) == "confirmation_required"
    asked = explorer.ask(stores, desk, DELETE, writes)
    explorer.decline(stores, desk, DELETE, asked)
    assert code(explorer.write(stores, desk, DELETE, writes, asked.token)) == "confirmation_required"
    assert tickets(file) == 200


@pytest.mark.contract("C106")
def test_writes_are_off_until_turned_on_and_after_the_profile_changed(
    stores: Stores, desk: Desk, file: Path, tmp_path: Path
) -> None:
    assert refusal(stores, desk, DELETE, None) == ("refused", "writes to app are off; turn them on first")
    assert not explorer.still_on(stores, desk, None)
    writes = explorer.turned_on(stores, desk)
    asked = explorer.ask(stores, desk, DELETE, writes)
    assert explorer.still_on(stores, desk, writes)
    assert not explorer.still_on(stores, desk._replace(profile="other"), writes)
    assert code(explorer.write(stores, desk, DELETE, None, asked.token)) == "refused"
    profiles.replace(stores.home, Database("app", "sqlite", path=str(tmp_path / "other.db")))
    told = ("refused", "the profile app changed, so writes to it are off; turn them on again")
    assert refusal(stores, desk, DELETE, writes) == told
    assert code(explorer.write(stores, desk, DELETE, writes, asked.token)) == "refused"
    profiles.remove(stores.home, "db", "app")
    assert not explorer.still_on(stores, desk, writes)
    assert refusal(stores, desk, DELETE, writes)[0] == "not_configured"
    assert tickets(file) == 200


def test_the_history_tells_of_it_and_the_rate_limit_does_not_count_it(stores: Stores, desk: Desk) -> None:
    for _ in range(70):
        assert code(explorer.read(stores, desk, COUNT)) == "ok"
    writes = explorer.turned_on(stores, desk)
    asked = explorer.ask(stores, desk, DELETE, writes)
    explorer.write(stores, desk, DELETE, writes, asked.token)
    explorer.write(stores, desk, DELETE, writes, asked.token)
    explorer.decline(stores, desk, DELETE, explorer.ask(stores, desk, DELETE, writes))
    told = [
        (entry.workspace, entry.extension, entry.connection, entry.operation, entry.outcome)
        for entry in history.entries(stores.db, limit=4)
    ]
    line = (desk.workspace.path, "", "explorer", "shell app")
    assert told == [(*line, outcome) for outcome in ("declined", "confirmation_required", "ok", "ok")]


def test_who_types_a_statement_is_not_told_to_declare_it(stores: Stores, desk: Desk) -> None:
    for sql, told in (
        (DELETE, "helm does not let a read query use anything but SELECT, VALUES, EXPLAIN and reading PRAGMAs"),
        ("VACUUM", "a read query must return columns"),
    ):
        error = explorer.read(stores, desk, sql)["error"]
        assert isinstance(error, dict)
        assert str(error["message"]).removesuffix("; nothing changed") == told
