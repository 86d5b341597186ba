"""What the approved extensions of a workspace declare, by name alone, read in a moment.

A `manifest.json` is read here and not by its dialect, whose modules take longer to load than a shell should wait; what
is read was found valid when it was approved, and grants nothing. A test compares what comes of it.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from helm_cli.model.extension import Connection, Extension, Operation

_MANIFEST: Final = "manifest.json"
_PLUGIN: Final = "plugin.yaml"


class Declared(NamedTuple):
    """One connection, and the extension that it belongs to."""

    extension: str
    connection: Connection


def connections(db: sqlite3.Connection, workspace: str, named: str | None = None) -> Iterator[Declared]:
    """Those that calls in this workspace may name, of one extension where it is named. Raises sqlite3.Error.

    A plugin.yaml takes as long to read as everything else, so those come last: who found what they want needs none.
    """
    sql = (
        "SELECT extension, digest FROM approvals WHERE workspace = ? AND enabled"
        " ORDER BY digest IN (SELECT digest FROM contents WHERE path = ?), extension"
    )
    for extension, digest in db.execute(sql, (workspace, _PLUGIN)).fetchall():
        if named in (None, extension):
            for connection in _connections(db, digest):
                yield Declared(extension, _with_tools(db, workspace, extension, connection))


def plugin(db: sqlite3.Connection, workspace: str, extension: str) -> Extension | None:
    """A team's plugin as it was approved. Raises sqlite3.Error, and HelmError "state"."""
    sql = "SELECT digest FROM approvals WHERE workspace = ? AND extension = ?"
    found = db.execute(sql, (workspace, extension)).fetchone()
    data = _copy(db, found[0], _PLUGIN) if found else None
    return None if data is None else _built(data)


def arguments(db: sqlite3.Connection, workspace: str, declared: Declared, operation: Operation) -> Iterator[str]:
    """The names of the arguments of an operation, as far as anything declares them. Raises sqlite3.Error."""
    connection = declared.connection
    if connection.kind == "files":
        from helm_cli.model.files import TAKEN

        yield from ("project",) * (connection.spec.get("root") == "project")
        yield from TAKEN.get(operation.name, ())
    elif connection.kind == "mcp":
        yield from _of_tool(db, workspace, declared, operation.name)
    elif connection.kind == "tools":
        yield from _of_bound(db, workspace, declared.extension, operation)
    elif connection.kind == "http":
        yield from _of_call(operation.spec)
    else:
        yield from operation.params or ()


def _connections(db: sqlite3.Connection, digest: str) -> Iterator[Connection]:
    data = _copy(db, digest, _MANIFEST)
    if data is not None:
        yield from (_connection(entry) for entry in json.loads(data)["connections"])
    elif (data := _copy(db, digest, _PLUGIN)) is not None:
        yield from _built(data).connections


def _copy(db: sqlite3.Connection, digest: str, name: str) -> bytes | None:
    sql = "SELECT data FROM contents JOIN copies USING (sum) WHERE digest = ? AND path = ?"
    found = db.execute(sql, (digest, name)).fetchone()
    return bytes(found[0]) if found else None


def _built(data: bytes) -> Extension:
    from helm_cli import dialects
    from helm_cli.model.content import Content

    return dialects.build(Content({_PLUGIN: data}))


def _connection(entry: Mapping[str, Any]) -> Connection:
    kind = entry["kind"]
    if kind in ("db", "http"):
        declared: Mapping[str, Any] = entry["queries" if kind == "db" else "calls"]
        operations = [
            Operation(name, "write" if one.get("write") else "read", tuple(one.get("params", ())), one)
            for name, one in declared.items()
        ]
    else:
        operations = [Operation(name, _effect(kind, name), None, {}) for name in entry.get("operations", ())]
        operations += [Operation(name, "write", None, {}) for name in entry.get("writes", ())]
    return Connection(entry["id"], kind, None, None, tuple(operations), entry)


def _effect(kind: str, name: str) -> Any:
    return "write" if (kind, name) == ("files", "write") else "read"


def _with_tools(db: sqlite3.Connection, workspace: str, extension: str, connection: Connection) -> Connection:
    """The connection with the tools that its globs let in when it was approved (`broker/expansion.py`)."""
    globs = connection.spec.get("globs", ())
    if not globs:
        return connection
    from helm_cli.grammar import tool_glob

    declared = {operation.name for operation in connection.operations}
    names = (name for name in _pinned(db, workspace, extension, connection.id) if name not in declared)
    risks = {name: [risk for glob, risk in globs if tool_glob.matches(glob, name)] for name in names}
    more = (
        Operation(name, "read" if set(found) == {"read"} else "write", None, {})
        for name, found in risks.items()
        if found
    )
    return connection._replace(operations=(*connection.operations, *more))


def _pinned(db: sqlite3.Connection, workspace: str, extension: str, connection: str) -> list[str]:
    sql = (
        "SELECT name FROM tools WHERE workspace = ? AND extension = ? AND connection = ? AND definition <> 'null'"
        " ORDER BY name"
    )
    return [name for (name,) in db.execute(sql, (workspace, extension, connection))]


def _of_tool(db: sqlite3.Connection, workspace: str, declared: Declared, name: str) -> Iterator[str]:
    """What the server said of a tool when a person looked at it."""
    sql = "SELECT definition FROM tools WHERE workspace = ? AND extension = ? AND connection = ? AND name = ?"
    found = db.execute(sql, (workspace, declared.extension, declared.connection.id, name)).fetchone()
    schema = (json.loads(found[0]) or {}).get("inputSchema") if found else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    yield from properties if isinstance(properties, dict) else ()


def _of_bound(db: sqlite3.Connection, workspace: str, extension: str, operation: Operation) -> Iterator[str]:
    sql = "SELECT tool, service, method, path, body FROM bindings WHERE workspace = ? AND extension = ? AND tool = ?"
    found = db.execute(sql, (workspace, extension, operation.name)).fetchone()
    if found:
        from helm_cli.kinds import tools
        from helm_cli.model.plugin import Bound

        yield from tools.bound(operation, Bound(*found)).params or ()


def _of_call(call: Mapping[str, Any]) -> Iterator[str]:
    from helm_cli.grammar import template

    yield from template.names(call["path"])
    for value in call.get("query", {}).values():
        yield from template.names(value)
    yield from template.body_names(call.get("body"))
