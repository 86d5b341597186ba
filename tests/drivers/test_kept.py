"""Open connections wait for the next call only while somebody wants that, and carry nothing over."""

from collections.abc import Iterator
from typing import Any

import pytest

from helm_cli.drivers import Limits, driver, kept
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from tests.rig.postgres import PASSWORD, Postgres
from tests.suites.driver import Bench, plan_of
from tests.suites.postgres import bench_of


class Door:
    """Something that can be closed."""

    def __init__(self) -> None:
        self.closings = 0

    def close(self) -> None:
        self.closings += 1


def test_nothing_is_kept_unless_it_is_wanted() -> None:
    door = kept.take("a", Door)
    assert not kept.wanted()
    kept.give("a", door)
    assert door.closings == 1


def test_what_was_given_is_taken_again_by_its_key_only() -> None:
    with kept.open_ones():
        assert kept.wanted()
        door = kept.take("a", Door)
        second = kept.take("a", Door)
        kept.give("a", door)
        assert kept.take("b", Door) is not door
        assert kept.take("a", Door) is door
        assert kept.take("a", Door) not in (door, second)
        kept.give("a", door)
        with kept.open_ones():
            pass
        assert door.closings == 0
    assert door.closings == 1
    assert second.closings == 0  # still somebody's


def test_what_is_of_no_use_is_closed() -> None:
    with kept.open_ones():
        doors = [kept.take("a", Door) for _ in range(kept.MOST + 2)]
        for door in doors:
            kept.give("a", door)
        assert [door.closings for door in doors] == [0] * kept.MOST + [1] * 2
        assert kept.take("a", Door, lambda door: False) not in doors
        assert all(door.closings == 1 for door in doors)


def test_what_is_open_can_be_told_and_expires() -> None:
    with kept.open_ones():
        first = kept.take("a", Door, label="one")
        second = kept.take("b", Door, label="two")
        kept.give("a", first)
        assert kept.take("a", Door, label="one") is first
        kept.give("a", first)
        assert [(one.label, one.calls, one.busy) for one in kept.listed()] == [("one", 2, False), ("two", 1, True)]
        assert all(0 <= one.seconds < 10 for one in kept.listed())
        kept.expire(60)
        assert first.closings == 0
        kept.expire(0)
        assert (first.closings, second.closings) == (1, 0)
        assert [one.label for one in kept.listed()] == ["two"]
        assert kept.take("a", Door) is not first
        del second
        assert [one.label for one in kept.listed()] == []


def test_a_door_that_jams() -> None:
    class Jammed(Door):
        def close(self) -> None:
            raise OSError("jammed")

    with kept.open_ones():
        kept.give("a", Jammed())


@pytest.fixture
def bench(postgres: Postgres) -> Bench:
    return bench_of(postgres)


@pytest.fixture
def keeping() -> Iterator[None]:
    with kept.open_ones():
        yield


def run(bench: Bench, sql: str, effect: Effect = "read", extension: str = "x") -> Any:
    plan = plan_of(sql, engine="postgres", effect=effect)._replace(extension=extension)
    return driver("postgres").run(plan, bench.profile, PASSWORD, Limits())


def pid(bench: Bench, extension: str = "x") -> int:
    return int(run(bench, "SELECT pg_backend_pid()", extension=extension)["rows"][0][0])


def test_a_connection_serves_many_calls(postgres: Postgres, bench: Bench, keeping: None) -> None:
    first = pid(bench)
    assert pid(bench) == first
    assert pid(bench, "other") != first
    with pytest.raises(HelmError):
        run(bench, "SELECT * FROM missing")
    assert run(bench, "SELECT lower(title) FROM tickets WHERE id + 1 > 3 ORDER BY 1")["rows"] == [["three"]]
    assert pid(bench) == first
    with pytest.raises(HelmError):
        run(bench, bench.endless)
    assert pid(bench) != first
    assert [(state, query) for _, state, query in postgres.running()] == [("idle", "DISCARD ALL")] * 2


