"""How two texts are compared by lines, in a time that no text can blow up, and shown so that each change is seen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from helm_cli.model.plan import Revision
from helm_cli.view.lines import Line, Style, line
from helm_cli.view.text import shown, shown_exactly

# Unchanged lines around a change.
CONTEXT: Final = 3
# How many pairs of lines may be compared one by one; what is left is shown as the whole old part over the whole new.
MOST_PAIRS: Final = 1_000_000

_DEEP: Final = "    "
_STYLES: Final[dict[str, Style]] = {"-": "gone", "+": "come"}
_TAB: Final = "→   "
_END_BLANK: Final = "\\u{20}"
# Behind the sign stands what a line is: the beginning of one of the text, a further part of it, or a note about it.
_TEXT, _AGAIN, _NOTE = " ", ">", "\\"


class Run(NamedTuple):
    """Lines of both texts from here on: `same` of them alike, or else `gone` of the old and `come` of the new."""

    same: int
    gone: int = 0
    come: int = 0


class Block(NamedTuple):
    """A part of both texts in which no line is known to be alike: half-open ranges of the old and the new."""

    old: int
    old_end: int
    new: int
    new_end: int


def lines(revision: Revision) -> list[Line]:
    """A revision as a person reads it: what it is about, and a line diff, each line safe for a terminal.

    A tab is shown as an arrow, a blank at the end of a line and whatever cannot be seen as `\\u{20}`. The sign of a
    line is "+", "-" or a blank, and what follows it is a blank, or ">" where a line goes on and a backslash where it is
    a note: no text can pose as anything else, without colour either. A text that is only told of is shown whole.
    """
    head = f"  {_AGAIN} "
    if revision.told:
        told = [Line(f"  {shown(revision.path)}", again=head)]
        return [*told, *(part for text in _split(revision.after, crlf=False) for part in _laid(" ", text))]
    crlf = all(_all_crlf(text) for text in (revision.before, revision.after) if text)
    old, new = _split(revision.before or "", crlf=crlf), _split(revision.after, crlf=crlf)
    runs = list(compared(old, new))
    gone, come = sum(run.gone for run in runs), sum(run.come for run in runs)
    what = f"{_counted(gone, come)}{_ends(revision, crlf=crlf)}"
    return [Line(f"  change of {shown(revision.path)}: {what}", again=head), *_hunks(runs, old, new)]


def compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Run]:
    """The runs that lead from the old lines to the new ones, in order, never two of a kind in a row."""
    matched = [*_matched(old, new), (len(old), len(new))]
    same = at_old = at_new = 0
    for next_old, next_new in matched:
        if (next_old, next_new) != (at_old, at_new):
            if same:
                yield Run(same)
            yield Run(0, next_old - at_old, next_new - at_new)
            same = 0
        same += 1
        at_old, at_new = next_old + 1, next_new + 1
    if same > 1:
        # The last pair is no line but the end of both.
        yield Run(same - 1)


def _matched(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places of equal lines, rising in both."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    yield from ((at, at) for at in range(head))
    yield from _inside(old, new, Block(head, len(old) - tail, head, len(new) - tail))
    yield from ((len(old) - at, len(new) - at) for at in range(tail, 0, -1))


def _inside(old: Sequence[str], new: Sequence[str], block: Block) -> Iterator[tuple[int, int]]:
    """Lines that stand once in both texts hold the rest in place; what is between them is compared one by one."""
    left = MOST_PAIRS
    end = (block.old_end, block.new_end)
    for (at_old, at_new), (next_old, next_new) in pairwise(
        [(block.old - 1, block.new - 1), *_anchors(old, new, block), end]
    ):
        if at_old >= block.old:
            yield at_old, at_new
        between = Block(at_old + 1, next_old, at_new + 1, next_new)
        pairs = (between.old_end - between.old) * (between.new_end - between.new)
        if 0 < pairs <= left:
            left -= pairs
            yield from _longest(old, new, between)


def _anchors(old: Sequence[str], new: Sequence[str], block: Block) -> list[tuple[int, int]]:
    """The longest rising row of pairs of lines that stand exactly once in both parts."""
    counts = [Counter(old[block.old : block.old_end]), Counter(new[block.new : block.new_end])]
    place = {new[at]: at for at in range(block.new, block.new_end)}
    pairs = [
        (at, place[old[at]])
        for at in range(block.old, block.old_end)
        if counts[0][old[at]] == 1 and counts[1][old[at]] == 1
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest row of pairs whose second members rise, by patience sorting."""
    from bisect import bisect_left

    tops: list[int] = []
    at_top: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        pile = bisect_left(tops, at)
        before.append(at_top[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [at]
        at_top[pile : pile + 1] = [number]
    row = []
    number = at_top[-1] if at_top else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _longest(old: Sequence[str], new: Sequence[str], block: Block) -> Iterator[tuple[int, int]]:
    """The longest common row of lines of a block, by comparing each of the one with each of the other."""
    height, width = block.old_end - block.old, block.new_end - block.new
    lengths = [[0] * (width + 1) for _ in range(height + 1)]
    for row in range(height - 1, -1, -1):
        here, under, text = lengths[row], lengths[row + 1], old[block.old + row]
        for column in range(width - 1, -1, -1):
            alike = text == new[block.new + column]
            here[column] = under[column + 1] + 1 if alike else max(under[column], here[column + 1])
    row = column = 0
    while row < height and column < width:
        if old[block.old + row] == new[block.new + column]:
            yield block.old + row, block.new + column
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1


def _split(text: str, *, crlf: bool) -> list[str]:
    """The lines of a text, each with its end, so that a last line without one is another line."""
    if crlf:
        text = text.replace("\r\n", "\n")
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _all_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _hunks(runs: Sequence[Run], old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    at_old = at_new = 0
    for number, (same, gone, come) in enumerate(runs):
        if same:
            yield from _unchanged(old[at_old : at_old + same], first=number == 0, last=number == len(runs) - 1)
        else:
            yield from _changed("-", old[at_old : at_old + gone])
            yield from _changed("+", new[at_new : at_new + come])
        at_old, at_new = at_old + same + gone, at_new + same + come


def _unchanged(texts: Sequence[str], *, first: bool, last: bool) -> Iterator[Line]:
    head, tail = 0 if first else CONTEXT, 0 if last else CONTEXT
    hidden = len(texts) - head - tail
    if hidden <= 1:
        head, tail, hidden = len(texts), 0, 0
    for text in texts[:head]:
        yield from _laid(" ", text)
    if hidden:
        yield line(_DEEP, (f"… {hidden:,} lines unchanged", "bold"))
    for text in texts[len(texts) - tail :]:
        yield from _laid(" ", text)


def _changed(sign: str, texts: Iterable[str]) -> Iterator[Line]:
    for text in texts:
        yield from _laid(sign, text)


def _laid(sign: str, text: str) -> Iterator[Line]:
    """One line of a text behind its sign, and a note where it has no end."""
    kept = text.rstrip(" \n")
    blanks = text[len(kept) :].rstrip("\n")
    yield _styled(sign, f"{sign}{_TEXT}{_visible(kept)}{_END_BLANK * len(blanks)}")
    if sign != " " and not text.endswith("\n"):
        yield _styled(sign, f"{sign}{_NOTE} no line end here")


def _styled(sign: str, text: str) -> Line:
    again = f"{_DEEP}{sign}{_AGAIN} "
    return line(_DEEP, (text, _STYLES[sign]), again=again) if sign in _STYLES else Line(_DEEP + text, again=again)


def _visible(text: str) -> str:
    """One line without its end: two that differ are shown differently, a tab as an arrow."""
    parts = text.removesuffix("\n").split("\t")
    return _TAB.join(shown_exactly(part).replace("→", "\\u{2192}") for part in parts)


def _counted(gone: int, come: int) -> str:
    if not gone and not come:
        return "no line"
    return ", ".join(
        f"{number:,} line{'' if number == 1 else 's'} {what}"
        for number, what in ((gone, "out"), (come, "in"))
        if number
    )


def _ends(revision: Revision, *, crlf: bool) -> str:
    if revision.before is None:
        return "; a new file, whose lines end in CRLF" if crlf else "; a new file"
    return "; its lines end in CRLF, as before" if crlf else ""
