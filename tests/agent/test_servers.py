"""MCP servers and sign-ins stay warm in the agent; of the servers none is left when it ended, however it did."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.agent.upkeep import Upkeep
from helm_cli.broker.stores import Stores
from tests.agent.conftest import approve
from tests.program import Helm, environment
from tests.rig import agents, oidc, peers, signing
from tests.rig.agents import Agent, eventually

LONG = "trigger-long-running-operation"


@pytest.fixture
def server(helm: Helm, app: Path, home: Path) -> None:
    """The extensions `one` and `two`, which call npm's server-everything."""
    command = [peers.NODE, peers.script(peers.EVERYTHING), "stdio"]
    assert helm("mcp", "add", "everything", "--", *command).status == 0
    for id_ in ("one", "two"):
        connection = {"id": id_, "kind": "mcp", "server": "everything", "operations": ["echo", LONG]}
        approve(helm, {"id": id_, "name": id_, "version": "1.0.0", "connections": [connection]})


def below(pid: int) -> list[int]:
    """All processes that this one started, and those that they did."""
    found = agents.children(pid)
    return found + [other for child in found for other in below(child)]


def echo(helm: Helm, connection: str = "one", env: dict[str, str | None] | None = None) -> None:
    finished = helm("call", connection, "echo", "--arg", "message=hi", env=env)
    assert finished.json == {"ok": True, "data": [{"type": "text", "text": "Echo: hi"}], "error": None}


def kept(agent: Agent) -> list[tuple[str, int]]:
    return [(one["what"], one["calls"]) for one in agent.status()["kept"]]


@pytest.mark.contract("C72", "C74")
@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_server_stays_for_its_extension_and_ends_with_the_agent(
    helm: Helm, home: Path, server: None, how: str
) -> None:
    with agents.agent(helm, home) as agent:
        echo(helm)
        warm = below(agent.pid)
        echo(helm)
        assert (below(agent.pid), kept(agent)) == (warm, [("mcp/everything for one", 2)])
        echo(helm, "two")
        assert set(warm) < set(below(agent.pid))
        assert kept(agent) == [("mcp/everything for one", 2), ("mcp/everything for two", 1)]
        # Another caller's programs and names are not those that the server was started with.
        for env in ({"PATH": os.environ["PATH"] + ":/x"}, {"USER": "someone"}):
            echo(helm, env=dict(env))
        assert kept(agent)[0] == ("mcp/everything for one", 2)
        servers = below(agent.pid)
        if how == "killed":
            agent.kill()
        else:
            assert helm("agent", "stop").status == 0
        eventually(lambda: all(agents.state(pid) in ("", "Z") for pid in servers))


def test_a_caller_that_ends_ends_its_call_of_a_tool(helm: Helm, home: Path, server: None) -> None:
    with agents.agent(helm, home) as agent:
        echo(helm)
        command = ["call", "one", LONG, "--arg", "duration=20", "--arg", "steps=20"]
        with subprocess.Popen(
            [sys.executable, "-m", "helm_cli", *command], env=environment({}), stdout=subprocess.DEVNULL
        ) as process:
            eventually(lambda: agent.status()["running"])
            begun = time.monotonic()
            process.kill()
        eventually(lambda: not agent.status()["running"])
        assert time.monotonic() - begun < 10
        assert helm("history", "-n", "1", "-o", "json").json[0]["outcome"] == "interrupted"
        echo(helm)


def test_a_read_of_a_tool_is_not_made_again_where_the_agent_is_lost(helm: Helm, home: Path, server: None) -> None:
    with agents.agent(helm, home) as agent:
        command = ["call", "one", LONG, "--arg", "duration=20", "--arg", "steps=20"]
        with subprocess.Popen(
            [sys.executable, "-m", "helm_cli", *command],
            env=environment({}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            eventually(lambda: agent.status()["running"])
            agent.kill()
            out, err = process.communicate(timeout=20)
    message = f"the background agent was lost while it made {LONG}; the tool may have run"
    assert json.loads(out) == {"ok": False, "data": None, "error": {"code": "unavailable", "message": message}}
    assert process.returncode == 10, err


def test_a_sign_in_that_calls_use_is_renewed_before_the_next_one_needs_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    signing.without_a_rate(home)
    faults: list[str] = []
    with oidc.provider() as provider, closing(Stores(home)) as stores, ThreadPoolExecutor(1) as pool:
        service = signing.sign_in(stores, provider)
        upkeep = Upkeep(stores, faults.append, minute=60.0)

        def looked(hours: int) -> str:
            upkeep.look(time.monotonic() + hours * 3600, pool)
            pool.submit(lambda: None).result()
            return signing.kept(home, "access-token")

        before = signing.kept(home, "access-token")
        signing.age(home, 30)
        assert looked(1) == before  # no call used it
        upkeep.warm(service)
        renewed = looked(2)
        assert renewed != before
        assert looked(3) == renewed
    assert faults == []
