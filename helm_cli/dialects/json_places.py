"""Where in a JSON text a key and a value stand."""

import json
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from helm_cli.dialects.faults import Path

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()


class Place(NamedTuple):
    """Offsets, in code points from 0. An entry of a list and the document itself have no key: it is the value's."""

    key: int
    value: int


def line_column(text: str, offset: int) -> tuple[int, int]:
    """The line and the column of an offset, both from 1; columns count code points."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def places(text: str, wanted: Iterable[Path]) -> dict[Path, Place]:
    """The places of these paths in a text that is strict JSON. What is not on their way is skipped at full speed."""
    targets = set(wanted)
    ways = {path[:length] for path in targets for length in range(len(path))}
    found: dict[Path, Place] = {}
    start = skip(text, 0)
    _visit(text, (), Place(start, start), ways, found)
    return {path: found[path] for path in targets}


def _visit(text: str, path: Path, place: Place, ways: set[Path], found: dict[Path, Place]) -> int:
    """Notes the places from this value inwards, and gives the offset behind it."""
    found[path] = place
    # A key that stands twice may have had another shape the first time.
    if path in ways and text[place.value] in "[{":
        return _visit_entries(text, path, place.value, ways, found)
    return _DECODER.raw_decode(text, place.value)[1]


def _visit_entries(text: str, path: Path, opening: int, ways: set[Path], found: dict[Path, Place]) -> int:
    keyed = text[opening] == "{"
    at = skip(text, opening + 1)
    index = 0
    while text[at] not in "]}":
        start = at
        step: str | int = index
        if keyed:
            step, at = _DECODER.raw_decode(text, start)
            at = skip(text, skip(text, at) + 1)
        at = skip(text, _visit(text, (*path, step), Place(start, at), ways, found))
        if text[at] == ",":
            at = skip(text, at + 1)
        index += 1
    return at + 1


def skip(text: str, at: int) -> int:
    """The offset of the next character that is no white space of JSON."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
