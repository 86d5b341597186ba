"""How a command lists or shows something: for people on a terminal, or as JSON."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from helm_cli.cli.here import Here, note
from helm_cli.model import jsontext
from helm_cli.view.table import listing
from helm_cli.view.text import shown, shown_json

DIGEST: Final = re.compile(r"(sha256:)?[0-9a-f]{64}")
DIGITS_SHOWN: Final = 8
ASKER_SHOWN: Final = 32


class Form(NamedTuple):
    """How people see a column: its heading, and what is shown of a value at a time.time()."""

    heading: str
    value: Callable[[Any, float], str]


def show_rows(
    place: Here, output: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], empty: str = ""
) -> None:
    """A list: a table on a terminal, tab-separated lines in a pipe, one JSON array with `-o json`.

    On a terminal the columns of FORMS are shortened, and where there is nothing to list, `empty` says so on standard
    error ("no profiles yet; add one with helm db add").
    """
    if output == "json":
        return write_json(place, [dict(row) for row in rows])
    forms: Mapping[str, Form] = FORMS if place.streams.out_terminal else {}
    if not rows and empty and place.streams.out_terminal:
        note(place.streams, empty)
    now = place.stores.clock()
    cells = [[_cell(row[column], forms.get(column), now) for column in columns] for row in rows]
    headings = [forms[column].heading if column in forms else column for column in columns]
    place.streams.write(listing(headings, cells, place.streams))


def show_members(place: Here, output: str, members: Mapping[str, Any]) -> None:
    """One thing: a line for each member that it has, or one JSON object with `-o json`."""
    if output == "json":
        return write_json(place, dict(members))
    width = max(len(name) for name in members)
    for name, value in members.items():
        if value is not None:
            place.streams.write(f"{name:<{width}}  {shown(_words(value))}\n")


def write_json(place: Here, value: Any) -> None:
    """One line of JSON, safe to show where standard output is a terminal."""
    text = jsontext.dump(jsontext.repaired(value))
    place.streams.write((shown_json(text) if place.streams.out_terminal else text) + "\n")


def short_digest(value: Any, now: float) -> str:
    """The beginning of a digest, and anything else as it is."""
    text = str(value)
    found = DIGEST.fullmatch(text)
    return f"{text[: len(found[1] or '') + DIGITS_SHOWN]}…" if found else text


def short_time(value: Any, now: float) -> str:
    """An ISO time as the clock here shows it, of another day than today as its date."""
    try:
        at = datetime.fromisoformat(str(value)).astimezone()
    except ValueError:
        return str(value)
    today = datetime.fromtimestamp(now).astimezone().date()
    return at.strftime("%H:%M:%S" if at.date() == today else "%Y-%m-%d")


def short_seconds(value: Any, now: float) -> str:
    """Seconds as minutes, "4 min", and the last of them as they are, "42 s"."""
    seconds = int(value)
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"


def short_asker(value: Any, now: float) -> str:
    """Who asked without where they were, cut to a column's width."""
    text = str(value).partition(" in ")[0]
    return text if len(text) <= ASKER_SHOWN else f"{text[: ASKER_SHOWN - 1]}…"


FORMS: Final[dict[str, Form]] = {
    "digest": Form("digest", short_digest),
    "arguments": Form("arguments", short_digest),
    "at": Form("at", short_time),
    "approved_at": Form("approved", short_time),
    "expires": Form("expires", short_time),
    "asked_by": Form("asked by", short_asker),
    "seconds_left": Form("left", short_seconds),
}


def _cell(value: Any, form: Form | None, now: float) -> str:
    if value is None:
        return ""
    if form:
        return form.value(value, now)
    return jsontext.dump(value) if isinstance(value, dict | list) else _words(value)


def _words(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
