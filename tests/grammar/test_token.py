"""What can be sent as a token: nothing that a header would lose, change or be broken by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar import token

ONE_LINE = "must be one line of printable ASCII, without spaces at its ends"


@pytest.mark.parametrize("text", ["t", "ghp_a1-._~+/==", "Basic dXNlcjpw", 'a "b" {c}', "!~", "x" * 60_000])
def test_printable_ascii_is_carried(text: str) -> None:
    assert token.fault(text) is None


@pytest.mark.parametrize(
    "text", [" t", "t ", "t\n", "t\r\nHost: evil.test", "a\tb", "\0", "a\x7f", "tökén", "a\u200b", "\ud800"]
)
def test_what_a_header_would_not_carry_is_refused(text: str) -> None:
    assert token.fault(text) == ONE_LINE == token.bearer_fault(text)


def test_a_bearer_token_has_no_space() -> None:
    assert token.bearer_fault("abc") is None
    assert token.bearer_fault("token abc") == "must not contain a space; give the token alone"
    assert token.fault("") == token.bearer_fault("") == "must not be empty"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc", "abc"),
        ("Bearer Bearer abc", "Bearer abc"),
        ("Bearerabc", "Bearerabc"),
        ("Basic abc", "Basic abc"),
        ("Bearer", "Bearer"),
    ],
)
def test_the_scheme_of_a_bearer_token_is_not_part_of_it(text: str, kept: str) -> None:
    assert token.without_scheme(text) == kept


@given(st.text())
def test_what_passes_is_one_line_of_ascii(text: str) -> None:
    if token.fault(text) is None:
        assert text.isascii() and text.isprintable() and text == text.strip()
