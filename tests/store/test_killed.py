"""Killed at any moment, helm leaves the old state or the new one, and no litter that grows."""

import sqlite3
from pathlib import Path

import pytest

from helm_cli.store import confirmations, profiles
from tests.store import acts, crowd, samples


def test_a_profile_is_there_whole_or_not_at_all(home: Path) -> None:
    seen = crowd.killed(acts.add_app, home, acts.whole_profile)
    assert set(seen) == {"none", "/data/app.db"}
    assert profiles.create(home, acts.APP)
    assert [path.name for path in (home / "profiles" / "db").iterdir()] == ["app.toml"]


def test_an_approval_is_the_old_or_the_new_and_its_copy_is_complete(home: Path) -> None:
    seen = crowd.killed(acts.approve, home, acts.whole_approval)
    numbers = [int(number) for number in seen if number != "none"]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 1
    # The journal is emptied and kept, and goes only where a killed one had to be rolled back.
    assert {path.name for path in home.iterdir()} - {"state.db-journal"} == {"state.db"}
    assert (home / "state.db").stat().st_size < 200_000


def test_a_fresh_home_can_be_opened_whatever_became_of_its_making(home: Path) -> None:
    assert set(crowd.killed(acts.open_first, home, acts.whole_state)) == {"none", "digest"}


@pytest.mark.contract("C109")
def test_a_token_is_used_or_can_be_used(home: Path, db: sqlite3.Connection) -> None:
    issued = confirmations.issue(db, "write", samples.BINDING, {}, samples.NOW, listed=False, asked_by="a test")
    samples.at(home).write_text(f"{issued.id} {issued.token}")
    assert set(crowd.killed(acts.redeem_given, home, acts.once)) == {"waiting", "used"}
