"""Tool calls, cold and through the agent, held against the SDK and fastmcp: npm's server-everything, and TDT."""

import json
from collections.abc import Iterator
from typing import Any, Final

from benchmarks import peers
from benchmarks.pairs import Cost, Row, compared, side_by_side
from benchmarks.stage import stage
from tests.program import run
from tests.rig import mcp_calls
from tests.rig import peers as programs

ECHO: Final = ("everything", "echo", "--arg", "message=hi")
ECHOED: Final = [{"type": "text", "text": "Echo: hi"}]
STATUS: Final = "tdt_workspace_status"


def everything(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        server = peers.everything()
        on.well("mcp", "add", "everything", "--", *server)
        on.approve("echoes", {"id": "everything", "kind": "mcp", "server": "everything", "operations": ["echo"]})
        cold = on.twin().call(*ECHO, data=_echoed)
        script = on.script("tool", "echo", '{"message": "hi"}', *server, data=_echoed)
        fastmcp = on.command(*peers.fastmcp(server, "echo", '{"message": "hi"}'), right=_content)
        with on.agent() as agent:
            warm = on.call(*ECHO, data=_echoed)
            ours, through, bare, other = side_by_side(rounds or 10, cold, warm, script, fastmcp)
            assert agent.calls() > len(through)
        yield compared("cold helm call on server-everything : SDK script", ours, bare, 0.8)
        yield compared("cold helm call on server-everything : fastmcp call", ours, other, 0.5)
        yield _through("server-everything", through, bare)


def _echoed(data: Any) -> bool:
    return bool(data == ECHOED)


def _content(out: bytes) -> bool:
    told = json.loads(out)
    return told["is_error"] is False and told["content"] == ECHOED


def _through(what: str, through: list[Cost], bare: list[Cost]) -> Row:
    # By the time that passes: what the agent and its server do is in no process tree of helm's.
    return compared(f"helm call on {what} through the agent : SDK script", through, bare, 0.15)


def tdt(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        program = programs.program("tdt")
        on.env["PATH"] = f"{program.removesuffix('/tdt')}:{on.env['PATH']}"
        # The script gets a workspace of its own, so that nothing of the one waits for the other.
        other = on.folder / "other"
        other.mkdir()
        for folder in (on.workspace, other):
            assert run([program, "init", "--agent", "none"], cwd=folder, env={**on.env}).status == 0
        on.approve("brain", {"id": "brain", "kind": "tdt-mcp", "operations": [STATUS]})
        cold = on.twin().call("brain", STATUS, data=_status)
        server = [program, "--workspace", str(other), "mcp", "serve", "--profile", "read-only"]
        script = on.script("tool", STATUS, "{}", *server, data=lambda data: data["ok"] and _status(data["data"]))
        with on.agent() as agent:
            warm = on.call("brain", STATUS, data=_status)
            # The agent's server has the workspace that the cold call wants; so does not its own twin.
            through, bare = side_by_side(rounds or 10, warm, script)
            assert agent.calls() > len(through)
        ours, again = side_by_side(rounds or 7, cold, script)
        yield compared("cold helm call on TDT : SDK script", ours, again, 0.8)
        yield _through("TDT", through, bare)


def _status(data: Any) -> bool:
    return isinstance(data["workspace_key"], str) and data["projects_total"] == 0


def limits(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        on.well("mcp", "add", "mine", "--", *mcp_calls.command("plain"))
        on.approve("mine", {"id": "mine", "kind": "mcp", "server": "mine", "operations": ["say", "huge"]})
        little, much = on.peak("mine", "say", "--arg", "message=hi"), on.peak("mine", "huge", code="too_large")
        told = f"{much:.1f} / {little:.1f} MiB"
        yield Row("a tool's result without end holds more than a small one", much - little, "MiB", 30, told)
