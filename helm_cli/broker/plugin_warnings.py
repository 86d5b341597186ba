"""What a reader of a plugin's review should look at twice, beside what its connections are warned of."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.broker import verbs
from helm_cli.dialects import plugin_yaml_cautions
from helm_cli.grammar import tool_glob
from helm_cli.kinds import tools
from helm_cli.model.extension import Extension, Operation
from helm_cli.model.plugin import TOOLS, Plugin
from helm_cli.model.review import Caution, Listed

# contract, MCP: "Review warning", in the words of this dialect.
MCP: Final = (
    "Helm cannot know which tools of a server write data. If a plugin gives a tool that writes the risk read, "
    "Helm does not ask for confirmation. Check the list."
)
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z0-9]")


def of(extension: Extension, plugin: Plugin, servers: Iterable[Listed]) -> Iterator[Caution]:
    """The warnings of a plugin's own sections, in their order."""
    servers = tuple(servers)
    yield from _scopes(extension, plugin)
    yield from _globs(extension, servers)
    for operation in _named_tools(extension):
        if operation.spec.get("kind") == "builtin":
            told = "it is a builtin tool of CoderHelm, and this helm has none: every call is refused"
            yield Caution(TOOLS, operation.name, told)
    yield from plugin_yaml_cautions.of(extension)
    hidden = {name for server in servers for name in server.offered} - _allowed(extension)
    for text in (*plugin.agents, *plugin.skills):
        if names := sorted(hidden & set(_WORD.findall(text.text))):
            told = f"{text.path} names {', '.join(names)}, which a server has and this plugin may not call"
            yield Caution("", "", told, text.path, names[0])


def of_calls(extension: Extension) -> Iterator[Caution]:
    """A warning for each named tool that is bound nowhere in this home, so that its calls would be refused."""
    for operation in _named_tools(extension):
        if operation.spec.get("kind") == "http" and not tools.is_bound(operation):
            step = f"helm plugin bind {extension.id} {operation.name} --service S --method M --path P"
            yield Caution(TOOLS, operation.name, f"it is bound to no service; once approved, run {step}")


def _named_tools(extension: Extension) -> tuple[Operation, ...]:
    connection = extension.connection(TOOLS)
    return connection.operations if connection is not None else ()


def _scopes(extension: Extension, plugin: Plugin) -> Iterator[Caution]:
    operations = [operation for connection in extension.connections for operation in connection.operations]
    if any(operation.effect != "read" for operation in operations):
        return
    for setting in plugin.settings:
        if wide := verbs.wide(setting.scopes):
            told = f"the scopes of the setting {setting.key} are wider than the tools, of which none writes"
            yield Caution("", "", f"{told}: {', '.join(wide)}", word=setting.key)


def _globs(extension: Extension, servers: Iterable[Listed]) -> Iterator[Caution]:
    asked = {server.connection: server for server in servers}
    for connection in extension.connections:
        globs, server = connection.spec.get("globs", ()), asked.get(connection.id)
        if not globs or server is None:
            continue
        if server.problem:
            told = "what its globs let in is not known, so it is refused until the plugin is reviewed again"
            yield Caution(connection.id, "", told)
            continue
        for glob in dict.fromkeys(glob for glob, _ in globs):
            if not any(tool_glob.matches(glob, name) for name in server.offered):
                yield Caution(connection.id, "", f"the glob {glob} lets in no tool of its server")


def _allowed(extension: Extension) -> set[str]:
    return {operation.name for connection in extension.connections for operation in connection.operations}
