"""What profiles are called after other programs' words: always a valid name, and one of its own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import profile_name
from helm_cli.model.profile import NAME


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shop", "shop"),
        ("Git Hub", "git-hub"),
        ("_.-x-._", "x"),
        ("db.example.com", "db.example.com"),
        ("äöü", ""),
        ("", ""),
        ("a" * 100, "a" * 64),
        ("İx", "i-x"),
    ],
)
def test_a_name_is_made_of_a_text(text: str, name: str) -> None:
    assert profile_name.made(text) == name


@given(st.lists(st.text()))
def test_names_are_valid_and_differ(texts: list[str]) -> None:
    names = list(profile_name.numbered(map(profile_name.made, texts)))
    there = [name for name in names if name]
    assert len(names) == len(texts) and len(set(there)) == len(there)
    assert all(re.fullmatch(NAME, name) for name in there)


def test_what_is_taken_gets_a_number() -> None:
    long = "a" * 64
    assert list(profile_name.numbered(["a", "a-2", "a", "a", "", "", long, long])) == [
        *("a", "a-2", "a-3", "a-4", "", "", long, "a" * 62 + "-2"),
    ]
