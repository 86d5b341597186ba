"""Untrusted text: nothing that acts on a terminal or hides in it gets through, and everything else does."""

import json
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.view.text import BLANK, shown, shown_exactly, shown_json, shown_lines, wrapped

CORPUS = {
    "escape": ("\x1b[31mred", "\\u{1b}[31mred"),
    "title": ("\x1b]0;pwned\x07", "\\u{1b}]0;pwned\\u{7}"),
    "c1 csi": ("\x9b31m", "\\u{9b}31m"),
    "c1 osc": ("\x9d0;x\x9c", "\\u{9d}0;x\\u{9c}"),
    "nul": ("a\0b", "a\\u{0}b"),
    "backspace": ("ab\b\bc", "ab\\u{8}\\u{8}c"),
    "delete": ("\x7f", "\\u{7f}"),
    "carriage return": ("safe\rrm", "safe\\u{d}rm"),
    "bidi override": ("\u202egnp.exe", "\\u{202e}gnp.exe"),
    "bidi isolate": ("\u2066x\u2069", "\\u{2066}x\\u{2069}"),
    "zero width": ("a\u200bb\u200d\ufeff", "a\\u{200b}b\\u{200d}\\u{feff}"),
    "no-break space": ("a\u00a0b", "a\\u{a0}b"),
    "line separator": ("a\u2028b", "a\\u{2028}b"),
    "hangul filler": ("\u3164\u115f\u1160\uffa0", "\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}"),
    "braille blank": ("\u2800", "\\u{2800}"),
    "variation": ("a\ufe0f\U000e0100", "a\\u{fe0f}\\u{e0100}"),
    "tag": ("\U000e0041", "\\u{e0041}"),
    "lone surrogate": ("a\udc80", "a\\u{dc80}"),
    "private": ("\ue000", "\\u{e000}"),
    "three marks": ("e\u0301\u0302\u0303", "e\u0301\u0302\u0303"),
    "five marks": ("e\u0301\u0302\u0303\u0304\u0305x", "e\u0301\u0302\u0303\\u{304}\\u{305}x"),
    "plain": ("naïve 日本語 Ω 🚀 'x' \\n", "naïve 日本語 Ω 🚀 'x' \\n"),
}


@pytest.mark.contract("C120")
@pytest.mark.parametrize(("text", "expected"), CORPUS.values(), ids=CORPUS.keys())
def test_the_corpus_is_spelled_out(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert shown_lines(text) == expected
    assert shown_exactly(text) == expected


def test_ways_with_lines() -> None:
    text = "a\tb\r\nc"
    assert shown(text) == "a\\u{9}b\\u{d}⏎c"
    assert shown_lines(text) == "a\tb\\u{d}\nc"
    assert shown_exactly(text) == "a\\u{9}b\\u{d}\nc"


def test_an_escape_that_was_written_is_told_from_one_that_was_made() -> None:
    assert shown_exactly("\\u{1b}\x1b \\u1b") == "\\u{5c}u{1b}\\u{1b} \\u1b"


@pytest.mark.contract("C120")
def test_every_character_there_is() -> None:
    for first in range(0, sys.maxunicode + 1, 256):
        chars = [chr(code) for code in range(first, first + 256) if code != ord("\n")]
        visible = [char if char.isprintable() and char not in BLANK else f"\\u{{{ord(char):x}}}" for char in chars]
        assert shown("a".join(chars)) == "a".join(visible), hex(first)


@pytest.mark.contract("C120")
@given(st.text(st.characters()))
def test_what_is_shown_is_harmless_and_stays_so(text: str) -> None:
    once = shown(text)
    assert once.isprintable()
    assert not BLANK & set(once)
    assert shown(once) == once
    marks = "".join("m" if unicodedata.category(char) in ("Mn", "Me") else "." for char in once)
    assert "mmmm" not in marks


@given(st.text(st.characters()), st.text(st.characters()))
def test_texts_that_differ_are_shown_differently(one: str, other: str) -> None:
    assert (shown_exactly(one) == shown_exactly(other)) is (one == other)


@given(st.text(st.sampled_from("\\u{1b}\x1b5c\n")), st.text(st.sampled_from("\\u{1b}\x1b5c\n")))
def test_nor_can_they_be_made_alike(one: str, other: str) -> None:
    assert (shown_exactly(one) == shown_exactly(other)) is (one == other)


@given(st.dictionaries(st.text(), st.text()))
def test_json_stays_the_same_json(value: dict[str, str]) -> None:
    text = shown_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()


def test_json_escapes() -> None:
    assert shown_json('{"a\x7f":"\u202e\U000e0100é"}') == '{"a\\u007f":"\\u202e\\udb40\\udd00é"}'


def test_wrapping_keeps_later_lines_deeper() -> None:
    assert wrapped("  n=abcdefghij", 10) == ["  n=abcdef", "    ghij"]
    assert wrapped("short", 10) == ["short"]
    assert wrapped("", 10) == [""]
    assert wrapped("日本語日本語", 7) == ["日本語", "  日本", "  語"]


def test_a_line_ends_after_a_space_where_one_is_near() -> None:
    assert wrapped("Helm does not ask for it", 10) == ["Helm does ", "  not ask ", "  for it"]
    assert wrapped("a bcdefghijklm", 10) == ["a bcdefghi", "  jklm"]
    assert wrapped("日本 日本 日本", 10) == ["日本 日本 ", "  日本"]


def test_a_line_end_hides_one_space_and_no_more() -> None:
    assert wrapped("one two  three", 10) == ["one two", "    three"]
    assert wrapped("one two three", 10) == ["one two ", "  three"]
    assert wrapped("abcdefgh    i", 10) == ["abcdefgh", "      i"]
    assert wrapped("          " * 2, 10) == [" " * 10, " " * 10, " " * 10]


@given(st.text(st.sampled_from(" ab日é🚀\u0301")), st.integers(1, 12))
def test_wrapping_loses_nothing(line: str, columns: int) -> None:
    first, *later = wrapped(line, columns)
    lead = min(len(line) - len(line.lstrip(" ")) + 2, columns // 2)
    assert first + "".join(part[lead:] for part in later) == line
    assert all(part[:lead] == " " * lead for part in later)


@given(st.text(st.sampled_from("ab ")).map(lambda text: f"x{text}y"), st.integers(6, 14))
def test_a_wrapped_line_can_be_read_back_from_what_is_visible(line: str, columns: int) -> None:
    first, *later = [part.rstrip(" ") for part in wrapped(line, columns)]
    read = first
    for part in later:
        if not part:
            read += " " * (columns - 2)
            continue
        hidden = " " if len(first) < columns and part[2] != " " and not read.endswith("  ") else ""
        read += hidden + part[2:]
        first = part
    assert read == line


@pytest.mark.parametrize("text", ["a" * 2**20, "日本" * (2**20 // 6), "\x1b" * 2**20, "e\u0301\n" * (2**20 // 4)])
def test_a_mebibyte_is_quick(text: str) -> None:
    started = time.process_time()
    for show in (shown, shown_lines, shown_exactly, shown_json):
        wrapped(show(text), 80)
    assert time.process_time() - started < 8
