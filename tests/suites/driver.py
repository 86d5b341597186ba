"""What every database driver must do alike: one suite, run against each engine's own server or file."""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import pytest

from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Database


def plan_of(sql: str, *values: Any, engine: str = "sqlite", effect: Effect = "read") -> Plan:
    """The plan of an operation `op` with this SQL, its values named a0, a1 and so on."""
    params: list[Any] = [[f"a{index}", value] for index, value in enumerate(values)]
    return Plan(
        kind="db",
        effect=effect,
        extension="x",
        connection="app",
        operation="op",
        group="db",
        profile="local-app",
        driver=engine,
        shape="rows" if effect == "read" else "object",
        title="Confirm database write",
        verb="Run",
        noun="query",
        request={"engine": engine, "sql": sql, "params": params},
    )


class Bench(NamedTuple):
    """One engine to test: a profile whose database holds `tickets(id, title, status)` with the rows TICKETS.

    `outside` runs SQL past helm and returns its rows. `endless` yields at least 10^8 rows, `slow` none and never
    ends, `twice` selects two columns of the same name. `nowhere` is a profile that nothing answers at.
    """

    profile: Database
    secret: str | None
    nowhere: Database
    outside: Callable[[str], list[tuple[Any, ...]]]
    endless: str
    slow: str
    slow_write: str

    def call(self, sql: str, *values: Any, effect: Effect = "read", limits: Limits | None = None) -> Any:
        """The data of a call of `sql`, in which each `{}` is the engine's next placeholder."""
        numbers = count(1)
        parts = sql.split("{}")
        for index in range(1, len(parts)):
            parts[index] = ("?" if self.profile.engine != "postgres" else f"${next(numbers)}") + parts[index]
        plan = plan_of("".join(parts), *values, engine=self.profile.engine, effect=effect)
        return driver(plan.driver).run(plan, self.profile, self.secret, limits or Limits())

    def refusal(self, sql: str, *values: Any, effect: Effect = "read", limits: Limits | None = None) -> HelmError:
        """The error of such a call, which must fail, in one line that does not tell where the database is."""
        with pytest.raises(HelmError) as caught:
            self.call(sql, *values, effect=effect, limits=limits)
        self.tells_nothing(caught.value)
        return caught.value

    def tells_nothing(self, error: HelmError) -> None:
        assert error.message
        assert "\n" not in error.message
        for profile in (self.profile, self.nowhere):
            for secret in (profile.path, profile.host, profile.user, self.secret):
                assert not secret or secret not in error.message


TICKETS = [(1, "One", "open"), (2, "Two", "open"), (3, "Three", "closed")]
BRIEF = Limits(seconds=0.4)


