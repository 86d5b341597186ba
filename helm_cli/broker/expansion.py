"""Which of a server's tools the globs of a plugin let in: those that a person saw at the review, and no others."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from helm_cli.broker import bindings
from helm_cli.broker.stores import Stores
from helm_cli.grammar import tool_glob
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plugin import height
from helm_cli.model.review import Listed
from helm_cli.store import tools
from helm_cli.store.approvals import Approval

Glob = tuple[str, str]

# Of the name of a tool that nobody wrote into a manifest.
MOST_CHARACTERS: Final = 256
# Of the tools of one server: every call goes by them, and a person has to read them all.
MOST_LET_IN: Final = 500


def globs(connection: Connection) -> tuple[Glob, ...]:
    """The globs of a connection, each with its risk; none in most."""
    found: tuple[Glob, ...] = connection.spec.get("globs", ())
    return found


def matching(connection: Connection, name: str) -> tuple[Glob, ...]:
    """The globs that let in the tool of this name."""
    return tuple(pair for pair in globs(connection) if tool_glob.matches(pair[0], name))


def lets_in(connection: Connection, name: str) -> bool:
    """Whether a tool that the server lists may become an operation. One that nobody could read or write never does."""
    fit = 0 < len(name) <= MOST_CHARACTERS and name.isprintable() and name == name.strip()
    return fit and bool(matching(connection, name))


def approved(stores: Stores, approval: Approval, extension: Extension) -> Extension:
    """The extension with all that its approval added to what it declares: tools of globs, and bindings that hold.

    Raises HelmError "state".
    """
    if any(globs(connection) for connection in extension.connections):
        seen = tools.names(stores.db, approval.workspace, approval.extension)
        extension = _expanded(extension, lambda connection: seen.get(connection.id, ()))
    return bindings.filled(stores, approval.workspace, extension, approval.digest)


def bounded(extension: Extension, servers: Iterable[Listed]) -> tuple[Listed, ...]:
    """What servers said, but for those of which globs would let in over 500 tools: that is their problem."""
    return tuple(_bounded(extension.connection(server.connection), server) for server in servers)


def _bounded(connection: Connection | None, server: Listed) -> Listed:
    if connection is None or not globs(connection):
        return server
    declared = {operation.name for operation in connection.operations}
    # The tools that a server lists for a connection are those that it names, or lets in.
    many = len(server.tools.keys() - declared)
    if many <= MOST_LET_IN:
        return server
    told = (
        f"the globs of {connection.id} let in {many:,} of its tools, and at most {MOST_LET_IN} are taken: narrow them"
    )
    return Listed(connection.id, {}, (), told)


def on_servers(extension: Extension, servers: Iterable[Listed]) -> Extension:
    """The extension with every tool that its globs let in on the servers as they are now, of those that answered."""
    offered = {server.connection: server.offered for server in servers if not server.problem}
    return _expanded(extension, lambda connection: offered.get(connection.id, ()))


def _expanded(extension: Extension, names: Callable[[Connection], Iterable[str]]) -> Extension:
    connections = tuple(
        _with(connection, names(connection)) if globs(connection) else connection
        for connection in extension.connections
    )
    return extension._replace(connections=connections)


def _with(connection: Connection, names: Iterable[str]) -> Connection:
    declared = {operation.name for operation in connection.operations}
    new = sorted({name for name in names if name not in declared and lets_in(connection, name)})
    return connection._replace(operations=(*connection.operations, *(_operation(connection, name) for name in new)))


def highest(risks: Iterable[str]) -> str:
    """The highest of some risks, at least one."""
    return max(risks, key=height)


def _operation(connection: Connection, name: str) -> Operation:
    """A tool that stands in no manifest: "let_in_by" are the globs that let it in; their highest risk counts."""
    found = matching(connection, name)
    risk = highest(risk for _, risk in found)
    spec: Mapping[str, object] = {"risk": risk, "let_in_by": tuple(glob for glob, _ in found)}
    return Operation(name, "read" if risk == "read" else "write", None, spec)
