"""Placeholders: which braces are one, what a call's names are, and how they are filled."""

from typing import Any

import pytest

from helm_cli.grammar import template


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/repos/{owner}/{repo}", ("owner", "repo")),
        ("{a}{a}", ("a", "a")),
        ("{a-b}{c.d}{_e}{F9}", ("a-b", "c.d", "_e", "F9")),
        ("{ a }{1}{}{a b}{a,b}{é}{-a}", ()),
        ("{{a}}", ("a",)),
        ("{" + "a" * 64 + "}", ("a" * 64,)),
        ("{" + "a" * 65 + "}", ()),
        ("{a\n}", ()),
        ("", ()),
    ],
)
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert template.names(text) == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{limit}", "limit"),
        ("x{limit}", None),
        ("{limit} ", None),
        ("{limit}\n", None),
        ("{a}{b}", None),
        ("{ viewer { id } }", None),
        ("{{a}}", None),
        ("{}", None),
        ("", None),
    ],
)
def test_a_string_of_a_body_stands_for_a_value_or_for_itself(text: str, name: str | None) -> None:
    assert template.exact(text) == name


BODY: Any = {
    "query": "query($first: Int) { teams(first: $first) { id } }",
    "{key}": "{value}",
    "list": ["{a}", ["{b}", {"deep": "{a}"}], "x{c}", 1, None, True],
}


def test_a_body_is_filled_at_any_depth_and_keeps_types() -> None:
    assert template.body_names(BODY) == ("value", "a", "b", "a")
    assert template.fill_body(BODY, {"value": 20, "a": "{b}", "b": False}) == {
        "query": "query($first: Int) { teams(first: $first) { id } }",
        "{key}": 20,
        "list": ["{b}", [False, {"deep": "{b}"}], "x{c}", 1, None, True],
    }
    assert template.fill_body("{a}", {}) is None
    assert template.fill_body("{a}", {"a": None}) is None
    assert BODY["list"][0] == "{a}"


def test_text_is_filled_in_one_pass() -> None:
    values = {"a": "{b}", "b": "never", "c": "%7B"}
    assert template.fill("/{a}/{c}/{ c }", values.__getitem__) == "/{b}/%7B/{ c }"
    assert template.without("/{a}/x{c}/{ c }") == "//x/{ c }"


def test_a_body_has_at_most_64_levels() -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for index in range(levels):
            value = [value, 2] if index % 2 else {"a": value}
        return value

    assert template.body_fault(1) is None
    assert template.body_fault(nested(64)) is None
    assert template.body_fault(nested(65)) == "must not be nested deeper than 64 levels"
    assert template.body_fault(nested(900)) == "must not be nested deeper than 64 levels"
