"""Workspaces, the person, and the targets of secrets: small things that are remembered."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.store import database, person, targets, workspaces
from tests.rig.failing import failing


def test_workspaces_are_registered_once(db: sqlite3.Connection) -> None:
    assert workspaces.registered(db) == []
    for path in ("/w/b", "/w/a", "/w/b"):
        workspaces.register(db, path, 1.0)
    assert workspaces.registered(db) == ["/w/a", "/w/b"]
    assert workspaces.is_registered(db, "/w/a")
    assert not workspaces.is_registered(db, "/w")


def test_a_person_is_seen_for_ever(db: sqlite3.Connection) -> None:
    assert not person.seen(db)
    person.mark(db)
    person.mark(db)
    assert person.seen(db)


def test_each_home_has_an_id_of_its_own_for_ever(db: sqlite3.Connection, home: Path, tmp_path: Path) -> None:
    mine = targets.home(db)
    assert re.fullmatch(r"[0-9a-f]{32}", mine)
    with closing(database.open_state(home)) as again, closing(database.open_state(tmp_path / "other")) as other:
        assert targets.home(again) == mine != targets.home(other)


@pytest.mark.parametrize("change", ["DELETE FROM home", "UPDATE home SET id = x'00'", "UPDATE home SET id = ''"])
def test_a_home_that_lost_its_id_is_told(db: sqlite3.Connection, change: str) -> None:
    database.run(db, change)
    told = "state.db no longer says which home it is of; move it away, and set up this home anew"
    with failing("state", told):
        targets.home(db)


def test_a_target_is_that_of_the_secret_entered_last(db: sqlite3.Connection) -> None:
    account = "db/app/password"
    assert targets.target(db, account) is None
    targets.remember(db, account, "one")
    targets.remember(db, account, "two")
    assert targets.target(db, account) == "two"
    targets.forget(db, account)
    targets.forget(db, account)
    assert targets.target(db, account) is None
