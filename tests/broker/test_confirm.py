"""What waits for a person: found as it was asked, sent once, and told to whoever waits for it."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import approve, call, confirm, review
from helm_cli.broker.confirm import Waiting
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Revision
from helm_cli.model.profile import Database
from helm_cli.model.review import Review
from helm_cli.store import approvals, confirmations, history, outcomes, person, profiles
from helm_cli.store.confirmations import Pending
from tests.broker.approved import Clock, code, declared, workspace
from tests.broker.folders import manifest, write
from tests.example import MANIFEST, database, status
from tests.rig.failing import failing

OLD: Final = "# Old\n"
NOTES: Final[dict[str, Any]] = {
    "id": "notes",
    "permissions": {"write": True},
    "connections": [{"id": "ws", "kind": "files", "root": "workspace", "paths": ["*.md"], "operations": ["write"]}],
}
CHANGED: Final = (
    "what would be sent now is not what was asked for: its profile or its extension changed; call again for a new one"
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "here")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    database(tmp_path / "app.db")
    return tmp_path / "app.db"


@pytest.fixture
def stores(home: Path, here: Workspace, clock: Clock, file: Path) -> Iterator[Stores]:
    with closing(Stores(home, clock=clock)) as opened:
        declared(opened, here, MANIFEST)
        declared(opened, here, NOTES)
        Path(here.path, "a.md").write_text(OLD)
        profiles.create(home, Database("local-app", "sqlite", path=str(file)))
        yield opened


def closing_one(here: Workspace) -> call.Request:
    return call.Request(here, "app", "close", {"id": 1}, asked_by="a test")


def writing(here: Workspace) -> call.Request:
    sha = hashlib.sha256(OLD.encode()).hexdigest()
    return call.Request(here, "ws", "write", {"path": "a.md", "text": "# New\n", "expected_sha256": sha})


def waiting(stores: Stores, asked: call.Asked) -> Waiting:
    return confirm.write(stores, confirm.find(stores, asked.id))


def told(stores: Stores) -> list[str]:
    return [entry.outcome for entry in history.entries(stores.db)]


def state(stores: Stores, asked: call.Asked) -> str:
    found = confirmations.find(stores.db, asked.id, stores.clock())
    assert found is not None
    return found.state


def test_a_waiting_write_is_shown_as_it_was_asked(stores: Stores, here: Workspace) -> None:
    asked = call.ask(stores, closing_one(here), listed=True)
    found = waiting(stores, asked)
    assert (found.pending.id, found.pending.asked_by) == (asked.id, "a test")
    assert found.request == call.Request(
        Workspace(here.path, "named by the waiting write"), "app", "close", {"id": 1}, "tickets", asked_by="a test"
    )
    assert found.prepared.plan == asked.plan
    assert confirm.revisions(stores, found) == ()


def test_what_does_not_wait_is_not_found(stores: Stores, here: Workspace) -> None:
    with failing("confirmation_required", "nothing waits under aaaaaaaa; see helm confirm --list"):
        confirm.find(stores, "aaaaaaaa")
    asked = call.ask(stores, closing_one(here), listed=True)
    assert confirm.still_waits(stores, confirm.find(stores, asked.id))
    pending = confirm.find(stores, asked.id)
    confirm.decline(stores, asked.id, asked.entry)
    assert not confirm.still_waits(stores, pending)
    assert not confirm.still_waits(stores, pending._replace(id="aaaaaaaa"))
    with failing("confirmation_required", f"{asked.id} was declined already; make the call again"):
        confirm.find(stores, asked.id)


def test_a_write_without_its_arguments_cannot_be_shown(stores: Stores, here: Workspace) -> None:
    pending = confirm.find(stores, call.ask(stores, closing_one(here), listed=True).id)
    with failing("state", f"the waiting write {pending.id} cannot be read; make the call again"):
        confirm.write(stores, pending._replace(subject={}))


@pytest.mark.contract("C110")
def test_a_write_that_would_go_elsewhere_by_now_is_not_shown(
    stores: Stores, here: Workspace, file: Path, tmp_path: Path
) -> None:
    asked = call.ask(stores, closing_one(here), listed=True)
    shutil.copy(file, tmp_path / "other.db")
    profiles.replace(stores.home, Database("local-app", "sqlite", path=str(tmp_path / "other.db")))
    with failing("confirmation_required", CHANGED):
        waiting(stores, asked)
    assert state(stores, asked) == "waiting"


def test_a_file_is_shown_before_and_after(stores: Stores, here: Workspace) -> None:
    found = waiting(stores, call.ask(stores, writing(here), listed=True))
    assert confirm.revisions(stores, found) == (Revision("a.md", OLD, "# New\n"),)


@pytest.mark.parametrize("now", [None, b"# Other\n", b"\xff", b"x" * 300_000])
def test_a_file_that_can_no_longer_be_replaced_is_a_conflict(
    stores: Stores, here: Workspace, now: bytes | None
) -> None:
    """Whatever it is by now: when the write was asked for, it could be."""
    asked = call.ask(stores, writing(here), listed=True, awaited=True)
    found = waiting(stores, asked)
    note = Path(here.path, "a.md")
    if now is None:
        note.unlink()
    else:
        note.write_bytes(now)
    with pytest.raises(HelmError) as caught:
        confirm.revisions(stores, found)
    assert caught.value.code == "conflict"
    assert confirm.lapsed(stores, found.pending, caught.value) is caught.value
    assert outcomes.outcome(stores.db, asked.id, stores.clock()) == failure(caught.value)
    assert (state(stores, asked), told(stores)) == ("used", ["conflict"])


def test_who_waits_gets_what_came_of_it(stores: Stores, here: Workspace, file: Path) -> None:
    asked = call.ask(stores, closing_one(here), listed=True, awaited=True)
    sent = confirm.send(stores, waiting(stores, asked))
    assert sent == {"ok": True, "data": {"rowsAffected": 1}, "error": None}
    assert confirm.outcome(stores, asked) == sent
    assert (status(file), told(stores), state(stores, asked)) == ("closed", ["ok"], "used")


def test_a_refusal_that_no_waiting_mends_uses_it_up_and_is_told_too(stores: Stores, here: Workspace) -> None:
    asked = call.ask(stores, closing_one(here), listed=True, awaited=True)
    found = waiting(stores, asked)
    approvals.set_enabled(stores.db, here.path, "tickets", False)
    refused = confirm.send(stores, found)
    assert code(refused) == "refused"
    assert confirm.outcome(stores, asked) == refused
    assert (told(stores), state(stores, asked)) == (["refused"], "used")


def test_a_conflict_that_the_driver_met_is_told_once(stores: Stores, here: Workspace) -> None:
    """By then the token is used, and the call has told how it ended."""
    asked = call.ask(stores, writing(here), listed=True, awaited=True)
    found = waiting(stores, asked)
    Path(here.path, "a.md").write_text("# Other\n")
    met = confirm.send(stores, found)
    assert code(met) == "conflict"
    assert confirm.outcome(stores, asked) == met
    assert told(stores) == ["conflict"]
    assert Path(here.path, "a.md").read_text() == "# Other\n"


def test_what_may_be_in_order_again_still_waits(stores: Stores, here: Workspace, file: Path) -> None:
    asked = call.ask(stores, closing_one(here), listed=True)
    found = waiting(stores, asked)
    profiles.remove(stores.home, "db", "local-app")
    assert code(confirm.send(stores, found)) == "not_configured"
    error = HelmError("not_configured", "there is no such profile")
    assert confirm.lapsed(stores, found.pending, error) is error
    assert (state(stores, asked), told(stores)) == ("waiting", ["confirmation_required"])
    profiles.create(stores.home, Database("local-app", "sqlite", path=str(file)))
    assert code(confirm.send(stores, found)) is None
    assert status(file) == "closed"


def test_a_write_whose_line_of_the_history_is_not_known_is_sent_all_the_same(stores: Stores, here: Workspace) -> None:
    found = waiting(stores, call.ask(stores, closing_one(here), listed=True))
    pending = found.pending._replace(subject={"arguments": {"id": 1}})
    assert confirm.send(stores, found._replace(pending=pending))["ok"] is True
    assert told(stores) == ["ok", "confirmation_required"]


def pending_approval(stores: Stores, here: Workspace) -> Pending:
    person.mark(stores.db)
    found = review.review(stores, here, str(write(Path(here.path) / "more", manifest(id="more"))))
    assert isinstance(found, Review)
    with pytest.raises(HelmError):
        approve.by_pin(stores, found, found.digest, "a test")
    [pending] = confirmations.waiting(stores.db, stores.clock())
    return pending


def test_an_approval_that_lapsed_is_used_up_and_has_no_line_in_the_history(stores: Stores, here: Workspace) -> None:
    pending = pending_approval(stores, here)
    confirm.lapsed(stores, pending, HelmError("confirmation_required", "its folder changed"))
    assert not confirm.still_waits(stores, pending)
    assert told(stores) == []


def test_a_decline_is_told_to_all_and_sends_nothing(stores: Stores, here: Workspace, file: Path) -> None:
    asked = call.ask(stores, closing_one(here), listed=True, awaited=True)
    told_back = confirm.decline(stores, asked.id, asked.entry)
    assert (told_back.code, told_back.message) == ("declined", "the person declined; nothing was sent")
    assert (told(stores), status(file)) == (["declined"], "open")
    assert code(confirm.outcome(stores, asked)) == "declined"
    approval = pending_approval(stores, here)
    assert confirm.decline(stores, approval.id, None).code == "declined"
    assert told(stores) == ["declined"]
    assert confirm.decline(stores, "aaaaaaaa", None).message == "nothing waits under aaaaaaaa; see helm confirm --list"


def test_who_waits_is_told_when_it_expired(home: Path, stores: Stores, here: Workspace, clock: Clock) -> None:
    asked = call.ask(stores, closing_one(here), listed=True, awaited=True)
    moments = iter((clock.now + 299, clock.now + 300))
    with closing(Stores(home, clock=lambda: next(moments))) as other:
        answer: Envelope = confirm.outcome(other, asked)
    assert answer["error"] == {
        "code": "confirmation_required",
        "message": "this confirmation expired after 5 minutes; call again for a new one",
    }
    assert next(moments, None) is None
