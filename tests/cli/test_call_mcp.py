"""`helm call` on MCP servers, from the command line to the tool and back."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.program import Helm, run
from tests.rig import mcp_extension
from tests.rig.mcp_calls import SECRET, command, gone, groups
from tests.rig.mcp_extension import FILE
from tests.rig.mcp_http import http_server
from tests.rig.terminal import DOWN, ENTER, ESC, at_terminal, uncounted
from tests.test_startup import HEAVY, LISTING

READS = ("echo", "say", "env", "fails", "dies", "big", "array", "elicits", "wants-input")
UNKNOWN = "it is unknown whether the write was applied: look before you repeat it"


@pytest.fixture
def log(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The extension `tools` on the misbehaving server `mine`, in the current folder; what the server gets is logged."""
    workspace = tmp_path / "workspace"
    mcp_extension.add(helm, "mine", command("plain", tmp_path / "log"), SECRET)
    mcp_extension.approve(helm, workspace, mcp_extension.connection("mine", READS, ["say-again", "twice"]))
    monkeypatch.chdir(workspace)
    return tmp_path / "log"


@pytest.mark.contract("C74")
def test_a_call_prints_one_envelope(helm: Helm, log: Path) -> None:
    content = helm("call", "mine", "say", "--arg", "message=hi")
    structured = helm("call", "mine", "array")
    assert (content.status, content.err) == (0, "")
    assert content.out == '{"ok":true,"data":[{"type":"text","text":"hi"}],"error":null}\n'
    assert structured.out == '{"ok":true,"data":[1,2,3],"error":null}\n'


@pytest.mark.contract("C71")
def test_any_json_is_passed_on(helm: Helm, log: Path) -> None:
    arguments = '{"none":null,"list":[1,1.0,{"deep":[true]}],"text":"a b","big":123456789012345678901234567890}'
    assert helm("call", "mine", "echo", "--args", arguments, "-o", "data").out == arguments + "\n"
    assert f'"arguments":{arguments}' in log.read_text()
    assert helm("call", "mine", "echo", "-o", "data").out == "{}\n"


@pytest.mark.contract("C69", "C3")
def test_a_tool_that_is_not_declared_is_refused_and_the_server_not_asked(helm: Helm, log: Path) -> None:
    done = helm("call", "mine", "hangs")
    assert (done.status, done.json["error"]["code"]) == (3, "refused")
    assert not log.exists()


@pytest.mark.contract("C70")
def test_a_tool_is_a_read_or_a_write(helm: Helm, tmp_path: Path) -> None:
    manifest = {"id": "both", "name": "Both", "version": "1.0.0", "permissions": {"write": True}}
    connections = [mcp_extension.connection("mine", ["say", "echo"], ["echo"])]
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "connections": connections}))
    done = helm("plugin", "validate", str(tmp_path))
    assert done.status == 16
    assert 'the tool "echo" stands in "operations" too; list it in one of the two' in done.out + done.err


@pytest.mark.contract("C72", "C13")
def test_a_server_gets_no_more_than_it_may(helm: Helm, log: Path) -> None:
    done = helm("call", "mine", "env", "-o", "data", env={"GITHUB_TOKEN": "of helm", "SHELL": "/bin/sh", "USER": None})
    found = done.json
    found["env"].pop("LC_CTYPE", None)
    safe = {name: os.environ[name] for name in ("HOME", "PATH", "TERM", "LOGNAME") if name in os.environ}
    assert found["env"] == {**safe, "SHELL": "/bin/sh", "SERVER_TOKEN": SECRET}
    assert found["folder"] == os.getcwd()


@pytest.mark.contract("C75")
def test_a_tools_error_has_its_result_and_its_status(helm: Helm, log: Path) -> None:
    done = helm("call", "mine", "fails")
    assert done.status == 13
    assert done.json == {
        "ok": False,
        "data": [{"type": "text", "text": "no such issue\nnor any other"}],
        "error": {"code": "tool_error", "message": "fails failed: no such issue nor any other"},
    }
    assert done.err == "helm: fails failed: no such issue nor any other\n"


@pytest.mark.contract("C76", "C20")
def test_codes_and_statuses(helm: Helm, log: Path) -> None:
    big = helm("call", "mine", "big", "--arg", f"size={2 * 1024 * 1024}")
    assert (big.status, big.json["error"]["code"], big.json["data"]) == (11, "too_large", None)
    dead = helm("call", "mine", "dies")
    assert (dead.status, dead.json["error"]["code"]) == (10, "unavailable")
    assert SECRET not in dead.out + dead.err
    asking = helm("call", "mine", "wants-input")
    assert (asking.status, asking.json["error"]["code"]) == (3, "refused")
    assert helm("mcp", "remove", "mine", env=FILE).status == 0
    missing = helm("call", "mine", "say")
    assert (missing.status, missing.json["error"]["code"]) == (4, "not_configured")


