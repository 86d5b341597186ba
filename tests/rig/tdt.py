"""A TDT workspace for the tests: one that the real `tdt` made, or one whose `tdt` is a script of the test's."""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.program import ROOT, Helm, run
from tests.rig import peers
from tests.rig.terminal import DOWN, ENTER, at_terminal

SERVER: Final = str(ROOT / "tests" / "rig" / "tdt_server.py")
YES: Final = (DOWN, 0.3, ENTER)


def on_path(monkeypatch: pytest.MonkeyPatch, folder: str | Path) -> None:
    """Programs are looked for in this folder first."""
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def real(folder: Path) -> Path:
    """A folder in which `tdt init` was run; the program's own folder is what `on_path` is to be given."""
    folder.mkdir()
    program = peers.program("tdt")
    assert run([program, "init", "--agent", "none"], cwd=folder).status == 0
    return Path(program).parent


def extension(helm: Helm, workspace: Path, reads: list[str], writes: list[str], name: str = "brain") -> None:
    """An extension whose one connection `tdt` has these tools, approved as a fresh CI job does."""
    connection = {"id": name, "kind": "tdt-mcp", "operations": reads, "writes": writes}
    manifest = {"id": name, "version": "1", "permissions": {"write": True}, "connections": [connection]}
    folder = workspace / f"extension-{name}"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    digest = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace).json["digest"]
    assert helm("plugin", "review", str(folder), "--approve", digest, cwd=workspace).status == 0


def everyday() -> None:
    """The person at the terminal lets TDT write in the current workspace."""
    command = (sys.executable, "-m", "helm_cli", "workspace", "set", "--tdt-profile", "everyday")
    with at_terminal(*command) as screen:
        assert screen.status() == 0, screen.screen()


class Fake:
    """A workspace whose `tdt` offers the tools, and gives the answers, that the test says."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        (folder / ".tdt").mkdir(parents=True)
        (folder / ".tdt" / "config.json").write_text("{}")
        programs = folder.parent / f"{folder.name}-programs"
        programs.mkdir()
        program = programs / "tdt"
        program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", "-S", SERVER])} "$@"\n')
        program.chmod(0o755)
        on_path(monkeypatch, programs)

    def offers(self, tools: list[dict[str, Any]], **answers: Any) -> None:
        """Each answer is a result, or a list of results for one call after the other, of which the last stays."""
        told = {"tools": tools, "answers": answers}
        (self.folder / ".tdt" / "fake.json").write_text(json.dumps(told))

    def notes(self) -> list[dict[str, Any]]:
        """What its servers were started for and asked, in order: each with the `pid` of its server."""
        file = self.folder / ".tdt" / "notes"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def calls(self) -> list[dict[str, Any]]:
        return [note for note in self.notes() if note["what"] == "tools/call"]

    def pids(self) -> list[int]:
        """Of the servers that were started, in order."""
        return [note["pid"] for note in self.notes() if note["what"] == "started"]


def tool(name: str, *arguments: str, read_only: bool | None = None) -> dict[str, Any]:
    """A definition as TDT sends it: `arguments` are the names of those that it takes."""
    schema = {"type": "object", "properties": {argument: {"type": "string"} for argument in arguments}}
    hints = {} if read_only is None else {"annotations": {"readOnlyHint": read_only, "destructiveHint": not read_only}}
    return {"name": name, "description": name, "inputSchema": schema, **hints}


def envelope(data: Any = None, **more: Any) -> dict[str, Any]:
    """One of TDT's."""
    coverage = {"truncated": False, "omissions": []}
    return {"api_version": 1, "ok": True, "data": data, "coverage": coverage, "warnings": [], "error": None, **more}


def refusal(retry: str, code: str = "busy", message: str = "Another mutation is in progress") -> dict[str, Any]:
    """A result with an envelope that is not ok."""
    return result(envelope(ok=False, error={"code": code, "message": message, "retry": retry}))


def result(found: Mapping[str, Any]) -> dict[str, Any]:
    """An envelope as TDT sends it."""
    text = json.dumps(found, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": dict(found),
        "isError": found.get("ok") is False,
        "resultType": "complete",
    }
