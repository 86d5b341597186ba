"""Which variables a .env file sets, and that nothing in it is ever filled in."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import env_file
from helm_cli.grammar.env_file import Variable

FILLED: Final = "it has a $ that other programs fill in and helm does not; put the whole value in single quotes"
BEHIND: Final = "something stands behind the quotation mark that closes its value"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        ("  export A = b  ", "b"),
        ("A=", ""),
        ("A=b # c", "b"),
        ("A=b#c", "b#c"),
        ("A=#c", ""),
        ("A='b # c' # d", "b # c"),
        ('A="b # c"#d', "b # c"),
        ("A=`b'\"`", "b'\""),
        ("A='a\\nb$c'", "a\\nb$c"),
        ('A="a\\nb\\"\\\\\\$c\\x"', 'a\nb"\\$cx'),
        ('A="a\nb"\nB=c', "a\nb"),
        ("A=a\\nb", "a\\nb"),
        ("A='b", "'b"),
        ("A=1$", "1$"),
        ("A=a$1", "a$1"),
        ("A=b\r\nC=d\r\n", "b"),
        ("A=b\nA=c", "c"),
    ],
)
def test_a_value_is_as_it_is_quoted(text: str, value: str) -> None:
    (found,) = (one for one in env_file.read(text) if one.name == "A")
    assert (found.value, found.fault) == (value, "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A=$B", FILLED),
        ("A=${B}", FILLED),
        ('A="x$(B)"', FILLED),
        ("A='b'c", BEHIND),
        ('A="b" c', BEHIND),
    ],
)
def test_a_value_that_is_not_plain_has_a_fault(text: str, fault: str) -> None:
    assert env_file.read(f"\n{text}\nC=d") == [Variable("A", "", 2, fault), Variable("C", "d", 3)]


def test_what_would_be_filled_in_is_still_known_for_a_database() -> None:
    (found,) = env_file.read("X=postgres://me:canary@${HOST}/d")
    assert found == Variable("X", "postgres:", 1, FILLED) and env_file.names_database(found)


def test_what_sets_nothing_is_passed_over() -> None:
    assert env_file.read("# A=b\n\nnonsense\n1=2\n=x\nA-B=c\n- A=b\nA.b=c") == [Variable("A.b", "c", 8)]


def test_lines_are_counted_through_values_of_several() -> None:
    assert [one.line for one in env_file.read("A=\"1\n2\n\"\nB=c\n\nD='\n'\nE=f")] == [1, 4, 6, 8]


@pytest.mark.parametrize(
    ("name", "value", "database", "short"),
    [
        ("DATABASE_URL", "redis://x", True, ""),
        ("SHOP_DATABASE_URL", "postgres://x", True, "shop"),
        ("MY_DB_URL", "mysql+pymysql://x", True, "my"),
        ("ORDERS_DSN", "MariaDB://x", True, "orders"),
        ("PG_URI", "postgresql://x", True, ""),
        ("SQLITE_URL", "sqlite:///x", True, ""),
        ("database_url", "sqlite:x", True, ""),
        ("REDIS_URL", "redis://x", False, "redis"),
        ("MAIN", "postgres", False, "main"),
    ],
)
def test_a_database_is_known_by_its_url_and_called_by_its_variable(
    name: str, value: str, database: bool, short: str
) -> None:
    variable = Variable(name, value, 1)
    assert (env_file.names_database(variable), env_file.short(name)) == (database, short)


@given(st.text() | st.text("A=\"'`\\$#\n {x"))
def test_no_text_trips_the_reader(text: str) -> None:
    names = [variable.name for variable in env_file.read(text)]
    assert len(set(names)) == len(names)


def test_values_are_not_told_by_accident() -> None:
    assert "canary" not in repr(env_file.read("A=canary"))
