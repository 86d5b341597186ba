"""`helm mcp serve` as MCP clients use it: the SDK's own, and the Inspector's command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from mcp import Client

from tests.example import ready, status
from tests.program import Helm, environment, run
from tests.rig import peers
from tests.rig.served import SERVE, talk
from tests.rig.terminal import DOWN, ENTER, ESC, at_terminal

INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
YES: Final = (DOWN, 0.3, ENTER)


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    return file


def confirm(id_: str, *keys: bytes | float) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "confirm", id_, stdin="terminal", size=(200, 24)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(0.3, *keys)
        screen.status()


def test_every_approved_operation_is_a_tool(app: Path) -> None:
    async def steps(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["app_recent", "app_endless", "app_close"]
        recent, close = tools["app_recent"], tools["app_close"]
        scalar = {"type": ["string", "number", "boolean", "null"], "maxLength": 4096}
        assert recent.input_schema == {
            "type": "object",
            "properties": {"status": scalar, "limit": scalar},
            "required": ["status", "limit"],
            "additionalProperties": False,
        }
        assert recent.title == "app recent"
        assert recent.description == "Reads by recent of the db connection app of Tickets."
        assert close.description == "Writes, once a person confirmed it, by close of the db connection app of Tickets."
        told = [
            (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
            for tool in (recent, close)
            if tool.annotations
        ]
        assert told == [(True, False), (False, True)]

    talk(steps)


def test_a_read_answers_with_the_envelope(app: Path) -> None:
    async def steps(client: Client) -> None:
        answer = await client.call_tool("app_recent", {"status": "open", "limit": 1})
        assert answer.is_error is False
        assert answer.structured_content == {
            "ok": True,
            "data": {"columns": ["id", "title", "status"], "rows": [[199, "Ticket 199", "open"]]},
            "error": None,
        }
        assert json.loads(answer.content[0].text) == answer.structured_content  # type: ignore[union-attr]  # a text
        refused = await client.call_tool("app_recent", {"status": "open"})
        assert (refused.is_error, refused.structured_content["error"]["code"]) == (True, "refused")
        unknown = await client.call_tool("app_drop", {})
        assert unknown.structured_content["error"] == {
            "code": "refused",
            "message": "there is no tool app_drop; list the tools again",
        }

    talk(steps)


def test_a_write_waits_for_the_person_whom_no_client_is(app: Path, helm: Helm) -> None:
    async def steps(client: Client) -> None:
        answer = await client.call_tool("app_close", {"id": 1})
        error = answer.structured_content["error"]
        assert (answer.is_error, error["code"], status(app)) == (True, "confirmation_required", "open")
        assert f"run `helm confirm {error['confirmation']}` in a terminal" in error["message"]
        (listed,) = helm("confirm", "--list", "-o", "json").json
        assert (listed["id"], listed["asked_by"]) == (error["confirmation"], "the MCP client mcp")
        await anyio.to_thread.run_sync(confirm, error["confirmation"], *YES)
        assert status(app) == "closed"

    talk(steps)


@pytest.mark.parametrize(("keys", "code", "after"), [(YES, None, "closed"), ((ESC,), "declined", "open")])
def test_with_wait_the_client_gets_what_the_person_decided(
    app: Path, helm: Helm, keys: tuple[bytes | float, ...], code: str | None, after: str
) -> None:
    told: list[str | None] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def steps(client: Client) -> None:
        async def decide() -> None:
            while not (listed := (await anyio.to_thread.run_sync(waiting, helm))):
                await anyio.sleep(0.05)
            await anyio.to_thread.run_sync(confirm, listed[0]["id"], *keys)

        async with anyio.create_task_group() as group:
            group.start_soon(decide)
            answer = await client.call_tool("app_close", {"id": 1}, progress_callback=progressed)
        error = answer.structured_content["error"]
        assert (error["code"] if error else None, status(app)) == (code, after)

    talk(steps, "--wait")
    assert told
    assert told[0] is not None
    assert told[0].startswith("ask the user to run `helm confirm ")


def test_a_client_that_goes_takes_its_question_back(app: Path, helm: Helm) -> None:
    async def steps(client: Client) -> None:
        async def ask() -> None:
            await client.call_tool("app_close", {"id": 1})

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while not await anyio.to_thread.run_sync(waiting, helm):
                await anyio.sleep(0.05)
            group.cancel_scope.cancel()
        while await anyio.to_thread.run_sync(waiting, helm):
            await anyio.sleep(0.05)

    talk(steps, "--wait")
    assert helm("history", "-n", "1", "-o", "json").json[0]["outcome"] == "declined"


def waiting(helm: Helm) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = helm("confirm", "--list", "-o", "json").json
    return listed


def test_it_ends_with_its_client_and_prints_nothing_else(app: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, *SERVE],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    garbage = b'\xff\xfe\n{"jsonrpc": "2.0"}\n[]\nnull\n' + b"[" * 100_000 + b"\n"
    out, err = process.communicate(garbage, timeout=30)
    assert (process.returncode, err) == (0, b"")
    assert all(json.loads(line)["error"] for line in out.splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(app: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, *SERVE],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "helm"
    process.send_signal(number)
    begun = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert (process.returncode in (128 + number, -number), err) == (True, b"")
    assert time.monotonic() - begun < 5


def inspected(*words: str) -> Any:
    command = [peers.NODE, peers.script(INSPECTOR), "--cli", sys.executable, *SERVE, *words]
    finished = run(command, env={"PATH": f"{os.path.dirname(peers.NODE)}:{os.environ['PATH']}"})
    assert finished.status in (0, 1, 5), finished
    return json.loads(finished.out)


def test_the_inspector_lists_and_calls(app: Path) -> None:
    names = [tool["name"] for tool in inspected("--method", "tools/list")["tools"]]
    assert names == ["app_recent", "app_endless", "app_close"]
    answer = inspected(
        *("--method", "tools/call", "--tool-name", "app_recent", "--tool-arg", "status=open", "--tool-arg", "limit=1")
    )
    assert answer["structuredContent"]["data"]["rows"] == [[199, "Ticket 199", "open"]]
