"""What a reader of a review should look at twice: declarations that are allowed and may still do harm."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.broker import plugin_warnings, verbs
from helm_cli.grammar import glob, sql
from helm_cli.model.content import Content
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.review import Caution, Listed, Placed, Profiled
from helm_cli.model.tool import Tool
from helm_cli.model.wording import meant

# contract, MCP: "Review warning".
_MCP: Final = (
    "Helm cannot know which tools of a server write data. If a plugin lists a write tool under operations, "
    "Helm does not ask for confirmation. Check the list."
)
_UNCONFIRMED: Final = "and it stands under operations: it runs without confirmation"
_UNASKED: Final = "and its risk is read: it runs without confirmation"
# What statements that are no read begin with, in any of the engines: anything else is more likely a slip.
_WRITE_KEYWORD: Final = re.compile(
    "ABORT|ALTER|ANALYZE|ATTACH|BEGIN|CALL|CHECKPOINT|CLUSTER|COMMENT|COMMIT|COPY|CREATE|DEALLOCATE|DECLARE|DELETE|"
    "DETACH|DO|DROP|END|EXECUTE|FLUSH|GRANT|HANDLER|IMPORT|INSERT|INSTALL|KILL|LISTEN|LOAD|LOCK|MERGE|NOTIFY|OPTIMIZE|"
    "PREPARE|REFRESH|REINDEX|RELEASE|RENAME|REPAIR|REPLACE|RESET|REVOKE|ROLLBACK|SAVEPOINT|SET|START|TRUNCATE|"
    "UNINSTALL|UNLISTEN|UNLOCK|UPDATE|UPSERT|USE|VACUUM|XA"
)
# What a file with a secret is often called: in whichever folder, and where it usually lies under a root.
_SECRET_NAMES: Final = (
    ".env",
    ".env.local",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    "id_ed25519",
    "id_rsa",
    "server.key",
    "server.pem",
    "terraform.tfstate",
)
_SECRET_PATHS: Final = (
    *_SECRET_NAMES,
    ".aws/credentials",
    ".docker/config.json",
    ".git/config",
    ".kube/config",
    ".ssh/id_rsa",
    "credentials.json",
    "secrets.yaml",
)
_SECRET_WORD: Final = re.compile(r"secret|credential|passw|private|token", re.I)


def of(extension: Extension, servers: Iterable[Listed] = ()) -> tuple[Caution, ...]:
    """The warnings of an extension, in the order of its connections (design, section 6).

    Tools are judged by what those `servers` say of them that were asked, and else by their names.
    """
    servers = tuple(servers)
    asked = {server.connection: server for server in servers}
    cautions = tuple(
        caution for connection in extension.connections for caution in _connection(connection, asked.get(connection.id))
    )
    if extension.plugin is not None:
        return (*cautions, *plugin_warnings.of(extension, extension.plugin, servers))
    operations = (operation for connection in extension.connections for operation in connection.operations)
    if extension.write_permitted and all(operation.effect == "read" for operation in operations):
        return (
            Caution("", "", "the extension asks for permission to write and declares no write", word="permissions"),
            *cautions,
        )
    return cautions


def of_author(extension: Extension, content: Content) -> tuple[Placed, ...]:
    """The warnings that its author can do something about, each where that stands which it is about.

    What is said of every MCP server is for those who review (contract, MCP: "Review warning").
    """
    from helm_cli.dialects import whereabouts

    found = (caution for caution in of(extension) if caution.message not in (_MCP, plugin_warnings.MCP))
    return whereabouts.placed(content, found)


def of_profiles(connections: Iterable[Profiled]) -> Iterator[Caution]:
    """A warning for each connection whose profile is not as it should be: its calls will fail."""
    for connection, state, detail in connections:
        name = connection.profile
        # A detail of what differs begins with "the profile".
        told = f"the profile {name} {detail.removeprefix('the profile ')}, and the connection"
        if state == "missing":
            yield Caution(connection.id, "", f"the profile {name} is missing; add it with {_add(connection)}")
        elif state == "engine differs":
            engine = connection.spec.get("engine")
            yield Caution(connection.id, "", f"{told} wants {engine}: every call will fail")
        elif state == "sign-in differs":
            declares = "oauth2" if connection.spec.get("oauth2") else "no oauth2"
            yield Caution(connection.id, "", f"{told} declares {declares}: every call will be refused")
        elif state == "broken":
            yield Caution(connection.id, "", f"the profile {name} cannot be read: {detail}")


def _add(connection: Connection) -> str:
    command = f"helm {connection.group} add {connection.profile}"
    if connection.group == "mcp":
        return f"{command} -- COMMAND, or with {command} --url URL"
    if connection.group == "service":
        return f"{command} --base-url URL" + (" --oauth2 --client-id ID" if connection.spec.get("oauth2") else "")
    engine = connection.spec.get("engine")
    return f"{command} --engine {engine}" + (" --path FILE" if engine == "sqlite" else "")


def _connection(connection: Connection, server: Listed | None) -> Iterator[Caution]:
    if connection.kind in ("mcp", "tdt-mcp"):
        yield from _tools(connection, server)
    elif connection.kind == "db":
        yield from _queries(connection)
    elif connection.kind == "http":
        yield from _scopes(connection)
    elif connection.kind == "files":
        yield from _paths(connection)


def _tools(connection: Connection, server: Listed | None) -> Iterator[Caution]:
    if connection.kind == "mcp":
        yield Caution(connection.id, "", _MCP if "globs" not in connection.spec else plugin_warnings.MCP)
    if server is not None and server.problem:
        told = f"its server could not be asked, so its tools are judged by their names alone: {server.problem}"
        yield Caution(connection.id, "", told)
    for operation in connection.operations:
        if server is None or server.problem:
            message = _by_name(operation)
        elif operation.name in server.tools:
            message = _by_hints(operation, server.tools[operation.name])
        else:
            message = _no_tool(operation, server)
        if message:
            yield Caution(connection.id, operation.name, message)


def _by_name(operation: Operation) -> str:
    if operation.effect == "read" and verbs.writes(operation.name):
        return f"by its name this tool writes data, {_unconfirmed(operation)}"
    return ""


def _by_hints(operation: Operation, tool: Tool) -> str:
    if operation.effect != "read" or (tool.read_only and not tool.destructive):
        return ""
    unconfirmed = _unconfirmed(operation)
    if tool.destructive:
        return f"the server marks this tool as destructive, {unconfirmed}"
    if tool.read_only is False:
        return f"the server says that this tool is not read-only, {unconfirmed}"
    named = "by its name this tool writes data, and " if verbs.writes(operation.name) else ""
    return f"{named}the server does not mark {'it' if named else 'this tool'} as read-only, {unconfirmed}"


def _unconfirmed(operation: Operation) -> str:
    """What makes it a read: the list that it stands in, or the risk that its author claims."""
    return _UNASKED if "risk" in operation.spec else _UNCONFIRMED


def _no_tool(operation: Operation, server: Listed) -> str:
    close = meant(operation.name, server.offered)
    return "the server has no such tool" + (f" (did you mean {close}?)" if close else "") + ": every call will fail"


def _queries(connection: Connection) -> Iterator[Caution]:
    engine = connection.spec["engine"]
    for operation in connection.operations:
        text = operation.spec["sql"]
        if operation.effect == "read" and sql.writes(text, engine):
            yield Caution(connection.id, operation.name, _no_read(sql.first_keyword(text, engine)))
        elif operation.effect == "write" and "RETURNING" in sql.words(text, engine):
            message = "the rows of its RETURNING are not returned: a write answers with rowsAffected alone"
            yield Caution(connection.id, operation.name, message)


def _no_read(first: str) -> str:
    if first in sql.READS or _WRITE_KEYWORD.fullmatch(first):
        return "this SQL looks like a write and is declared as a read: the database will refuse it"
    begins = f"begins with {first}" if first else "begins with no word"
    return f"this SQL {begins}, not with {', '.join(sql.READS[:4])} or another that reads: the database will refuse it"


def _scopes(connection: Connection) -> Iterator[Caution]:
    scopes = connection.spec.get("oauth2", {}).get("scopes", ())
    wide = verbs.wide(scopes)
    if wide and all(operation.effect == "read" for operation in connection.operations):
        told = f"the scopes are wider than the calls, of which none writes: {', '.join(wide)}"
        yield Caution(connection.id, "", told, word="scopes")


def _paths(connection: Connection) -> Iterator[Caution]:
    for pattern in connection.spec["paths"]:
        last = pattern.rsplit("/", 1)[-1]
        hits = [path for path in _SECRET_PATHS if glob.matches(pattern, path)]
        if not hits and last.strip("*?"):
            hits = [name for name in _SECRET_NAMES if glob.matches(last, name)]
        if hits:
            told = f"the glob {pattern} matches files that often hold secrets: {_few(hits)}"
            yield Caution(connection.id, "", told, word=pattern)
        elif _SECRET_WORD.search(pattern):
            yield Caution(connection.id, "", f"the glob {pattern} names what sounds like a secret", word=pattern)


def _few(hits: list[str]) -> str:
    return ", ".join(hits[:4]) + (f" and {len(hits) - 4} more" if len(hits) > 4 else "")
