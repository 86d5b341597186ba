"""The real program killed at a step of its own, and many of it let go at one moment: forks of one loaded process.

This module is that process too, run as a program: a fork of pytest would hold its threads' locks. An act is a function
of ours, named `module:function`, which is run in a fork in place of a command.
"""

import base64
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from tests.program import ROOT, environment
from tests.rig import ready, stepper

# The whole of one request: fifty processes on a busy machine.
SECONDS: Final = 120.0
# What a person is asked for -> how a run at a terminal answers: it goes on to the end of a page, and then cancels.
ANSWERS: Final = {
    b"Space: go on": b"G",
    b"Enter: answer": b"\r",
    b"Any other key cancels": b"\x1b",
    b"space marks": b"\x03",
}


class Job(NamedTuple):
    """What one fork does: helm with these words, or an act with them. `stdin` is what a pipe gives it."""

    words: tuple[str, ...]
    stdin: str = ""
    act: str = ""


class Ran(NamedTuple):
    """What came of it. `calls` are its changing system calls, `at` the one before which it was killed, "" for none."""

    status: int
    out: str
    err: str
    calls: int
    at: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Stepped:
    """The process that forks: every run has this test's environment and folder, and no terminal."""

    def __init__(self, line: socket.socket) -> None:
        self._lines = line.makefile("rwb")

    def __call__(self, *words: str, stdin: str = "", step: int | None = None, **how: Any) -> Ran:
        """helm with these words; see `run`."""
        return self.run(Job(words, stdin), step, **how)

    def run(
        self,
        job: Job,
        step: int | None = None,
        *,
        everybody: bool = False,
        real: bool = False,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        """One run, killed before its changing call number `step` where it has so many, `everybody` with it.

        With 0 its calls are only counted, with None not even that. `real` starts Python anew.
        """
        return self._asked([job], env, cwd, step=step, everybody=everybody, real=real)[0]

    def together(
        self,
        jobs: Sequence[Job],
        *,
        real: bool = False,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> list[Ran]:
        """All of them, let go at one moment."""
        return self._asked(jobs, env, cwd, step=None, everybody=False, real=real)

    def at_terminal(
        self, job: Job, size: tuple[int, int], env: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> Ran:
        """One run at a terminal of so many columns and rows; `out` is all that the terminal was sent."""
        return self._asked([job], env, cwd, step=None, everybody=False, real=False, size=size)[0]

    def _asked(
        self, jobs: Sequence[Job], env: Mapping[str, str | None] | None, cwd: Path | None, **how: Any
    ) -> list[Ran]:
        surroundings = {"env": environment(env or {}), "cwd": str(cwd or os.getcwd())}
        self._lines.write(json.dumps({"jobs": jobs, **surroundings, **how}).encode() + b"\n")
        self._lines.flush()
        answer = self._lines.readline()
        assert answer, f"the process that forks is gone: {jobs}"
        return [
            Ran(status, base64.b64decode(out).decode(), base64.b64decode(err).decode(), calls, at)
            for status, out, err, calls, at in json.loads(answer)
        ]


@contextmanager
def stepping() -> Iterator[Stepped]:
    """The process that forks, ended with the block."""
    ours, theirs = socket.socketpair()
    # A process that is killed while it is measured leaves a broken measurement.
    env = {name: value for name, value in environment({}).items() if not name.startswith("COV")}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.rig.stepped", str(theirs.fileno())],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    try:
        ours.settimeout(SECONDS)
        yield Stepped(ours)
    finally:
        ours.close()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _main(line: socket.socket) -> None:
    ready.load()
    lines = line.makefile("rwb")
    for text in lines:
        asked = json.loads(text)
        jobs = [Job(tuple(words), stdin, act) for words, stdin, act in asked["jobs"]]
        if "size" in asked:
            done = [_at_terminal(jobs[0], asked)]
        else:
            done = _together(jobs, asked) if asked["step"] is None else [_stepped(jobs[0], asked)]
        lines.write(json.dumps(done).encode() + b"\n")
        lines.flush()


def _stepped(job: Job, asked: dict[str, Any]) -> tuple[Any, ...]:
    begin, said = _prepared(job, asked)
    ended = stepper.run(begin, asked["step"], everybody=asked["everybody"])
    return ended.status, *said(), ended.calls, ended.at


def _together(jobs: Sequence[Job], asked: dict[str, Any]) -> list[tuple[Any, ...]]:
    waiting, starter = os.pipe()
    begun = []
    for job in jobs:
        begin, said = _prepared(job, asked)
        child = os.fork()
        if not child:
            os.close(starter)
            os.read(waiting, 1)
            begin()
        begun.append((child, said))
    os.close(waiting)
    os.close(starter)
    done = [(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said) for child, said in begun]
    return [(status, *said(), 0, "") for status, said in done]


def _at_terminal(job: Job, asked: dict[str, Any]) -> tuple[Any, ...]:
    controller, device = os.openpty()
    columns, rows = asked["size"]
    fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = os.fork()
    if not child:
        os.close(controller)
        _begin(job, asked, (device, device, device), terminal=True)
    os.close(device)
    said = _conversed(controller)
    os.close(controller)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, base64.b64encode(said).decode(), "", 0, ""


def _conversed(controller: int) -> bytes:
    """What the terminal is sent until nobody has it open any more."""
    said, answered = b"", 0
    while select.select([controller], [], [], SECONDS)[0]:
        try:
            said += os.read(controller, 65536)
        except OSError:
            break
        found = [(said.find(question, answered), question) for question in ANSWERS]
        for at, question in sorted((at, question) for at, question in found if at >= 0):
            answered = at + len(question)
            # Keys that come before a question has stood for a moment are dropped (design, section 7).
            time.sleep(0.25)
            os.write(controller, ANSWERS[question])
    return said


def _prepared(job: Job, asked: dict[str, Any]) -> tuple[Callable[[], NoReturn], Callable[[], tuple[str, str]]]:
    """What the fork does, and how to learn what it said once it ended."""
    given, out, err = (os.memfd_create(name) for name in ("stdin", "stdout", "stderr"))
    os.write(given, job.stdin.encode())
    os.lseek(given, 0, os.SEEK_SET)

    def said() -> tuple[str, str]:
        texts = []
        for end in (given, out, err):
            texts.append(base64.b64encode(os.pread(end, os.fstat(end).st_size, 0)).decode())
            os.close(end)
        return texts[1], texts[2]

    return lambda: _begin(job, asked, (given, out, err)), said


def _begin(job: Job, asked: dict[str, Any], ends: tuple[int, int, int], *, terminal: bool = False) -> NoReturn:
    """The fork becomes a program that was started so."""
    os.setsid()
    if terminal:
        fcntl.ioctl(ends[0], termios.TIOCSCTTY, 0)
    for number, end in enumerate(ends):
        os.dup2(end, number)
    # It is for as long as the process.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])
    if asked["real"] and not job.act:
        os.execv(sys.executable, [sys.executable, "-m", "helm_cli", *job.words])
    sys.argv = ["helm", *job.words]
    if job.act:
        module, _, name = job.act.partition(":")
        answer = getattr(import_module(module), name)(*job.words)
        os.write(1, json.dumps(answer).encode())
        os._exit(0)
    from helm_cli.__main__ import entry

    entry()
    raise AssertionError("the entry came back")


if __name__ == "__main__":
    _main(socket.socket(fileno=int(sys.argv[1])))
