"""A home and a workspace of a benchmark's own, `helm` as a console script runs it, and the scripts beside it."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.pairs import Counted, Run
from tests.program import ROOT, Finished, run
from tests.rig import agents
from tests.rig.agents import Agent

BARE: Final = ROOT / "benchmarks" / "bare"
# A console script as pip writes it, `import re` and all.
HELM: Final = "import re, sys; from helm_cli.__main__ import entry; sys.exit(entry())"
# Runs helm, then prints on a line of its own the peak of its memory in KiB, and that of each process that was forked
# from it and waits. Not `ru_maxrss`, which starts at the parent's.
PEAK: Final = """
import os, sys
from helm_cli.__main__ import main
def peak(pid):
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
def command(pid):
    return open(f"/proc/{pid}/cmdline", "rb").read()
main(sys.argv[1:])
own = os.getpid()
children = open(f"/proc/self/task/{own}/children").read().split()
print("\\n", sum(map(peak, [own, *(child for child in children if command(child) == command(own))])))
"""
# What the machine of whoever measures must not lend.
NOT_LENT: Final = ("HELM_", "PYTHON", "XDG_")

Right = Callable[[Any], bool]


class Stage(NamedTuple):
    """`folder` holds the homes; `workspace` is where helm runs; `env` what everything that is measured runs with."""

    folder: Path
    workspace: Path
    env: dict[str, str]

    @property
    def home(self) -> Path:
        return Path(self.env["HELM_CLI_HOME"])

    def helm(self, *arguments: str, cwd: Path | None = None, stdin: str = "", **_: object) -> Finished:
        """Runs helm to set something up."""
        command = [sys.executable, "-c", HELM, *arguments]
        return run(command, cwd=cwd or self.workspace, stdin=stdin, env={**self.env})

    def well(self, *arguments: str, stdin: str = "") -> Finished:
        finished = self.helm(*arguments, stdin=stdin)
        assert finished.status == 0, finished
        return finished

    def approve(self, id_: str, *connections: Mapping[str, Any]) -> None:
        """An extension of these connections, approved the way a fresh CI job does."""
        folder = self.folder / f"extension-{id_}"
        folder.mkdir()
        manifest = {"id": id_, "name": id_, "version": "1.0.0", "connections": list(connections)}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        where = ("--workspace", str(self.workspace))
        digest = self.helm("plugin", "review", str(folder), "-o", "json", *where).json["digest"]
        self.well("plugin", "review", str(folder), "--approve", digest, *where)

    def call(self, *words: str, data: Right, stdin: bytes = b"") -> Run:
        """`helm call`, right where every line is an envelope that is ok and whose data are right."""
        return self._run([sys.executable, "-c", HELM, "call", *words], data, stdin)

    def script(self, name: str, *words: str, data: Right, stdin: bytes = b"") -> Run:
        """One of the scripts in `bare`, run by the same interpreter, right in the same way."""
        return self._run([sys.executable, str(BARE / f"{name}.py"), *words], data, stdin)

    def nothing(self) -> Run:
        """The start of Python alone."""
        return Run([sys.executable, "-c", "pass"], lambda out: out == b"", env=self.env, cwd=self.workspace)

    def command(self, *words: str, right: Callable[[bytes], bool], **more: str) -> Run:
        """The program of another."""
        return Run(words, right, env={**self.env, **more}, cwd=self.workspace)

    def batch(self, line: Mapping[str, Any], data: Right) -> Counted:
        """`helm call --batch` of so many such lines."""
        text = f"{json.dumps(line)}\n".encode()
        return lambda count: self.call("--batch", "-", data=data, stdin=text * count)

    def loop(self, name: str, *words: str, data: Right, stdin: bytes = b"") -> Counted:
        """A script of `bare` that takes how often as its last word."""
        return lambda count: self.script(name, *words, str(count), data=data, stdin=stdin)

    def peak(self, *words: str, code: str | None = None) -> float:
        """The most memory that a `helm call` held that ended with this code, in MiB, as Linux counts it."""
        command = [sys.executable, "-c", PEAK, "call", *words]
        told = subprocess.run(
            command, capture_output=True, check=True, env=self.env, cwd=self.workspace, start_new_session=True
        )
        *envelope, held = told.stdout.splitlines()
        error = json.loads(b"".join(envelope))["error"]
        assert (error and error["code"]) == code, told.stdout[:500]
        return int(held) / 1024

    def twin(self) -> "Stage":
        """The same with a copy of the home as it is now, for which no agent runs, and secrets are to be entered."""
        return self._with(self.folder / "twin")

    @contextmanager
    def in_memory(self) -> Iterator["Stage"]:
        """Likewise, with the home in memory where the machine can (Linux), so that no disk is waited for."""
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
            yield self._with(Path(name, "home"))

    def _with(self, home: Path) -> "Stage":
        shutil.copytree(self.home, home, ignore=shutil.ignore_patterns("run"))
        return self._replace(env={**self.env, "HELM_CLI_HOME": str(home)})

    @contextmanager
    def agent(self) -> Iterator[Agent]:
        """The agent of this home for the block."""
        self.well("agent", "start")
        told = self.well("agent", "status", "-o", "json").json
        try:
            yield Agent(self.home, told["pid"])
        finally:
            agents.end(self.home)

    def _run(self, command: list[str], data: Right, stdin: bytes) -> Run:
        def right(printed: bytes) -> bool:
            lines = [json.loads(line) for line in printed.splitlines()]
            return bool(lines) and all(line["ok"] is True and data(line["data"]) for line in lines)

        return Run(command, right, stdin, self.env, self.workspace)


@cache
def _code() -> str:
    """A copy of helm as it is now: who edits it meanwhile changes no half of a comparison, and replaces no agent."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(ROOT / "helm_cli", Path(folder, "helm_cli"), ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@contextmanager
def stage() -> Iterator[Stage]:
    """A fresh one, with secrets in helm's own file and the rate limit out of the way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        workspace, home = folder / "workspace", folder / "home"
        workspace.mkdir()
        home.mkdir(mode=0o700)
        (home / "config.toml").write_text("[limits]\ncalls_per_minute = 100000\n")
        env = {key: value for key, value in os.environ.items() if not key.startswith(NOT_LENT)}
        env |= {"HOME": name, "HELM_CLI_HOME": str(home), "HELM_CLI_CREDENTIALS": "file", "PYTHONPATH": _code()}
        yield Stage(folder, workspace, env)
