"""One-time tokens: five minutes, one exact write, one use; and what waits for a person."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.store import confirmations
from helm_cli.store.confirmations import Issued, Pending
from tests.rig.failing import failing
from tests.store.samples import BINDING, NOW

USED = "this confirmation was used already; call again for a new one"
DECLINED = "this confirmation was declined; call again for a new one"
EXPIRED = "this confirmation expired after 5 minutes; call again for a new one"
UNKNOWN = "there is no such confirmation, or it ended long ago; call again for a new one"
OTHER = "what was confirmed is not what is to be sent; call again for a new one"
SUBJECT: dict[str, Json] = {"arguments": {"id": 1, "note": "SUBJECT TO BE WIPED ü" * 100}}


def issue(db: sqlite3.Connection, now: float = NOW, **changed: Any) -> Issued:
    options = {"listed": True, "asked_by": "process 1", **changed}
    return confirmations.issue(db, "write", BINDING, SUBJECT, now, **options)


def refusal(db: sqlite3.Connection, token: str, now: float = NOW, **changed: Any) -> str:
    with pytest.raises(HelmError) as caught:
        confirmations.redeem(db, token, BINDING._replace(**changed), now)
    assert (caught.value.code, caught.value.members) == ("confirmation_required", {})
    return caught.value.message


def holds_subject(home: Path) -> bool:
    return any(b"SUBJECT" in path.read_bytes() for path in home.iterdir())


@pytest.mark.contract("C109")
def test_a_token_is_redeemed_once(db: sqlite3.Connection) -> None:
    issued = issue(db)
    assert confirmations.redeem(db, issued.token, BINDING, NOW + 1) == issued.id
    assert refusal(db, issued.token) == USED
    assert refusal(db, "never issued") == UNKNOWN
    assert refusal(db, "\udcff") == UNKNOWN


@pytest.mark.contract("C109")
@pytest.mark.parametrize(("after", "message"), [(299.9, None), (300.0, EXPIRED), (301.0, EXPIRED), (1e6, EXPIRED)])
def test_a_token_lives_five_minutes(db: sqlite3.Connection, after: float, message: str | None) -> None:
    issued = issue(db)
    if message is None:
        assert confirmations.redeem(db, issued.token, BINDING, NOW + after) == issued.id
    else:
        assert refusal(db, issued.token, NOW + after) == message
        assert refusal(db, issued.token) == message


@pytest.mark.contract("C109")
def test_a_clock_that_was_set_back_lengthens_no_life(db: sqlite3.Connection) -> None:
    one, two = issue(db), issue(db)
    assert confirmations.redeem(db, one.token, BINDING, NOW - 5) == one.id
    assert refusal(db, two.token, NOW - 5.1) == EXPIRED


@pytest.mark.contract("C110")
@pytest.mark.parametrize("field", BINDING._fields)
def test_a_token_is_bound_to_every_field_and_survives_another_binding(db: sqlite3.Connection, field: str) -> None:
    issued = issue(db)
    changed: dict[str, Any] = {field: "another"}
    assert refusal(db, issued.token, **changed) == OTHER
    assert confirmations.redeem(db, issued.token, BINDING, NOW) == issued.id


@pytest.mark.contract("C110")
def test_fields_of_a_binding_do_not_run_into_each_other(db: sqlite3.Connection) -> None:
    issued = confirmations.issue(
        db, "write", BINDING._replace(connection="ab", operation="c"), {}, NOW, listed=False, asked_by=""
    )
    assert refusal(db, issued.token, connection="a", operation="bc") == OTHER


def test_neither_the_token_nor_its_like_is_in_the_state(home: Path, db: sqlite3.Connection) -> None:
    issued = issue(db)
    assert len(issued.token) == 43
    assert set(issued.id) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert len(issued.id) == 8
    assert issued.token.encode() not in (home / "state.db").read_bytes()


def test_a_question_may_have_many_tokens_and_one_use(db: sqlite3.Connection) -> None:
    issued = issue(db)
    other = confirmations.token(db, issued.id, NOW)
    assert other != issued.token
    assert confirmations.redeem(db, other, BINDING, NOW) == issued.id
    assert refusal(db, issued.token) == USED


@pytest.mark.parametrize(
    ("end", "message"),
    [("used", USED), ("declined", DECLINED), ("expired", EXPIRED), ("unknown", UNKNOWN)],
)
def test_no_token_is_given_for_what_waits_no_longer(db: sqlite3.Connection, end: str, message: str) -> None:
    issued = issue(db)
    if end == "used":
        confirmations.redeem(db, issued.token, BINDING, NOW)
    elif end == "declined":
        assert confirmations.decline(db, issued.id, NOW)
    now = NOW + 301 if end == "expired" else NOW
    with pytest.raises(HelmError) as caught:
        confirmations.token(db, "unknown" if end == "unknown" else issued.id, now)
    assert (caught.value.code, caught.value.message) == ("confirmation_required", message)


def test_a_decline_uses_it_up(db: sqlite3.Connection) -> None:
    issued = issue(db)
    assert confirmations.decline(db, issued.id, NOW)
    assert not confirmations.decline(db, issued.id, NOW)
    assert refusal(db, issued.token) == DECLINED
    late = issue(db)
    assert not confirmations.decline(db, late.id, NOW + 300)
    assert not confirmations.decline(db, "unknown", NOW)


def test_what_waits_is_found_and_listed(db: sqlite3.Connection) -> None:
    assert confirmations.find(db, "unknown", NOW) is None
    one, two = issue(db, NOW + 1), issue(db)
    hidden = issue(db, listed=False)
    expected = Pending(two.id, "write", "/w", "e", "app", "close", SUBJECT, NOW, NOW + 300, "waiting", "process 1")
    assert confirmations.find(db, two.id, NOW) == expected
    assert confirmations.find(db, hidden.id, NOW) == expected._replace(id=hidden.id, subject={})
    assert [pending.id for pending in confirmations.waiting(db, NOW)] == [two.id, one.id]
    assert confirmations.waiting(db, NOW, "/w")[0] == expected
    assert confirmations.waiting(db, NOW, "/other") == []
    assert [pending.id for pending in confirmations.waiting(db, NOW + 300)] == [one.id]
    assert confirmations.find(db, two.id, NOW) == expected._replace(state="expired", subject={})


@pytest.mark.parametrize("end", ["used", "declined", "expired", "swept"])
def test_the_content_is_wiped_when_it_waits_no_longer(home: Path, db: sqlite3.Connection, end: str) -> None:
    issued = issue(db)
    assert holds_subject(home)
    if end == "used":
        confirmations.redeem(db, issued.token, BINDING, NOW)
    elif end == "declined":
        confirmations.decline(db, issued.id, NOW)
    elif end == "expired":
        assert refusal(db, issued.token, NOW + 300) == EXPIRED
    else:
        confirmations.sweep(db, NOW + 299)
        assert holds_subject(home)
        confirmations.sweep(db, NOW + 300)
    assert not holds_subject(home)


def test_what_the_asking_process_shows_itself_is_not_kept(home: Path, db: sqlite3.Connection) -> None:
    issue(db, listed=False)
    assert not holds_subject(home)


def test_twenty_may_wait_for_one_extension(db: sqlite3.Connection) -> None:
    issued = [issue(db) for _ in range(20)]
    issue(db, listed=False)
    with pytest.raises(HelmError) as caught:
        issue(db)
    assert (caught.value.code, caught.value.message) == (
        "refused",
        "20 requests of the extension e wait for confirmation already; confirm or decline them with: helm confirm",
    )
    for changed in ({"workspace": "/v"}, {"extension": "f"}):
        confirmations.issue(db, "approval", BINDING._replace(**changed), {}, NOW, listed=True, asked_by="")
    confirmations.decline(db, issued[0].id, NOW)
    issue(db)
    issue(db, NOW + 300)


def test_what_ended_is_forgotten_after_an_hour(db: sqlite3.Connection) -> None:
    used, expired = issue(db), issue(db)
    confirmations.redeem(db, used.token, BINDING, NOW)
    issue(db, NOW + 3_899)
    assert confirmations.find(db, used.id, NOW + 3_899) is not None
    issue(db, NOW + 3_900)
    assert confirmations.find(db, used.id, NOW + 3_900) is None
    assert refusal(db, expired.token, NOW + 3_900) == UNKNOWN
    assert db.execute("SELECT count(*) FROM confirmations").fetchone() == (2,)
    assert db.execute("SELECT count(*) FROM tokens").fetchone() == (2,)


def test_a_question_is_checked_without_being_used_up(db: sqlite3.Connection) -> None:
    issued = issue(db)
    confirmations.check(db, issued.id, BINDING)
    with failing(
        "confirmation_required",
        "what would be sent now is not what was asked for: its profile or its extension changed; call again for a new"
        " one",
    ):
        confirmations.check(db, issued.id, BINDING._replace(target="another"))
    confirmations.check(db, issued.id, BINDING)
    confirmations.redeem(db, issued.token, BINDING, NOW)
    for id_, message in ((issued.id, USED), ("unknown", UNKNOWN)):
        with failing("confirmation_required", message):
            confirmations.check(db, id_, BINDING)


def test_what_can_never_be_confirmed_is_used_up_once(home: Path, db: sqlite3.Connection) -> None:
    issued, late = issue(db), issue(db)
    assert confirmations.spend(db, issued.id, NOW)
    assert not confirmations.spend(db, issued.id, NOW)
    assert not confirmations.spend(db, late.id, NOW + 300)
    assert not confirmations.spend(db, "unknown", NOW)
    assert refusal(db, issued.token) == USED
    assert not holds_subject(home)


def test_whether_a_token_was_used_can_be_told_afterwards(db: sqlite3.Connection) -> None:
    issued, declined = issue(db), issue(db)
    another = confirmations.token(db, issued.id, NOW)
    assert not confirmations.redeemed(db, issued.token)
    confirmations.redeem(db, another, BINDING, NOW)
    confirmations.decline(db, declined.id, NOW)
    tokens = (issued.token, another, declined.token, "never issued")
    assert [confirmations.redeemed(db, token) for token in tokens] == [True, True, False, False]
