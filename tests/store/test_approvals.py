"""Approvals: the exact content, for one workspace, with a copy that calls run from."""

import sqlite3
from pathlib import Path

import pytest

from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.store import approvals
from helm_cli.store.approvals import Stamp
from tests.store.samples import approval, content, stamps


@pytest.mark.contract("C6")
def test_an_approval_is_found_with_its_copy_and_its_stamps(db: sqlite3.Connection) -> None:
    one = content(1)
    assert approvals.find(db, "/w", "e") is None
    assert approvals.previous(db, "/w", "e") is None
    approvals.approve(db, approval(one), one, stamps(one))
    assert approvals.find(db, "/w", "e") == approval(one)
    assert approvals.content(db, one.digest) == one
    assert approvals.previous(db, "/w", "e") == one
    assert approvals.content(db, one.digest, ["manifest.json", "absent"]) == Content(
        {"manifest.json": one.files["manifest.json"]}
    )
    assert approvals.stamps(db, "/w", "e") == stamps(one)


def test_another_content_is_not_kept_under_the_approved_digest(db: sqlite3.Connection) -> None:
    with pytest.raises(ValueError, match="the content to keep is not the content that was approved"):
        approvals.approve(db, approval(content(1)), content(2), ())
    assert approvals.listed(db, None) == []


def test_a_new_approval_replaces_the_former_and_its_copy(db: sqlite3.Connection) -> None:
    for number in (1, 2):
        approvals.approve(db, approval(content(number), folder=f"/w/{number}"), content(number), ())
    assert approvals.listed(db, None) == [approval(content(2), folder="/w/2")]
    assert db.execute("SELECT count(*) FROM copies").fetchone() == (3,)
    with pytest.raises(HelmError, match="the approved copy of the extension is missing; review the extension again"):
        approvals.content(db, content(1).digest)


def test_an_approval_enables_again(db: sqlite3.Connection) -> None:
    one = content(1)
    approvals.approve(db, approval(one), one, ())
    assert approvals.set_enabled(db, "/w", "e", False)
    assert approvals.enabled(db, "/w") == []
    assert approvals.find(db, "/w", "e") == approval(one)._replace(enabled=False)
    approvals.approve(db, approval(one)._replace(enabled=False, by="pin"), one, ())
    assert approvals.enabled(db, "/w") == [approval(one)._replace(by="pin")]
    assert not approvals.set_enabled(db, "/w", "other", True)


def test_approvals_of_other_workspaces_are_their_own(db: sqlite3.Connection) -> None:
    one, two = content(1), content(2)
    for given, kept in (
        (approval(one, "/w2"), one),
        (approval(one, "/w1"), one),
        (approval(two, "/w1", "d"), two),
    ):
        approvals.approve(db, given, kept, ())
    assert [(found.workspace, found.extension) for found in approvals.listed(db, None)] == [
        ("/w1", "d"),
        ("/w1", "e"),
        ("/w2", "e"),
    ]
    assert approvals.listed(db, "/w2") == [approval(one, "/w2")]
    assert approvals.enabled(db, "/w3") == []
    assert approvals.elsewhere(db, one.digest, "/w1") == ["/w2"]
    assert approvals.elsewhere(db, one.digest, "/w3") == ["/w1", "/w2"]
    assert approvals.elsewhere(db, two.digest, "/w1") == []


def test_what_is_forgotten_leaves_no_copy_that_no_other_needs(home: Path, db: sqlite3.Connection) -> None:
    one, two = content(1), Content({"manifest.json": content(1).files["manifest.json"], "own": b"OWN OF TWO" * 50})
    approvals.approve(db, approval(one), one, stamps(one))
    approvals.approve(db, approval(two, extension="f"), two, ())
    assert approvals.forget(db, "/w", "f")
    assert not approvals.forget(db, "/w", "f")
    assert approvals.content(db, one.digest) == one
    assert b"OWN OF TWO" not in (home / "state.db").read_bytes()
    assert approvals.forget(db, "/w", "e")
    assert approvals.stamps(db, "/w", "e") == ()
    assert db.execute("SELECT count(*) FROM copies").fetchone() == (0,)


def test_stamps_change_only_for_the_approval_that_still_stands(db: sqlite3.Connection) -> None:
    one = content(1)
    given = approval(one)
    approvals.approve(db, given, one, stamps(one))
    new = (Stamp("número", 1, 2, 3),)
    for other in (given._replace(digest="sha256:0"), given._replace(folder="/w/f"), given._replace(workspace="/v")):
        approvals.restamp(db, other, new)
    assert approvals.stamps(db, "/w", "e") == stamps(one)
    approvals.restamp(db, given, new)
    assert approvals.stamps(db, "/w", "e") == new
