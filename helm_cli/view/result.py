"""Which formats an answer can take, and what standard output gets of it in each."""

import json
import re
from typing import Final

from helm_cli.model.envelope import CONTENT, FILES, JSON, OBJECT, ROWS, TEXT, Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump, repaired
from helm_cli.view.streams import Streams

FORMATS: Final = ("auto", "json", "pretty", "data", "table", "csv", "tsv", "ndjson", "text")

_ANY: Final = ("auto", "json", "pretty", "data")
_CARRIED: Final[dict[str, tuple[str, ...]]] = {
    ROWS: (*_ANY, "table", "csv", "tsv", "ndjson"),
    OBJECT: (*_ANY, "table", "csv", "tsv", "ndjson"),
    FILES: (*_ANY, "table", "csv", "tsv", "ndjson"),
    JSON: _ANY,
    TEXT: (*_ANY, "text"),
    CONTENT: (*_ANY, "text"),
}
# What people get on a terminal.
_FOR_PEOPLE: Final = {ROWS: "table", OBJECT: "table", FILES: "table", TEXT: "text", CONTENT: "text"}

_TOKEN: Final = r'(?P<key>"(?:[^"\\]|\\.)*"(?=:))|(?P<text>"(?:[^"\\]|\\.)*")|(?P<rest>[-\w.+]+)'
_COLORS: Final = {"key": "\x1b[34m", "text": "\x1b[32m", "rest": "\x1b[36m"}


def carrying(format: str) -> list[str]:
    """The shapes of answers that can be shown so."""
    return [shape for shape, formats in _CARRIED.items() if format in formats]


def check_format(format: str, shape: str) -> None:
    """Raises HelmError `usage` when an answer of this shape (a constant of `envelope`) cannot be shown so."""
    if format not in _CARRIED[shape]:
        known = "" if format in FORMATS else "there is no such format: "
        raise HelmError(
            "usage", f"{known}this result cannot be shown as {format}: use one of {', '.join(_CARRIED[shape])}"
        )


def render(envelope: Envelope, shape: str, format: str, streams: Streams) -> str:
    """The whole text for standard output, "" for none; for a format that `check_format` let through.

    A pipe gets what the source sent; on a terminal everything that could act on it is spelled out, in every format.
    A failure shows its envelope as `json` and `pretty`, in the other formats only the data that it may have: its
    message is for standard error. On a terminal `auto` is for people: a table, highlighted JSON, or the text.
    """
    data = envelope.get("data")
    chosen = format
    if format == "auto":
        chosen = _FOR_PEOPLE.get(shape, "people") if streams.out_terminal else "json"
    if chosen in ("json", "pretty"):
        text = _json(envelope, chosen, streams)
    elif envelope.get("ok") is not True:
        text = _failed(data, shape, chosen, streams)
    else:
        text = _successful(data, shape, chosen, streams)
    # There is no UTF-8 for a lone surrogate.
    return str(repaired(text))


def _failed(data: Json, shape: str, chosen: str, streams: Streams) -> str:
    if chosen == "text" and (text := _text_of(data, shape)) is not None:
        return _text(text, streams)
    told = chosen in ("data", "people") or (shape == CONTENT and chosen == "text")
    return _json(data, chosen, streams) if data is not None and told else ""


def _successful(data: Json, shape: str, chosen: str, streams: Streams) -> str:
    # JSON in a pipe, the usual answer, does without the modules of the other formats.
    from helm_cli.view.rows import as_csv, as_ndjson, as_tsv, rows_of
    from helm_cli.view.table import as_table

    tabular = {"csv": as_csv, "tsv": as_tsv, "ndjson": as_ndjson, "table": as_table}
    if chosen in tabular and (rows := rows_of(data, shape)):
        return tabular[chosen](rows, streams)
    if chosen == "text" and (text := _text_of(data, shape)) is not None:
        return _text(text, streams)
    return _json(data, chosen, streams)


def _json(value: Json, chosen: str, streams: Streams) -> str:
    indent = None if chosen in ("json", "data") else 2
    try:
        text = _dumped(value, indent)
    except ValueError:
        text = _dumped(repaired(value), indent)
    if streams.out_terminal:
        from helm_cli.view.text import shown_json

        text = shown_json(text)
    if indent and streams.color:
        text = re.sub(_TOKEN, lambda found: f"{_COLORS[found.lastgroup or 'rest']}{found[0]}\x1b[0m", text)
    return text + "\n"


def _dumped(value: Json, indent: int | None) -> str:
    return dump(value) if indent is None else json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def _text_of(data: Json, shape: str) -> str | None:
    if shape == CONTENT:
        return _text_of_blocks(data)
    text = data.get("text") if isinstance(data, dict) else data
    return text if isinstance(text, str) else None


def _text_of_blocks(data: Json) -> str | None:
    """The texts of blocks that are all texts, one after the other; None for anything else."""
    if not isinstance(data, list):
        return None
    texts = [block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None for block in data]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if len(found) == len(data) else None


def _text(text: str, streams: Streams) -> str:
    """The text itself, to the byte; on a terminal what it shows, with an end to its last line."""
    if not streams.out_terminal:
        return text
    from helm_cli.view.text import shown_lines

    shown = shown_lines(text)
    return shown if shown.endswith("\n") or not shown else shown + "\n"
