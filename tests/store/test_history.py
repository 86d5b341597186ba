"""The history, and the rate of calls that is counted in it."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import history
from helm_cli.store.history import Call, Count, Ended, Entry, Filter
from helm_cli.store.schema import STEPS
from tests.store.samples import NOW


def begin(db: sqlite3.Connection, now: float, per_minute: int = 60, workspace: str = "/w", extension: str = "e") -> int:
    return history.begin(db, Call(workspace, extension, "app", "recent", "digest"), now, per_minute)


def refused(db: sqlite3.Connection, now: float, per_minute: int = 60) -> object:
    with pytest.raises(HelmError) as caught:
        begin(db, now, per_minute)
    assert caught.value.code == "rate_limited"
    return caught.value.members["retry_after"]


@pytest.mark.contract("C119")
def test_the_sixty_first_call_of_a_minute_is_refused_and_the_window_slides(db: sqlite3.Connection) -> None:
    for second in range(60):
        begin(db, NOW + second / 2)
    with pytest.raises(HelmError) as caught:
        begin(db, NOW + 30)
    assert (caught.value.code, caught.value.message, caught.value.members) == (
        "rate_limited",
        "the extension e made 60 calls within a minute; try again in 30 s",
        {"retry_after": 30},
    )
    assert refused(db, NOW + 59.5) == 1
    assert refused(db, NOW + 59.999) == 1
    begin(db, NOW + 60)
    assert refused(db, NOW + 60) == 1
    begin(db, NOW + 60.5)
    assert [entry.outcome for entry in history.entries(db, limit=7)] == [
        "running",
        "rate_limited",
        "running",
        "rate_limited",
        "rate_limited",
        "rate_limited",
        "running",
    ]


@pytest.mark.contract("C119")
def test_each_extension_of_each_workspace_has_a_rate_of_its_own(db: sqlite3.Connection) -> None:
    begin(db, NOW, 1)
    begin(db, NOW, 1, extension="f")
    begin(db, NOW, 1, workspace="/v")
    assert refused(db, NOW, 1) == 60


def test_a_lower_limit_waits_for_as_many_calls_to_pass(db: sqlite3.Connection) -> None:
    for second in range(10):
        begin(db, NOW + second)
    assert refused(db, NOW + 10, 2) == 58
    begin(db, NOW + 68, 2)


def test_a_clock_that_was_set_back_shuts_nobody_out(db: sqlite3.Connection) -> None:
    begin(db, NOW, 1)
    assert refused(db, NOW - 5, 1) == 65
    begin(db, NOW - 5.1, 1)


def test_calls_are_told_newest_first(db: sqlite3.Connection) -> None:
    one = begin(db, NOW)
    history.end(db, Ended(one, "ok", 12))
    history.record(db, Call("/v", "", "app", "nothing", "other"), NOW + 1, "refused", 3)
    two = begin(db, NOW + 2)
    assert history.entries(db) == [
        Entry(two, NOW + 2, "/w", "e", "app", "recent", "running", 0, "digest"),
        Entry(two - 1, NOW + 1, "/v", "", "app", "nothing", "refused", 3, "other"),
        Entry(one, NOW, "/w", "e", "app", "recent", "ok", 12, "digest"),
    ]
    assert [entry.id for entry in history.entries(db, Filter(workspace="/w"))] == [two, one]
    assert [entry.id for entry in history.entries(db, limit=1)] == [two]


def test_a_refusal_is_not_counted(db: sqlite3.Connection) -> None:
    history.record(db, Call("/w", "e", "app", "recent", "digest"), NOW, "refused", 0)
    begin(db, NOW, 1)


def test_what_a_caller_calls_things_is_cut_and_made_text(db: sqlite3.Connection) -> None:
    history.record(db, Call("/w", "e" * 300, "\udcff", "o" * 10**6, ""), NOW, "refused", 0)
    (entry,) = history.entries(db)
    assert (entry.extension, entry.connection, entry.operation) == ("e" * 256, "\ufffd", "o" * 256)


def many(db: sqlite3.Connection, number: int, at: float, counted: bool) -> None:
    columns = "at, workspace, extension, connection, operation, arguments_digest, outcome, ms, counted"
    row = (at, "/w", "e", "app", "recent", "", "ok", 0, counted)
    db.executemany(f"INSERT INTO calls ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [row] * number)


def counts(db: sqlite3.Connection) -> tuple[int, int]:
    (calls,), (refusals,) = (
        db.execute("SELECT count(*) FROM calls WHERE counted = ?", (counted,)).fetchone() for counted in (1, 0)
    )
    return calls, refusals


def test_ten_thousand_are_kept_and_refusals_push_no_call_out(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    many(db, 9_900, NOW - 1_000, counted=True)
    many(db, 5_000, NOW, counted=False)
    db.execute("COMMIT")
    for _ in range(100):
        history.record(db, Call("/w", "e", "app", "recent", ""), NOW, "refused", 0)
    assert counts(db) == (9_000, 1_000)


def test_what_the_rate_still_needs_is_kept(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    many(db, 9_999, NOW - 59, counted=True)
    db.execute("COMMIT")
    begin(db, NOW, 10_000)
    assert refused(db, NOW, 10_000) == 1
    assert counts(db) == (10_000, 1)


def test_each_filter_narrows_and_failed_is_all_that_ended_badly(db: sqlite3.Connection) -> None:
    for number, outcome in enumerate(("ok", "refused", "declined", "timeout")):
        history.record(db, Call("/w", f"e{number % 2}", "app", f"o{number}", ""), NOW + number, outcome, 0)
    begin(db, NOW + 4)

    def told(**wanted: str | float) -> list[str]:
        return [entry.outcome for entry in history.entries(db, Filter(**wanted))]  # type: ignore[arg-type]  # by name

    assert told(outcome="failed") == ["timeout", "declined", "refused"]
    assert told(outcome="ok") == ["ok"]
    assert told(extension="e1") == ["timeout", "refused"]
    assert told(operation="o2") == ["declined"]
    assert told(connection="other") == []
    assert told(since=NOW + 3) == ["running", "timeout"]
    assert told(since=NOW + 3, outcome="failed", extension="e1") == ["timeout"]


def test_who_asked_and_short_arguments_are_kept(db: sqlite3.Connection) -> None:
    short, long = '{"a":"' + "x" * 4_087 + '"}', '{"a":"' + "\u00e9" * 2_044 + '1"}'
    for text in (short, long):
        history.record(db, Call("/w", "e", "app", "recent", "d", "process 7 in /w", text), NOW, "ok", 0)
    kept = [(entry.asked_by, entry.arguments) for entry in history.entries(db)]
    assert kept == [("process 7 in /w", None), ("process 7 in /w", short)]


def test_how_a_call_ended_is_told_with_the_beginning_or_the_refusal_of_the_next(db: sqlite3.Connection) -> None:
    call = Call("/w", "e", "app", "recent", "digest")
    one = history.begin(db, call, NOW, 2)
    two = history.begin(db, call, NOW, 2, ended=[Ended(one, "ok", 5)])
    with pytest.raises(HelmError):
        history.begin(db, call, NOW, 2, ended=[Ended(two, "timeout", 7)])
    history.record(db, call, NOW, "refused", 0, ended=[Ended(one, "late", 9)])
    assert [(entry.outcome, entry.ms) for entry in history.entries(db)] == [
        ("refused", 0),
        ("rate_limited", 0),
        ("timeout", 7),
        ("late", 9),
    ]


@pytest.mark.contract("C119")
@pytest.mark.parametrize("seed", range(20))
def test_who_remembers_its_counts_lets_the_same_calls_through(seed: int) -> None:
    """Two processes that remember, on one state, against one that counts anew: also where the clock jumps about."""
    draw = random.Random(seed)
    limits = {"e": draw.randint(1, 5), "f": draw.randint(3, 30)}
    counts: list[dict[tuple[str, str], Count]] = [{}, {}]
    now, let_through = NOW, {True: 0, False: 0}
    with in_memory() as ours, in_memory() as theirs:
        for _ in range(250):
            now += draw.choice((0.0, 0.3, 3.0, 3.0, 3.0, 40.0, -0.2, -2.0, -50.0))
            extension = draw.choice("ef")
            call = Call("/w", extension, "app", "recent", "digest")
            told = [
                attempted(ours, call, now, limits[extension], draw.choice(counts)),
                attempted(theirs, call, now, limits[extension], None),
            ]
            assert told[0] == told[1]
            let_through[told[0] is None] += 1
    assert min(let_through.values()) > 20


@contextmanager
def in_memory() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for statement in chain(*STEPS):
            db.execute(statement)
        yield db


def attempted(
    db: sqlite3.Connection, call: Call, now: float, most: int, counts: dict[tuple[str, str], Count] | None
) -> object:
    try:
        history.begin(db, call, now, most, counts=counts)
    except HelmError as error:
        return error.members["retry_after"]
    return None


def test_how_another_process_s_call_ended_is_told_only_where_that_one_did_not(db: sqlite3.Connection) -> None:
    one, two = begin(db, NOW), begin(db, NOW)
    history.end(db, Ended(one, "ok", 5))
    for id_ in (one, two):
        history.lose(db, id_, "unavailable")
    assert [(entry.id, entry.outcome, entry.ms) for entry in history.entries(db)] == [
        (two, "unavailable", 0),
        (one, "ok", 5),
    ]