def test_a_connection_serves_no_more_after_a_write(postgres: Postgres, bench: Bench, keeping: None) -> None:
    first = pid(bench)
    assert run(bench, "DELETE FROM tickets WHERE id = 1", "write") == {"rowsAffected": 1}
    assert pid(bench) != first


# What DISCARD ALL leaves in a session, and where that can hide.
LEAVING = [
    "SELECT set_config('my.secret', 'x', false)",
    "SELECT \"set_config\"('my.secret', 'x', false)",
    "SELECT U&\"set\\005fconfig\"('my.secret', 'x', false)",
    "SELECT setseed(0.5)::text",
    "SELECT * FROM seen",
    "SELECT * FROM PUBLIC.SEEN",
    "SELECT hiding()",
    "SELECT tickets.of_row FROM tickets",
    "SELECT 1 === 2",
    "SELECT 'x'::checked",
    "SELECT * FROM guarded",
    "SELECT query_to_xml('SELECT hiding()', true, true, '')::text",
    "SELECT * FROM ts_stat('SELECT to_tsvector(hiding()::text)')",
]


@pytest.mark.parametrize("sql", LEAVING)
def test_a_session_in_which_a_function_may_have_left_something(
    postgres: Postgres, bench: Bench, keeping: None, sql: str
) -> None:
    body = "LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('my.secret', 'x', false); RETURN 1; END $$"
    for statement in (
        "CREATE VIEW seen AS SELECT set_config('my.secret', 'x', false)",
        f"CREATE FUNCTION hiding() RETURNS int {body}",
        f"CREATE FUNCTION of_row(tickets) RETURNS int {body}",
        f"CREATE FUNCTION with_two(int, int) RETURNS int {body}",
        "CREATE OPERATOR === (FUNCTION = with_two, LEFTARG = int, RIGHTARG = int)",
        "CREATE DOMAIN checked AS text CHECK (hiding() = 1)",
        "CREATE TABLE guarded (a int)",
        "INSERT INTO guarded VALUES (1)",
        "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
    ):
        postgres.outside(statement)
    first = pid(bench)
    assert run(bench, sql)["rows"]
    assert run(bench, "SELECT pg_backend_pid(), current_setting('my.secret', true)")["rows"] != [[first, ""]]
    assert pid(bench) != first


def test_outside_of_that_each_call_has_its_own(postgres: Postgres, bench: Bench) -> None:
    assert pid(bench) != pid(bench)
    with kept.open_ones():
        pid(bench)
    assert postgres.quiet()


def test_nothing_of_a_session_is_left(bench: Bench, keeping: None) -> None:
    pid(bench)
    for sql in (
        "SET search_path = nowhere",
        "SET SESSION AUTHORIZATION zq_trust",
        "SET statement_timeout = 1",
        "CREATE TEMP TABLE tickets (id int)",
        "SELECT pg_advisory_lock(7)",
        "LISTEN something",
        "DECLARE held CURSOR WITH HOLD FOR SELECT 1",
        "SELECT set_config('my.secret', 'x', false)",
    ):
        run(bench, sql, "write")
    sql = (
        "SELECT current_user, current_setting('search_path'),"
        " current_setting('my.secret', true), (SELECT count(*)::int FROM tickets),"
        " (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'),"
        " (SELECT count(*)::int FROM pg_listening_channels()), (SELECT count(*)::int FROM pg_cursors WHERE name <> ''),"
        " (SELECT count(*)::int FROM pg_prepared_statements WHERE name <> '')"
    )
    assert run(bench, sql)["rows"] == [["zq_owner", '"$user", public', None, 3, 0, 0, 0, 0]]


def test_a_connection_that_died_is_replaced(postgres: Postgres, bench: Bench, keeping: None) -> None:
    first = pid(bench)
    postgres.outside(f"SELECT pg_terminate_backend({first}, 5000)")
    assert pid(bench) != first
