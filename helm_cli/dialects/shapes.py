"""What a manifest that was found valid must hold wherever it is read again: the right kind of value, or an error.

Each raises TypeError or ValueError, so that nothing is ever granted that was not declared.
"""

from typing import Any


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text was expected")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false was expected")
    return value


def number(value: Any, least: int) -> int:
    """A whole number that is not below `least`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number was expected")
    if value < least:
        raise ValueError("a larger number was expected")
    return value


def items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value


def texts(value: Any) -> tuple[str, ...]:
    return tuple(text(entry) for entry in items(value))


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def one_of(value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError("an unknown word")
    return text(value)
