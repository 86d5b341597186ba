"""How rows are written for other programs: CSV, TSV and a JSON object a line."""

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from helm_cli.model.envelope import FILES, OBJECT
from helm_cli.model.jsontext import Json, dump
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown, shown_json, shown_lines

_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Rows(NamedTuple):
    """Rows as arrays in the order of their columns, whose names may repeat. `single`: one object, not a list.

    `left_out` says in words what people are to know that is not there ("more files match"), "" for nothing.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Json]]
    single: bool
    left_out: str = ""


def rows_of(data: Json, shape: str) -> Rows | None:
    """The rows in an answer's data; a flat object is its own single row. None where there are none after all."""
    if not isinstance(data, dict):
        return None
    if shape == OBJECT:
        return Rows(list(data), [list(data.values())], True)
    if shape == FILES:
        return _files(data)
    columns, rows = data.get("columns"), data.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return None
    return Rows([str(name) for name in columns], [row if isinstance(row, list) else [row] for row in rows], False)


def _files(data: dict[str, Json]) -> Rows | None:
    files = data.get("files")
    if not isinstance(files, list):
        return None
    left_out = ["more files match"] if data.get("truncated") else []
    if skipped := data.get("skipped"):
        left_out.append(f"{skipped} left out, whose names cannot be shown or which cannot be read")
    rows = [[file.get("path"), file.get("size")] for file in files if isinstance(file, dict)]
    return Rows(("path", "size"), rows, False, "; ".join(left_out))


def as_csv(rows: Rows, streams: Streams) -> str:
    """RFC 4180: a header, CRLF after each record, null as an empty field."""
    show = shown_lines if streams.out_terminal else str
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([show(name) for name in rows.columns])
    writer.writerows([show(field(value)) for value in row] for row in rows.rows)
    return text.getvalue()


def as_tsv(rows: Rows, streams: Streams) -> str:
    """A header, then a line a row; tab, line ends and backslash in a field as \\t, \\n, \\r and \\\\."""
    return tsv([list(rows.columns), *rows.rows], streams)


def tsv(rows: Sequence[Sequence[Json]], streams: Streams) -> str:
    """The lines of TSV alone, without a header."""
    show = shown if streams.out_terminal else str
    lines = ("\t".join(show(field(value).translate(_TSV_ESCAPES)) for value in row) for row in rows)
    return "".join(f"{line}\n" for line in lines)


def as_ndjson(rows: Rows, streams: Streams) -> str:
    """A JSON object a row; the second column of a name is called `name_2`, and so on."""
    names = _distinct(rows.columns)
    text = "".join(f"{dump(dict(zip(names, row, strict=False)))}\n" for row in rows.rows)
    return shown_json(text) if streams.out_terminal else text


def field(value: Json) -> str:
    """A value as the text of a field: null is empty, a text is itself, anything else is JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dump(value)


def _distinct(columns: Sequence[str]) -> list[str]:
    taken = set(columns)
    names: list[str] = []
    seen: set[str] = set()
    for column in columns:
        name, number = column, 2
        while name in seen or (name != column and name in taken):
            name, number = f"{column}_{number}", number + 1
        seen.add(name)
        names.append(name)
    return names
