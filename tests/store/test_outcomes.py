"""A caller that waits learns what became of its write, whatever ended the process that confirmed it."""

import sqlite3
from pathlib import Path

import pytest

from helm_cli.model.envelope import Envelope
from helm_cli.store import confirmations, outcomes
from tests.store import acts, crowd
from tests.store.samples import BINDING, NOW

DONE: Envelope = {"ok": True, "data": {"rowsAffected": 1, "note": "OUTCOME"}, "error": None}
LOST: Envelope = {
    "ok": False,
    "data": None,
    "error": {
        "code": "unavailable",
        "message": "the process that confirmed this write ended without saying how it went; look before you repeat it",
        "applied": "unknown",
    },
}


@pytest.fixture
def asked(db: sqlite3.Connection) -> confirmations.Issued:
    return confirmations.issue(db, "write", BINDING, {}, NOW, listed=True, asked_by="a test", awaited=True)


def failed(code: str, message: str) -> Envelope:
    return {"ok": False, "data": None, "error": {"code": code, "message": message}}


def test_it_waits_then_runs_then_is_there_once(home: Path, db: sqlite3.Connection, asked: confirmations.Issued) -> None:
    assert outcomes.outcome(db, asked.id, NOW) is None
    confirmations.redeem(db, asked.token, BINDING, NOW + 290)
    assert outcomes.outcome(db, asked.id, NOW + 310) is None
    outcomes.settle(db, asked.id, DONE)
    assert b"OUTCOME" in (home / "state.db").read_bytes()
    assert outcomes.outcome(db, asked.id, NOW + 311) == DONE
    assert b"OUTCOME" not in (home / "state.db").read_bytes()
    assert outcomes.outcome(db, asked.id, NOW + 311) is None


def test_a_decline_and_an_expiry_are_envelopes(db: sqlite3.Connection, asked: confirmations.Issued) -> None:
    other = confirmations.issue(db, "write", BINDING, {}, NOW, listed=True, asked_by="", awaited=True)
    confirmations.decline(db, asked.id, NOW)
    assert outcomes.outcome(db, asked.id, NOW) == failed("declined", "the request was declined; nothing was sent")
    assert outcomes.outcome(db, other.id, NOW + 299) is None
    assert outcomes.outcome(db, other.id, NOW + 300) == failed(
        "confirmation_required", "this confirmation expired after 5 minutes; call again for a new one"
    )
    assert outcomes.outcome(db, "unknown", NOW) == failed(
        "confirmation_required", "there is no such confirmation, or it ended long ago; call again for a new one"
    )


def test_nothing_is_kept_where_nobody_waits(db: sqlite3.Connection) -> None:
    issued = confirmations.issue(db, "write", BINDING, {}, NOW, listed=True, asked_by="a test")
    confirmations.redeem(db, issued.token, BINDING, NOW)
    outcomes.settle(db, issued.id, DONE)
    assert db.execute("SELECT outcome FROM confirmations").fetchall() == [(None,)]


def test_a_caller_may_begin_to_wait_until_it_is_used(db: sqlite3.Connection) -> None:
    issued = confirmations.issue(db, "write", BINDING, {}, NOW, listed=True, asked_by="a test")
    outcomes.settle(db, issued.id, DONE)
    assert outcomes.wait_for(db, issued.id)
    confirmations.redeem(db, issued.token, BINDING, NOW)
    assert not outcomes.wait_for(db, issued.id)
    outcomes.settle(db, issued.id, DONE)
    assert outcomes.outcome(db, issued.id, NOW) == DONE


def test_another_process_settles_and_ends(home: Path, db: sqlite3.Connection, asked: confirmations.Issued) -> None:
    assert crowd.alone(acts.redeem_and_settle, home, asked.token) is None
    assert outcomes.outcome(db, asked.id, NOW) == {"ok": True, "data": "done", "error": None}


def test_a_confirming_process_that_was_killed_ends_the_waiting(
    home: Path, db: sqlite3.Connection, asked: confirmations.Issued
) -> None:
    assert crowd.alone(acts.redeem_and_die, home, asked.token) is None
    assert outcomes.outcome(db, asked.id, NOW) == LOST
    assert outcomes.outcome(db, asked.id, NOW) == LOST


def test_a_confirming_process_out_of_sight_is_not_waited_for_without_end(
    db: sqlite3.Connection, asked: confirmations.Issued
) -> None:
    confirmations.redeem(db, asked.token, BINDING, NOW)
    db.execute("UPDATE confirmations SET used_by = '1 1 another machine'")
    assert outcomes.outcome(db, asked.id, NOW + 600) is None
    assert outcomes.outcome(db, asked.id, NOW + 600.1) == LOST


def test_an_answer_that_nobody_came_for_is_wiped(
    home: Path, db: sqlite3.Connection, asked: confirmations.Issued
) -> None:
    confirmations.redeem(db, asked.token, BINDING, NOW)
    outcomes.settle(db, asked.id, DONE)
    confirmations.sweep(db, NOW + 59)
    assert b"OUTCOME" in (home / "state.db").read_bytes()
    confirmations.sweep(db, NOW + 60)
    assert b"OUTCOME" not in (home / "state.db").read_bytes()
