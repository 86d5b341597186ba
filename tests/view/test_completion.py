"""What Tab offers at each place of a statement."""

import pytest

from helm_cli.view.completion import Names, Table, candidates

TICKETS = Table(None, "tickets", ("id", "title", "status", "Mixed Case"))
TEAMS = Table(None, "teams", ("id", "team_name"))
ORDERS = Table("sales", "orders", ("order_id",))
NAMES = Names((TICKETS, TEAMS, ORDERS, Table(None, "evil\x1b[2J", ("x",))), '"', True, ("auto", "csv", "json"))


def offered(text: str, names: Names = NAMES) -> list[str]:
    """What the text would be with each candidate; | marks the cursor."""
    before, _, after = text.partition("|")
    whole = before + after
    return [before[: len(before) + start] + word for word, start in candidates(before, whole, names)]


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("SELECT * FROM t|", ["SELECT * FROM tickets", "SELECT * FROM teams"]),
        ("SELECT * FROM tickets, te|", ["SELECT * FROM tickets, teams"]),
        ("DELETE FROM |", ["DELETE FROM tickets", "DELETE FROM teams", "DELETE FROM sales"]),
        ("UPDATE te|", ["UPDATE teams"]),
        ("SELECT ti| FROM tickets", ["SELECT title", "SELECT tickets"]),
        ("SELECT * FROM tickets WHERE st|", ["SELECT * FROM tickets WHERE status"]),
        ("SELECT * FROM tickets x WHERE x.s|", ["SELECT * FROM tickets x WHERE x.status"]),
        ("SELECT x.| FROM teams AS x", ["SELECT x.id", "SELECT x.team_name"]),
        ("SELECT tickets.mi| FROM tickets", ['SELECT tickets."Mixed Case"']),
        ("SELECT * FROM sales.|", ["SELECT * FROM sales.orders"]),
        ("SELECT ord| FROM sales.orders", ["SELECT order_id", "SELECT ORDER"]),
        ("sele|", ["SELECT"]),
        ("SELECT * FROM tickets WH|", ["SELECT * FROM tickets WHEN", "SELECT * FROM tickets WHERE"]),
        ("SELECT * FROM evil|", []),
        ("SELECT nothing_like_it|", []),
        ("\\|", ["\\d", "\\dt", "\\l", "\\o", "\\w", "\\q", "\\?"]),
        ("\\d te|", ["\\d teams"]),
        ("\\o c|", ["\\o csv"]),
        ("\\o |", ["\\o auto", "\\o csv", "\\o json"]),
    ],
)
def test_what_is_offered(text: str, completed: list[str]) -> None:
    assert offered(text) == completed


def test_names_are_quoted_as_their_engine_does() -> None:
    tables = (Table(None, "Upper", ()), Table(None, "a`b", ()), Table(None, "order", ()))
    mysql = Names(tables, "`", False, ())
    assert offered("FROM |", mysql) == ["FROM Upper", "FROM `a``b`", "FROM `order`"]
    assert offered("FROM |", mysql._replace(quote='"', folds=True)) == ['FROM "Upper"', 'FROM "a`b"', 'FROM "order"']
