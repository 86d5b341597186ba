"""How the text of a Postgres array is read (PostgreSQL documentation, 8.15.6)."""

import re
from collections.abc import Callable
from typing import Final

from helm_cli.model.jsontext import Json

_BOUNDS: Final = re.compile(r"(?:\[[+-]?[0-9]+:[+-]?[0-9]+\])+=")


def parse(text: str, element: Callable[[str], Json], delimiter: str) -> Json:
    """The array as nested lists, each element read by `element`, NULL as None. ValueError where it is no array."""
    bounds = _BOUNDS.match(text)
    at = bounds.end() if bounds else 0
    mark = re.escape(delimiter)
    piece = re.compile(rf'[{{}}{mark}]|"((?:[^"\\]|\\.)*)"|((?:[^{{}}"\\{mark}]|\\.)+)', re.DOTALL)
    open_lists: list[list[Json]] = [[]]
    while at < len(text):
        match = piece.match(text, at)
        if match is None:
            raise ValueError("not the text of an array")
        at = match.end()
        if match[0] == "{":
            open_lists.append([])
        elif match[0] == "}":
            *open_lists, whole = open_lists
            if not open_lists:
                raise ValueError("an array that ends before it begins")
            open_lists[-1].append(whole)
        elif match[1] is not None or match[2] is not None:
            open_lists[-1].append(_item(match, element))
    (whole_array,) = open_lists[0]
    return whole_array


def _item(match: re.Match[str], element: Callable[[str], Json]) -> Json:
    if match[1] is None and match[2].upper() == "NULL":
        return None
    return element(re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2], flags=re.DOTALL))
