"""A SQLite write is one transaction: whole and in time, or nothing."""

import os
import resource
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.drivers import Limits, driver
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import in_time
from helm_cli.drivers.sqlite_faults import translated
from helm_cli.drivers.sqlite_job import Job
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from tests.suites.driver import TICKETS, Bench, plan_of
from tests.suites.sqlite import contents


def tickets(bench: Bench) -> list[tuple[object, ...]]:
    return bench.outside("SELECT * FROM tickets ORDER BY id")


@pytest.mark.contract("C104")
def test_returning_is_drained(bench: Bench) -> None:
    sql = "INSERT INTO tickets (title, status) SELECT title, {} FROM tickets RETURNING id, title"
    assert bench.call(sql, "new", effect="write") == {"rowsAffected": 3}
    assert tickets(bench)[3:] == [(4, "One", "new"), (5, "Two", "new"), (6, "Three", "new")]


@pytest.mark.contract("C105")
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INSERT INTO tickets SELECT 3, 'x', 'y'", "UNIQUE constraint failed: tickets.id"),
        ("UPDATE tickets SET id = id + 1", "UNIQUE constraint failed: tickets.id"),
        ("INSERT INTO nosuch VALUES (1)", "no such table: nosuch"),
        ("DELETE FROM tickets WHERE", "incomplete input"),
        ("UPDATE tickets SET title = abs(-9223372036854775808)", "integer overflow"),
        ("VACUUM", "cannot VACUUM from within a transaction"),
    ],
)
def test_a_failure_is_told_in_the_words_of_the_database(bench: Bench, path: Path, sql: str, message: str) -> None:
    before = contents(path)
    error = bench.refusal(sql, effect="write")
    assert (error.code, error.message, error.members) == ("query_failed", message, {})
    assert contents(path) == before


@pytest.mark.contract("C105")
def test_foreign_keys_hold(bench: Bench) -> None:
    bench.outside("CREATE TABLE notes (ticket REFERENCES tickets)")
    bench.outside("CREATE TABLE late (ticket REFERENCES tickets DEFERRABLE INITIALLY DEFERRED)")
    for table in ("notes", "late"):  # the second fails only at COMMIT
        error = bench.refusal(f"INSERT INTO {table} VALUES (99)", effect="write")
        assert (error.code, error.message) == ("query_failed", "FOREIGN KEY constraint failed")
        assert error.members == {}
        assert bench.outside(f"SELECT count(*) FROM {table}") == [(0,)]
        assert bench.call(f"INSERT INTO {table} VALUES (1)", effect="write") == {"rowsAffected": 1}


def test_a_commit_that_waits_for_a_reader_ends_in_time(bench: Bench) -> None:
    with closing(sqlite3.connect(bench.profile.path or "", isolation_level=None)) as reader:
        rows = reader.execute("SELECT * FROM tickets")
        rows.fetchone()
        begun = time.monotonic()
        error = bench.refusal("DELETE FROM tickets", effect="write", limits=Limits(seconds=0.5))
        assert time.monotonic() - begun < 1.5
        assert (error.code, error.members) == ("timeout", {})
        assert error.message == "the database stayed locked for 0.5 s; try again later"
        rows.close()
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C99", "C105")
def test_a_write_stopped_at_the_deadline_is_rolled_back(bench: Bench, path: Path) -> None:
    before = contents(path)
    error = bench.refusal(bench.slow_write, effect="write", limits=Limits(seconds=0.3))
    assert (error.code, error.message, error.members) == (
        "timeout",
        "the write took longer than 0.3 s and was rolled back",
        {},
    )
    assert contents(path) == before


@pytest.mark.contract("C99", "C105")
def test_a_write_that_ends_late_is_rolled_back(bench: Bench) -> None:
    sql = "UPDATE tickets SET title = length(hex(randomblob(8000000)))"
    assert bench.refusal(sql, effect="write", limits=Limits(seconds=0.02)).code == "timeout"
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C99", "C105")
def test_a_write_that_is_ready_just_after_the_deadline_is_rolled_back(bench: Bench) -> None:
    sql = "UPDATE tickets SET title = length(hex(randomblob(3000000))) WHERE id = 1"
    error = bench.refusal(sql, effect="write", limits=Limits(seconds=0.01))
    assert (error.code, error.members) == ("timeout", {})
    assert tickets(bench) == TICKETS


@pytest.mark.contract("C13", "C103")
def test_a_trigger_cannot_tell_the_path(bench: Bench) -> None:
    bench.outside("CREATE TRIGGER no BEFORE DELETE ON tickets BEGIN SELECT RAISE(ABORT, 'not in office hours'); END")
    error = bench.refusal("DELETE FROM tickets", effect="write")
    assert (error.code, error.message) == ("query_failed", "not in office hours")


@pytest.fixture
def little_room(bench: Bench, fresh: None) -> Iterator[None]:
    """No file of the next process may grow to much more than the size of the database."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.stat(bench.profile.path or "").st_size + 16384, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("little_room")
def test_a_commit_that_fails_midway_says_that_nobody_knows(bench: Bench) -> None:
    error = bench.refusal("INSERT INTO tickets (title) VALUES (hex(zeroblob(50000)))", effect="write")
    assert (error.code, error.message, error.members) == (
        "query_failed",
        "disk I/O error; it is unknown whether the write was applied: look before you repeat it",
        {"applied": "unknown"},
    )
    assert tickets(bench) == TICKETS


def test_a_write_left_behind_in_its_commit_says_that_nobody_knows() -> None:
    release = threading.Event()

    def work(clock: Deadline) -> None:
        assert clock.begin_commit()
        release.wait()

    with pytest.raises(HelmError) as caught:
        in_time(work, "write", Limits(seconds=0.05))
    release.set()
    assert (caught.value.code, caught.value.message, caught.value.members) == (
        "timeout",
        "the write took longer than 0.05 s; it is unknown whether the write was applied: look before you repeat it",
        {"applied": "unknown"},
    )


@pytest.mark.parametrize(
    ("sql", "values", "message"),
    [
        ("DELETE FROM tickets WHERE id = ?", [2**63], "an argument is beyond the 64 bits of an SQLite integer"),
        ("DELETE FROM tickets; SELECT 1", [], "the query holds more than one statement; declare each on its own"),
        (
            "DELETE FROM tickets WHERE id = ?",
            [],
            "the query has not as many placeholders as its params; correct the declaration",
        ),
        ("DELETE FROM tickets\0", [], "the query cannot be prepared: the query contains a null character"),
    ],
)
@pytest.mark.parametrize("effect", ["read", "write"])
def test_what_is_refused_before_sqlite_runs_anything(
    bench: Bench, effect: Effect, sql: str, values: list[int], message: str
) -> None:
    if effect == "read":
        sql = sql.replace("DELETE FROM tickets", "SELECT 1 FROM tickets")
    with pytest.raises(HelmError) as caught:
        driver("sqlite").run(plan_of(sql, *values, effect=effect), bench.profile, None, Limits())
    assert (caught.value.code, caught.value.message) == ("refused", message)
    assert tickets(bench) == TICKETS


def test_too_little_memory_is_told() -> None:
    job = Job("run", "app", "/app.db", "SELECT 1", [], "read", Limits(), 1.0, [])
    error = translated(MemoryError(), job, None, Deadline(time.monotonic()))
    assert (error.code, error.message) == (
        "too_large",
        "the query needs more than 48 MiB of memory; select less or add a LIMIT",
    )
