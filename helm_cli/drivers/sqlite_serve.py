"""What the process does that runs SQLite statements: one job at a time, in bounds that the kernel keeps."""

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic
from typing import Final, NoReturn

from helm_cli.drivers import sqlite_statement
from helm_cli.drivers.deadline import GRACE, Deadline
from helm_cli.drivers.sqlite_file import MOST_TEMPORARY_BYTES
from helm_cli.drivers.sqlite_job import ANSWER, COMMITTING, Job, packed, received, send
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# SQLite counts its own memory (`sqlite_file`); this is for the copies of it that Python makes.
_MOST_DATA: Final = 192 * 1024 * 1024
_JOBS: Final = 0
_ANSWERS: Final = 1


def serve() -> NoReturn:
    """Answers the jobs from descriptor 0 on descriptor 1 until there are no more."""
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGWINCH:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    # A Ctrl-C is for helm, which then says what becomes of the job.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _soften(resource.RLIMIT_CORE, 0)
    if sys.platform.startswith("linux"):
        _soften(resource.RLIMIT_DATA, _data() + _MOST_DATA)
    size_of_a_file = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    while (job := received(_JOBS)) is not None:
        # A read writes nothing but temporary files. Python ignores SIGXFSZ, so that SQLite sees an error.
        _soften(resource.RLIMIT_FSIZE, MOST_TEMPORARY_BYTES if job.effect == "read" else size_of_a_file)
        answer = _answer(job)
        try:
            send(_ANSWERS, ANSWER + packed(answer))
        except BrokenPipeError:
            break
    os._exit(0)


def settle(jobs: int, answers: int) -> None:
    """Makes a forked copy of helm nothing but a worker: it holds none of helm's files, locks and connections."""
    gc.freeze()  # what is garbage in helm must not be finalised twice
    signal.set_wakeup_fd(-1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(jobs, _JOBS)
    os.dup2(answers, _ANSWERS)
    os.dup2(null, 2)
    for descriptor in _open_ones():
        if descriptor > 2:
            with suppress(OSError):
                os.close(descriptor)


def _open_ones() -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:  # hidden from a process that changed its user
        return range(os.sysconf("SC_OPEN_MAX"))


def _answer(job: Job) -> Json:
    # The default action of this signal ends the process in the kernel, also within one long call into C code.
    signal.setitimer(signal.ITIMER_REAL, job.seconds + GRACE)
    try:
        return ["data", sqlite_statement.perform(job, Deadline(monotonic() + job.seconds), _announce_commit)]
    except HelmError as error:
        return ["error", error.code, error.message, error.members]
    except Exception as error:
        return ["fault", type(error).__name__]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _announce_commit() -> None:
    send(_ANSWERS, COMMITTING)


def _data() -> int:
    descriptor = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    pages = os.read(descriptor, 200).split()[5]
    os.close(descriptor)
    return int(pages) * resource.getpagesize()


def _soften(limit: int, value: int) -> None:
    soft, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        value = hard if value == resource.RLIM_INFINITY else min(value, hard)
    if value != soft:
        resource.setrlimit(limit, (value, hard))
