"""The pipeline's two verbs: a write is sent once, for exactly the token and the request that were shown."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import call, confirm, content, ledger
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Database
from helm_cli.store import approvals, confirmations, history, profiles
from helm_cli.store.approvals import Approval
from tests.example import MANIFEST, database
from tests.program import environment

RACERS = 100


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
def stores(tmp_path: Path, clock: Clock) -> Stores:
    opened = Stores(tmp_path / "home", clock=clock)
    for name in ("one", "two"):
        workspace = tmp_path / name
        (workspace / "tickets").mkdir(parents=True)
        (workspace / "tickets" / "manifest.json").write_text(json.dumps(MANIFEST))
        approve(opened, workspace, "tickets")
    database(tmp_path / "app.db")
    profiles.create(opened.home, Database("local-app", "sqlite", path=str(tmp_path / "app.db")))
    return opened


def approve(stores: Stores, workspace: Path, extension: str) -> None:
    found = content.read(str(workspace / extension))
    assert found.faults == ()
    approval = Approval(
        workspace=str(workspace),
        extension=json.loads(found.content.files["manifest.json"])["id"],
        folder=str(workspace / extension),
        digest=found.content.digest,
        enabled=True,
        approved_at=stores.clock(),
        by="person",
    )
    approvals.approve(stores.db, approval, found.content, found.stamps)


def close(workspace: Path, **arguments: Json) -> call.Request:
    return call.Request(Workspace(str(workspace), "named"), "app", "close", {"id": 1, **arguments})


def closed(tmp_path: Path) -> list[int]:
    with closing(sqlite3.connect(tmp_path / "app.db")) as db:
        return [row[0] for row in db.execute("SELECT id FROM tickets WHERE status = 'closed' AND id % 2 = 1")]


def code(envelope: dict[str, Any]) -> str | None:
    return str(envelope["error"]["code"]) if envelope["error"] else None


@pytest.mark.contract("C104", "C109")
def test_a_token_sends_its_write_once(stores: Stores, tmp_path: Path) -> None:
    request = close(tmp_path / "one")
    asked = call.ask(stores, request, listed=False)
    assert closed(tmp_path) == []
    assert call.perform(stores, request, asked.token, asked.entry) == {
        "ok": True,
        "data": {"rowsAffected": 1},
        "error": None,
    }
    assert closed(tmp_path) == [1]
    assert code(call.perform(stores, request, asked.token, asked.entry)) == "confirmation_required"


@pytest.mark.contract("C109")
def test_a_token_ends_after_five_minutes(stores: Stores, tmp_path: Path, clock: Clock) -> None:
    request = close(tmp_path / "one")
    asked = call.ask(stores, request, listed=True)
    assert asked.expires == clock.now + 300
    clock.now += 301
    assert code(call.perform(stores, request, asked.token)) == "confirmation_required"
    assert closed(tmp_path) == []


@pytest.mark.contract("C110", "C113")
def test_a_token_is_bound_to_all_that_was_shown(stores: Stores, tmp_path: Path) -> None:
    one = tmp_path / "one"
    other = dict(MANIFEST, id="other")
    (one / "other").mkdir()
    (one / "other" / "manifest.json").write_text(json.dumps(other))
    approve(stores, one, "other")
    request = close(one)._replace(extension="tickets")
    asked = call.ask(stores, request, listed=False)
    for changed in (
        request._replace(workspace=Workspace(str(tmp_path / "two"), "named")),
        request._replace(extension="other"),
        request._replace(arguments={"id": 3}),
        request._replace(arguments={"id": "1"}),
    ):
        assert code(call.perform(stores, changed, asked.token)) == "confirmation_required"
    for made_up in ("", "x", asked.id, asked.token[:-1], asked.token + "="):
        assert code(call.perform(stores, request, made_up)) == "confirmation_required"
    assert closed(tmp_path) == []
    assert code(call.perform(stores, request, asked.token)) is None


@pytest.mark.contract("C110")
def test_a_token_is_bound_to_the_profile_s_target_and_the_approved_content(stores: Stores, tmp_path: Path) -> None:
    one = tmp_path / "one"
    request = close(one)
    asked = call.ask(stores, request, listed=False)
    shutil.copy(tmp_path / "app.db", tmp_path / "other.db")
    profiles.replace(stores.home, Database("local-app", "sqlite", path=str(tmp_path / "other.db")))
    assert code(call.perform(stores, request, asked.token)) == "confirmation_required"
    profiles.replace(stores.home, Database("local-app", "sqlite", path=str(tmp_path / "app.db")))
    (one / "tickets" / "note.md").write_text("one more file")
    assert code(call.perform(stores, request, asked.token)) == "refused"
    approve(stores, one, "tickets")
    assert code(call.perform(stores, request, asked.token)) == "confirmation_required"
    assert closed(tmp_path) == []


@pytest.mark.contract("C48", "C112")
def test_without_a_token_no_write_is_sent(stores: Stores, tmp_path: Path) -> None:
    assert code(call.perform(stores, close(tmp_path / "one"))) == "confirmation_required"
    assert closed(tmp_path) == []


@pytest.mark.contract("C108")
def test_the_description_comes_from_the_approved_declaration(stores: Stores, tmp_path: Path) -> None:
    plan = call.describe(stores, close(tmp_path / "one")).plan
    assert plan.request == {
        "engine": "sqlite",
        "sql": "UPDATE tickets SET status = 'closed' WHERE id = ?",
        "params": [["id", 1]],
    }
    assert (plan.title, plan.verb, plan.extension, plan.operation) == (
        "Confirm database write",
        "Run",
        "tickets",
        "close",
    )
    for name in ("title", "sql", "summary", "token", "confirmed"):
        with pytest.raises(HelmError, match=f"no argument {name}"):
            call.describe(stores, close(tmp_path / "one", **{name: "x"}))


def test_a_read_needs_no_token_and_counts_once(stores: Stores, tmp_path: Path) -> None:
    request = call.Request(Workspace(str(tmp_path / "one"), "named"), "app", "recent", {"status": "open", "limit": 1})
    assert call.perform(stores, request) == {
        "ok": True,
        "data": {"columns": ["id", "title", "status"], "rows": [[199, "Ticket 199", "open"]]},
        "error": None,
    }


def outcomes(stores: Stores) -> list[tuple[str, str]]:
    """What the history tells, the oldest first."""
    return [(entry.extension, entry.outcome) for entry in reversed(history.entries(stores.db))]


def test_a_call_that_waited_for_its_place_is_described_anew(stores: Stores, tmp_path: Path, clock: Clock) -> None:
    """Neither a withdrawn approval nor a changed profile from before the wait may be used after it."""
    (stores.home / "config.toml").write_text("[limits]\ncalls_per_minute = 1\n")
    workspace = str(tmp_path / "one")
    request = call.Request(
        Workspace(workspace, "named"), "app", "recent", {"status": "open", "limit": 1}, wait_rate=True
    )
    assert call.perform(stores, request)["ok"] is True
    prepared = call.describe(stores, request)

    def meanwhile(told: str) -> None:
        assert told.startswith("waiting ")
        approvals.set_enabled(stores.db, workspace, "tickets", False)
        clock.now += 60

    stores.progress = meanwhile
    clock.now += 59
    answer = call.perform(stores, request, prepared=prepared)
    assert code(answer) == "refused"
    assert "disabled" in str(answer["error"])
    assert outcomes(stores) == [("tickets", "ok"), ("tickets", "rate_limited"), ("tickets", "refused")]


def test_each_call_has_one_line_in_the_history(stores: Stores, tmp_path: Path) -> None:
    """With the extension's name as soon as that is known, whatever ended it."""
    request = close(tmp_path / "one")
    call.perform(stores, request)
    call.perform(stores, request._replace(operation="drop"))
    call.perform(stores, request._replace(connection="nope"))
    asked = call.ask(stores, request, listed=False)
    call.perform(stores, close(tmp_path / "one", id=3), asked.token, asked.entry)
    call.perform(stores, request, asked.token, asked.entry)
    call.perform(stores, request, asked.token, asked.entry)
    (stores.home / "config.toml").write_text("[limits]\ncalls_per_minute = 1\n")
    del stores.__dict__["config"]
    with pytest.raises(HelmError, match="within a minute"):
        call.ask(stores, request, listed=True)
    assert outcomes(stores) == [
        ("tickets", "confirmation_required"),
        ("tickets", "refused"),
        ("", "refused"),
        ("tickets", "ok"),
        ("tickets", "rate_limited"),
    ]


