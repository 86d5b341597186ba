"""How words that are not helm's own are told."""

import pytest

from helm_cli.model import wording


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], ""),
        (["admin"], "admin"),
        (["a", "b", "c", "d", "e"], "a, b, c, d, e"),
        (["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"),
        (["x" * 40, "x" * 41], f"{'x' * 40}, {'x' * 40}…"),
    ],
)
def test_strange_names_are_told_briefly(names: list[str], told: str) -> None:
    assert wording.brief(names) == told


def test_no_secret_is_left_in_a_text() -> None:
    assert wording.without("a token, twice: token", "token", None, "") == "a ***, twice: ***"


@pytest.mark.parametrize(
    ("word", "close"),
    [("prot", "Port"), ("PORTS", "Port"), ("host", None), ("p" * 61, None), ("p" * 60, "p" * 61)],
)
def test_the_word_that_was_meant_is_a_close_one(word: str, close: str | None) -> None:
    assert wording.meant(word, ["Port", "user", "p" * 61]) == close


def test_what_would_end_a_line_is_in_no_line() -> None:
    assert wording.one_line("é 😀\u00a0x")
    assert not any(wording.one_line(f"a{character}b") for character in "\n\x1b\u0085\u2028\u2029\ud800")
