"""A call through the agent is the same call: the same answer, exit status, notices and history as without one."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.agent.conftest import counted
from tests.program import Finished, Helm, environment
from tests.rig import agents
from tests.rig.agents import Agent, eventually
from tests.rig.terminal import DOWN, ENTER, at_terminal

# Command -> how many calls the agent makes for it.
CALLS = {
    "call app recent --arg status=open --arg limit=2": 1,
    "call app recent --arg status=open --arg limit=2 -o csv": 1,
    "call app recent --arg status=open --arg limit=2 -o text": 0,
    "call app recent --arg status=open --arg limit=2 --plugin tickets": 1,
    "call app recent --arg status=open --arg limit=2 --plugin counting": 1,
    "call app recent --arg status=open": 1,
    "call app recent --arg status=open --arg limit=2 --arg more=1": 1,
    "call app endless": 1,
    "call app missing": 1,
    "call nowhere recent": 1,
    "call count failing": 1,
    "call count add": 0,
    "call app recent --arg status=open --arg limit=2 --dry-run": 0,
}


def history(helm: Helm) -> list[dict[str, object]]:
    """All of it, newest first, without what is different each time."""
    lines: list[dict[str, object]] = helm("history", "--all", "-n", "10000", "-o", "json").json
    return [{name: value for name, value in line.items() if name not in ("at", "ms")} for line in lines]


def comparable(finished: Finished) -> Finished:
    """Without what is different in every call: a confirmation's id."""
    if "confirmation" not in finished.out:
        return finished
    id_ = json.loads(finished.out)["error"]["confirmation"]
    return Finished(finished.status, *(text.replace(id_, "ID") for text in (finished.out, finished.err)))


def test_a_call_is_the_same_with_the_agent(helm: Helm, home: Path, app: Path, unlimited: None) -> None:
    without = [comparable(helm(*line.split())) for line in CALLS]
    told = history(helm)
    with agents.agent(helm, home) as agent:
        made = 0
        for line, expected in zip(CALLS, without, strict=True):
            assert comparable(helm(*line.split())) == expected
            assert agent.calls() - made == CALLS[line], line
            made = agent.calls()
    assert history(helm) == told + told


@pytest.mark.contract("C119")
def test_the_rate_is_counted_once_for_both(helm: Helm, home: Path, app: Path) -> None:
    home.joinpath("config.toml").write_text("[limits]\ncalls_per_minute = 3\n")
    line = ["call", "app", "recent", "--arg", "status=open", "--arg", "limit=1"]
    assert helm(*line).status == 0
    with agents.agent(helm, home) as agent:
        assert [helm(*line).status for _ in range(3)] == [0, 0, 8]
        assert agent.calls() == 3
        # The configuration is read anew for each call.
        home.joinpath("config.toml").write_text("[limits]\ncalls_per_minute = 4\n")
        assert [helm(*line).status for _ in range(2)] == [0, 8]
    assert helm(*line).status == 8


def test_a_call_that_waits_for_its_place_says_so_and_gets_it(helm: Helm, home: Path, app: Path) -> None:
    home.joinpath("config.toml").write_text("[limits]\ncalls_per_minute = 1\n")
    line = ["call", "app", "recent", "--arg", "status=open", "--arg", "limit=1"]
    with agents.agent(helm, home) as agent:
        assert helm(*line).status == 0
        with closing(sqlite3.connect(home / "state.db")) as db, db:
            db.execute("UPDATE calls SET at = at - 58")
        waited = helm(*line, "--wait-rate")
        assert (waited.status, waited.json["ok"]) == (0, True)
        assert waited.err.startswith("helm: waiting ")
        assert waited.err.endswith(" s: " + waited.err.partition(" s: ")[2])
        assert "the extension tickets made 1 calls within a minute" in waited.err
        assert agent.calls() == 3
    assert [entry["outcome"] for entry in history(helm)] == ["ok", "rate_limited", "ok"]


@pytest.mark.contract("C46", "C105", "C111")
def test_a_write_is_confirmed_here_and_sent_by_the_agent(helm: Helm, app: Path, agent: Agent) -> None:
    command = (sys.executable, "-m", "helm_cli", "call", "count", "add")
    for keys, status, after, calls in ((ENTER,), 6, 0, 0), ((DOWN, 0.3, ENTER), 0, 1, 1):
        with at_terminal(*command, size=(200, 24)) as screen:
            screen.wait_for("Any other key cancels")
            screen.send(*keys)
            assert screen.status() == status
        assert (counted(app), agent.calls()) == (after, calls)
    assert [entry["outcome"] for entry in history(helm)] == ["ok", "declined"]


@pytest.mark.contract("C109")
def test_a_write_confirmed_in_another_terminal_is_sent_by_the_agent(helm: Helm, app: Path, agent: Agent) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", "call", "count", "add", "--wait"],
        env=environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        eventually(lambda: helm("confirm", "--list", "-o", "json").json)
        (pending,) = helm("confirm", "--list", "-o", "json").json
        with at_terminal(sys.executable, "-m", "helm_cli", "confirm", pending["id"], size=(200, 24)) as screen:
            screen.wait_for("Any other key cancels")
            screen.send(DOWN, 0.3, ENTER)
            assert screen.status() == 0
        out, _ = waiting.communicate(timeout=20)
    finally:
        if waiting.poll() is None:
            waiting.kill()
            waiting.communicate()
    assert json.loads(out) == {"ok": True, "data": {"rowsAffected": 1}, "error": None}
    assert (waiting.returncode, counted(app), agent.calls()) == (0, 1, 1)


def test_a_batch_is_the_same_too(helm: Helm, home: Path, app: Path) -> None:
    read = {"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 1}}
    lines = [read, {**read, "id": 2}, {**read, "operation": "nothing"}, {"connection": "count", "operation": "failing"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for jobs in ("1", "3"):
        without = helm("call", "--batch", "-", "--jobs", jobs, stdin=text)
        with agents.agent(helm, home):
            assert helm("call", "--batch", "-", "--jobs", jobs, stdin=text) == without


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_caller_that_ends_ends_its_call(helm: Helm, app: Path, agent: Agent, number: signal.Signals) -> None:
    line = ["call", "count", "slow", "--arg", "rows=1000000000"]
    with subprocess.Popen(
        [sys.executable, "-m", "helm_cli", *line], env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        eventually(lambda: agent.status()["running"])
        begun = time.monotonic()
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130 if number == signal.SIGINT else -number, b"", b"")
    eventually(lambda: not agent.status()["running"])
    assert time.monotonic() - begun < 3
    assert [entry["outcome"] for entry in history(helm)] == ["interrupted"]
    # The process of the statement was ended with it.
    assert agents.children(agent.pid) == []
    assert helm("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1").status == 0
