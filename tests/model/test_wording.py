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
