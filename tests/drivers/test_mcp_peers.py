"""Tool calls on servers that others wrote: npm's everything, filesystem and memory, and PyPI's mcp-server-time."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helm_cli.drivers import kept, mcp
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from tests.program import environment
from tests.rig import peers
from tests.rig.mcp_calls import SOON, call


def node(package: str, *words: str) -> Server:
    command = (peers.NODE, peers.script(package), *words)
    return Server("peer", command, start_seconds=60, folder=os.getcwd())


@contextmanager
def everything_over_http() -> Iterator[Server]:
    """server-everything over streamable HTTP, on a free port of this machine, for the block."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    process = subprocess.Popen(
        [peers.NODE, peers.script(peers.EVERYTHING), "streamableHttp"],
        env=environment({"PORT": str(port)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        ends = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < ends and process.poll() is None, "server-everything did not start"
                time.sleep(0.05)
        yield Server("peer", url=f"http://127.0.0.1:{port}/mcp", start_seconds=60)
    finally:
        process.kill()
        process.wait()


def check_everything(target: Server) -> None:
    with kept.open_ones():
        assert call(target, "echo", {"message": "hé"}) == [{"type": "text", "text": "Echo: hé"}]
        weather = call(target, "get-structured-content", {"location": "New York"})
        assert sorted(weather) == ["conditions", "humidity", "temperature"]
        image = call(target, "get-tiny-image", {})
        assert [block["type"] for block in image] == ["text", "image", "text"]
        with pytest.raises(HelmError) as caught:
            call(target, "get-sum", {"a": "one"})
        assert caught.value.code == "tool_error"
    assert mcp.probe(target, None, SOON).startswith("mcp-servers/everything 2.0.0, protocol 2025-11-25, ")
    hints = {tool.name: tool.read_only for tool in mcp.tools(target, None)}
    assert (hints["echo"], hints["toggle-simulated-logging"]) == (True, False)


@pytest.mark.contract("C19", "C74")
def test_everything_over_stdio() -> None:
    check_everything(node(peers.EVERYTHING))


@pytest.mark.contract("C19", "C74")
def test_everything_over_http() -> None:
    with everything_over_http() as target:
        check_everything(target)


@pytest.mark.contract("C72")
def test_everything_shows_its_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_HELM", "secret")
    (block,) = call(node(peers.EVERYTHING), "get-env", {})
    assert set(json.loads(block["text"])) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}


def test_filesystem_writes_where_it_may(tmp_path: Path) -> None:
    target = node(peers.FILESYSTEM, str(tmp_path))
    file = tmp_path / "note.txt"
    with kept.open_ones():
        call(target, "write_file", {"path": str(file), "content": "one\ntwo"}, "write")
        assert file.read_text() == "one\ntwo"
        assert call(target, "read_text_file", {"path": str(file)}) == {"content": "one\ntwo"}
        with pytest.raises(HelmError) as caught:
            call(target, "read_text_file", {"path": "/etc/passwd"})
        assert caught.value.code == "tool_error"


def test_memory_remembers_within_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = node(peers.MEMORY)
    entity: dict[str, Any] = {"name": "helm", "entityType": "program", "observations": ["calls tools"]}
    with kept.open_ones():
        call(target, "create_entities", {"entities": [entity]}, "write")
        graph = call(target, "read_graph", {})
        call(target, "delete_entities", {"entityNames": ["helm"]}, "write")
    assert [found["name"] for found in graph["entities"] if found["name"] == "helm"] == ["helm"]


def test_time_speaks_the_newer_era() -> None:
    target = Server("time", (peers.program("mcp-server-time"),), start_seconds=60, folder=os.getcwd())
    times = {"source_timezone": "Europe/Rome", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    assert call(target, "convert_time", times)["target"]["timezone"] == "Asia/Tokyo"
    assert ", protocol 2026-07-28, 2 tools" in mcp.probe(target, None, SOON)
    with pytest.raises(HelmError) as caught:
        call(target, "convert_time", {**times, "source_timezone": "Middle/Earth"})
    assert (caught.value.code, "Middle/Earth" in caught.value.message) == ("tool_error", True)
