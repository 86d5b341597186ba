"""A tool's plan: the server, the tool, and the arguments exactly as they were given."""

from typing import Any

import pytest

from helm_cli.kinds import kind, mcp
from helm_cli.kinds.mcp import MOST_BYTES
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.jsontext import dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Server


def plan(arguments: dict[str, Any], effect: Effect = "read") -> Plan:
    operation = Operation("list_issues", effect, None, {})
    connection = Connection("gh", "mcp", "mcp", "github", (operation,), {})
    extension = Extension("issues", "Issues", "1", "", "helm", True, (connection,), ())
    return mcp.plan(extension, connection, operation, arguments, Server("github", ("/secret/server",), folder="/x"))


def test_a_tool_call() -> None:
    arguments: dict[str, Any] = {"owner": "me", "labels": ["a", {"b": None}], "page": 1.0, "": True}
    assert plan(arguments) == Plan(
        kind="mcp",
        effect="read",
        extension="issues",
        connection="gh",
        operation="list_issues",
        group="mcp",
        profile="github",
        driver="mcp",
        shape="content",
        title="Confirm tool call",
        verb="Call",
        noun="tool",
        request={"server": "github", "tool": "list_issues", "arguments": arguments},
    )
    assert plan(arguments, "write") == plan(arguments)._replace(effect="write")
    assert kind("mcp").plan is mcp.plan


def test_arguments_may_have_a_mebibyte() -> None:
    fitting = "é" * ((MOST_BYTES - len(dump({"a": ""}))) // 2)
    assert plan({"a": fitting}).request["arguments"] == {"a": fitting}
    with pytest.raises(HelmError) as caught:
        plan({"a": fitting + "x"})
    told = "the arguments of list_issues have 1048577 bytes as JSON; at most 1048576 are allowed"
    assert (caught.value.code, caught.value.message) == ("refused", told)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"a": "\ud800"}, "hold a lone surrogate, which no UTF-8 text can carry"),
        ({"\udcff": 1}, "hold a lone surrogate, which no UTF-8 text can carry"),
        ({"a": [float("nan")]}, "hold a number that is not finite, or are nested too deeply"),
    ],
)
def test_what_no_json_carries_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(HelmError) as caught:
        plan(arguments)
    assert (caught.value.code, caught.value.message) == ("refused", f"the arguments of list_issues {reason}")


def test_depth_is_refused() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(HelmError) as caught:
        plan({"a": deep})
    assert caught.value.code == "refused"
