"""Which module plans the calls of each kind, and the arguments that every planned kind takes."""

import math
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Target

KINDS: Final[dict[str, str]] = {
    "db": "helm_cli.kinds.db",
    "http": "helm_cli.kinds.http",
    "mcp": "helm_cli.kinds.mcp",
    "tdt-mcp": "helm_cli.kinds.tdt",
    "files": "helm_cli.kinds.files",
    "tools": "helm_cli.kinds.tools",
}

# In characters of a string argument (contract, HTTP and Database).
MOST_CHARACTERS: Final = 4096


class Kind(Protocol):
    """What a module named in KINDS offers. Each takes the target of its own kind."""

    def plan(
        self,
        extension: Extension,
        connection: Connection,
        operation: Operation,
        arguments: dict[str, Json],
        target: Target,
    ) -> Plan:
        """The exact request of one call. HelmError "refused" when the arguments or the target do not fit."""

    def schema(self, connection: Connection, operation: Operation) -> dict[str, Json]:
        """The JSON Schema (draft 2020-12) of the arguments that an operation takes, for callers that want one."""


def kind(name: str) -> Kind:
    """The module that plans calls of this kind, imported now. HelmError "refused" when there is none yet."""
    if name not in KINDS:
        raise HelmError("refused", f"this version of helm cannot call {name} connections yet; update helm")
    return cast(Kind, import_module(KINDS[name]))


def check_names(operation: Operation, arguments: Mapping[str, Json]) -> None:
    """Each argument must be one that the declaration uses. HelmError "refused", naming those it takes."""
    declared = tuple(dict.fromkeys(operation.params or ()))
    for name in arguments:
        if name not in declared:
            takes = f"it takes {', '.join(declared)}" if declared else "it takes no arguments"
            raise HelmError("refused", f"{operation.name} has no argument {shown(name)}; {takes}")


def check_scalars(arguments: Mapping[str, Json], most: int = MOST_CHARACTERS) -> None:
    """Each value must be a string of at most so many characters, a finite number, a boolean or null.

    HelmError "refused" naming the first that is not (contract, HTTP and Database).
    """
    for name, value in arguments.items():
        fault = _fault(value, most)
        if fault is not None:
            raise HelmError("refused", f"the argument {shown(name)} {fault}")


def sample(operation: Operation) -> dict[str, Json]:
    """Arguments that a plan can be made of where none are at hand: null, and a text where null is refused."""
    needed = operation.spec.get("path_names", ())
    return {name: "x" if name in needed else None for name in operation.params or ()}


def scalar(*, null: bool = True, most: int = MOST_CHARACTERS) -> dict[str, Json]:
    """The JSON Schema of an argument that `check_scalars` lets pass."""
    types: list[Json] = ["string", "number", "boolean"]
    return {"type": [*types, "null"] if null else types, "maxLength": most}


def object_schema(properties: dict[str, Json], required: Iterable[str]) -> dict[str, Json]:
    """The JSON Schema of arguments that have these properties and no others."""
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def shown(name: str) -> str:
    """An argument's name as a message may hold it: one line, short, no lone surrogate."""
    return ascii(name[:64]) if not name.isprintable() or len(name) > 64 else name


def _fault(value: Json, most: int) -> str | None:
    if isinstance(value, str):
        return _string_fault(value, most)
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number; pass a number, a string, true, false or null"
    if isinstance(value, list | dict):
        what = "a list" if isinstance(value, list) else "an object"
        return f"is {what}; pass a string, a number, true, false or null"
    return None


def _string_fault(value: str, most: int) -> str | None:
    if len(value) > most:
        return f"has {len(value)} characters; at most {most} are allowed"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds a lone surrogate, which no UTF-8 text can carry"
    return None
