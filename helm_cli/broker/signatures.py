"""How the operations of a connection are written with their arguments, for a person who looks for what to give."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from helm_cli import kinds
from helm_cli.broker import declared, offers
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model import files
from helm_cli.model.extension import Connection, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.tool import tool
from helm_cli.store import approvals, tools

# A server may name as many as it likes.
_MOST: Final = 16
_UNKNOWN: Final = "…"


def of(stores: Stores, workspace: Workspace, connection: str) -> list[str]:
    """Each operation that calls of this connection may name, as in `issues(owner, [state])` or `close(id) (writes)`.

    An argument that may be left out is in brackets; `…` stands for those that only a server knows, and did not tell
    when its tools were shown to a person. Where several extensions have the connection: those of each. HelmError
    "state".
    """
    found: dict[str, None] = {}
    for approval in approvals.enabled(stores.db, workspace.path):
        one = declared.extension(stores, approval).connection(connection)
        if one is not None:
            pins = tools.pinned(stores.db, workspace.path, approval.extension).get(connection, {})
            found |= dict.fromkeys(_written(one, operation, pins) for operation in one.operations)
    return list(found)


def _written(connection: Connection, operation: Operation, pins: tools.Pins) -> str:
    writes = " (writes)" if operation.effect != "read" else ""
    return f"{kinds.shown(operation.name)}({_arguments(connection, operation, pins)}){writes}"


def _arguments(connection: Connection, operation: Operation, pins: tools.Pins) -> str:
    if connection.kind == "files":
        return files.written(operation.name, connection.spec["root"])
    schema = offers.schema(connection, operation, tool(pins.get(operation.name)))
    if "properties" not in schema:
        return "" if schema.get("additionalProperties") is False else _UNKNOWN
    return ", ".join(_names(schema))


def _names(schema: dict[str, Json]) -> Iterator[str]:
    properties, required = schema["properties"], schema.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    for name in islice(names, _MOST):
        yield kinds.shown(name) if isinstance(required, list) and name in required else f"[{kinds.shown(name)}]"
    if len(names) > _MOST:
        yield _UNKNOWN
