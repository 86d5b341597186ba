"""An agent that is killed, hangs or is ended is noticed: reads are made without it, and no write is sent twice."""

import json
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from helm_cli.agent import client, control
from helm_cli.broker import call
from helm_cli.broker.stores import Stores
from helm_cli.model.envelope import Envelope
from helm_cli.store import history
from tests.agent.conftest import counted, request
from tests.program import Finished, Helm
from tests.rig import agents
from tests.rig.agents import Agent, eventually
from tests.rig.terminal import CTRL_C, DOWN, ENTER, at_terminal

RECENT = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
ANSWER = '{"ok":true,"data":{"columns":["id","title","status"],"rows":[[199,"Ticket 199","open"]]},"error":null}\n'
WITHOUT = "helm: the background agent does not answer, so the call is made without it; see helm agent status\n"
ADD = {"ok": True, "data": {"rowsAffected": 1}, "error": None}


@contextmanager
def held(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, locked against everybody else until the block lets go of it or ends."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=20)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield db


class Write:
    """A confirmed write on its way, in a thread of its own."""

    def __init__(self, home: Path) -> None:
        self.envelope: Envelope = {}
        self.notices: list[str] = []
        stores = Stores(home)
        self.asked = call.ask(stores, request("count", "add"), listed=False)
        stores.close()
        self._home = home
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        stores = Stores(self._home, notice=self.notices.append)
        self.envelope = client.perform(stores, request("count", "add"), self.asked.token, self.asked.entry)
        stores.close()

    def answer(self) -> Envelope:
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self.envelope

    def code(self) -> object:
        error = self.answer()["error"]
        return error["code"] if isinstance(error, dict) else None


def outcomes(home: Path) -> list[str]:
    stores = Stores(home)
    try:
        return [entry.outcome for entry in history.entries(stores.db)]
    finally:
        stores.close()


def test_a_killed_agent_is_no_matter(helm: Helm, agent: Agent, app: Path) -> None:
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    agent.kill()
    eventually(lambda: not agents.children(agent.pid) if agents.state(agent.pid) else True)
    assert agent.socket().exists()
    assert helm(*RECENT) == Finished(0, ANSWER, "")
    assert helm("agent", "status") == Finished(10, "", "helm: no agent runs; start it with: helm agent start\n")
    with agents.agent(helm, agent.home) as another:
        assert another.pid != agent.pid
        assert helm(*RECENT) == Finished(0, ANSWER, "")
        assert another.calls() == 1


def test_a_hanging_agent_costs_a_second(helm: Helm, agent: Agent) -> None:
    agent.pause()
    begun = time.monotonic()
    assert helm(*RECENT) == Finished(0, ANSWER, WITHOUT)
    assert time.monotonic() - begun < 5
    status = helm("agent", "status")
    assert (status.status, status.out) == (10, "")
    assert f"(process {agent.pid}) does not answer" in status.err
    told = f"helm: the background agent (process {agent.pid}) does not answer here; end it with: helm agent stop\n"
    assert helm("agent", "start") == Finished(10, "", told)
    stopped = helm("agent", "stop")
    assert stopped == Finished(0, "", f"helm: the agent ended: process {agent.pid}\n")
    agent.gone()


class Read:
    """A read on its way, in a thread of its own."""

    def __init__(self, home: Path) -> None:
        self.envelope: Envelope = {}
        self.notices: list[str] = []
        self._home = home
        self._thread = threading.Thread(target=self._make)
        self._thread.start()
        eventually(lambda: outcomes(home) == ["running"])

    def _make(self) -> None:
        stores = Stores(self._home, notice=self.notices.append)
        self.envelope = client.perform(stores, request("app", "recent", status="open", limit=1))
        stores.close()

    def answer(self) -> Envelope:
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self.envelope


@pytest.mark.parametrize("how", ["killed", "hanging"])
def test_a_read_is_made_again_where_the_agent_is_lost(agent: Agent, app: Path, how: str) -> None:
    with held(app) as db:
        read = Read(agent.home)
        if how == "killed":
            agent.kill()
        else:
            agent.pause()
        eventually(lambda: read.notices)
        db.execute("ROLLBACK")
        assert read.answer() == json.loads(ANSWER)
    told = "the background agent was lost, so the call is made again without it; it may have run already"
    assert read.notices == [told]
    # The agent could not write down any more how its own attempt ended.
    assert outcomes(agent.home) == ["ok", "running"]


def test_a_write_that_the_agent_never_began_is_made_here(agent: Agent, app: Path) -> None:
    with held(agent.home / "state.db") as db:
        db.execute("ROLLBACK")
        write = Write(agent.home)
        assert write.answer() == ADD
        assert (counted(app), agent.calls()) == (1, 1)
        agent.pause()
        assert Write(agent.home).answer() == ADD
        agent.resume()
    assert (counted(app), agent.calls()) == (2, 1)


def test_a_write_handed_over_and_not_begun_is_made_here_once(agent: Agent, app: Path) -> None:
    asking = Stores(agent.home)
    asked = call.ask(asking, request("count", "add"), listed=False)
    asking.close()
    answers: list[Envelope] = []

    def send() -> None:
        stores = Stores(agent.home)
        answers.append(client.perform(stores, request("count", "add"), asked.token, asked.entry))
        stores.close()

    with held(agent.home / "state.db") as db:
        thread = threading.Thread(target=send)
        thread.start()
        # It has the token, and cannot look at it.
        eventually(lambda: agent.status()["running"])
        agent.kill()
        db.execute("ROLLBACK")
        thread.join(30)
    assert (answers, counted(app), outcomes(agent.home)) == ([ADD], 1, ["ok"])


@pytest.mark.parametrize("how", ["killed", "hanging"])
def test_a_write_that_was_begun_is_never_repeated(agent: Agent, app: Path, how: str) -> None:
    with held(app) as db:
        write = Write(agent.home)
        eventually(lambda: used(agent.home))
        if how == "killed":
            agent.kill()
        else:
            agent.pause()
            write.answer()
        db.execute("ROLLBACK")
        envelope = write.answer()
    assert envelope == {
        "ok": False,
        "data": None,
        "error": {
            "code": "unavailable",
            "message": "the background agent was lost while it sent add; look before you repeat it",
            "applied": "unknown",
        },
    }
    assert outcomes(agent.home) == ["unavailable"]
    agents.end(agent.home)
    time.sleep(0.2)  # for what must not happen any more
    assert counted(app) <= 1


def used(home: Path) -> bool:
    with closing(sqlite3.connect(home / "state.db", timeout=20)) as db:
        return bool(db.execute("SELECT 1 FROM confirmations WHERE state = 'used'").fetchone())


def test_kills_at_any_moment(helm: Helm, home: Path, app: Path, unlimited: None) -> None:
    chance = random.Random(7)
    done, unknown = 0, 0
    for _ in range(12):
        with agents.agent(helm, home) as agent:
            write = Write(home)
            time.sleep(chance.random() * 0.06)
            agent.kill()
            code = write.code()
        assert code in (None, "unavailable")
        done, unknown = done + (code is None), unknown + (code is not None)
        eventually(lambda: not_locked(app))
    assert done <= counted(app) <= done + unknown
    assert done


def not_locked(file: Path) -> bool:
    with closing(sqlite3.connect(file, isolation_level=None, timeout=0)) as db:
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        return True


def test_a_stop_lets_a_call_finish_and_takes_no_more(helm: Helm, agent: Agent, app: Path) -> None:
    stopped: list[Finished] = []
    with held(app) as db:
        read = Read(agent.home)
        stopping = threading.Thread(target=lambda: stopped.append(helm("agent", "stop")))
        stopping.start()
        eventually(lambda: not agent.socket().exists())
        assert agents.state(agent.pid) not in ("", "Z")
        db.execute("ROLLBACK")
        stopping.join(30)
    assert stopped == [Finished(0, "", f"helm: the agent ended: process {agent.pid}\n")]
    assert read.answer() == json.loads(ANSWER)
    assert (read.notices, outcomes(agent.home)) == ([], ["ok"])
    assert control.status(agent.home) is None


def test_ctrl_c_during_a_write_is_told_and_ends_it(helm: Helm, agent: Agent, app: Path) -> None:
    command = (sys.executable, "-m", "helm_cli", "call", "count", "add")
    with held(app), at_terminal(*command, size=(200, 24)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN, 0.3, ENTER)
        eventually(lambda: used(agent.home))
        screen.send(CTRL_C)
        screen.wait_for("interrupted while add was being sent; look before you repeat it")
        assert screen.status() == 130
        eventually(lambda: not agent.status()["running"])
    assert outcomes(agent.home) == ["interrupted"]
    assert counted(app) == 0
