"""The short way of reading what helm wrote gives what tomllib gives, and faults name file and place."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.model.errors import HelmError
from helm_cli.store import tomltext

PATH = Path("/h/app.toml")
PIECES = [
    "a",
    "b_",
    "=",
    " = ",
    '"x"',
    '"',
    "'y'",
    "7",
    "007",
    "-1",
    "1_0",
    "\n",
    "\r\n",
    "\t",
    "# c",
    "\\u0041",
    "\x0c",
    "é",
]


def read_alike(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(HelmError):
            tomltext.table(text.encode(), PATH)
    else:
        assert tomltext.table(text.encode(), PATH) == expected


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_read_as_tomllib_reads_it(text: str) -> None:
    read_alike(text)


@given(
    st.dictionaries(st.sampled_from(["a", "path", "user"]), st.text("ab /.#'é=\t\"\\\x00\n") | st.integers(0, 10**10))
)
def test_plain_lines_are_read_as_tomllib_reads_them(values: dict[str, str | int]) -> None:
    text = "# ours\n\n" + "".join(
        f"{key} = {value}\n" if isinstance(value, int) else f'{key} = "{value}"\n' for key, value in values.items()
    )
    read_alike(text)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"a = \xff", "it is not UTF-8"),
        (b"a = ", "it is no valid TOML: invalid value (at end of document)"),
        (b"a = 1\na = 2\n", "it is no valid TOML: cannot overwrite a value (at line 2, column 6)"),
        (b"a = " + b"[" * 100_000, "it is nested too deeply"),
        (
            b"[" + b"k" * 200 + b"]\n[" + b"k" * 200 + b"]\n",
            f"it is no valid TOML: cannot declare ('{'k' * 43}…{'k' * 27}',) twice (at line 2, column 202); correct",
        ),
    ],
)
def test_a_fault_names_the_file_and_the_place(data: bytes, fault: str) -> None:
    with pytest.raises(HelmError) as caught:
        tomltext.table(data, PATH)
    assert caught.value.code == "state"
    assert caught.value.message.startswith(f"/h/app.toml cannot be used: {fault}")


def test_a_byte_order_mark_is_no_fault() -> None:
    assert tomltext.table(b"\xef\xbb\xbfa = 1\r\n", PATH) == {"a": 1}


def test_an_unknown_key_is_told_with_what_was_meant() -> None:
    assert tomltext.strange("prot", ["port", "user"]) == "the key prot is unknown (did you mean port?)"
    assert tomltext.strange("zzz", ["port", "user"]) == "the key zzz is unknown (known are port, user)"
    assert tomltext.strange("zzz", []) == "the key zzz is unknown (none is known there)"
