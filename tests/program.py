"""How a test runs the real program: a process of its own, without a terminal, ended with all that it started."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.rig import forked

HELM: Final = [sys.executable, "-m", "helm_cli"]
ROOT: Final = Path(__file__).resolve().parents[1]
SECONDS: Final = 60.0


class Finished(NamedTuple):
    """A run that ended: its exit status (negative: the signal that ended it) and what it printed, decoded strictly."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON text."""
        return json.loads(self.out)


class Helm:
    """`helm("call", "app", "recent")` runs `helm call app recent` and returns what came of it.

    `env` is laid over the test's own environment, None takes a variable away. `stdin` is what a pipe gives it, by
    default nothing. The process has no controlling terminal, so no person is there to answer. It is forked from one
    that has loaded helm (`tests.rig.forked`); `begun` and `subprocess` start Python anew.
    """

    def __call__(
        self,
        *arguments: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        stdin: str | bytes = b"",
        seconds: float = SECONDS,
    ) -> Finished:
        return run([*HELM, *arguments], env=env, cwd=cwd, stdin=stdin, seconds=seconds)


def run(
    command: list[str],
    *,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    stdin: str | bytes = b"",
    seconds: float = SECONDS,
) -> Finished:
    """Any program, in the way of `Helm`. One that is not done in time is killed with its group, and fails the test."""
    process = _start(command, environment(env or {}), cwd)
    try:
        out, err = process.communicate(stdin.encode() if isinstance(stdin, str) else stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"not done in {seconds} s: {command}\n{out!r}\n{err!r}") from None
    return Finished(process.returncode, out.decode(), err.decode())


def _start(command: list[str], env: dict[str, str], cwd: Path | None) -> "subprocess.Popen[bytes] | forked.Forked":
    if command[: len(HELM)] == HELM and forked.fits(env):
        return forked.begin(command[len(HELM) :], env, str(cwd) if cwd else None, (None, None, None))
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)


@contextmanager
def begun(*words: str) -> Iterator[subprocess.Popen[str]]:
    """The real program without a terminal, going on by itself; killed at the end where it is not done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "helm_cli", *words],
        env=environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of this test with these changes."""
    return {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
