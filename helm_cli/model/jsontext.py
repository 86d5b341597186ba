"""What JSON means in helm: strict in, canonical out, never NaN, never a lone surrogate."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Scalar: TypeAlias = bool | int | float | str | None

# What some programs begin a text with, which is no part of it.
BOM: Final = b"\xef\xbb\xbf"

# Python itself turns no longer integer into text.
MOST_DIGITS: Final = 4_000
# No argument and no answer that a person means is deeper, and deeper ones exhaust the stack of who reads them.
MOST_LEVELS: Final = 200
# Characters of a text that a message about it repeats.
_MOST_TOLD: Final = 40

# `json.dumps` makes a new one for each text, which costs more than most of helm's texts do.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_CANONICAL: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), sort_keys=True)


def parse(text: str | bytes, *, mend: bool = False) -> Json:
    """The value of a JSON text (RFC 8259), stricter than `json.loads`.

    Refused with a ValueError whose message is one lower-case clause: duplicate keys, NaN and infinities,
    numbers that overflow a double, integers over 4,000 digits, lone surrogates, nesting too deep to read,
    bytes that are not UTF-8. Other integers are kept exactly. No message repeats more than 40 characters of the text.
    `mend` is for what somebody else sent: no message repeats a key of it, and U+FFFD takes the place of each lone
    surrogate, for half an emoji is no reason to give up all of an answer.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = _decoded(text, _mending() if mend else _strict())
        if "\\u" in text or not text.isascii():
            value = repaired(value) if mend else _encodable(value)
        if text.count("[") + text.count("{") > MOST_LEVELS and levels(value) > MOST_LEVELS:
            raise RecursionError
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("the JSON is not UTF-8") from None
    except UnicodeEncodeError:
        raise ValueError("the JSON holds a lone surrogate, which no UTF-8 text can carry") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {_clause(error.msg)} at line {error.lineno} column {error.colno}") from None
    return value


def dump(value: Json) -> str:
    """Compact JSON in one line, keys in their own order, non-ASCII kept. Raises ValueError for NaN."""
    return _COMPACT.encode(value)


def canonical(value: Json) -> bytes:
    """The one byte string of a value: sorted keys, compact, ASCII only. What every digest is taken over."""
    return _CANONICAL.encode(value).encode("ascii")


def digest(value: Json) -> str:
    """The SHA-256 of `canonical(value)`, in lower-case hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def repaired(value: Json) -> Json:
    """The value with each lone surrogate replaced by U+FFFD and each NaN or infinity by its name."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [repaired(item) for item in value]
    if isinstance(value, dict):
        return {key: repaired(item) for key, item in zip(_names(value), value.values(), strict=True)}
    return value


def _names(value: dict[str, Json]) -> list[str]:
    """The keys of an object, repaired; those that would be one key then are numbered, so that none is lost."""
    names = [str(repaired(key)) for key in value]
    if len({*names}) == len(names):
        return names
    taken = {*value}
    numbers: dict[str, int] = {}
    for at, (name, key) in enumerate(zip(names, value, strict=True)):
        new = name
        while new != key and new in taken:
            numbers[name] = numbers.get(name, 1) + 1
            new = f"{name} ({numbers[name]})"
        names[at] = new
        taken.add(new)
    return names


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            shown = json.dumps(key[:_MOST_TOLD]) + ("…" if len(key) > _MOST_TOLD else "")
            raise ValueError(f"the key {shown} stands twice in one JSON object")
        found[key] = value
    return found


def _strange(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one JSON object")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:_MOST_TOLD]} is too large")
    return value


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits is too long")
    return int(digits)


def levels(value: Json) -> int:
    """How deep lists and objects stand in each other, found without recursion."""
    deep = 0
    level: list[Json] = [value]
    while any(isinstance(item, list | dict) for item in level):
        deep += 1
        inner: list[Json] = []
        for item in level:
            if isinstance(item, list):
                inner += item
            elif isinstance(item, dict):
                inner += item.values()
        level = inner
    return deep


def _decoded(text: str, decoder: json.JSONDecoder) -> Json:
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    value: Json = decoder.decode(text)
    return value


@cache
def _strict() -> json.JSONDecoder:
    return _decoder(_object)


@cache
def _mending() -> json.JSONDecoder:
    return _decoder(_strange)


def _decoder(object_: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    # As for the encoders.
    return json.JSONDecoder(object_pairs_hook=object_, parse_constant=_constant, parse_float=_float, parse_int=_integer)


def _encodable(value: Json) -> Json:
    """The value itself. UnicodeEncodeError where it holds a lone surrogate."""
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:]
