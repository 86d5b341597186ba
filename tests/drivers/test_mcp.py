"""Tool calls on a server that behaves and misbehaves in every way that helm has to live with, over its pipes."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import Limits, interrupts, kept, mcp
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import dump
from tests.rig.mcp_calls import SECRET, SOON, call, gone, groups, members, plan, server
from tests.rig.mcp_server import TOOLS

HI = [{"type": "text", "text": "hi"}]
UNKNOWN = "; it is unknown whether the write was applied: look before you repeat it"


def failure(*args: Any, **kwargs: Any) -> HelmError:
    with pytest.raises(HelmError) as caught:
        call(*args, **kwargs)
    assert SECRET not in str(vars(caught.value))
    return caught.value


@pytest.mark.parametrize(
    "mode", ["plain", "modern", "strict", "stubborn", "bom", "noise", "nolist", "hanglist", "deaf", "late"]
)
def test_a_call_gets_its_answer_whatever_else_the_server_does(mode: str) -> None:
    assert call(server(mode)) == HI


@pytest.mark.contract("C71")
@pytest.mark.parametrize("mode", ["plain", "modern"])
def test_arguments_reach_the_tool_unchanged(tmp_path: Path, mode: str) -> None:
    arguments: dict[str, Any] = {
        "none": None,
        "inner": {"none": None, "list": [None, 1, 1.0, 1e300, 10**30, -0.0, True, ""]},
        "": "empty",
        "_meta": {"of": "the caller"},
        "text": 'é 𝄞 \u2028 \x00 \x1b[2J " \\',
    }
    log = tmp_path / "log"
    assert call(server(mode, log), "echo", arguments) == arguments
    sent = next(line for line in log.read_text().split("\n") if "tools/call" in line)
    # Some programs take this character for the end of a line.
    assert '"arguments":' + dump(arguments).replace("\u2028", r"\u2028") in sent


@pytest.mark.contract("C72")
def test_a_server_gets_the_safe_variables_and_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "SHELL", "TERM", "USER"):
        monkeypatch.setenv(name, os.environ.get(name, "/bin/sh"))
    monkeypatch.setenv("LOGNAME", "() { echo code; }")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of helm")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    found = call(server(), "env", {})
    safe = {name: os.environ[name] for name in ("HOME", "PATH", "SHELL", "TERM", "USER")}
    # What Python itself adds where no locale is set, and no helm.
    found["env"].pop("LC_CTYPE", None)
    assert found["env"] == {**safe, "SERVER_TOKEN": SECRET}
    assert found["folder"] == os.getcwd()
    assert found["session"] != os.getsid(0)


def test_a_variable_without_a_token_is_not_set() -> None:
    found = mcp.run(plan("env", {}), server(), None, SOON)
    assert "SERVER_TOKEN" not in found["env"]  # type: ignore[operator,index,call-overload]  # any JSON


@pytest.mark.contract("C74")
@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("say", HI),
        ("array", [1, 2, 3]),
        ("null", [{"type": "text", "text": "not null"}]),
        ("unknown-block", [{"type": "hologram", "of": "a cat"}]),
        # Both break the tool's own outputSchema, after it ran.
        ("badout", {"sum": "not a number"}),
        ("noout", [{"type": "text", "text": "nothing structured"}]),
        ("twice", [{"type": "text", "text": "first"}]),
        ("surrogate", [{"type": "text", "text": "a\ufffdb"}]),
        ("nan", {"a": "NaN", "b": "-Infinity"}),
        ("digits", ["7" * 5000]),
        ("elicits", [{"type": "text", "text": '{"code": -32600, "message": "Elicitation not supported"}'}]),
        ("samples", [{"type": "text", "text": '{"code": -32600, "message": "Sampling not supported"}'}]),
        ("roots", [{"type": "text", "text": '{"code": -32600, "message": "List roots not supported"}'}]),
    ],
)
def test_data_is_structured_content_else_content(tool: str, data: Any) -> None:
    assert call(server(), tool) == data


@pytest.mark.parametrize("tool", ["say", "array", "badout", "unknown-block"])
def test_the_newer_era_answers_the_same(tool: str) -> None:
    assert call(server("modern"), tool) == call(server(), tool)


@pytest.mark.contract("C75")
@pytest.mark.parametrize(
    ("tool", "data", "message"),
    [
        (
            "fails",
            [{"type": "text", "text": "no such issue\nnor any other"}],
            "fails failed: no such issue nor any other",
        ),
        ("fails-structured", {"reason": "none"}, "fails-structured failed: see structuredContent"),
        (
            "no-such-tool",
            {"code": -32602, "message": "Unknown tool: no-such-tool", "data": {"known": len(TOOLS)}},
            "no-such-tool was answered with the error -32602: Unknown tool: no-such-tool",
        ),
    ],
)
def test_a_tools_error_is_told_with_its_data(tool: str, data: Any, message: str) -> None:
    read, write = failure(server(), tool), failure(server(), tool, effect="write")
    assert (read.code, read.message, read.members, read.outer) == ("tool_error", message, {}, {"data": data})
    assert (write.code, write.message) == ("tool_error", message + UNKNOWN)
    assert (write.members, write.outer) == ({"applied": "unknown"}, {"data": data})


MINE = "the MCP server mine"


@pytest.mark.contract("C76")
@pytest.mark.parametrize(
    ("tool", "code", "message"),
    [
        ("dies", "unavailable", f"{MINE} ended with status 3; it said: panic: the disk is on fire, token ***"),
        ("closes", "unavailable", f"{MINE} closed the connection"),
        ("tells", "unavailable", f"{MINE} told helm more than it answered, so helm broke off"),
        ("leaves", "unavailable", f"{MINE} ended with status 4"),
        ("bothers", "unavailable", f"{MINE} asked helm for more than it answered, so helm broke off"),
        ("huge", "too_large", f"{MINE} sent a message over 4 MiB, so helm broke off"),
        ("deep", "too_large", "the answer of deep is nested more than 200 levels deep"),
        ("deeper", "unavailable", f"{MINE} sent a message that is nested too deeply, so helm broke off"),
        ("no-object", "unavailable", f"{MINE} sent an answer that is no object, so helm broke off"),
        ("no-content", "unavailable", "what the MCP server answered to no-content is no result of a tool"),
        ("wants-input", "refused", "wants-input asked for input in the middle of a call, which helm never gives"),
        ("task", "refused", "task only promised an answer for later, for which helm does not wait"),
    ],
)
def test_what_is_no_answer_is_told_with_whether_the_tool_may_have_run(tool: str, code: str, message: str) -> None:
    read, write = failure(server(), tool), failure(server(), tool, effect="write")
    may = "; the tool may have run" if code == "unavailable" else ""
    assert (read.code, read.message, read.members) == (code, message + may, {})
    assert (write.code, write.message, write.members) == (code, message + UNKNOWN, {"applied": "unknown"})


@pytest.mark.parametrize("between", ["", "\x1b[0m", "\x1b]0;title\x07", "\x00", "\n", "\u200b", " \r\n\t"])
def test_no_secret_is_told_whatever_stands_in_its_middle(between: str) -> None:
    error = failure(server(), "leaks", {"message": between})
    assert error.message == f"{MINE} ended with status 3; it said: fatal: ***; the tool may have run"


def test_a_server_that_left_somebody_behind_is_noticed_at_once() -> None:
    begun = time.monotonic()
    failure(server(), "leaves")
    assert time.monotonic() - begun < 10


def test_a_server_gets_nothing_of_what_is_open_here(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as lock:
        os.set_inheritable(lock.fileno(), True)
        found = call(server(), "descriptors")
    assert found["own"] == [0, 1, 2]
    # Its orders and reports, two that lead nowhere, and what wakes it.
    assert len(found["guardian"]) == 6
    assert str(tmp_path / "lock") not in found["guardian"]


def test_a_server_whose_guardian_was_killed_is_ended_with_all_its_group(tmp_path: Path) -> None:
    log = tmp_path / "log"
    session = mcp.open_session(server(log=log), SECRET)
    session.call("forks", {}, 20)
    (group,) = groups(log)
    assert len(members(group)) == 2
    guardian = int(Path(f"/proc/{group}/stat").read_text().rpartition(")")[2].split()[1])
    begun = time.monotonic()
    killing = threading.Timer(0.2, os.kill, (guardian, signal.SIGKILL))
    killing.start()
    with pytest.raises(Exception, match="Connection closed"):
        session.call("hangs", {}, 20)
    assert session.watch.fault == "was left without the process that guards it"
    assert not session.usable()
    assert time.monotonic() - begun < 10
    assert gone(group)
    session.close()


def test_a_server_that_goes_on_between_two_calls_is_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    session = mcp.open_session(server(log=log), SECRET)
    assert session.call("floods", {}, 20) == {"content": HI}
    assert _soon(lambda: not session.usable())
    assert all(gone(group) for group in groups(log))
    session.close()


@pytest.mark.contract("C76")
def test_an_answer_may_have_a_mebibyte() -> None:
    most = 1024 * 1024
    assert len(call(server(), "big", {"size": most - 2})) == most - 2
    error = failure(server(), "big", {"size": most - 1})
    assert error.code == "too_large"
    assert error.message == "the answer of big has 1048577 bytes; at most 1048576 are passed on"


@pytest.mark.contract("C76")
def test_a_call_that_takes_too_long_is_given_up_with_its_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    error = failure(server(log=log), "hangs", effect="write", limits=Limits(seconds=0.5))
    assert error.code == "timeout"
    assert error.message == f"hangs took longer than 0.5 s, so {MINE} was stopped{UNKNOWN}"
    assert error.members == {"applied": "unknown"}
    assert all(gone(group) for group in groups(log))


def test_a_server_that_stops_reading_is_given_up() -> None:
    error = failure(server("stops-reading"), arguments={"message": "x" * 1_000_000}, limits=Limits(seconds=0.5))
    assert error.code == "timeout"


NOT_STARTED = {
    "exits": "ended with status 3 before it was ready; it said: Traceback: no module named anything",
    "silent": "was not ready within 1 s; if it needs more, raise it with: helm mcp edit mine --start-seconds N",
}


@pytest.mark.parametrize("mode", NOT_STARTED)
def test_a_server_that_does_not_start_says_why(tmp_path: Path, mode: str) -> None:
    log = tmp_path / "log"
    error = failure(server(mode, log, start_seconds=1 if mode == "silent" else 20), effect="write")
    assert (error.code, error.message, error.members) == ("unavailable", f"{MINE} {NOT_STARTED[mode]}", {})
    assert all(gone(group) for group in groups(log))


def test_a_server_that_drowns_helm_in_words_is_given_up(tmp_path: Path) -> None:
    log = tmp_path / "log"
    error = failure(server("floods", log, start_seconds=1))
    assert error.code == "unavailable"
    assert error.message.startswith(f"{MINE} was not ready within 1 s; it said: drowning")
    assert len(error.message) < 500
    assert "\x1b" not in error.message
    assert all(gone(group) for group in groups(log))


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("no-such-program-of-mine",), "its command was not found"),
        (("./program",), "its command may not be executed"),
    ],
)
def test_a_command_that_is_none_is_told(tmp_path: Path, command: tuple[str, ...], reason: str) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    error = failure(server(command=command, folder=str(tmp_path)))
    assert (error.code, error.message) == ("unavailable", f"{MINE} could not be started: {reason}")


def test_a_workspace_that_is_gone_is_told(tmp_path: Path) -> None:
    error = failure(server(folder=str(tmp_path / "gone")))
    assert error.message == f"{MINE} could not be started: the workspace cannot be entered"


def test_one_server_serves_a_batch_and_no_other_extension(tmp_path: Path) -> None:
    log = tmp_path / "log"
    target = server(log=log)
    with kept.open_ones():
        for _ in range(3):
            assert call(target) == HI
        assert len(groups(log)) == 1
        mcp.run(plan("say", {"message": "hi"}, extension="another"), target, SECRET, SOON)
        assert len(groups(log)) == 2
        mcp.run(plan("say", {"message": "hi"}), target, "another secret", SOON)
        assert len(groups(log)) == 3
        call(target._replace(folder=str(tmp_path)))
        assert len(groups(log)) == 4
        assert all(members(group) for group in groups(log))
    assert all(gone(group) for group in groups(log))


@pytest.mark.parametrize("tool", ["dies", "closes", "no-object"])
def test_a_server_that_broke_is_not_asked_again(tmp_path: Path, tool: str) -> None:
    log = tmp_path / "log"
    with kept.open_ones():
        failure(server(log=log), tool)
        assert call(server(log=log)) == HI
        assert len(groups(log)) == 2


def test_a_server_that_ended_between_two_calls_is_noticed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    session = mcp.open_session(server(log=log), SECRET)
    assert session.call("say", {"message": "hi"}, 20) == {"content": HI}
    assert session.usable()
    os.killpg(groups(log)[0], signal.SIGKILL)
    # The end of its output reaches helm in its own time.
    assert _soon(lambda: not session.usable())
    session.close()


def test_a_tools_error_leaves_the_server_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with kept.open_ones():
        failure(server(log=log), "fails")
        failure(server(log=log), "no-such-tool")
        assert call(server(log=log)) == HI
        assert len(groups(log)) == 1


def test_calls_side_by_side_have_a_server_each(tmp_path: Path) -> None:
    log = tmp_path / "log"
    answers: list[Any] = []
    with kept.open_ones():
        for _ in range(2):
            threads = [threading.Thread(target=lambda: answers.append(call(server(log=log)))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert answers == [HI] * 8
    assert 1 <= len(groups(log)) <= 8
    assert all(gone(group) for group in groups(log))


def test_a_call_of_a_thread_can_be_interrupted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    interrupt = interrupts.Interrupt()
    ended: list[BaseException] = []

    def waiting() -> None:
        with interrupts.obeyed(interrupt):
            try:
                call(server(log=log), "hangs")
            except BaseException as error:
                ended.append(error)

    thread = threading.Thread(target=waiting)
    thread.start()
    assert _soon(lambda: log.exists() and "tools/call" in log.read_text())
    interrupt.set()
    thread.join(5)
    assert [type(error) for error in ended] == [KeyboardInterrupt]
    assert all(gone(group) for group in groups(log))


def test_the_list_of_tools_is_read_page_by_page() -> None:
    found = mcp.tools(server("pages"), SECRET)
    assert [tool.name for tool in found] == list(TOOLS)
    echo = found[0]
    assert (echo.title, echo.description) == ("Says again", "The tool echo")
    assert (echo.read_only, echo.destructive) == (True, False)
    assert echo.input_schema == {"type": "object", "properties": {"message": {"type": "string"}}}
    assert echo.definition["x-own"] == 1
    say = found[1]
    assert (say.title, say.read_only, say.destructive) == ("", None, None)
    assert echo == mcp.tools(server(), SECRET)[0]


def test_a_list_tells_nobody_the_secret() -> None:
    found = mcp.tools(server("chatty"), SECRET)[0]
    assert found.description == found.definition["description"] == "The tool echo with \x1b[2J ***"


def test_a_list_without_an_end_ends() -> None:
    assert [tool.name for tool in mcp.tools(server("endless"), SECRET)] == ["echo"]


def test_a_server_without_a_list_says_so() -> None:
    with pytest.raises(HelmError) as caught:
        mcp.tools(server("nolist"), SECRET)
    assert caught.value.code == "tool_error"
    assert caught.value.message == "tools/list was answered with the error -32601: Method not found"


def test_a_list_that_never_comes_is_given_up() -> None:
    with pytest.raises(HelmError) as caught:
        mcp.tools(server("hanglist"), SECRET, Limits(seconds=0.5))
    assert caught.value.code == "timeout"


def test_a_probe_tells_what_answered() -> None:
    assert mcp.probe(server(), SECRET, SOON) == f"misbehaving 1.0, protocol 2025-11-25, {len(TOOLS)} tools"
    assert mcp.probe(server("modern"), SECRET, SOON) == f"misbehaving 1.0, protocol 2026-07-28, {len(TOOLS)} tools"
    assert mcp.probe(server("endless"), SECRET, SOON) == "misbehaving 1.0, protocol 2025-11-25, 1 tool"


def test_a_call_is_prepared_by_asking_for_the_tool(tmp_path: Path) -> None:
    log = tmp_path / "log"
    mcp.prepare(plan("echo", {}), server(log=log), SECRET, SOON)
    with pytest.raises(HelmError) as caught:
        mcp.prepare(plan("ecco", {}), server(log=log), SECRET, SOON)
    assert (caught.value.code, caught.value.message) == (
        "refused",
        f"{MINE} has no tool ecco; did you mean echo?",
    )
    assert "tools/call" not in log.read_text()


def _soon(happened: Callable[[], bool]) -> bool:
    turn = threading.Event()
    return any(happened() or turn.wait(0.02) for _ in range(500))
