"""Tool calls, cold and through the agent, held against the SDK and fastmcp: npm's server-everything, and TDT."""

import json
from collections.abc import Iterator
from typing import Any, Final

from benchmarks import peers
from benchmarks.pairs import Cost, Row, batch, compared, side_by_side
from benchmarks.stage import stage
from tests.program import run
from tests.rig import peers as programs

ECHO: Final = ("everything", "echo", "--arg", "message=hi")
ECHOED: Final = [{"type": "text", "text": "Echo: hi"}]
LINE: Final = {"connection": "everything", "operation": "echo", "args": {"message": "hi"}}
STATUS: Final = "tdt_workspace_status"


def everything(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        server = peers.everything()
        on.well("mcp", "add", "everything", "--", *server)
        on.approve("echoes", {"id": "everything", "kind": "mcp", "server": "everything", "operations": ["echo"]})
        cold = on.twin().call(*ECHO, data=_echoed)
        script = on.loop("tool", "echo", '{"message": "hi"}', *server, data=_echoed)
        fastmcp = on.command(*peers.fastmcp(server, "echo", '{"message": "hi"}'), right=_content)
        inspector = on.command(*peers.inspector(server, "echo", "message=hi"), right=_inspected)
        with on.agent() as agent:
            warm = on.call(*ECHO, data=_echoed)
            columns = side_by_side(rounds or 5, cold, warm, script(1), fastmcp, inspector)
            assert agent.calls() > len(columns[1])
        ours, through, bare, other, another = columns
        yield compared("cold : a script on the SDK", ours, bare, 0.8)
        yield compared("cold : fastmcp call", ours, other, 0.5)
        yield compared("cold : the MCP Inspector's --cli", ours, another, 0.8)
        yield _through(through, bare)
        with on.in_memory() as quick:
            yield batch(rounds, quick.batch(LINE, _echoed), script, on.nothing())


def _echoed(data: Any) -> bool:
    return bool(data == ECHOED)


def _content(out: bytes) -> bool:
    told = json.loads(out)
    return told["is_error"] is False and told["content"] == ECHOED


def _inspected(out: bytes) -> bool:
    return bool(json.loads(out) == {"content": ECHOED})


def _through(through: list[Cost], bare: list[Cost]) -> Row:
    # By the time that passes: what the agent and its server do is in no process tree of helm's.
    return compared("through the agent : that script", through, bare, 0.15)


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
        script = on.loop("tool", STATUS, "{}", *server, data=lambda data: data["ok"] and _status(data["data"]))
        with on.agent() as agent:
            warm = on.call("brain", STATUS, data=_status)
            # The agent's server has the workspace that the cold call wants; so does not its own twin.
            through, bare = side_by_side(rounds or 5, warm, script(1))
            assert agent.calls() > len(through)
        ours, again = side_by_side(rounds or 5, cold, script(1))
        yield compared("cold : a script on the SDK", ours, again, 0.8)
        yield _through(through, bare)
        with on.in_memory() as quick:
            line = {"connection": "brain", "operation": STATUS}
            # A call takes much longer there, and so differs by more.
            yield batch(rounds or 9, quick.batch(line, _status), script, on.nothing())


def _status(data: Any) -> bool:
    return isinstance(data["workspace_key"], str) and data["projects_total"] == 0