def test_a_write_that_is_being_sent_is_running(stores: Stores, tmp_path: Path) -> None:
    """So that one which is killed then does not read as if it had only been asked for."""
    request = close(tmp_path / "one")
    asked = call.ask(stores, request, listed=False)
    other = stores.again()
    with closing(sqlite3.connect(tmp_path / "app.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        sending = threading.Thread(target=lambda: call.perform(other.again(), request, asked.token, asked.entry))
        sending.start()
        deadline = time.monotonic() + 4
        while outcomes(stores) != [("tickets", "running")] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert outcomes(stores) == [("tickets", "running")]
        db.execute("COMMIT")
    sending.join()
    assert outcomes(stores) == [("tickets", "ok")]
    assert closed(tmp_path) == [1]


def test_a_decline_that_came_too_late_says_so(stores: Stores, tmp_path: Path) -> None:
    asked = call.ask(stores, close(tmp_path / "one"), listed=True)
    waiting = confirm.write(stores, confirm.find(stores, asked.id))
    assert confirm.send(stores, waiting)["ok"] is True
    late = confirm.decline(stores, asked.id, asked.entry)
    assert (late.code, late.message) == ("confirmation_required", f"{asked.id} was used already; make the call again")
    assert outcomes(stores) == [("tickets", "ok")]


def test_what_was_sent_is_told_though_the_history_cannot_be_written(stores: Stores, tmp_path: Path) -> None:
    told: list[str] = []
    stores.notice = told.append
    request = close(tmp_path / "one")
    asked = call.ask(stores, request, listed=False)
    stores.db.execute(
        "CREATE TRIGGER full BEFORE UPDATE ON calls WHEN new.outcome = 'ok' BEGIN SELECT RAISE(FAIL, 'full'); END"
    )
    assert call.perform(stores, request, asked.token, asked.entry)["ok"] is True
    assert closed(tmp_path) == [1]
    assert [line.partition(":")[0] for line in told] == ["the history does not tell of this call"]


def test_a_write_asked_for_from_a_folder_that_is_gone_waits(stores: Stores, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    asked = call.ask(stores, close(tmp_path / "one"), listed=True)
    assert confirm.find(stores, asked.id).asked_by.endswith(" in a folder that is gone")


RACE = """
import sys
from pathlib import Path
from helm_cli.broker import call
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
home, workspace, token, now = sys.argv[1:]
stores = Stores(Path(home), clock=lambda: float(now))
sys.stdin.readline()
answer = call.perform(stores, call.Request(Workspace(workspace, "named"), "app", "close", {"id": 1}), token)
print(answer["error"]["code"] if answer["error"] else answer["data"]["rowsAffected"])
"""


@pytest.mark.contract("C109")
def test_of_a_hundred_processes_with_one_token_one_sends(stores: Stores, tmp_path: Path, clock: Clock) -> None:
    workspace = tmp_path / "one"
    with closing(sqlite3.connect(tmp_path / "app.db")) as db, db:
        db.execute("CREATE TABLE sent (at TEXT)")
        db.execute("CREATE TRIGGER once AFTER UPDATE ON tickets BEGIN INSERT INTO sent VALUES ('now'); END")
    asked = call.ask(stores, close(workspace), listed=True)
    second = confirmations.token(stores.db, asked.id, clock.now)
    stores.close()
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(stores.home), str(workspace), token, str(clock.now)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment({}),
        )
        for token in [asked.token, second] * (RACERS // 2)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    answers = [racer.communicate(timeout=60) for racer in racers]
    assert [err for _, err in answers if err] == []
    assert sorted(out.strip() for out, _ in answers) == ["1"] + ["confirmation_required"] * (RACERS - 1)
    with closing(sqlite3.connect(tmp_path / "app.db")) as db:
        assert db.execute("SELECT count(*) FROM sent").fetchone() == (1,)


def recent(workspace: Path) -> call.Request:
    return call.Request(Workspace(str(workspace), "named"), "app", "recent", {"status": "open", "limit": 1})


def test_how_a_read_of_a_row_ended_is_told_with_the_next_one_and_a_write_s_at_once(
    stores: Stores, tmp_path: Path
) -> None:
    request, write = recent(tmp_path / "one"), close(tmp_path / "one")
    with ledger.in_a_row(stores):
        call.perform(stores, request)
        assert outcomes(stores) == [("tickets", "running")]
        call.perform(stores, request)
        assert outcomes(stores) == [("tickets", "ok"), ("tickets", "running")]
        with ledger.pausing(stores):
            assert outcomes(stores) == [("tickets", "ok")] * 2
            call.perform(stores, request)
            assert outcomes(stores) == [("tickets", "ok")] * 3
        asked = call.ask(stores, write, listed=False)
        call.perform(stores, write, asked.token, asked.entry)
        assert outcomes(stores) == [("tickets", "ok")] * 4
        call.perform(stores, request)
    assert outcomes(stores) == [("tickets", "ok")] * 5
    with ledger.pausing(stores):
        call.perform(stores, request)
    assert outcomes(stores) == [("tickets", "ok")] * 6


@pytest.mark.contract("C119")
def test_a_row_of_calls_is_counted_as_each_alone(stores: Stores, tmp_path: Path, clock: Clock) -> None:
    (stores.home / "config.toml").write_text("[limits]\ncalls_per_minute = 2\n")
    request = recent(tmp_path / "one")
    with ledger.in_a_row(stores):
        codes = [code(call.perform(stores, request)) for _ in range(3)]
        assert outcomes(stores) == [("tickets", "ok"), ("tickets", "ok"), ("tickets", "rate_limited")]
        clock.now += 60
        codes += [code(call.perform(stores, request)) for _ in range(3)]
    assert codes == [None, None, "rate_limited"] * 2


def test_what_could_not_be_told_of_a_row_is_told_later(stores: Stores, tmp_path: Path) -> None:
    request = recent(tmp_path / "one")
    told: list[str] = []
    stores.notice = told.append
    with closing(sqlite3.connect(stores.home / "state.db", isolation_level=None)) as other, ledger.in_a_row(stores):
        stores.db.execute("PRAGMA busy_timeout = 1")
        call.perform(stores, request)
        other.execute("BEGIN IMMEDIATE")
        assert code(call.perform(stores, request)) == "state"
        with ledger.pausing(stores):
            pass
        other.execute("COMMIT")
        assert outcomes(stores) == [("tickets", "running")]
        call.perform(stores, request)
    assert outcomes(stores) == [("tickets", "ok")] * 2
    assert [line.partition(":")[0] for line in told] == ["the history does not tell of this call"]


@pytest.mark.contract("C109")
def test_what_expires_beside_a_row_of_calls_is_wiped_within_a_second(
    stores: Stores, tmp_path: Path, clock: Clock
) -> None:
    (stores.home / "config.toml").write_text("[limits]\ncalls_per_minute = 1000\n")
    call.ask(stores, close(tmp_path / "one"), listed=True)

    def subjects() -> int:
        found = stores.db.execute("SELECT count(*) FROM confirmations WHERE subject IS NOT NULL").fetchone()
        return int(found[0])

    with ledger.in_a_row(stores):
        clock.now += confirmations.VALID_SECONDS - 0.5
        call.perform(stores, recent(tmp_path / "one"))
        clock.now += 0.9
        call.perform(stores, recent(tmp_path / "one"))
        assert subjects() == 1
        clock.now += 0.2
        call.perform(stores, recent(tmp_path / "one"))
        assert subjects() == 0
