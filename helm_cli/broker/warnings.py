"""What a reader of a review should look at twice: declarations that are allowed and may still do harm."""

import re
from collections.abc import Iterator
from typing import Final

from helm_cli.grammar import glob, sql
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.review import Caution

# contract, MCP: "Review warning".
_MCP: Final = (
    "Helm cannot know which tools of a server write data. If a plugin lists a write tool under operations, "
    "Helm does not ask for confirmation. Check the list."
)
_WRITE_WORD: Final = re.compile(
    "add|append|apply|approve|archive|assign|ban|bulk|cancel|clear|close|commit|copy|create|delete|deploy|destroy|"
    "disable|drop|edit|enable|exec|execute|fork|grant|import|insert|install|invite|kill|lock|merge|modify|move|patch|"
    "pay|post|publish|purge|push|put|reject|remove|rename|replace|reset|restart|resume|revert|revoke|run|save|"
    "schedule|send|set|share|start|stop|store|submit|trigger|truncate|uninstall|unlock|update|upload|upsert|write"
)
_READ_WORD: Final = re.compile("check|count|describe|fetch|find|get|list|query|read|search|show|status|view")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WRITE_SCOPE: Final = re.compile(
    r"(?:^|[^a-z])(?:write|readwrite|manage|admin|edit|delete|full|modify|send|create|update|all)(?:$|[^a-z])", re.I
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


def of(extension: Extension) -> tuple[Caution, ...]:
    """The warnings of an extension, in the order of its connections (design, section 6)."""
    cautions = tuple(caution for connection in extension.connections for caution in _connection(connection))
    operations = (operation for connection in extension.connections for operation in connection.operations)
    if extension.write_permitted and all(operation.effect == "read" for operation in operations):
        return (Caution("", "", "the extension asks for permission to write and declares no write"), *cautions)
    return cautions


def _connection(connection: Connection) -> Iterator[Caution]:
    if connection.kind in ("mcp", "tdt-mcp"):
        yield from _tools(connection)
    elif connection.kind == "db":
        yield from _queries(connection)
    elif connection.kind == "http":
        yield from _scopes(connection)
    elif connection.kind == "files":
        yield from _paths(connection)


def _tools(connection: Connection) -> Iterator[Caution]:
    if connection.kind == "mcp":
        yield Caution(connection.id, "", _MCP)
    for operation in connection.operations:
        if operation.effect == "read" and _looks_like_write(operation.name):
            message = "by its name this tool writes data, and it stands under operations: it runs without confirmation"
            yield Caution(connection.id, operation.name, message)


def _looks_like_write(name: str) -> bool:
    words = [word.lower() for word in _CAMEL.findall(name)]
    verb = next((word for word in words if _WRITE_WORD.fullmatch(word) or _READ_WORD.fullmatch(word)), "")
    return _WRITE_WORD.fullmatch(verb) is not None


def _queries(connection: Connection) -> Iterator[Caution]:
    for operation in connection.operations:
        if operation.effect == "read" and sql.writes(operation.spec["sql"], connection.spec["engine"]):
            message = "this SQL looks like a write and is declared as a read: the database will refuse it"
            yield Caution(connection.id, operation.name, message)


def _scopes(connection: Connection) -> Iterator[Caution]:
    scopes = connection.spec.get("oauth2", {}).get("scopes", ())
    wide = [scope for scope in scopes if _WRITE_SCOPE.search(scope)]
    if wide and all(operation.effect == "read" for operation in connection.operations):
        told = f"the scopes are wider than the calls, of which none writes: {', '.join(wide)}"
        yield Caution(connection.id, "", told)


def _paths(connection: Connection) -> Iterator[Caution]:
    for pattern in connection.spec["paths"]:
        last = pattern.rsplit("/", 1)[-1]
        hits = [path for path in _SECRET_PATHS if glob.matches(pattern, path)]
        if not hits and last.strip("*?"):
            hits = [name for name in _SECRET_NAMES if glob.matches(last, name)]
        if hits:
            told = f"the glob {pattern} matches files that often hold secrets: {_few(hits)}"
            yield Caution(connection.id, "", told)
        elif _SECRET_WORD.search(pattern):
            yield Caution(connection.id, "", f"the glob {pattern} names what sounds like a secret")


def _few(hits: list[str]) -> str:
    return ", ".join(hits[:4]) + (f" and {len(hits) - 4} more" if len(hits) > 4 else "")
