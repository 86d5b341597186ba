"""How text that nobody vouches for is shown on a terminal: what could act on it, or hide in it, is spelled out."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

# Printable by Unicode's book and yet blank: Hangul fillers, the empty Braille pattern, variation selectors.
BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800") | {
    chr(code) for first, last in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for code in range(first, last + 1)
}

# No living script puts more on top of one letter; a longer pile climbs over the neighbouring lines.
MOST_MARKS: Final = 3

_PLAIN, _MARK, _UNSAFE = "pmu"
_PILE: Final = _MARK * (MOST_MARKS + 1)
# What each way of showing has to look at more closely.
_IN_A_LINE: Final = re.compile(r"[^ -~]+")
_IN_LINES: Final = re.compile(r"[^ -~\n\t]+")
_IN_EXACT_LINES: Final = re.compile(r"[^ -~\n]+|\\(?=u\{)")
_IN_JSON: Final = re.compile(r"[^ -~\n]+")


def shown(text: str) -> str:
    """The text in one line: a newline as ⏎, everything else that is not plainly visible as `\\u{1b}`.

    Not plainly visible are control, format, private, unassigned and surrogate characters, every space but U+0020,
    the blanks that Unicode calls printable, and combining marks after the third in a row. Shown twice is the same
    as shown once.
    """
    return _spelled(_IN_A_LINE, text, lambda char: "⏎" if char == "\n" else _braced(char))


def shown_lines(text: str) -> str:
    """The same for text of several lines: newlines and tabs stay."""
    return _spelled(_IN_LINES, text, _braced)


def shown_exactly(text: str) -> str:
    """The same with newlines alone kept, and so that no two texts are shown alike: a written `\\u{` is spelled out."""
    return _spelled(_IN_EXACT_LINES, text, _braced)


def shown_json(text: str) -> str:
    """A JSON text with the same characters written as `\\u001b`: still the same JSON."""
    return _spelled(_IN_JSON, text, _json_escape)


def wrapped(line: str, columns: int) -> list[str]:
    """One shown line as lines of at most `columns` cells, the later ones deeper than the first by `deeper`.

    So nothing inside a long value can pose as a line of its own. A line ends after a space where one is near, and
    in the middle of a word where none is. A line end hides one space and no more: of several, all stand before the
    next word. Cells are guessed too many rather than too few: a line that the terminal itself has to break goes
    on at its left edge.
    """
    indent = " " * deeper(line, columns)
    lines, at = [], 0
    for end in ends(line, columns, len(indent)):
        lines.append((indent if at else "") + line[at:end])
        at = end
    return lines


def ends(line: str, columns: int, later: int, free: int = 0) -> Iterator[int]:
    """Where each part of a shown line ends when it is laid on lines of at most `columns` cells.

    `later` cells are taken before every part but the first, and `free` ones stay empty behind every part but the last;
    where any do, what is put there shows how long the part is, and it need not end after a space.
    """
    at, lead, plain = 0, 0, line.isascii()
    while True:
        room = max(columns - lead, free + 1)
        end = at + room if plain else _reach(line, at, room)
        if end >= len(line):
            yield len(line)
            return
        if free:
            end = at + room - free if plain else _reach(line, at, room - free)
        at, lead = end if free else _break(line, at, end), later
        yield at


def deeper(line: str, columns: int) -> int:
    """How many blanks the later lines of a wrapped line begin with: two more than the line itself."""
    return min(len(line) - len(line.lstrip(" ")) + 2, columns // 2)


def _spelled(suspect: re.Pattern[str], text: str, spell: Callable[[str], str]) -> str:
    def run(found: re.Match[str]) -> str:
        chars = found[0]
        kinds = "".join(map(_kind, chars))
        if _UNSAFE not in kinds and _PILE not in kinds and chars != "\\":
            return chars
        marks = 0
        pieces = []
        for char, kind in zip(chars, kinds, strict=True):
            marks = marks + 1 if kind == _MARK else 0
            plain = kind != _UNSAFE and marks <= MOST_MARKS and char != "\\"
            pieces.append(char if plain else spell(char))
        return "".join(pieces)

    return suspect.sub(run, text)


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    if not char.isprintable() or char in BLANK:
        return _UNSAFE
    return _MARK if unicodedata.category(char) in ("Mn", "Me") else _PLAIN


@lru_cache(maxsize=4096)
def _braced(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


@lru_cache(maxsize=4096)
def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _break(line: str, at: int, end: int) -> int:
    """Where to end the part of a line that begins at `at` and must not go beyond `end`."""
    last = line.rfind(" ", at + (end - at) // 2, end)
    first = at + len(line[at : last + 1].rstrip(" "))
    if last < 0 or first == at:
        return end
    return last + 1 if first == last and line[last + 1] != " " else first


def _reach(line: str, at: int, room: int) -> int:
    """Where the part of a line that begins at `at` and fits in `room` cells ends; one character always fits."""
    end = at
    while end < len(line) and (room := room - _cells(line[end])) >= 0:
        end += 1
    return max(end, at + 1)


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    drawn_wide = unicodedata.east_asian_width(char) in "WFA" or "\u2190" <= char <= "\u2bff" or char >= "\U0001f000"
    return 2 if drawn_wide else 1
