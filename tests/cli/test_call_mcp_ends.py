"""Whatever ends a call of an MCP tool, and however it ends helm, nothing of the server stays."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.program import Helm, environment
from tests.rig import mcp_extension
from tests.rig.mcp_calls import command, gone, groups, members

# How a call ends -> its tool, the signal that helm gets meanwhile, and helm's status then.
ANSWERED = {"answer": ("forks", 0), "error": ("fails", 13)}
INTERRUPTED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
MODES = ("plain", "stubborn")
AT_ONCE = 5
SIDE_BY_SIDE = 4


@pytest.fixture
def workspace(helm: Helm, tmp_path: Path) -> Path:
    """Two servers: one that ends when it is asked to, and one that has to be killed."""
    for mode in MODES:
        mcp_extension.add(helm, mode, command(mode, tmp_path / mode))
    connections = [mcp_extension.connection(mode, ["forks", "fails", "hangs"]) for mode in MODES]
    mcp_extension.approve(helm, tmp_path / "workspace", *connections)
    return tmp_path / "workspace"


def test_no_end_leaves_a_process_behind(workspace: Path, tmp_path: Path) -> None:
    """50 servers: 20 of calls that were answered, 30 of calls under way, five at once, when helm was ended."""

    def answered(mode: str, ending: str) -> None:
        tool, expected = ANSWERED[ending]
        with _helm(workspace, "call", mode, tool) as process:
            out, _ = process.communicate(timeout=30)
            assert process.returncode == expected, out

    def interrupted(mode: str, end: signal.Signals) -> None:
        marks = [f"{end.name}-{number}" for number in range(AT_ONCE)]
        lines = [{"connection": mode, "operation": "hangs", "args": {"message": mark}} for mark in marks]
        batch = tmp_path / f"{mode}-{end.name}"
        batch.write_text("".join(json.dumps(line) + "\n" for line in lines))
        with _helm(workspace, "call", "--batch", str(batch), "--jobs", str(AT_ONCE)) as process:
            for mark in marks:
                _wait_for(tmp_path / mode, mark)
            process.send_signal(end)
            assert process.wait(30) == INTERRUPTED[end]

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        done = [pool.submit(answered, mode, ending) for mode in MODES for ending in ANSWERED for _ in range(5)]
        done += [pool.submit(interrupted, mode, end) for mode in MODES for end in INTERRUPTED]
        for future in done:
            future.result()
    started = [group for mode in MODES for group in groups(tmp_path / mode)]
    assert len(started) == len(set(started)) == 50
    assert [group for group in started if not gone(group)] == []


def test_a_guardian_that_is_killed_takes_its_server_along(workspace: Path, tmp_path: Path) -> None:
    with _helm(workspace, "call", "plain", "hangs", "--arg", "message=here") as process:
        _wait_for(tmp_path / "plain", "here")
        group = groups(tmp_path / "plain")[0]
        os.kill(_parent(members(group)[0]), signal.SIGKILL)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 10
    assert b"the MCP server plain was left without the process that guards it, so helm broke off" in out
    assert gone(group)


def test_a_guardian_holds_nothing_of_helm(workspace: Path, tmp_path: Path) -> None:
    secret = "the-secret-of-it"
    with _helm(workspace, "call", "plain", "hangs", "--arg", "message=here", OF_HELM=secret) as process:
        _wait_for(tmp_path / "plain", "here")
        server = members(groups(tmp_path / "plain")[0])[0]
        guardian = _parent(server)
        for pid in (guardian, server):
            assert secret.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
            opened = {os.readlink(f"/proc/{pid}/fd/{name}").partition(":")[0] for name in os.listdir(f"/proc/{pid}/fd")}
            assert opened <= {"pipe", os.devnull}
            assert os.getsid(pid) != os.getsid(process.pid)
        assert len(os.listdir(f"/proc/{server}/fd")) == 3
        process.kill()
    assert gone(guardian)


def _helm(workspace: Path, *words: str, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "helm_cli", *words],
        cwd=workspace,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _wait_for(log: Path, mark: str) -> None:
    """Waits until the call that carries the mark has reached the server."""
    ends, turn = time.monotonic() + 30, threading.Event()
    while not log.exists() or f'"message":"{mark}"' not in log.read_text():
        assert time.monotonic() < ends, f"no call {mark}"
        turn.wait(0.02)
