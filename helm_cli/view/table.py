"""What rows look like to people: a table as wide as the terminal, or a record at a time where it would not fit."""

import io
from collections.abc import Sequence
from typing import Final

from helm_cli.model.jsontext import Json
from helm_cli.view.rows import Rows, field, tsv
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown

# A column of wrapped cells that is narrower than this is no longer read.
NARROWEST_COLUMN: Final = 6
GAP: Final = 3


def as_table(rows: Rows, streams: Streams) -> str:
    """The rows as a table, safe for a terminal, in a pipe as well; people on a terminal also get their number."""
    if rows.single:
        return _record(rows.columns, rows.rows[0])
    text = _table(rows.columns, rows.rows, streams) or _records(rows.columns, rows.rows, "row ")
    if streams.out_terminal:
        text += "1 row" if len(rows.rows) == 1 else f"{len(rows.rows)} rows"
        text += f"; {shown(rows.left_out)}\n" if rows.left_out else "\n"
    return text


def listing(columns: Sequence[str], rows: Sequence[Sequence[Json]], streams: Streams) -> str:
    """What a `list` command prints: a table on a terminal, TSV without a header in a pipe; "" without rows.

    Where the table would not fit, each row is a record: a line for each of its columns. On a terminal a column that is
    empty in every row is left out.
    """
    if not rows:
        return ""
    if not streams.out_terminal:
        return tsv(rows, streams)
    # What no row has takes no room.
    filled = [at for at in range(len(columns)) if at == 0 or any(row[at] not in ("", None) for row in rows)]
    columns, rows = [columns[at] for at in filled], [[row[at] for at in filled] for row in rows]
    return _table(columns, rows, streams) or _records(columns, rows, "")


def _records(columns: Sequence[str], rows: Sequence[Sequence[Json]], title: str) -> str:
    heads = (f"{title}{number}\n" if title else "\n" * (number > 1) for number in range(1, len(rows) + 1))
    return "".join(f"{head}{_record(columns, row)}" for head, row in zip(heads, rows, strict=True))


def _record(columns: Sequence[str], row: Sequence[Json]) -> str:
    names = [shown(name) for name in columns]
    widest = max(map(len, names), default=0)
    return "".join(f"{name:<{widest}}  {_cell(value)}\n" for name, value in zip(names, row, strict=False))


def _table(columns: Sequence[str], rows: Sequence[Sequence[Json]], streams: Streams) -> str:
    """The table, its headings whole and its cells wrapped where they must be; "" where it cannot be so narrow."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heads = [Text(shown(name)) for name in columns]
    cells = [[Text(_cell(value), "dim" if value is None else "") for value in row] for row in rows]
    widths = _widths(
        [head.cell_len for head in heads],
        [max((row[at].cell_len for row in cells if at < len(row)), default=0) for at in range(len(heads))],
        streams.width,
    )
    if widths is None:
        return ""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, (head, width) in enumerate(zip(heads, widths, strict=True)):
        numeric = _numeric([row[at] for row in rows if at < len(row)])
        table.add_column(head, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*row)
    text = io.StringIO()
    console = Console(
        file=text,
        width=max(streams.width, sum(widths) + GAP * len(widths)),
        force_terminal=streams.color,
        color_system="standard" if streams.color else None,
        force_interactive=False,
        legacy_windows=False,
        _environ={},
    )
    console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().split("\n")[:-1])


def _widths(heads: Sequence[int], widest: Sequence[int], room: int) -> list[int] | None:
    """How wide each column is in `room` cells: its widest cell, or less for the widest columns, never less than its
    heading. None where even that does not fit.
    """
    widths = [max(1, *both) for both in zip(heads, widest, strict=True)]
    least = [max(head, min(width, NARROWEST_COLUMN)) for head, width in zip(heads, widths, strict=True)]
    room -= GAP * (len(widths) - 1)
    if sum(least) > room:
        return None
    # The widest columns give way first, all of them down to one width; what is left over goes to the first of them.
    cap = min(max(widths, default=0), room)
    while sum(fitting := [max(low, min(width, cap)) for low, width in zip(least, widths, strict=True)]) > room:
        cap -= 1
    left = room - sum(fitting)
    for at, width in enumerate(widths):
        if left and width > fitting[at]:
            fitting[at], left = fitting[at] + 1, left - 1
    return fitting


def _cell(value: Json) -> str:
    return "null" if value is None else shown(field(value))


def _numeric(values: Sequence[Json]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)
