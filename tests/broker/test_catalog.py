"""How a table is named in the explorer's questions, as each engine reads its name, and what their counts are."""

import pytest

from helm_cli.broker import catalog
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import ENGINES


@pytest.mark.parametrize(
    ("engine", "word", "values"),
    [
        ("postgres", 'public."My ""T"""', ('public."My ""T"""',)),
        ("sqlite", "tickets", ("tickets",)),
        ("sqlite", 'main."a""b"', ('a"b',)),
        ("mysql", "tickets", (None, "tickets")),
        ("mysql", "shop.`ti``ckets`", ("shop", "ti`ckets")),
        ("mysql", "`sh op`.tickets", ("sh op", "tickets")),
        ("mysql", "`", (None, "`")),
        ("mysql", '"tickets`', (None, '"tickets`')),
    ],
)
def test_a_table_is_called_as_sql_calls_it(engine: str, word: str, values: tuple[Json, ...]) -> None:
    assert catalog.describe(engine, word).values == values


@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_binds_as_many_values_as_it_has_placeholders(engine: str) -> None:
    asked = [catalog.tables(engine), *catalog.columns(engine), catalog.describe(engine, "a.b")]
    marks = [question.sql.count("$1" if engine == "postgres" else "?") for question in asked]
    assert marks == [len(question.values) for question in asked]


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        (None, None),
        (3, 3),
        ("0", 0),
        ("9007199254740991", 2**53 - 1),
        ("9007199254740992", "9007199254740992"),
        ("-1", "-1"),
        ("\u0663", "\u0663"),
    ],
)
def test_a_count_is_a_number_where_a_double_holds_it(value: Json, counted: Json) -> None:
    assert catalog.count(value) == counted