class DriverSuite:
    """Subclass it where a fixture `bench` gives a fresh Bench to each test."""

    def tickets(self, bench: Bench) -> list[tuple[Any, ...]]:
        return bench.outside("SELECT id, title, status FROM tickets ORDER BY id")

    @pytest.mark.contract("C101")
    def test_rows_are_arrays_in_column_order(self, bench: Bench) -> None:
        assert bench.call("SELECT title, id FROM tickets ORDER BY id DESC") == {
            "columns": ["title", "id"],
            "rows": [["Three", 3], ["Two", 2], ["One", 1]],
        }

    @pytest.mark.contract("C101")
    def test_equal_column_names_survive(self, bench: Bench) -> None:
        data = bench.call("SELECT id AS a, title AS a, id AS a FROM tickets WHERE id = 2")
        assert data == {"columns": ["a", "a", "a"], "rows": [[2, "Two", 2]]}

    def test_an_empty_result_keeps_its_columns(self, bench: Bench) -> None:
        assert bench.call("SELECT id, title FROM tickets WHERE id > 99") == {"columns": ["id", "title"], "rows": []}

    @pytest.mark.contract("C94")
    def test_values_are_bound_in_order_and_never_spliced(self, bench: Bench) -> None:
        hostile = "x'; DROP TABLE tickets; --"
        assert bench.call("SELECT title FROM tickets WHERE title = {}", hostile)["rows"] == []
        found = bench.call("SELECT id FROM tickets WHERE status = {} AND title = {}", "open", "Two")
        assert found["rows"] == [[2]]
        assert self.tickets(bench) == TICKETS

    @pytest.mark.contract("C100")
    def test_the_limit_of_rows(self, bench: Bench) -> None:
        limits = Limits(rows=2)
        assert len(bench.call("SELECT id FROM tickets WHERE id < 3", limits=limits)["rows"]) == 2
        error = bench.refusal("SELECT id FROM tickets", limits=limits)
        assert (error.code, error.message) == (
            "too_many_rows",
            "the query returns more than 2 rows; add a LIMIT to it",
        )
        assert bench.refusal(bench.endless).code == "too_many_rows"

    @pytest.mark.contract("C100")
    def test_the_limit_of_bytes_is_on_the_rows_as_sent(self, bench: Bench) -> None:
        sql = "SELECT id, title, 'é' FROM tickets ORDER BY id"
        size = len(dump(bench.call(sql)["rows"]).encode())
        assert len(bench.call(sql, limits=Limits(bytes=size))["rows"]) == 3
        error = bench.refusal(sql, limits=Limits(bytes=size - 1))
        assert error.code == "too_large"
        assert error.message == f"the query returns more than {size - 1} bytes of row data; select less or add a LIMIT"

    @pytest.mark.contract("C99")
    def test_a_slow_read_ends(self, bench: Bench) -> None:
        error = bench.refusal(bench.slow, limits=BRIEF)
        assert (error.code, error.members) == ("timeout", {})

    @pytest.mark.contract("C93")
    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_two_statements_are_refused(self, bench: Bench, effect: Effect) -> None:
        sql = "SELECT id FROM tickets; DELETE FROM tickets"
        assert bench.refusal(sql, effect=effect).code in ("refused", "query_failed")
        assert self.tickets(bench) == TICKETS

    @pytest.mark.contract("C93")
    @pytest.mark.parametrize("effect", ["read", "write"])
    @pytest.mark.parametrize("values", [(), (1, 2)])
    def test_as_many_values_as_placeholders(self, bench: Bench, effect: Effect, values: tuple[int, ...]) -> None:
        sql = "SELECT id FROM tickets WHERE id = {}" if effect == "read" else "DELETE FROM tickets WHERE id = {}"
        assert bench.refusal(sql, *values, effect=effect).code == "refused"
        assert self.tickets(bench) == TICKETS

    @pytest.mark.contract("C96", "C97", "C98")
    @pytest.mark.parametrize(
        "sql",
        [
            "INSERT INTO tickets VALUES (9, 'Nine', 'open')",
            "UPDATE tickets SET status = 'closed'",
            "DELETE FROM tickets",
            "CREATE TABLE other (id INTEGER)",
            "DROP TABLE tickets",
            "ALTER TABLE tickets ADD COLUMN more INTEGER",
        ],
    )
    def test_a_read_refuses_writes(self, bench: Bench, sql: str) -> None:
        assert bench.refusal(sql).code in ("refused", "query_failed")
        assert self.tickets(bench) == TICKETS

    @pytest.mark.parametrize("sql", ["COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT a"])
    def test_a_read_that_returns_no_columns_is_refused(self, bench: Bench, sql: str) -> None:
        assert bench.refusal(sql).code == "refused"

    @pytest.mark.parametrize("effect", ["read", "write"])
    @pytest.mark.parametrize("sql", ["", "-- nothing", " ; "])
    def test_no_statement_is_refused(self, bench: Bench, effect: Effect, sql: str) -> None:
        assert bench.refusal(sql, effect=effect).code == "refused"

    @pytest.mark.contract("C103")
    def test_the_message_of_the_database(self, bench: Bench) -> None:
        error = bench.refusal("SELECT * FROM nosuchtable")
        assert error.code == "query_failed"
        assert "nosuchtable" in error.message

    @pytest.mark.contract("C104")
    def test_a_write_tells_the_rows_it_matched(self, bench: Bench) -> None:
        close = "UPDATE tickets SET status = {} WHERE status = {}"
        assert bench.call(close, "closed", "open", effect="write") == {"rowsAffected": 2}
        assert bench.call(close, "closed", "closed", effect="write") == {"rowsAffected": 3}
        assert bench.call(close, "closed", "open", effect="write") == {"rowsAffected": 0}
        assert self.tickets(bench) == [(1, "One", "closed"), (2, "Two", "closed"), (3, "Three", "closed")]
        assert bench.refusal("DELETE FROM tickets").code in ("refused", "query_failed")

    @pytest.mark.contract("C105")
    def test_a_write_that_fails_changes_nothing(self, bench: Bench) -> None:
        error = bench.refusal("INSERT INTO tickets SELECT id + 1, title, status FROM tickets", effect="write")
        assert (error.code, error.members) == ("query_failed", {})
        assert self.tickets(bench) == TICKETS

    @pytest.mark.contract("C99", "C105")
    def test_a_slow_write_ends_and_changes_nothing(self, bench: Bench) -> None:
        assert bench.refusal(bench.slow_write, effect="write", limits=BRIEF).code == "timeout"
        assert self.tickets(bench) == TICKETS
        assert bench.call("DELETE FROM tickets WHERE id = 1", effect="write") == {"rowsAffected": 1}

    @pytest.mark.contract("C105")
    @pytest.mark.parametrize("sql", ["COMMIT", "ROLLBACK", "BEGIN"])
    def test_a_write_cannot_end_its_transaction(self, bench: Bench, sql: str) -> None:
        assert bench.refusal(sql, effect="write").code in ("refused", "query_failed")

    def test_nobody_there_is_unavailable(self, bench: Bench) -> None:
        for effect in ("read", "write"):
            plan = plan_of("SELECT 1", engine=bench.nowhere.engine, effect=effect)
            with pytest.raises(HelmError) as caught:
                driver(plan.driver).run(plan, bench.nowhere, bench.secret, Limits())
            assert caught.value.code == "unavailable"
            bench.tells_nothing(caught.value)

    def test_the_probe_says_in_one_line_what_answered(self, bench: Bench) -> None:
        line = driver(bench.profile.engine).probe(bench.profile, bench.secret, Limits())
        assert line
        assert line.isprintable()
        with pytest.raises(HelmError) as caught:
            driver(bench.nowhere.engine).probe(bench.nowhere, bench.secret, Limits())
        assert caught.value.code == "unavailable"
