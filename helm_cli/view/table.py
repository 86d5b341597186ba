"""What rows look like to people: a table as wide as the terminal, or a record at a time where it would not fit."""

import io
from collections.abc import Sequence
from typing import Final

from helm_cli.model.jsontext import Json
from helm_cli.view.rows import Rows, field, tsv
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown

# A column narrower than this, its gap included, is no longer read.
NARROWEST_COLUMN: Final = 8


def as_table(rows: Rows, streams: Streams) -> str:
    """The rows as a table, safe for a terminal, in a pipe as well; people on a terminal also get their number."""
    if rows.single:
        return _record(rows.columns, rows.rows[0])
    if len(rows.columns) * NARROWEST_COLUMN > streams.width:
        text = "".join(f"row {number}\n{_record(rows.columns, row)}" for number, row in enumerate(rows.rows, start=1))
    else:
        text = _table(rows.columns, rows.rows, streams)
    if streams.out_terminal:
        text += "1 row\n" if len(rows.rows) == 1 else f"{len(rows.rows)} rows\n"
    return text


def listing(columns: Sequence[str], rows: Sequence[Sequence[Json]], streams: Streams) -> str:
    """What a `list` command prints: a table on a terminal, TSV without a header in a pipe; "" without rows."""
    if not rows:
        return ""
    return _table(columns, rows, streams) if streams.out_terminal else tsv(rows, streams)


def _record(columns: Sequence[str], row: Sequence[Json]) -> str:
    names = [shown(name) for name in columns]
    widest = max(map(len, names), default=0)
    return "".join(f"{name:<{widest}}  {_cell(value)}\n" for name, value in zip(names, row, strict=False))


def _table(columns: Sequence[str], rows: Sequence[Sequence[Json]], streams: Streams) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, name in enumerate(columns):
        numeric = _numeric([row[at] for row in rows if at < len(row)])
        table.add_column(Text(shown(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value), "dim" if value is None else "") for value in row))
    text = io.StringIO()
    console = Console(
        file=text,
        width=streams.width,
        force_terminal=streams.color,
        color_system="standard" if streams.color else None,
        force_interactive=False,
        legacy_windows=False,
        _environ={},
    )
    console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().split("\n")[:-1])


def _cell(value: Json) -> str:
    return "null" if value is None else shown(field(value))


def _numeric(values: Sequence[Json]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)
