"""What a page for people is made of: lines of which parts stand out, folded to a width, plain where colour is not."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from helm_cli.view.text import deeper, ends, shown

Style = Literal["bold", "write", "warning", "gone", "come"]

# Style -> what a terminal is sent before it (SGR), and prompt_toolkit's name of the same.
STYLES: Final[dict[Style, tuple[str, str]]] = {
    "bold": ("\x1b[1m", "bold"),
    "write": ("\x1b[1;31m", "bold ansired"),
    "warning": ("\x1b[33m", "ansiyellow"),
    "gone": ("\x1b[31m", "ansired"),
    "come": ("\x1b[32m", "ansigreen"),
}


_GOES_ON: Final = "\\"


class Mark(NamedTuple):
    """The characters of a line, from `start` to before `end`, that stand out."""

    start: int
    end: int
    style: Style


class Line(NamedTuple):
    """One line that is safe for a terminal; its marks do not overlap and stand in order.

    Where no part of it may pose as a line of its own, `again` is what its later parts begin with when it is folded,
    as no other line does; each part that goes on then ends with a backslash.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    again: str = ""


def line(*pieces: str | tuple[str, Style], again: str = "") -> Line:
    """A line made of pieces, those with a style marked."""
    text, marks = "", []
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            marks.append(Mark(len(text), len(text) + len(piece[0]), piece[1]))
            text += piece[0]
    return Line(text, tuple(marks), again)


def safe(given: str | Line) -> Line:
    """The line with all that could act on a terminal spelled out, where its maker forgot to."""
    if isinstance(given, Line) and shown(given.text) == given.text:
        return given
    return Line(shown(given if isinstance(given, str) else given.text))


def folded(whole: Line, columns: int) -> Iterator[Line]:
    """The line as lines of at most `columns` cells, broken as `text.ends` says."""
    lead = whole.again[-(columns // 2) :] if whole.again else " " * deeper(whole.text, columns)
    goes_on = _GOES_ON if whole.again else ""
    at, before = 0, ""
    for end in ends(whole.text, columns, len(lead), len(goes_on)):
        behind = goes_on if end < len(whole.text) else ""
        shift = len(before) - at
        marks = (
            Mark(max(mark.start, at) + shift, min(mark.end, end) + shift, mark.style)
            for mark in whole.marks
            if mark.start < end and mark.end > at
        )
        yield Line(before + whole.text[at:end] + behind, tuple(marks))
        at, before = end, lead


def drawn(whole: Line, *, color: bool) -> str:
    """The line as a terminal is sent it; without colour, its bare text."""
    if not color:
        return whole.text
    return "".join(f"{STYLES[style][0]}{text}\x1b[0m" if style else text for text, style in _pieces(whole))


def fragments(whole: Line, *, color: bool) -> list[tuple[str, str]]:
    """The line as prompt_toolkit takes it."""
    return [(STYLES[style][1] if style and color else "", text) for text, style in _pieces(whole)]


def _pieces(whole: Line) -> Iterator[tuple[str, Style | None]]:
    at = 0
    for mark in whole.marks:
        yield whole.text[at : mark.start], None
        yield whole.text[mark.start : mark.end], mark.style
        at = mark.end
    yield whole.text[at:], None