def test_text_is_printed_as_text(helm: Helm, log: Path) -> None:
    assert helm("call", "mine", "say", "--arg", "message=one\n two \x1b[2J", "-o", "text").out == "one\n two \x1b[2J"
    # What is no text stays what it is.
    assert helm("call", "mine", "array", "-o", "text").json == [1, 2, 3]
    failed = helm("call", "mine", "fails", "-o", "text")
    assert (failed.status, failed.out) == (13, "no such issue\nnor any other")


def test_a_format_that_cannot_carry_it_is_told_before_the_server_starts(helm: Helm, log: Path) -> None:
    done = helm("call", "mine", "say", "--arg", "message=hi", "-o", "csv")
    assert done.status == 2
    assert not log.exists()


@pytest.mark.contract("C120")
def test_on_a_terminal_the_text_is_shown_and_does_nothing(log: Path) -> None:
    words = ("call", "mine", "say", "--arg", "message=first\n\x1b[31mred\u202e")
    with at_terminal(sys.executable, "-m", "helm_cli", *words) as screen:
        assert screen.status() == 0
        shown = [line.rstrip() for line in screen.screen() if line.strip()]
        assert shown == ["first", r"\u{1b}[31mred\u{202e}"]


def test_a_batch_has_one_server(helm: Helm, log: Path) -> None:
    lines = [{"connection": "mine", "operation": "say", "args": {"message": str(number)}} for number in range(20)]
    done = helm("call", "--batch", "-", stdin="\n".join(json.dumps(line) for line in lines))
    assert done.status == 0
    answers = [json.loads(line)["data"][0]["text"] for line in done.out.splitlines()]
    assert answers == [str(number) for number in range(20)]
    (group,) = groups(log)
    assert gone(group)


def test_only_a_call_that_is_sent_loads_the_sdk(log: Path, tmp_path: Path) -> None:
    def loaded(status: int, *words: str) -> set[str]:
        file = tmp_path / "modules.json"
        done = run([sys.executable, "-c", LISTING, str(file), *words])
        assert done.status == status, done
        return set(json.loads(file.read_text()))

    assert not loaded(7, "call", "mine", "twice") & {*HEAVY, "mcp_types", "anyio"}
    needed = loaded(0, "call", "mine", "say", "--arg", "message=hi")
    assert not needed & {"httpx2", "httpx", "mcp.server", "mcp.client.client", "starlette", "jsonschema", "rich"}


@pytest.mark.contract("C73")
def test_an_http_server_gets_the_token(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server() as server:
        mcp_extension.add_url(helm, "web", server.url("json"), SECRET)
        mcp_extension.approve(helm, tmp_path / "workspace", mcp_extension.connection("web", ["echo"]))
        monkeypatch.chdir(tmp_path / "workspace")
        done = helm("call", "web", "echo", "--arg", "a=1")
        assert done.out == '{"ok":true,"data":{"a":1},"error":null}\n'
        assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {SECRET}"}


@pytest.mark.contract("C77", "C111")
def test_a_write_is_shown_as_it_is_sent(log: Path) -> None:
    arguments = '{"message":"close it\\u202e","labels":["a",{"b":null}],"n":1.0}'
    with at_terminal(
        sys.executable, "-m", "helm_cli", "call", "mine", "twice", "--args", arguments, size=(120, 24)
    ) as screen:
        screen.wait_for("Any other key cancels")
        # Until the person decided, nothing of the server runs that could write over the question.
        assert not log.exists()
        shown = [uncounted(line.rstrip()) for line in screen.screen() if line.strip()]
        assert shown == [
            "Confirm tool call",
            "  extension   tools",
            f"  workspace   {os.getcwd()}",
            "  connection  mine",
            "  profile     mcp/mine",
            "  server      mine",
            "  tool        twice",
            f"  arguments   {arguments}",
            "> Cancel",
            "  Call",
            "Down, then Enter: Call. Any other key cancels.",
        ]
        screen.send(DOWN, 0.3, ENTER)
        assert screen.status() == 0
        screen.wait_for("first")
    (sent,) = [json.loads(line) for line in log.read_text().splitlines() if "tools/call" in line]
    assert sent["params"] == {"name": "twice", "arguments": json.loads(arguments)}


@pytest.mark.contract("C77", "C112")
def test_a_write_that_is_declined_or_not_confirmed_is_not_sent(helm: Helm, log: Path) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "mine", "twice") as screen:
        screen.wait_for("Any other key cancels")
        screen.send(ESC)
        assert screen.status() == 6
    done = helm("call", "mine", "twice")
    assert (done.status, done.json["error"]["code"]) == (7, "confirmation_required")
    assert not log.exists()


def test_a_write_that_failed_may_have_been_applied(log: Path) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "mine", "say-again", size=(200, 24)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN, 0.3, ENTER)
        assert screen.status() == 13
        screen.wait_for(f"helm: say-again was answered with the error -32602: Unknown tool: say-again; {UNKNOWN}")
