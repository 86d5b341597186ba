"""How SQLite statements run in a process of their own, which ends in time whatever it is stuck in."""

import os
import signal
import sys
from contextlib import suppress
from select import POLLIN, poll
from time import monotonic
from typing import Any, Final, NamedTuple, cast

from helm_cli.drivers import interrupts
from helm_cli.drivers.deadline import GRACE
from helm_cli.drivers.kept import Kept
from helm_cli.drivers.sqlite_job import ANSWER, COMMITTING, Job, fields, missing, packed, send, unpacked
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# A job still running that long after its time is over is killed by the kernel (`sqlite_serve`); if it could
# not, because the machine is busy, by helm itself a little later.
_MORE_GRACE: Final = 2 * GRACE
_PART: Final = 65536
_SPAWNED: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from helm_cli.drivers.sqlite_serve import serve; serve()"
)


class Lost(Exception):
    """The process that ran a job ended without an answer; `committing` is whether it had begun to COMMIT."""

    def __init__(self, *, committing: bool) -> None:
        super().__init__()
        self.committing = committing


class _Past:
    """When it was started and last given back (`monotonic`), and how many jobs it got."""

    __slots__ = ("begun", "given", "jobs")

    def __init__(self) -> None:
        self.begun = self.given = monotonic()
        self.jobs = 0


class Worker(NamedTuple):
    """A process that waits for jobs: its id, the pipes to it and from it, and what it did so far."""

    pid: int
    jobs: int
    answers: int
    past: "_Past"

    def kill(self) -> None:
        """Ends it now, whatever it does, and only returns when all its locks are gone."""
        if self.alive():
            os.kill(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):  # a helm whose children nobody waits for
                os.waitpid(self.pid, 0)
        self.forget()

    def alive(self) -> bool:
        """Not after it was found dead once: its id may be another's by then."""
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False

    def forget(self) -> None:
        os.close(self.jobs)
        os.close(self.answers)


# No more wait for jobs than calls run side by side.
_MOST_IDLE: Final = 16

_idle: Final[list[Worker]] = []
_busy: Final[list[Worker]] = []
_forked: Final[list[int]] = []


def ask(job: Job) -> Json:
    """What the job answers, within its limits. HelmError is its own; Lost when its process was killed or died.

    Any exception but HelmError, Ctrl-C too, has ended the process when it gets here.
    """
    ends = monotonic() + job.seconds
    worker = _take()
    worker.past.jobs += 1
    _busy.append(worker)
    try:
        answer = _exchange(worker, job, ends)
    except BaseException:
        worker.kill()
        raise
    finally:
        _busy.remove(worker)
    _give(worker)
    return _outcome(answer)


def idle() -> list[int]:
    """The ids of the processes that wait for jobs; the last one gets the next."""
    return [worker.pid for worker in _idle]


def listed() -> list[Kept]:
    """The processes that are there now, the oldest first."""
    now = monotonic()
    found = [(worker, False) for worker in [*_idle]] + [(worker, True) for worker in [*_busy]]
    found.sort(key=lambda one: one[0].past.begun)
    return [Kept("a SQLite process", now - worker.past.begun, worker.past.jobs, busy) for worker, busy in found]


def retire(seconds: float, staying: int) -> None:
    """Ends processes that have waited for longer than this, but for so many."""
    before = monotonic() - seconds
    # The last one gets the next job, so that it is the first ones that wait.
    while len(_idle) > staying and _idle[0].past.given < before:
        with suppress(IndexError):  # a call took it
            _idle.pop(0).kill()


def _take() -> Worker:
    while _idle:
        with suppress(IndexError):  # another thread was quicker
            worker = _idle.pop()
            if worker.alive():
                return worker
            worker.forget()
    return start()


def _give(worker: Worker) -> None:
    """Lets it wait for the next job; it ends when helm does, for then the pipe of its jobs is closed.

    It kept nothing of the last one: each opens the file anew.
    """
    worker.past.given = monotonic()
    if len(_idle) < _MOST_IDLE:
        _idle.append(worker)
    else:
        worker.kill()


def start() -> Worker:
    """A new process. HelmError "unavailable" when the system has no more of them."""
    opened: list[int] = []
    try:
        opened += os.pipe()
        opened += os.pipe()
        jobs_out, jobs_in, answers_out, answers_in = opened
        pid = _fork(jobs_out, answers_in) if _may_fork() else _spawn(jobs_out, answers_in)
    except OSError as error:
        for descriptor in opened:
            os.close(descriptor)
        raise HelmError("unavailable", f"no process can be started for the query: {error.strerror}") from None
    os.close(jobs_out)
    os.close(answers_in)
    return Worker(pid, jobs_in, answers_out, _Past())


def _may_fork() -> bool:
    """Whether a copy of this process is a sound process: it costs 1 ms, a new one 17.

    It is not beside other threads, nor on macOS, whose frameworks may not be used in it. And a second copy would
    draw the same random numbers as the first, because SQLite does not seed itself anew.
    """
    if _forked or not sys.platform.startswith("linux"):
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _fork(jobs: int, answers: int) -> int:
    # Before the fork: what a copy changes in its memory is copied by the page.
    from helm_cli.drivers import sqlite_serve

    pid = os.fork()
    if pid:
        _forked.append(pid)
        return pid
    try:
        sqlite_serve.settle(jobs, answers)
        sqlite_serve.serve()
    finally:
        os._exit(1)


def _spawn(jobs: int, answers: int) -> int:
    import json

    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    path = json.dumps([entry or os.getcwd() for entry in sys.path])
    return os.posix_spawn(
        sys.executable,
        [sys.executable, *options, "-c", _SPAWNED, path],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, jobs, 0),
            (os.POSIX_SPAWN_DUP2, answers, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )


def _exchange(worker: Worker, job: Job, ends: float) -> Json:
    try:
        send(worker.jobs, packed(fields(job._replace(seconds=max(0.0, ends - monotonic())))))
    except BrokenPipeError:
        raise Lost(committing=False) from None
    with interrupts.descriptor() as interrupt:
        return _answer(worker, ends, interrupt)


def _answer(worker: Worker, ends: float, interrupt: int | None) -> Json:
    committing = False
    message = bytearray()
    waiting = poll()
    waiting.register(worker.answers, POLLIN)
    if interrupt is not None:
        waiting.register(interrupt, POLLIN)
    while not message or missing(message[1:]) > 0:
        left = ends + _MORE_GRACE - monotonic()
        heard = waiting.poll(max(0.0, left) * 1000)
        interrupts.check()
        part = os.read(worker.answers, _PART) if heard else b""
        if not part:
            raise Lost(committing=committing)
        message += part
        if message.startswith(COMMITTING):
            committing = True
            del message[:1]
    assert message.startswith(ANSWER)
    return unpacked(message[1:])


def _outcome(answer: Json) -> Json:
    kind, *rest = cast(Any, answer)
    if kind == "data":
        return cast(Json, rest[0])
    if kind == "error":
        raise HelmError(*rest)
    raise RuntimeError(f"the SQLite process failed: {rest[0]}")
