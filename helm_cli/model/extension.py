"""What an extension is once its manifest was read, in whichever dialect it was written."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model.plugin import Plugin

Effect = Literal["read", "write"]
KINDS: Final = ("tdt-mcp", "mcp", "http", "files", "db")


class Operation(NamedTuple):
    """One named query, call, tool or file verb of a connection.

    `params` are the argument names that the declaration uses, in order and possibly repeated; None where the
    kind passes arguments on unchanged (mcp, tdt-mcp). `spec` is read by the operation's kind alone:
    db {"sql"}; http {"method", "path", "query", "body"}; mcp, tdt-mcp and files {}.
    """

    name: str
    effect: Effect
    params: tuple[str, ...] | None
    spec: Mapping[str, Any]


class Connection(NamedTuple):
    """One entry of a manifest's `connections`.

    `profile` is the name of the profile it uses (None for files and tdt-mcp), `group` the group that profile is
    kept in ("db", "service", "mcp"; None likewise). `spec` is read by the kind alone: db {"engine"};
    http {"oauth2"} where declared; files {"root", "paths"}; mcp and tdt-mcp {}.
    """

    id: str
    kind: str
    group: str | None
    profile: str | None
    operations: tuple[Operation, ...]
    spec: Mapping[str, Any]

    def operation(self, name: str) -> Operation | None:
        return next((operation for operation in self.operations if operation.name == name), None)


class Extension(NamedTuple):
    """An extension as declared. `unused` names the manifest's sections that the command line does not use.

    `plugin` is what a dialect declares beside connections, None where it has no such sections.
    """

    id: str
    name: str
    version: str
    description: str
    dialect: str
    write_permitted: bool
    connections: tuple[Connection, ...]
    unused: tuple[str, ...]
    plugin: Plugin | None = None

    def connection(self, name: str) -> Connection | None:
        return next((connection for connection in self.connections if connection.id == name), None)


class Fault(NamedTuple):
    """One thing that makes a folder no valid extension.

    `line` and `column` count from 1 and point at the offending key or value (1, 1 where the fault is the file's
    or the folder's). `path` is where in the document, as in `connections[0].queries.recent.sql`, "" for the
    whole. `message` is one lower-case sentence: what is wrong, what is allowed, a did-you-mean where one fits.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
