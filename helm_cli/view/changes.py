"""How a difference is laid out so that it is seen: the former text over the new one, and blanks where they matter."""

from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.model.plan import Revision
from helm_cli.model.review import Change, FileChange, Sort
from helm_cli.view import diff
from helm_cli.view.lines import Line, Mark, Style, line
from helm_cli.view.text import shown, shown_lines

DEEP: Final = "      "
_STYLES: Final[dict[Sort, Style]] = {"widened": "warning", "changed": "bold", "narrowed": "bold"}
_SIGNS: Final[tuple[tuple[str, Style], ...]] = (("-", "gone"), ("+", "come"))
_LONG: Final = 8
_VISIBLE: Final = {" ": "·", "\t": "→"}


def laid(changes: Iterable[Change], files: Iterable[FileChange]) -> list[Line]:
    """A line for each change and file, both texts below where a text changed."""
    told = [part for change in changes for part in _change(change)]
    return [
        *(told or [Line("  nothing that is declared changed")]),
        *(Line(f"  {'file ' + file.what:<14}{shown(file.path)}") for file in files),
    ]


def _change(change: Change) -> Iterator[Line]:
    before, after = change.before, change.after
    blanks = before is not None and after is not None and "".join(before.split()) == "".join(after.split())
    told = f"{shown(change.message)}; only white space differs, shown as · → ⏎" if blanks else shown(change.message)
    yield line("  ", (f"{change.sort:<14}", _STYLES[change.sort]), told)
    if before is not None and after is not None and not blanks and min(map(_breaks, (before, after))) >= _LONG:
        # Of long texts, only what changed and what is around it.
        yield from (_deeper(part) for part in diff.lines(Revision("", before, after))[1:])
        return
    for (sign, style), text in zip(_SIGNS, (before, after), strict=True):
        if text is not None:
            yield from (
                line(DEEP, (f"{sign} {part}", style), again=f"{DEEP}{sign}> ") for part in _lines(text, blanks=blanks)
            )


def _breaks(text: str) -> int:
    return text.count("\n")


def _deeper(part: Line) -> Line:
    by = DEEP[: len(DEEP) - 4]
    marks = (Mark(one.start + len(by), one.end + len(by), one.style) for one in part.marks)
    return Line(by + part.text, tuple(marks), by + part.again)


def _lines(text: str, *, blanks: bool) -> list[str]:
    """The lines of a text with the blanks at their ends visible; with `blanks`, every blank and line end."""
    parts = shown_lines(text).split("\n")
    if blanks:
        return [*(f"{_marked(part)}⏎" for part in parts[:-1]), *filter(None, [_marked(parts[-1])])]
    return [_tail_marked(part) for part in parts]


def _tail_marked(part: str) -> str:
    kept = part.rstrip(" \t")
    return kept.replace("\t", "    ") + _marked(part[len(kept) :])


def _marked(part: str) -> str:
    return "".join(_VISIBLE.get(char, char) for char in part)
