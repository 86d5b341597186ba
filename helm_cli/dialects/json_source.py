"""Every reason why a text is no strict JSON, each at its place.

Only a text that `jsontext` refused is read here, so this is written for exact places and sentences, not for speed.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from helm_cli.dialects.faults import MOST, Path, quoted
from helm_cli.model.jsontext import MOST_DIGITS

# Python's own reader ends at the depth of its stack, which is not the same everywhere.
MOST_LEVELS: Final = 200

_TOKEN: Final = re.compile(
    r'[ \t\n\r]*(?:(?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.A-Za-z_]))"
    r"|(?P<word>-?[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>[\[\]{}:,])"
    r"|(?P<bad>(?s:.)))"
)
# A text that is never closed counts as closed at the end, so that it is looked for once.
_BRACKET: Final = re.compile(r'"[^"\\]*(?:\\(?s:.)[^"\\]*)*"?|[\[\]{}]')
_CONSTANTS: Final = ("NaN", "Infinity", "-Infinity")
_DEPTHS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_CLOSING: Final = {"[": "]", "{": "}"}


class SourceFault(NamedTuple):
    """A reason at an offset (code points from 0) of the text; `path` is where in the document."""

    offset: int
    path: Path
    message: str


class _Token(NamedTuple):
    kind: str
    text: str
    offset: int


class _Broken(Exception):
    """The text is no JSON from here on."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


class _Reader:
    """How far a text was read: one frame for each bracket that is still open."""

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self.open: list[str] = []
        self.seen: list[set[str]] = []
        self.comma = 0
        self.faults: list[SourceFault] = []

    def note(self, token: _Token, message: str) -> None:
        self.faults.append(SourceFault(token.offset, tuple(self.path), message))


def too_deep(text: str) -> SourceFault | None:
    """The bracket at which a text, JSON or not, nests deeper than any manifest does."""
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return None
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += _DEPTHS.get(found.group(), 0)
        if depth > MOST_LEVELS:
            return SourceFault(found.start(), (), f"brackets are nested deeper than {MOST_LEVELS} levels")
    return None


def faults(text: str) -> list[SourceFault]:
    """Every repeated key, number and lone surrogate that is refused, up to the first place that is no JSON."""
    reader = _Reader()
    state = "value"
    try:
        for token in _tokens(text):
            state = _STATES[state](reader, token)
            if len(reader.faults) >= MOST:
                return reader.faults
        if state != "end":
            raise _Broken(max(len(text.rstrip(" \t\n\r")), 1) - 1, _unfinished(reader))
    except _Broken as broken:
        reader.faults.append(SourceFault(broken.offset, tuple(reader.path), broken.message))
    return reader.faults


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text.rstrip(" \t\n\r")):
        kind = str(found.lastgroup)
        yield _Token(kind, found[kind], found.start(kind))


def _value(reader: _Reader, token: _Token) -> str:
    if token.text in _CLOSING:
        reader.open.append(token.text)
        reader.path.append(0 if token.text == "[" else "")
        reader.seen.append(set())
        return "first value" if token.text == "[" else "first key"
    if token.kind == "string":
        _check_string(reader, token)
    elif token.kind == "number":
        _check_number(reader, token)
    elif token.text in _CONSTANTS:
        reader.note(token, f"{token.text} is not JSON; write a number, null or text")
    elif token.text not in ("true", "false", "null"):
        raise _Broken(*_no_value(reader, token))
    return "next" if reader.open else "end"


def _first_value(reader: _Reader, token: _Token) -> str:
    return _close(reader) if token.text == "]" else _value(reader, token)


def _first_key(reader: _Reader, token: _Token) -> str:
    return _close(reader) if token.text == "}" else _key(reader, token)


def _key(reader: _Reader, token: _Token) -> str:
    if token.kind != "string":
        reader.path.pop()
        if token.text == "}":
            raise _Broken(reader.comma, "a comma before } is not JSON; remove it")
        raise _Broken(token.offset, _unexpected(token, "a key in double quotes"))
    key = json.loads(token.text)
    reader.path[-1] = key
    if key in reader.seen[-1]:
        reader.note(token, f"the key {quoted(key)} stands twice in one object; keep one of them")
    reader.seen[-1].add(key)
    _check_string(reader, token)
    return "colon"


def _colon(reader: _Reader, token: _Token) -> str:
    if token.text != ":":
        raise _Broken(token.offset, _unexpected(token, 'a ":" after the key'))
    return "value"


def _next(reader: _Reader, token: _Token) -> str:
    bracket = reader.open[-1]
    if token.text == _CLOSING[bracket]:
        return _close(reader)
    if token.text != ",":
        raise _Broken(token.offset, _unexpected(token, f'a "," or the closing "{_CLOSING[bracket]}"'))
    reader.comma = token.offset
    step = reader.path[-1]
    if isinstance(step, int):
        reader.path[-1] = step + 1
        return "value"
    return "key"


def _end(reader: _Reader, token: _Token) -> str:
    more = "there is more text after the end of the manifest; remove it"
    raise _Broken(token.offset, _unexpected(token, "") if token.text in ("/", "#") else more)


def _close(reader: _Reader) -> str:
    reader.path.pop()
    reader.open.pop()
    reader.seen.pop()
    return "next" if reader.open else "end"


_STATES: Final = {
    "value": _value,
    "first value": _first_value,
    "key": _key,
    "first key": _first_key,
    "colon": _colon,
    "next": _next,
    "end": _end,
}


def _check_string(reader: _Reader, token: _Token) -> None:
    if "\\u" in token.text and any("\ud800" <= character <= "\udfff" for character in json.loads(token.text)):
        reader.note(token, "this text holds a lone surrogate, which UTF-8 cannot carry; remove it")


def _check_number(reader: _Reader, token: _Token) -> None:
    if not token.text.lstrip("-").isdigit():
        if not math.isfinite(float(token.text)):
            reader.note(token, "this number is too large for JSON readers; write it as text")
    elif len(token.text) > MOST_DIGITS:
        reader.note(token, f"this integer has more than {MOST_DIGITS} digits; write it as text")


def _no_value(reader: _Reader, token: _Token) -> tuple[int, str]:
    if token.text == "]" and reader.open:
        return reader.comma, "a comma before ] is not JSON; remove it"
    return token.offset, _unexpected(token, "a value")


def _unexpected(token: _Token, expected: str) -> str:
    if token.text in ("/", "#"):
        return "JSON has no comments; remove this one"
    if token.text == "'":
        return "JSON writes text in double quotes, not in single ones"
    if token.text == '"':
        return "this text has no closing quote, or holds a line break, a control character or an unknown escape"
    return f"this is not JSON: {expected} is expected here"


def _unfinished(reader: _Reader) -> str:
    if reader.open:
        return f'the text ends before its last "{reader.open[-1]}" is closed'
    return "the file is empty; a manifest is one JSON object"
