"""Twenty and a hundred processes at once lose nothing, and win nothing twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.model.profile import Database
from helm_cli.store import confirmations, history, profiles, targets
from helm_cli.store.database import open_state
from tests.store import acts, crowd, samples


def test_twenty_adds_of_twenty_profiles_lose_none(home: Path) -> None:
    assert crowd.together(acts.add, 20, home) == [True] * 20
    assert [profiles.load(home, "db", name) for name in profiles.names(home, "db")] == sorted(
        Database(f"p{number}", "sqlite", path=f"/data/{number}.db") for number in range(20)
    )


def test_of_twenty_adds_of_one_profile_one_wins_and_its_file_is_whole(home: Path) -> None:
    results = crowd.together(acts.add_same, 20, home)
    assert sorted(results) == [False] * 19 + [True]
    assert profiles.load(home, "db", "app") == Database("app", "sqlite", path=f"/data/{results.index(True)}.db")
    assert [path.name for path in (home / "profiles" / "db").iterdir()] == ["app.toml"]


def test_twenty_processes_make_one_fresh_home(home: Path) -> None:
    for round_ in range(3):
        folder = home / str(round_)
        home.mkdir(exist_ok=True)
        assert crowd.together(acts.open_fresh, 20, folder) == [None] * 20
        with closing(open_state(folder)) as db:
            assert all(targets.target(db, f"account {number}") == "digest" for number in range(20))


def test_a_file_written_by_twenty_at_once_is_one_of_theirs(home: Path) -> None:
    home.mkdir()
    assert crowd.together(acts.write, 20, home) == [None] * 20
    data = (home / "shared").read_bytes()
    assert data in [bytes([number]) * 200_000 for number in range(20)]
    assert [path.name for path in home.iterdir()] == ["shared"]


def test_a_lock_is_held_by_one_at_a_time(home: Path) -> None:
    home.mkdir()
    assert crowd.together(acts.count, 20, home) == [None] * 20
    assert (home / "count").read_text() == "20"


@pytest.mark.contract("C109")
def test_of_a_hundred_processes_with_one_token_one_redeems_it(home: Path, db: sqlite3.Connection) -> None:
    issued = confirmations.issue(db, "write", samples.BINDING, {}, samples.NOW, listed=True, asked_by="a test")
    results = crowd.together(acts.redeem, 100, home, issued.token)
    refused = "confirmation_required: this confirmation was used already; call again for a new one"
    assert sorted(results) == sorted([issued.id] + [refused] * 99)


@pytest.mark.contract("C109")
def test_of_twenty_tokens_of_one_question_one_is_redeemed(home: Path, db: sqlite3.Connection) -> None:
    issued = confirmations.issue(db, "write", samples.BINDING, {}, samples.NOW, listed=True, asked_by="a test")
    results = crowd.together(acts.redeem_own, 20, home, issued.id)
    refused = "confirmation_required: this confirmation was used already; call again for a new one"
    assert sorted(results) == sorted([issued.id] + [refused] * 19)


@pytest.mark.contract("C119")
def test_four_processes_share_the_sixty_calls_of_a_minute(home: Path, db: sqlite3.Connection) -> None:
    assert sum(crowd.together(acts.call_often, 4, home)) == 60
    outcomes = [entry.outcome for entry in history.entries(db, limit=1_000)]
    assert (outcomes.count("running"), outcomes.count("rate_limited")) == (60, 40)
