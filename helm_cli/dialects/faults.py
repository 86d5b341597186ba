"""How a fault of a manifest is worded, and how its place in the document is written."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from helm_cli.model.wording import meant

Path = tuple[str | int, ...]

# More than this many are no help to anybody, and finding words for each would take long.
MOST: Final = 500

# Comparing a word with more would take long where it is done for many words.
MOST_COMPARED: Final = 40

_PLAIN: Final = re.compile(r"[A-Za-z0-9_$-]{1,64}")
_SHOWABLE: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_MOST_SHOWN: Final = 60
_MOST_QUOTED: Final = 160


class Numeral(NamedTuple):
    """A number of YAML that no field takes as it is `written`: a fraction, another base, a sign, zeros before it."""

    written: str


class Trouble(NamedTuple):
    """A fault of the value at `path`, or of its key where `at_key`, before its line and column are known."""

    path: Path
    message: str
    at_key: bool = False


def dotted(path: Path) -> str:
    """The path as in `connections[0].queries.recent.sql`; a key that is no plain word stands in brackets, quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{quoted(step)}]"
    return text


def subject(path: Path) -> str:
    """What a sentence about the value at this path begins with."""
    if not path:
        return "the manifest"
    step = path[-1]
    return quoted(step) if isinstance(step, str) else f"entry {step + 1} of {subject(path[:-1])}"


def quoted(name: str) -> str:
    """A key in double quotes, on one line, ASCII only, cut where it is very long."""
    return json.dumps(name if len(name) <= _MOST_SHOWN else name[:_MOST_SHOWN] + "…")


def echoed(value: Any) -> str:
    """A short plain word in double quotes; of all else only what kind it is, for it may be a secret or a URL."""
    if not isinstance(value, str):
        return noun(value)
    return f'"{value}"' if _SHOWABLE.fullmatch(value) else "this text"


def visible(clause: str) -> str:
    """A clause that quotes the document: what is not printable as `\\u{…}`, cut where it is very long."""
    shown = "".join(mark if mark.isprintable() else f"\\u{{{ord(mark):x}}}" for mark in clause[:_MOST_QUOTED])
    return shown if len(clause) <= _MOST_QUOTED else shown + "…"


def noun(value: Any) -> str:
    """What kind of value it is, for a sentence that does not show it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Numeral):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


def one_of(names: Sequence[str]) -> str:
    """The names as in `a, b or c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def did_you_mean(word: Any, known: Sequence[str]) -> str:
    """`; did you mean "operations"?` where one of the known words, of which there are few, is close, else nothing."""
    close = meant(word, known) if isinstance(word, str) and len(known) <= MOST_COMPARED else None
    return f'; did you mean "{close}"?' if close is not None else ""
