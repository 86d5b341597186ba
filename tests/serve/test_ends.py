"""However `helm mcp serve` ends, nothing that it began goes on; and whatever a client says is answered."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.example import ready
from tests.program import Helm, environment
from tests.rig import agents
from tests.rig.agents import eventually

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS most FROM n"
MANIFEST = {
    "id": "slow",
    "name": "Slow",
    "version": "1.0.0",
    "connections": [
        {
            "id": "slow",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {"endless": {"sql": ENDLESS, "params": []}},
        }
    ],
}
# How a client leaves -> the status that helm ends with.
ENDS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "eof": 0}


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("slow").mkdir()
    Path("slow/manifest.json").write_text(json.dumps(MANIFEST))
    digest = helm("plugin", "review", "slow", "-o", "json").json["digest"]
    assert helm("plugin", "review", "slow", "--approve", digest).status == 0
    return file


class Client:
    """A client that writes its own lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def say(self, text: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        self.ask(number, "tools/call", name=tool, arguments=arguments)

    def answer(self, number: int) -> Any:
        """The answer to the request of this number, whatever else is said before it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                return message
        raise AssertionError("no answer came")

    def leave(self, how: str) -> int:
        """Its end, as it comes within a few seconds."""
        assert self.process.stdin is not None
        if how == "eof":
            self.process.stdin.close()
        else:
            self.process.send_signal(getattr(signal, how))
        return self.process.wait(6)


@contextmanager
def client(*options: str) -> Iterator[Client]:
    process = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", "mcp", "serve", *options],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        found = Client(process)
        about = {"name": "t", "version": "1"}
        found.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
        assert found.answer(0)["result"]["serverInfo"]["name"] == "helm"
        found.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield found
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def outcome(helm: Helm) -> Any:
    listed = helm("history", "-n", "1", "-o", "json").json
    return listed[0]["outcome"] if listed else None


@pytest.mark.parametrize("how", ENDS)
def test_its_end_takes_questions_back(app: Path, helm: Helm, how: str) -> None:
    with client("--wait") as served:
        served.call(1, "app_close", id=1)
        eventually(lambda: helm("confirm", "--list", "-o", "json").json)
        assert served.leave(how) == ENDS[how]
    assert helm("confirm", "--list", "-o", "json").json == []
    assert outcome(helm) == "declined"


@pytest.mark.parametrize("how", ENDS)
def test_its_end_ends_what_it_reads(app: Path, helm: Helm, how: str) -> None:
    with client() as served:
        served.call(1, "slow_endless")
        eventually(lambda: outcome(helm) == "running")
        begun = time.monotonic()
        assert served.leave(how) == ENDS[how]
        assert time.monotonic() - begun < 5
    assert outcome(helm) == "interrupted"


def test_a_read_that_a_client_cancels_ends(app: Path, helm: Helm) -> None:
    with client() as served:
        served.call(1, "slow_endless")
        eventually(lambda: outcome(helm) == "running")
        served.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
        eventually(lambda: outcome(helm) == "interrupted")
        served.call(2, "app_recent", status="open", limit=1)
        assert served.answer(2)["result"]["isError"] is False


def test_a_read_through_the_agent_that_a_client_cancels_ends(app: Path, helm: Helm, home: Path) -> None:
    with agents.agent(helm, home) as agent, client() as served:
        served.call(1, "slow_endless")
        eventually(lambda: agent.status()["running"])
        served.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
        eventually(lambda: not agent.status()["running"])
        assert outcome(helm) == "interrupted"


UNREADABLE = {
    r'{"status":"\ud800","limit":1}': "the JSON holds a lone surrogate, which no UTF-8 text can carry",
    '{"status":"open","limit":1e400}': "1e400",
    '{"status":"open","limit":NaN}': "NaN",
    '{"status":"open","status":"closed","limit":1}': "status",
}


@pytest.mark.parametrize("arguments", UNREADABLE)
def test_arguments_that_no_json_carries_are_refused(app: Path, arguments: str) -> None:
    with client() as served:
        params = '{"name":"app_recent","arguments":' + arguments + "}"
        served.say(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":' + params.encode() + b"}")
        result = served.answer(7)["result"]
        assert result["isError"] is True
        envelope = result["structuredContent"]
        assert (envelope["ok"], envelope["data"], envelope["error"]["code"]) == (False, None, "refused")
        assert envelope["error"]["message"].startswith("the call cannot be read: ")
        assert UNREADABLE[arguments] in envelope["error"]["message"]
        assert json.loads(result["content"][0]["text"]) == envelope
        # And all goes on.
        served.call(8, "app_recent", status="open", limit=1)
        assert served.answer(8)["result"]["isError"] is False


def test_any_other_request_that_cannot_be_read_is_answered_too(app: Path) -> None:
    with client() as served:
        served.say(b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[1]}')
        error = served.answer("a")["error"]  # type: ignore[arg-type]  # an id may be a text
        assert error == {"code": -32600, "message": "the request cannot be read: it is no message of JSON-RPC"}


def test_a_client_that_reads_nothing_does_not_hold_it(app: Path) -> None:
    with client() as served:
        # More than fits into a pipe.
        for number in range(400):
            served.ask(number + 1, "tools/list")
        assert served.process.stdout is not None
        assert os.read(served.process.stdout.fileno(), 1)
        assert served.leave("SIGTERM") == ENDS["SIGTERM"]
