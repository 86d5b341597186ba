"""The real program very often: one process has all of it loaded, and each run is a fork of it that begins at `entry`.

A run may get what no program starts with: a clock that shows another time, a disk that is full from its Nth step on.
This module is the process too, run as a program of its own: a fork of pytest would hold its threads' locks.
"""

import base64
import json
import mmap
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.program import ROOT, SECONDS, Finished, environment
from tests.rig.ready import load

# What puts something on a disk. It makes no difference when it becomes full between two of these.
STEPS: Final = frozenset(("write", "pwrite", "execute", "executemany", "close"))


class How(NamedTuple):
    """What is special about a run.

    `room` is how many bytes a file may have (None: as many as it likes), from the `full_at`-th step on, 0 from the
    beginning. `later` is how many seconds the clock is ahead. `act` is a function, as "module:name", that takes the
    words in place of the command line.
    """

    room: int | None = None
    full_at: int = 0
    later: float = 0.0
    act: str | None = None


class Ran(NamedTuple):
    """A run that ended, and how many steps it had, where `How` said when it would get full."""

    status: int
    out: str
    err: str
    steps: int

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Forks:
    """`forks("db", "list")` is `helm db list`, in this test's environment and folder, without a terminal."""

    def __init__(self, line: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines = line.makefile("rwb")

    def __call__(
        self,
        *words: str,
        stdin: str | bytes = b"",
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        how: How = How(),  # noqa: B008  # it cannot be changed
    ) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        asked = {
            "words": words,
            "stdin": base64.b64encode(given).decode(),
            "env": environment(env or {}),
            "cwd": str(cwd or os.getcwd()),
            "how": how._asdict(),
        }
        self._lines.write(json.dumps(asked).encode() + b"\n")
        self._lines.flush()
        answer = self._lines.readline()
        assert answer, f"the process that forks is gone: {words}"
        status, out, err, steps = json.loads(answer)
        assert status is not None, f"not done in {SECONDS} s: {words}\n{out}\n{err}"
        return Ran(status, base64.b64decode(out).decode(), base64.b64decode(err).decode(), steps)

    def helm(self, *words: str, **more: Any) -> Finished:
        """The same in the form of `Helm`, which the rigs that set something up take."""
        ran = self(*words, **more)
        return Finished(ran.status, ran.out, ran.err)


@contextmanager
def forking(*before: str) -> Iterator[Forks]:
    """The process that forks, ended with the block; `before` is what is to run it, such as `team.as_user(7)`."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "tests.rig.forks", str(theirs.fileno())],
        cwd=ROOT,
        env=environment({}),
        stdin=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
        start_new_session=True,
    )
    theirs.close()
    try:
        ours.settimeout(SECONDS * 2)
        yield Forks(ours, process)
    finally:
        ours.close()
        process.kill()
        process.wait()


class _Clock:
    """The machine's clock, and how far it is ahead; in place before anything of helm's is loaded."""

    def __init__(self) -> None:
        self.later = 0.0
        self._time, self._time_ns = time.time, time.time_ns

    def time(self) -> float:
        return self._time() + self.later

    def time_ns(self) -> int:
        return self._time_ns() + int(self.later * 1e9)


class _Filling:
    """Lets the disk become full at one step of a run: from then on no file gets larger than `room`."""

    def __init__(self, room: int, at: int, steps: mmap.mmap) -> None:
        self._room, self._at, self._done, self._steps = room, at, 0, steps

    def begin(self) -> None:
        if self._at == 0:
            self._fill()
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)

    def _seen(self, frame: Any, event: str, argument: Any) -> None:
        if event == "c_call" and argument.__name__ in STEPS:
            self._done += 1
            self._steps[:8] = self._done.to_bytes(8)
            if self._done == self._at:
                self._fill()

    def _fill(self) -> None:
        # SIGXFSZ is ignored by Python, so that a write beyond it fails with EFBIG, as one on a full disk with ENOSPC.
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._room, resource.RLIM_INFINITY))


def _main(line: socket.socket) -> None:
    clock = _Clock()
    time.time, time.time_ns = clock.time, clock.time_ns
    load()
    lines = line.makefile("rwb")
    for text in lines:
        asked = json.loads(text)
        lines.write(json.dumps(_run(asked, clock)).encode() + b"\n")
        lines.flush()


def _run(asked: dict[str, Any], clock: _Clock) -> tuple[int | None, str, str, int]:
    (out, out_end), (err, err_end), steps = os.pipe(), os.pipe(), mmap.mmap(-1, 8)
    child = os.fork()
    if not child:
        os.close(out)
        os.close(err)
        _begin(asked, clock, (out_end, err_end), steps)
    os.close(out_end)
    os.close(err_end)
    said = {out: b"", err: b""}
    status = _heard(child, said)
    for end in said:
        os.close(end)
    texts = [base64.b64encode(text).decode() for text in said.values()]
    return status, texts[0], texts[1], int.from_bytes(steps[:8])


def _heard(child: int, said: dict[int, bytes]) -> int | None:
    """What it says until it ends, whoever else still holds its pipes; its status, None where it does not end."""
    gone, open_ = os.pidfd_open(child), set(said)
    ends = time.monotonic() + SECONDS
    over = False
    while True:
        ready, _, _ = select.select([*open_, *([] if over else [gone])], [], [], 0 if over else ends - time.monotonic())
        for end in open_ & set(ready):
            part = os.read(end, 65536)
            said[end] += part
            open_ -= set() if part else {end}
        if over and not ready:
            break
        over = over or gone in ready
        if not over and time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(gone)
            return None
    os.close(gone)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _begin(asked: dict[str, Any], clock: _Clock, ends: tuple[int, int], steps: mmap.mmap) -> None:
    """The fork: it becomes what a program is that was started so, and runs the real entry, which never returns."""
    os.setsid()
    given = os.memfd_create("stdin")
    os.write(given, base64.b64decode(asked["stdin"]))
    os.lseek(given, 0, os.SEEK_SET)
    for number, end in enumerate((given, *ends)):
        os.dup2(end, number)
    sys.stdin = os.fdopen(0, closefd=False)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    how = How(**asked["how"])
    os.chdir(asked["cwd"])
    clock.later = how.later
    sys.argv = ["helm", *asked["words"]]
    from helm_cli import __main__

    if how.act is not None:
        module, _, name = how.act.partition(":")
        act: Callable[..., int] = getattr(import_module(module), name)
        # What the process does once its words are understood, within the same edge.
        vars(__main__)["main"] = lambda: act(*asked["words"])
    if how.room is not None:
        _Filling(how.room, how.full_at, steps).begin()
    __main__.entry()


if __name__ == "__main__":
    _main(socket.socket(fileno=int(sys.argv[1])))
