"""Who can say yes, to what exactly, and that a yes is whole or not there at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import approve, review
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.review import Review
from helm_cli.store import approvals, confirmations, person, workspaces
from helm_cli.store.approvals import Approval
from helm_cli.store.confirmations import Pending
from tests.broker.folders import manifest, write

HERE = Workspace("/srv/here", "the current folder")
NOW = 1_800_000_000.0


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stores(home: Path, clock: Clock) -> Iterator[Stores]:
    opened = Stores(home, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tickets", manifest())


def shown(stores: Stores, folder: Path) -> Review:
    found = review.review(stores, HERE, str(folder))
    assert isinstance(found, Review)
    return found


def recorded(stores: Stores) -> Approval | None:
    return approvals.find(stores.db, HERE.path, "tickets")


def left_pending(stores: Stores, found: Review) -> Pending:
    with pytest.raises(HelmError) as raised:
        approve.by_pin(stores, found, found.digest, "a test")
    assert raised.value.code == "confirmation_required"
    [pending] = confirmations.waiting(stores.db, stores.clock())
    assert raised.value.members == {"confirmation": pending.id}
    return pending


def test_a_person_approves_what_was_shown(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    approve.by_person(stores, found)
    assert recorded(stores) == Approval(HERE.path, "tickets", str(folder), found.digest, True, NOW, "person")
    assert approvals.content(stores.db, found.digest).files == found.content.files
    assert workspaces.registered(stores.db) == [HERE.path]


@pytest.mark.contract("C6")
def test_a_folder_that_changed_while_it_was_read_is_not_approved(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    (folder / "more.txt").write_text("added while the person was reading")
    with pytest.raises(HelmError) as raised:
        approve.by_person(stores, found)
    assert raised.value.code == "not_approved"
    (folder / "more.txt").unlink()
    (folder / "more.txt").symlink_to("manifest.json")
    with pytest.raises(HelmError):
        approve.by_person(stores, found)
    assert (recorded(stores), workspaces.registered(stores.db)) == (None, [])


def test_a_pin_approves_where_no_person_ever_answered(stores: Stores, folder: Path) -> None:
    found = shown(stores, folder)
    approve.by_pin(stores, found, found.digest, "a test")
    approval = recorded(stores)
    assert approval is not None and (approval.by, approval.enabled) == ("pin", True)


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64])
def test_a_pin_of_another_digest_approves_nothing(stores: Stores, folder: Path, digest: str) -> None:
    with pytest.raises(HelmError) as raised:
        approve.by_pin(stores, shown(stores, folder), digest, "a test")
    assert (raised.value.code, recorded(stores)) == ("not_approved", None)


def test_in_a_persons_home_a_pin_waits_for_the_person(stores: Stores, folder: Path) -> None:
    person.mark(stores.db)
    found = shown(stores, folder)
    pending = left_pending(stores, found)
    assert (pending.what, pending.workspace, pending.extension) == ("approval", HERE.path, "tickets")
    assert (pending.subject, pending.asked_by) == ({"folder": str(folder), "digest": found.digest}, "a test")
    assert left_pending(stores, found) == pending
    assert recorded(stores) is None
    assert approve.pending_review(stores, pending).digest == found.digest
    approve.approve_pending(stores, pending)
    approval = recorded(stores)
    assert approval is not None and (approval.digest, approval.by) == (found.digest, "person")
    approve.by_pin(stores, shown(stores, folder), found.digest, "a test")  # it stands: nothing more to ask
    with pytest.raises(HelmError) as raised:
        approve.approve_pending(stores, pending)
    assert raised.value.code == "confirmation_required"


def test_a_disabled_extension_is_not_pinned_back_in_a_persons_home(stores: Stores, folder: Path) -> None:
    approve.by_person(stores, shown(stores, folder))
    person.mark(stores.db)
    approvals.set_enabled(stores.db, HERE.path, "tickets", False)
    left_pending(stores, shown(stores, folder))
    approval = recorded(stores)
    assert approval is not None and not approval.enabled


def test_a_pending_approval_is_for_that_content_only(stores: Stores, folder: Path) -> None:
    person.mark(stores.db)
    pending = left_pending(stores, shown(stores, folder))
    kept = folder / "manifest.json"
    text = kept.read_text()
    for spoil in (lambda: kept.write_text(text + "\n"), kept.unlink, lambda: os.rename(folder, f"{folder}-moved")):
        spoil()
        for ask in (approve.pending_review, approve.approve_pending):
            with pytest.raises(HelmError) as raised:
                ask(stores, pending)
            assert raised.value.code == "confirmation_required"
    assert recorded(stores) is None
    write(folder, manifest())
    kept.write_text(text)
    approve.approve_pending(stores, pending)
    assert recorded(stores) is not None


def test_a_pending_approval_ends_after_five_minutes(stores: Stores, folder: Path, clock: Clock) -> None:
    person.mark(stores.db)
    pending = left_pending(stores, shown(stores, folder))
    clock.now += 301
    with pytest.raises(HelmError) as raised:
        approve.approve_pending(stores, pending)
    assert (raised.value.code, recorded(stores)) == ("confirmation_required", None)
