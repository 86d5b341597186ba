"""What a plugin's review warns of, beside what any connection is warned of."""

from collections.abc import Sequence
from typing import Any

import pytest

from helm_cli.broker import expansion, plugin_warnings, warnings
from helm_cli.kinds import tools
from helm_cli.model.plugin import Bound
from helm_cli.model.review import Listed
from helm_cli.model.tool import tool
from tests.broker.test_plugin_difference import plugin
from tests.rig.plugins import allow, named


def told(servers: Sequence[Listed] = (), text: str = "Write a post.", **sections: Any) -> list[str]:
    agent = f"---\nname: writer\ndescription: Writes.\n---\n{text}\n"
    extension = expansion.on_servers(plugin({"agents/writer.md": agent}, **sections), servers)
    found = warnings.of(extension, servers)
    return [one.message for one in found if not one.message.startswith("Helm cannot know")]


def test_a_plugin_without_anything_to_look_at_is_warned_of_nothing() -> None:
    assert told(tools=[allow("g", "list_issues"), named("find")]) == []
    assert told(tools=[]) == []


@pytest.mark.contract("C9")
def test_a_server_is_warned_of_in_the_words_of_this_dialect() -> None:
    (caution,) = warnings.of(plugin(tools=[allow("g", "list_issues")]))
    assert (caution.connection, caution.message) == ("g", plugin_warnings.MCP)


def test_a_write_of_risk_read_is_looked_at_twice() -> None:
    assert told(tools=[allow("g", "delete_repo"), allow("g", "drop_all", risk="write")]) == [
        "by its name this tool writes data, and its risk is read: it runs without confirmation"
    ]


def test_what_globs_let_in_is_told_where_it_is_not_plain() -> None:
    entries = [allow("g", "get_*", "none_*")]
    read = tool({"name": "get_issue", "annotations": {"readOnlyHint": True}})
    assert read is not None
    assert told([Listed("g", {"get_issue": read}, ("get_issue",))], tools=entries) == [
        "the glob none_* lets in no tool of its server",
    ]
    assert told([Listed("g", {}, (), "it is gone")], tools=entries) == [
        "its server could not be asked, so its tools are judged by their names alone: it is gone",
        "what its globs let in is not known, so it is refused until the plugin is reviewed again",
    ]


def test_wide_scopes_builtin_tools_and_unbound_ones() -> None:
    drive = {"key": "drive", "type": "connection", "provider": "oauth2", "scopes": ["files.read", "files.write"]}
    entries = [named("find"), named("notes", kind="builtin")]
    assert told(settings=[drive], tools=entries) == [
        "the scopes of the setting drive are wider than the tools, of which none writes: files.write",
        "it is a builtin tool of CoderHelm, and this helm has none: every call is refused",
    ]
    assert told(settings=[drive], tools=[named("post", "write")]) == []
    extension = plugin(tools=entries)
    (caution,) = plugin_warnings.of_calls(extension)
    assert (caution.operation, caution.message) == (
        "find",
        "it is bound to no service; once approved, run helm plugin bind acme/a find --service S --method M --path P",
    )
    (connection,) = extension.connections
    bound = tools.bound(connection.operations[0], Bound("find", "s", "GET", "/", None))
    filled = connection._replace(operations=(bound, connection.operations[1]))
    assert list(plugin_warnings.of_calls(extension._replace(connections=(filled,)))) == []


@pytest.mark.contract("P23")
def test_instructions_that_name_a_hidden_tool_of_a_server() -> None:
    servers = [Listed("g", {}, ("list_issues", "purge", "wipe-all"))]
    found = told(servers, "Use list_issues, then purge. Never wipe-all.", tools=[allow("g", "list_issues")])
    assert found[-1] == "agents/writer.md names purge, wipe-all, which a server has and this plugin may not call"
