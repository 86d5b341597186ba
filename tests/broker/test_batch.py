"""A batch: each line has its own answer, in order; reads run side by side, and a write waits for all before it."""

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import batch, call, ledger
from helm_cli.broker.batch import Line
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope, success
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from helm_cli.store import approvals, history, profiles
from tests.broker.approved import code, declared, workspace
from tests.example import MANIFEST, database
from tests.rig.agents import eventually

READ: Final[dict[str, Any]] = {"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 1}}
CLOSE: Final[dict[str, Any]] = {"connection": "app", "operation": "close", "args": {"id": 199}}
SRV: Final = Workspace("/srv", "named")


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "here")


@pytest.fixture
def stores(home: Path, here: Workspace, tmp_path: Path) -> Iterator[Stores]:
    with closing(Stores(home)) as opened:
        declared(opened, here, MANIFEST)
        database(tmp_path / "app.db")
        profiles.create(home, Database("local-app", "sqlite", path=str(tmp_path / "app.db")))
        yield opened


def lines(here: Workspace, *rows: dict[str, Any]) -> list[Line]:
    return [
        batch.read(json.dumps(row).encode(), number, here, wait_rate=False) for number, row in enumerate(rows, start=1)
    ]


def told(stores: Stores) -> list[str]:
    return [entry.outcome for entry in reversed(history.entries(stores.db, limit=100))]


def nobody(request: call.Request) -> Envelope:
    raise AssertionError(f"{request.operation} is no write")


def newest(envelope: Envelope) -> Any:
    data: Any = envelope["data"]
    return data["rows"][0][0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not JSON: expecting value at line 1 column 1"),
        (b"[]", "a line is one JSON object"),
        (b'{"sql": "x"}', "unknown member sql; a line has connection, operation, args, plugin, id"),
        (b'{"operation": "recent"}', '"connection" and "operation" are both needed, as text'),
        (b'{"connection": "app", "operation": 1}', '"connection" and "operation" are both needed, as text'),
        (b'{"connection": "app", "operation": "recent", "args": null}', '"args" is a JSON object'),
        (b'{"connection": "app", "operation": "recent", "plugin": []}', '"plugin" is the id of an extension'),
    ],
)
def test_a_line_that_is_no_request_says_why(text: bytes, message: str) -> None:
    line = batch.read(text, 7, SRV, wait_rate=False)
    assert isinstance(line.request, HelmError)
    assert (line.request.code, line.request.message) == ("usage", f"line 7 of the batch: {message}")
    assert (line.id, line.has_id) == (None, False)


