"""`helm mcp serve --run`: a model that runs a plugin has its plugin's tools, and no others, while it may go on."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from helm_cli.broker import bindings
from helm_cli.broker.stores import Stores
from helm_cli.model.plugin import Bound
from helm_cli.store import approvals
from tests.example import ready as tickets
from tests.program import Helm
from tests.rig import http_server, tool_server
from tests.rig.served import talk
from tests.rig.team import AGENT, ID, PLUGIN, write

MANUAL = ("--arg", "brief=Announce it")


@pytest.fixture
def run(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of a plugin in a workspace that has another extension too, and a server of tools."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    tickets(helm, tmp_path)
    offer = [tool_server.tool(name) for name in ("list_posts", "save_post", "delete_posts")]
    Path("offer.json").write_text(json.dumps(offer))
    command = tool_server.command(tmp_path / "offer.json", tmp_path / "notes")
    assert helm("mcp", "add", "cms", "--", *command).status == 0
    write(Path("marketing"), {**PLUGIN, "budget": {"monthly_tokens": 100}})
    digest = helm("plugin", "review", "marketing", "-o", "json").json["digest"]
    assert helm("plugin", "review", "marketing", "--approve", digest).status == 0
    return str(helm("plugin", "run", ID, *MANUAL, "-o", "json").json["run"])


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def error(client: Client, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any] | None:
    content = (await client.call_tool(tool, arguments or {})).structured_content
    assert content is not None
    found: dict[str, Any] | None = content["error"]
    return found


@pytest.mark.contract("P23")
def test_a_run_has_its_plugins_tools_and_no_others(run: str, helm: Helm) -> None:
    async def steps(client: Client) -> None:
        assert await names(client) == ["cms_list_posts", "cms_save_post"]
        assert await error(client, "cms_list_posts") is None
        for other in ("app_recent", "cms_delete_posts", "send_post", "count_posts", "read_notes"):
            told = {"code": "refused", "message": f"there is no tool {other}; list the tools again"}
            assert await error(client, other) == told
        waiting = await error(client, "cms_save_post", {"text": "x"})
        assert waiting is not None
        assert waiting["code"] == "confirmation_required"
        (listed,) = helm("confirm", "--list", "-o", "json").json
        assert (listed["id"], listed["asked_by"]) == (
            waiting["confirmation"],
            f"the MCP client mcp in the run {run}",
        )

    talk(steps, "--run", run)
    assert Path("notes").read_text() == "started\ncalled list_posts\n"

    async def all_of_them(client: Client) -> None:
        assert await names(client) == [
            "cms_list_posts",
            "cms_save_post",
            "app_recent",
            "app_endless",
            "app_close",
        ]

    talk(all_of_them)


@pytest.mark.contract("P20", "P23")
def test_a_named_tool_is_called_by_its_own_name_once_it_is_bound(run: str, helm: Helm, home: Path) -> None:
    with http_server.serving(http_server.echoing) as server:
        assert helm("service", "add", "blog", "--base-url", server.url, "--no-token").status == 0
        stores = Stores(home)
        approval = approvals.find(stores.db, os.getcwd(), ID)
        assert approval is not None
        for tool, method, body in (("count_posts", "GET", None), ("send_post", "POST", '{"text": "{body}"}')):
            bindings.bind(stores, approval, Bound(tool, "blog", method, f"/{tool}?by={{author}}", body))
        stores.close()

        async def steps(client: Client) -> None:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["cms_list_posts", "cms_save_post", "count_posts"]
            assert tools["count_posts"].description == (
                f"Reads by the tool count_posts of {ID} (Writes posts.). How many posts there are."
            )
            answer = await client.call_tool("count_posts", {"author": "ada"})
            assert answer.structured_content is not None
            assert answer.structured_content["data"]["target"] == "/count_posts?by=ada"
            assert await error(client, "send_post", {"author": "ada", "body": "x"}) is not None

        talk(steps, "--run", run)
        assert [request.target for request in server.received] == ["/count_posts?by=ada"]
    listed = helm("plugin", "run", ID, *MANUAL, "-o", "json").json["tools"]
    assert [(tool["name"], tool["risk"]) for tool in listed][2:] == [("count_posts", "read")]


@pytest.mark.contract("P33")
def test_beyond_the_budget_its_calls_are_refused(run: str, helm: Helm) -> None:
    async def steps(client: Client) -> None:
        assert await error(client, "cms_list_posts") is None
        assert helm("plugin", "usage", ID, "--add", "100", "--run", run).status == 0
        for tool in ("cms_list_posts", "cms_save_post"):
            found = await error(client, tool)
            assert found is not None
            assert found["code"] == "refused"
            assert found["message"].startswith(f"{ID} has used 100 of its 100 tokens of ")

    talk(steps, "--run", run)
    assert helm("confirm", "--list", "-o", "json").json == []


def test_a_run_whose_plugin_changed_has_no_tools(run: str, helm: Helm, tmp_path: Path) -> None:
    changed = f"{ID} changed since it was approved for {tmp_path}, or its folder is gone; run helm plugin review"
    anew = f"{ID} was approved anew since the run {run} started; start another with helm plugin run"

    async def steps(client: Client) -> None:
        assert len(await names(client)) == 2
        Path("marketing/agents/writer.md").write_text(AGENT + "More.\n")
        found = await error(client, "cms_list_posts")
        assert found == {"code": "refused", "message": f"{changed} {tmp_path}/marketing"}
        digest = helm("plugin", "review", "marketing", "-o", "json").json["digest"]
        assert helm("plugin", "review", "marketing", "--approve", digest).status == 0
        with pytest.raises(MCPError) as refused:
            await names(client)
        assert refused.value.error.message == anew
        assert await error(client, "cms_list_posts") == {"code": "refused", "message": anew}

    talk(steps, "--run", run)
    assert not Path("notes").exists()
