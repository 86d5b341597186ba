"""How `{name}` placeholders are written and filled in the path, the query and the body of an HTTP call."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from helm_cli.model.jsontext import Json, Scalar

# What an argument may be called: by a placeholder, and by an entry of a query's `params`.
NAME: Final = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
MOST_LEVELS: Final = 64

_PLACEHOLDER: Final = re.compile(r"\{(" + NAME + r")\}")


def names(text: str) -> tuple[str, ...]:
    """The names of the placeholders in a path or a query value, in order and possibly repeated."""
    return tuple(_PLACEHOLDER.findall(text))


def without(text: str) -> str:
    """The text with its placeholders taken out: what is sent as written."""
    return _PLACEHOLDER.sub("", text)


def exact(text: str) -> str | None:
    """The name that a body's string stands for: only one that is exactly `{name}` does (contract, HTTP)."""
    found = _PLACEHOLDER.fullmatch(text)
    return found.group(1) if found else None


def body_names(body: Json) -> tuple[str, ...]:
    """The names that stand for values anywhere in a body, in order and possibly repeated. Keys are never filled."""
    if isinstance(body, str):
        name = exact(body)
        return (name,) if name is not None else ()
    parts = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return tuple(name for part in parts for name in body_names(part))


def body_fault(body: Json) -> str | None:
    """Why a body cannot be declared, as a clause that follows its name; None if it can."""
    level: list[Json] = [body]
    for _ in range(MOST_LEVELS + 1):
        nested = [part for part in level if isinstance(part, (dict, list))]
        if not nested:
            return None
        level = [part for whole in nested for part in (whole.values() if isinstance(whole, dict) else whole)]
    return f"must not be nested deeper than {MOST_LEVELS} levels"


def fill(text: str, written: Callable[[str], str]) -> str:
    """The text with each placeholder replaced by `written(name)`, in one pass: a value is never filled again."""
    return _PLACEHOLDER.sub(lambda found: written(found.group(1)), text)


def fill_body(body: Json, arguments: Mapping[str, Scalar]) -> Json:
    """The body with each `"{name}"` replaced by its argument, whose JSON type is kept; a missing one is null."""
    if isinstance(body, str):
        name = exact(body)
        return body if name is None else arguments.get(name)
    if isinstance(body, list):
        return [fill_body(part, arguments) for part in body]
    if isinstance(body, dict):
        return {key: fill_body(part, arguments) for key, part in body.items()}
    return body