@pytest.mark.parametrize("given", [None, 3, "x", [1]])
def test_an_id_is_given_back_with_whatever_comes_of_its_line(given: Any) -> None:
    well = batch.read(json.dumps({**READ, "plugin": "tickets", "id": given}).encode(), 1, SRV, wait_rate=True)
    assert well == Line(call.Request(SRV, "app", "recent", READ["args"], "tickets", True), given, True)
    wrong = batch.read(json.dumps({"id": given}).encode(), 1, SRV, wait_rate=True)
    assert isinstance(wrong.request, HelmError)
    assert (wrong.id, wrong.has_id) == (given, True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_answers_come_in_order_and_a_write_runs_alone(stores: Stores, here: Workspace, jobs: int) -> None:
    begun, ended, asked = [], [], []

    def perform(stores: Stores, request: call.Request, *, prepared: call.Prepared | None = None) -> Envelope:
        begun.append(request)
        answer = call.perform(stores, request, prepared=prepared)
        ended.append(request)
        return answer

    def confirm(request: call.Request) -> Envelope:
        asked.append((request.operation, len(begun), len(ended)))
        waiting = call.ask(stores, request, listed=False)
        return call.perform(stores, request, waiting.token, waiting.entry)

    reads: list[dict[str, Any]] = [{**READ, "id": number} for number in range(12)]
    rows = [*reads[:10], CLOSE, {"id": 10}, {**READ, "operation": "gone"}, *reads[10:]]
    given = lines(here, *rows)
    found = list(batch.run(stores, [*given[:3], None, *given[3:]], confirm, jobs, perform))
    assert asked == [("close", 10, 10)]
    assert len(ended) == 12
    assert [answer.get("id") for answer in found] == [*range(10), None, 10, None, 10, 11]
    assert [newest(answer) for answer in (*found[:10], *found[-2:])] == [199] * 10 + [197] * 2
    assert found[10] == {"ok": True, "data": {"rowsAffected": 1}, "error": None}
    assert [code(answer) for answer in found[11:13]] == ["usage", "refused"]
    assert Counter(told(stores)) == {"ok": 13, "refused": 1}


def test_a_batch_that_is_left_has_told_how_each_call_ended(stores: Stores, here: Workspace) -> None:
    answers = batch.run(stores, lines(here, READ, READ, READ), nobody, 1)
    assert newest(next(answers)) == 199
    assert told(stores) == ["running"]
    answers.close()
    assert (told(stores), stores.series) == (["ok"], None)


def slow(entered: threading.Event, going: threading.Event) -> batch.Perform:
    """A way to make calls of which the one with limit 2 begins, and ends when it may."""

    def perform(stores: Stores, request: call.Request, *, prepared: call.Prepared | None = None) -> Envelope:
        if request.arguments["limit"] != 2:
            return call.perform(stores, request, prepared=prepared)
        entry, _ = ledger.begin(stores, request, "tickets")
        with ledger.ended(stores, request, "tickets", entry, effect="read") as ending:
            entered.set()
            assert going.wait(20)
            ending.envelope = success([])
        return ending.envelope

    return perform


SLOW: Final[dict[str, Any]] = {**READ, "args": {"status": "open", "limit": 2}}


def test_what_ended_is_told_while_an_answer_before_it_is_waited_for(stores: Stores, here: Workspace) -> None:
    entered, going = threading.Event(), threading.Event()
    seen: list[list[str]] = []

    def watch() -> None:
        with closing(Stores(stores.home)) as others:
            # Which of two threads begins first is nobody's to say.
            eventually(lambda: sorted(told(others)) == ["ok", "ok", "ok", "running"])
            seen.append(sorted(told(others)))
        going.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    found = list(batch.run(stores, lines(here, SLOW, READ, READ, READ), nobody, 2, slow(entered, going)))
    watcher.join()
    assert [answer["ok"] for answer in found] == [True] * 4
    assert (seen, told(stores)) == ([["ok", "ok", "ok", "running"]], ["ok"] * 4)


def test_what_still_runs_when_a_batch_is_left_was_interrupted(stores: Stores, here: Workspace) -> None:
    """But if it ends all the same, the history tells so."""
    entered, going = threading.Event(), threading.Event()
    answers = batch.run(stores, lines(here, READ, SLOW, READ), nobody, 2, slow(entered, going))
    assert newest(next(answers)) == 199
    assert entered.wait(20)
    answers.close()
    # The third had ended, had not begun, or ran too.
    ends = Counter(told(stores))
    assert ends in ({"ok": 2, "interrupted": 1}, {"ok": 1, "interrupted": 1}, {"ok": 1, "interrupted": 2})
    going.set()
    eventually(lambda: set(told(stores)) == {"ok"})


def test_what_waited_for_a_free_place_is_described_anew(stores: Stores, here: Workspace) -> None:
    """An approval that was withdrawn meanwhile is no longer used."""
    entered, going = threading.Semaphore(0), threading.Event()

    def perform(stores: Stores, request: call.Request, *, prepared: call.Prepared | None = None) -> Envelope:
        entered.release()
        assert going.wait(20)
        return call.perform(stores, request, prepared=prepared)

    def given() -> Iterator[Line]:
        yield from lines(here, READ, READ, READ)
        assert entered.acquire(timeout=20)
        assert entered.acquire(timeout=20)
        approvals.set_enabled(stores.db, here.path, "tickets", False)
        going.set()

    *first, last = batch.run(stores, given(), nobody, 2, perform)
    assert [newest(answer) for answer in first] == [199, 199]
    assert code(last) == "refused"
    assert "which is disabled" in str(last["error"])
    assert Counter(told(stores)) == {"ok": 2, "refused": 1}


def test_reads_that_fail_have_their_own_answers_and_lines(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "app.db")) as db, db:
        db.execute("ALTER TABLE tickets RENAME TO gone")
    found = list(batch.run(stores, lines(here, READ, READ), nobody, 2))
    assert [code(answer) for answer in found] == ["query_failed"] * 2
    assert told(stores) == ["query_failed"] * 2
