"""Which names of tools a `*` glob of plugin.yaml matches."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import tool_glob


@pytest.mark.contract("P18")
@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("get_doc", ["get_doc"], ["get_docs", "Get_doc", "get_do", ""]),
        ("*", ["", "a", "a/b.c", "*"], []),
        ("get_*", ["get_", "get_doc", "get_*"], ["get", "aget_doc", "GET_doc"]),
        ("*_docs", ["_docs", "list_docs"], ["list_docs_", "docs"]),
        ("a*b*a", ["aba", "axbxa", "aabbaa"], ["aa", "ab", "abab", "ba"]),
        ("a*a", ["aa", "aba"], ["a"]),
        ("get_?[x]*", ["get_?[x]", "get_?[x]y"], ["get_ax", "get_x"]),
        ("**", ["", "a"], []),
    ],
)
def test_matches(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in (*yes, *no) if tool_glob.matches(pattern, name)] == yes


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab*", max_size=10))
def test_it_matches_as_the_same_regular_expression_does(pattern: str, name: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert tool_glob.matches(pattern, name) is bool(re.fullmatch(expression, name, re.DOTALL))


def test_many_stars_take_no_time() -> None:
    began = time.process_time()
    for _ in range(100):
        assert not tool_glob.matches("*a" * 64 + "b", "a" * 10_000)
    assert time.process_time() - began < 1
