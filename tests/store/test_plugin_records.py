"""What state.db remembers of a team's plugin: runs, tokens, limits, schedules and approvers, with many at once."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import approvers, budgets, runs, schedules
from helm_cli.store.database import open_state
from tests.store import acts, crowd, samples

JULY = ("/w", "a/b", "2026-07")


# --- runs


def test_a_run_is_found_as_it_began(db: sqlite3.Connection) -> None:
    runs.begin(db, samples.RUN)
    assert runs.find(db, "abcdefgh") == samples.RUN
    assert runs.find(db, "abcdefgi") is None
    with pytest.raises(HelmError) as refused:
        runs.begin(db, samples.RUN)
    assert refused.value.code == "state"


def test_what_a_run_was_told_is_forgotten_after_ninety_days(db: sqlite3.Connection) -> None:
    runs.begin(db, samples.RUN)
    later = samples.RUN._replace(id="bcdefghi", started_at=samples.NOW + runs.KEPT_SECONDS)
    runs.begin(db, later)
    assert runs.find(db, "abcdefgh") == samples.RUN
    runs.begin(db, later._replace(id="cdefghij", started_at=later.started_at + 1))
    assert runs.find(db, "abcdefgh") is None
    assert runs.find(db, "bcdefghi") == later


def test_the_runs_of_a_plugin_are_forgotten_with_it(db: sqlite3.Connection) -> None:
    others = [samples.RUN._replace(id="bcdefghi", extension="a/c"), samples.RUN._replace(id="cdefghij", workspace="/v")]
    for run in (samples.RUN, samples.RUN._replace(id="abcdefgi"), *others):
        runs.begin(db, run)
    runs.forget(db, "/w", "a/b")
    assert [runs.find(db, id_) for id_ in ("abcdefgh", "abcdefgi", "bcdefghi", "cdefghij")] == [None, None, *others]


# --- tokens and limits


@pytest.mark.contract("P33")
def test_twenty_processes_that_add_tokens_at_once_lose_none(home: Path) -> None:
    with closing(open_state(home)) as db:
        runs.begin(db, samples.RUN)
        assert crowd.together(acts.add_tokens, 20, home, "abcdefgh") == [None] * 20
        assert budgets.used(db, *JULY) == 5 * sum(range(1, 21))
        found = runs.find(db, "abcdefgh")
        assert found is not None
        assert found.tokens == 5 * sum(range(1, 21))


def test_tokens_belong_to_a_month_a_plugin_and_a_workspace(db: sqlite3.Connection) -> None:
    runs.begin(db, samples.RUN)
    budgets.add(db, *JULY, 10, None)
    budgets.add(db, *JULY, 5, "abcdefgh")
    budgets.add(db, "/w", "a/b", "2026-08", 1, None)
    budgets.add(db, "/w", "a/c", "2026-07", 2, None)
    budgets.add(db, "/v", "a/b", "2026-07", 3, None)
    assert [
        budgets.used(db, *JULY),
        budgets.used(db, "/w", "a/b", "2026-08"),
        budgets.used(db, "/x", "a/b", "2026-07"),
    ] == [
        15,
        1,
        0,
    ]
    found = runs.find(db, "abcdefgh")
    assert found is not None
    assert found.tokens == 5


def test_tokens_never_grow_past_what_a_json_number_carries(db: sqlite3.Connection) -> None:
    runs.begin(db, samples.RUN)
    for _ in range(3):
        budgets.add(db, *JULY, 2**63 - 1, "abcdefgh")
    found = runs.find(db, "abcdefgh")
    assert found is not None
    assert [budgets.used(db, *JULY), found.tokens] == [budgets.MOST_TOKENS] * 2


@pytest.mark.contract("P33")
def test_the_teams_limit_is_its_own_even_where_it_is_none(db: sqlite3.Connection) -> None:
    assert budgets.limit(db, "/w", "a/b") is None
    for tokens in (5, 0, 7):
        budgets.set_limit(db, "/w", "a/b", tokens)
        assert budgets.limit(db, "/w", "a/b") == tokens
    assert budgets.limit(db, "/v", "a/b") is None


def test_a_limit_is_forgotten_and_what_was_used_stays(db: sqlite3.Connection) -> None:
    budgets.add(db, *JULY, 7, None)
    for workspace in ("/w", "/v"):
        budgets.set_limit(db, workspace, "a/b", 5)
    budgets.forget(db, "/w", "a/b")
    assert [budgets.limit(db, workspace, "a/b") for workspace in ("/w", "/v")] == [None, 5]
    assert budgets.used(db, *JULY) == 7


# --- schedules

ONE, TWO = "0 1 * * *", "0 2 * * *"
HOUR = 3600.0


def every_hour(now: float) -> Callable[[str, float], bool]:
    return lambda cron, last: now - last >= HOUR


def take(db: sqlite3.Connection, now: float, *crons: str) -> list[str]:
    return schedules.take(db, "/w", "a/b", crons, now, every_hour(now))


def test_a_schedule_counts_from_when_it_is_first_seen(db: sqlite3.Connection) -> None:
    assert take(db, samples.NOW, ONE) == []
    assert take(db, samples.NOW + HOUR - 1, ONE, TWO) == []
    assert take(db, samples.NOW + HOUR, TWO, ONE, ONE) == [ONE]
    assert take(db, samples.NOW + HOUR, ONE, TWO) == []
    assert take(db, samples.NOW + 2 * HOUR, TWO, ONE) == [TWO, ONE]


def test_a_machine_that_slept_for_a_week_has_each_due_once(db: sqlite3.Connection) -> None:
    take(db, samples.NOW, ONE)
    week = samples.NOW + 7 * 24 * HOUR
    assert [take(db, week, ONE), take(db, week + 1, ONE)] == [[ONE], []]


def test_a_schedule_that_was_taken_out_and_put_in_again_is_new(db: sqlite3.Connection) -> None:
    take(db, samples.NOW, ONE, TWO)
    take(db, samples.NOW, TWO)
    assert take(db, samples.NOW + HOUR, ONE, TWO) == [TWO]


def test_a_clock_that_was_ahead_silences_no_schedule(db: sqlite3.Connection) -> None:
    take(db, samples.NOW + 1_000 * HOUR, ONE)
    assert take(db, samples.NOW, ONE) == []
    assert take(db, samples.NOW + HOUR, ONE) == [ONE]
    # A clock's ordinary unrest is none.
    assert take(db, samples.NOW + HOUR - 4, ONE) == []
    assert take(db, samples.NOW + 2 * HOUR, ONE) == [ONE]


def test_of_twenty_that_look_at_once_one_is_told(home: Path) -> None:
    with closing(open_state(home)) as db:
        schedules.take(db, "/w", "a/b", [ONE, TWO], samples.NOW - HOUR, lambda cron, last: False)
    assert sorted(crowd.together(acts.take_due, 20, home)) == [[]] * 19 + [[ONE, TWO]]


# --- approvers


def test_a_list_of_approvers_is_replaced_as_a_whole(db: sqlite3.Connection) -> None:
    assert approvers.listed(db, "/w", "a/b") == {}
    approvers.put(db, "/w", "a/b", "editor", [1000, 7, 1000, 20])
    approvers.put(db, "/w", "a/b", "legal", [0])
    approvers.put(db, "/w", "a/c", "editor", [5])
    assert approvers.listed(db, "/w", "a/b") == {"editor": (7, 20, 1000), "legal": (0,)}
    approvers.put(db, "/w", "a/b", "editor", [8])
    approvers.put(db, "/w", "a/b", "legal", [])
    assert approvers.listed(db, "/w", "a/b") == {"editor": (8,)}
    approvers.forget(db, "/w", "a/b")
    assert (approvers.listed(db, "/w", "a/b"), approvers.listed(db, "/w", "a/c")) == ({}, {"editor": (5,)})


def test_of_twenty_lists_at_once_one_stands(home: Path) -> None:
    assert crowd.together(acts.put_approvers, 20, home) == [None] * 20
    with closing(open_state(home)) as db:
        (listed,) = approvers.listed(db, "/w", "a/b").values()
    assert listed in [tuple(range(number * 10, number * 10 + 10)) for number in range(20)]
