"""Where statements end, as each engine reads them."""

import pytest

from helm_cli.broker.statements import Typed, split
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import ENGINES, Engine

TRIGGER = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("", Typed((), False)),
        (" ;; ;", Typed((), False)),
        ("-- nothing\n", Typed((), False)),
        ("SELECT 1", Typed((), True)),
        ("SELECT 1;", Typed(("SELECT 1",), False)),
        ("SELECT 1 ; -- done", Typed(("SELECT 1",), False)),
        ("SELECT 1;SELECT 2", Typed(("SELECT 1",), True)),
        ("SELECT 1;\nSELECT\n 2;\n", Typed(("SELECT 1", "SELECT\n 2"), False)),
        ("SELECT ';' AS a;", Typed(("SELECT ';' AS a",), False)),
        ("SELECT 'open;", Typed((), True)),
        ("SELECT 1 -- not here;", Typed((), True)),
        ("SELECT 1; 'open", Typed(("SELECT 1",), True)),
        ("SELECT /* nor ; here */ 1;", Typed(("SELECT /* nor ; here */ 1",), False)),
        ("SELECT 'it''s; fine'; SELECT 2;", Typed(("SELECT 'it''s; fine'", "SELECT 2"), False)),
    ],
)
def test_statements_end_at_a_semicolon_of_their_own(engine: Engine, text: str, typed: Typed) -> None:
    assert split(text, engine) == typed


@pytest.mark.parametrize(
    ("engine", "text", "typed"),
    [
        ("sqlite", TRIGGER + ";", Typed((TRIGGER,), False)),
        ("sqlite", TRIGGER, Typed((), True)),
        ("postgres", "SELECT $a$ ; $a$; SELECT E'\\';';", Typed(("SELECT $a$ ; $a$", "SELECT E'\\';'"), False)),
        ("postgres", "SELECT '\\'; SELECT 2;", Typed(("SELECT '\\'", "SELECT 2"), False)),
        ("mysql", "SELECT '\\';'; SELECT `;`;", Typed(("SELECT '\\';'", "SELECT `;`"), False)),
        ("mysql", "# no;\nSELECT 3;", Typed(("# no;\nSELECT 3",), False)),
    ],
)
def test_each_engine_has_its_own_strings(engine: Engine, text: str, typed: Typed) -> None:
    assert split(text, engine) == typed


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("CREATE PROCEDURE p() BEGIN DELETE FROM tickets; SELECT 1; END;", "mysql"),
        ("create trigger t before insert on tickets for each row begin set @a = 1; end;", "mysql"),
        ("BEGIN NOT ATOMIC DELETE FROM tickets; END;", "mysql"),
        ("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;", "postgres"),
    ],
)
def test_a_part_of_a_body_is_not_taken_for_a_statement(text: str, engine: Engine) -> None:
    with pytest.raises(HelmError, match="cannot be typed here, so nothing was sent"):
        split(text, engine)
