"""As what a program is offered each approved operation: under which name, with which arguments, and what it does."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from helm_cli import kinds
from helm_cli.broker import call, declared
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.tool import Tool, tool
from helm_cli.store import approvals, tools

# What the clients of the usual models take for the name of a tool.
LONGEST_NAME: Final = 64
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")
_HASH_DIGITS: Final = 8
# Of what a server says of a tool: each offer is read by a model, with every request.
MOST_DESCRIBED: Final = 1024


class Offer(NamedTuple):
    """One approved operation: `name` is unique in its workspace, `schema` is the JSON Schema of its arguments.

    Of an MCP tool, description and schema are its server's, as a person was shown them when they approved it. `risk` is
    what a team's plugin says of it, None in other extensions.
    """

    name: str
    title: str
    description: str
    schema: dict[str, Json]
    effect: Effect
    extension: str
    connection: str
    operation: str
    risk: str | None = None


def offers(stores: Stores, workspace: Workspace, only: str | None = None) -> list[Offer]:
    """Every operation of the enabled extensions of a workspace, in the order of extensions and declarations.

    Or those of `only` this extension. Those that may not be called (a write of an extension without permissions.write,
    a named tool that is not bound or that only publishes) are left out. Raises HelmError "state".
    """
    found = list(_found(stores, workspace, only))
    pins = {extension.id: tools.pinned(stores.db, workspace.path, extension.id) for extension, _, _ in found}
    return [
        _offer(name, extension, connection, operation, pins[extension.id].get(connection.id, {}))
        for name, (extension, connection, operation) in zip(_names(found), found, strict=True)
    ]


def schema(connection: Connection, operation: Operation, seen: Tool | None) -> dict[str, Json]:
    """The JSON Schema of an operation's arguments: that of its server where a person was shown it, else its kind's."""
    if seen is not None and seen.input_schema:
        # Clients refuse a whole list for one schema that is none of an object (MCP, Tool).
        return seen.input_schema if seen.input_schema.get("type") == "object" else {"type": "object"}
    return kinds.kind(connection.kind).schema(connection, operation)


def _found(stores: Stores, workspace: Workspace, only: str | None) -> Iterator[tuple[Extension, Connection, Operation]]:
    for approval in approvals.enabled(stores.db, workspace.path):
        if only is not None and approval.extension != only:
            continue
        extension = declared.extension(stores, approval)
        for connection in extension.connections:
            for operation in connection.operations:
                if _callable(extension, connection, operation):
                    yield extension, connection, operation


def _callable(extension: Extension, connection: Connection, operation: Operation) -> bool:
    if connection.kind == "tools":
        from helm_cli.kinds import tools as named

        return not call.only_publishes(connection, operation) and named.problem(extension.id, operation) is None
    return operation.effect == "read" or extension.write_permitted


def _plain(connection: Connection, operation: Operation) -> str:
    # A named tool is called by its own name (contract, plugin-yaml: tools).
    named = connection.kind == "tools"
    return _OTHER.sub("_", operation.name if named else f"{connection.id}_{operation.name}")


def _names(found: Sequence[tuple[Extension, Connection, Operation]]) -> Iterator[str]:
    """Of each `<connection>_<operation>`, with a hash where that is too long, or what another is called too."""
    plain = [_plain(connection, operation) for _, connection, operation in found]
    times = Counter(plain)
    # An operation may be called what the hash of another makes of that one's name.
    taken = {name for name in plain if _short(name) and times[name] == 1}
    for name, (extension, connection, operation) in zip(plain, found, strict=True):
        if name in taken and times[name] == 1:
            yield name
            continue
        whole = "\0".join((extension.id, connection.id, operation.name)).encode()
        marked = _marked(name, hashlib.sha256(whole).hexdigest(), taken)
        taken.add(marked)
        yield marked


def _short(name: str) -> bool:
    return len(name) <= LONGEST_NAME


def _marked(name: str, mark: str, taken: Collection[str]) -> str:
    """The name with as much of a hash as makes it one of its own."""
    lengths = range(_HASH_DIGITS, LONGEST_NAME - 1)
    marked = (f"{name[: LONGEST_NAME - length - 1]}_{mark[:length]}" for length in lengths)
    return next((one for one in marked if one not in taken), mark)


def _offer(name: str, extension: Extension, connection: Connection, operation: Operation, pins: tools.Pins) -> Offer:
    seen = tool(pins.get(operation.name))
    return Offer(
        name=name,
        title=f"{connection.id} {operation.name}",
        description=_description(extension, connection, operation, seen),
        schema=schema(connection, operation, seen),
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        risk=operation.spec.get("risk"),
    )


def _description(extension: Extension, connection: Connection, operation: Operation, seen: Tool | None) -> str:
    said = f" ({extension.description})" if extension.description else ""
    what = "Reads" if operation.effect == "read" else "Writes, once a person confirmed it,"
    if connection.kind == "tools":
        when = f" {operation.spec['description']}" if operation.spec.get("description") else ""
        return f"{what} by the tool {operation.name} of {extension.id}{said}.{when}"
    said_there = seen.description if seen is not None else ""
    more = "…" if len(said_there) > MOST_DESCRIBED else ""
    server = f" Its server says: {said_there[:MOST_DESCRIBED]}{more}" if said_there else ""
    return (
        f"{what} by {operation.name} of the {connection.kind} connection {connection.id}"
        f" of {extension.name or extension.id}{said}.{server}"
    )
