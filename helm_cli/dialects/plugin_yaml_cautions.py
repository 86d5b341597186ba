"""What to look at twice in the instructions of a plugin: tools they name that no run can call."""

import re
from collections.abc import Iterator
from typing import Final

from helm_cli.grammar import tool_glob
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.plugin import Instructions, Plugin
from helm_cli.model.review import Caution

_MOST: Final = 5
# How model hosts write the tool of a server, and what in a code span can be a tool's name.
_OF_SERVER: Final = re.compile(r"\bmcp__([a-z0-9][a-z0-9_-]*?)__([A-Za-z0-9_.-]*[A-Za-z0-9])")
_IN_CODE: Final = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\(\))?`")


def of(extension: Extension) -> tuple[Caution, ...]:
    """The warnings about a plugin's agents and skills, none for an extension of another dialect."""
    plugin = extension.plugin
    if plugin is None:
        return ()
    found = [caution for text in (*plugin.agents, *plugin.skills) for caution in _text(text, extension, plugin)]
    if not plugin.agents:
        told = "the plugin has no agent: no file of it is one by agents, agents/*.md where it names none"
        found.insert(0, Caution("", "", told, word="agents"))
    return tuple(found)


def _text(text: Instructions, extension: Extension, plugin: Plugin) -> Iterator[Caution]:
    named = [
        *((f"{server}'s {tool}", f"mcp__{server}__{tool}") for server, tool in _unlisted(text, extension)),
        *((word, f"`{word}") for word in _words(text.text) if not _known(extension, plugin, word)),
    ]
    for name, word in named[:_MOST]:
        told = f"{text.path} names {name}, which tools does not list: if that is a tool, no run can call it"
        yield Caution("", "", told, text.path, word)
    if len(named) > _MOST:
        told = f"{text.path} names {len(named) - _MOST} more that tools does not list"
        yield Caution("", "", told, text.path, named[_MOST][1])


def _unlisted(text: Instructions, extension: Extension) -> list[tuple[str, str]]:
    return [(server, tool) for server, tool in _of_servers(text.text) if not _has(extension, server, tool)]


def _of_servers(text: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys((found[1], found[2]) for found in _OF_SERVER.finditer(text)))


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(found[1] for found in _IN_CODE.finditer(text)))


def _has(extension: Extension, server: str, tool: str) -> bool:
    connection = extension.connection(server)
    return connection is not None and _allows(connection, tool)


def _allows(connection: Connection, tool: str) -> bool:
    globs = connection.spec.get("globs", ())
    return connection.operation(tool) is not None or any(tool_glob.matches(glob, tool) for glob, _ in globs)


def _known(extension: Extension, plugin: Plugin, word: str) -> bool:
    """Whether a word in a code span is a tool that is listed, or something else that the plugin declares."""
    words = {setting.key for setting in plugin.settings} | {publish.role for publish in plugin.publishes}
    words |= {name for trigger in plugin.triggers for name in trigger.form}
    return word in words or any(_allows(connection, word) for connection in extension.connections)
