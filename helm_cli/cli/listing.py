"""How a command lists or shows something: for people on a terminal, or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from helm_cli.cli.here import Here
from helm_cli.model import jsontext
from helm_cli.view.table import listing
from helm_cli.view.text import shown, shown_json


def show_rows(place: Here, output: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """A list: a table on a terminal, tab-separated lines in a pipe, one JSON array with `-o json`."""
    if output == "json":
        return write_json(place, [dict(row) for row in rows])
    cells = [["" if row[column] is None else str(row[column]) for column in columns] for row in rows]
    place.streams.out.write(listing(columns, cells, place.streams))


def show_members(place: Here, output: str, members: Mapping[str, Any]) -> None:
    """One thing: a line for each member that it has, or one JSON object with `-o json`."""
    if output == "json":
        return write_json(place, dict(members))
    width = max(len(name) for name in members)
    for name, value in members.items():
        if value is not None:
            place.streams.out.write(f"{name:<{width}}  {shown(str(value))}\n")


def write_json(place: Here, value: Any) -> None:
    """One line of JSON, safe to show where standard output is a terminal."""
    text = jsontext.dump(jsontext.repaired(value))
    place.streams.out.write((shown_json(text) if place.streams.out_terminal else text) + "\n")
