"""What the text that MySQL sends for each column type is in JSON."""

import json
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from helm_cli.model.jsontext import Json, parse

# An integer beyond it loses digits in a reader that keeps numbers as doubles (design, section 8).
_EXACT: Final = 2**53 - 1
# The character set of columns that hold bytes (information_schema.COLLATIONS).
_BINARY: Final = 63

# The types of Protocol::ColumnDefinition41 that are neither text nor the server's own writing of a value.
_INTEGERS: Final = (1, 2, 3, 9, 13)  # TINY, SHORT, LONG, INT24, YEAR
_LONGLONG: Final = 8
_FLOATS: Final = (4, 5)
_BIT: Final = 16
_JSON: Final = 245
_TEXTS: Final = (15, 249, 250, 251, 252, 253, 254)
_SHAPES: Final = (242, 255)  # VECTOR, GEOMETRY

# One of them stands in every fraction of a JSON text.
_MARKS: Final = frozenset(b".eE")

Convert = Callable[[bytes], Json]


def rows(columns: Sequence[Any], source: Iterable[Sequence[bytes | None]]) -> Iterator[list[Json]]:
    """Each row converted by the types of its columns, as `mysql.connector` describes them."""
    converts = [_convert(column[1], column[8]) for column in columns]
    for row in source:
        yield [None if raw is None else convert(raw) for convert, raw in zip(converts, row, strict=True)]


def _convert(kind: int, charset: int) -> Convert:
    if kind in _INTEGERS:
        return int
    if kind == _LONGLONG:
        return lambda raw: str(int(raw))  # ZEROFILL pads it
    if kind in _FLOATS:
        return float
    if kind == _BIT:
        return _bit
    if kind == _JSON:
        return _json
    if kind in _SHAPES or (kind in _TEXTS and charset == _BINARY):
        return lambda raw: b2a_base64(raw, newline=False).decode("ascii")
    return _text


def _bit(raw: bytes) -> Json:
    value = int.from_bytes(raw, "big")
    return value if value <= _EXACT else str(value)


def _json(raw: bytes) -> Json:
    try:
        value = parse(raw)
    except ValueError:  # a number that no double holds
        return _text(raw)
    return value if _MARKS.isdisjoint(raw) or _kept(raw) else _text(raw)


def _kept(raw: bytes) -> bool:
    """Whether a double has each fraction of the JSON text as it stands there."""
    from decimal import Decimal

    lost: list[str] = []

    def fraction(text: str) -> None:
        if Decimal(text) != Decimal(repr(float(text))):
            lost.append(text)

    json.loads(raw, parse_float=fraction)
    return not lost


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
