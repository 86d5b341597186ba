"""How a page of Markdown is read at a terminal: its tables as a list, folded to the width, a screenful at a time."""

import os
import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from helm_cli.view.streams import Streams, person_present
from helm_cli.view.text import shown_lines

MOST_COLUMNS: Final = 100
_INDENT: Final = "    "
# A bar in a cell is escaped.
_BETWEEN: Final = re.compile(r"(?<!\\)\|")


def show(text: str, streams: Streams) -> None:
    """Show the page: paged where it is longer than the screen and a person is there to turn it."""
    lines = list(laid(text, min(streams.width - 1, MOST_COLUMNS)))
    if person_present(streams) and len(lines) > _height(streams):
        from helm_cli.view.leafing import leaf

        leaf(lines)
        return
    streams.write("".join(f"{line}\n" for line in lines))


def laid(text: str, columns: int) -> Iterator[str]:
    """The lines of the page, none longer than so many columns but single words and what stands between fences."""
    fenced, heads = False, list[str]()
    for line in shown_lines(text).splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield _INDENT + line
        elif not line.startswith("|"):
            heads = []
            yield from _folded(_bare(line.lstrip("#").strip() if line.startswith("#") else line), columns) or [""]
        elif not heads:
            heads = _cells(line)
        elif set(line) - set("|-: "):
            yield from _row(heads, _cells(line), columns)


def _row(heads: list[str], cells: list[str], columns: int) -> Iterator[str]:
    """One row of a table: what it is about, the short facts of it in brackets, and its text below."""
    name, *facts, about = cells
    told = [*filter(None, map(_fact, heads[1:], facts))]
    yield from _folded(f"{name} ({', '.join(told)})" if told else name, columns)
    yield from _folded(about, columns, _INDENT)


def _fact(head: str, cell: str) -> str:
    if head == "Required":
        return "required" if cell == "yes" else ""
    return f"else {cell}" if head == "Default" and cell else cell


def _cells(line: str) -> list[str]:
    return [_bare(cell.strip()) for cell in _BETWEEN.split(line.strip().strip("|"))]


def _bare(text: str) -> str:
    return text.replace("\\|", "|").replace("`", "")


def _folded(text: str, columns: int, indent: str = "") -> list[str]:
    return wrap(text, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _height(streams: Streams) -> int:
    try:
        return os.get_terminal_size(streams.out.fileno()).lines
    except (OSError, ValueError):
        return 24
