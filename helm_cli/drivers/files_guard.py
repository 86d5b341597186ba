"""A process beside a write that lives for a moment longer, and puts right what is left where the write is killed."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from helm_cli.drivers import files_leftover, files_record
from helm_cli.drivers.files_record import Record

_SPAWNED: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from helm_cli.drivers.files_guard import serve; serve(int(sys.argv[2]), sys.argv[3], sys.argv[4])"
)


@contextmanager
def watching(folder: int, record: Record) -> Iterator[None]:
    """While the block runs, its death does not leave what this record is of; the guard holds the folder's lock too.

    What the block itself leaves is put right as well. Where the system has no process to give, there is no guard,
    and what a kill leaves waits for the next write in that folder.
    """
    end, begun = os.pipe()
    try:
        guard = _spawn(folder, end, record)
    finally:
        os.close(end)
    try:
        yield
    finally:
        try:
            _put_right(folder, record.home, record.id)
        finally:
            os.close(begun)
            _wait(guard)


def serve(folder: int, home: str, id: str) -> None:
    """Wait for the end of the process that writes, which is that of standard input, then put right what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    _put_right(folder, home, id)


def _put_right(folder: int, home: str, id: str) -> None:
    # As it was written down last.
    record = files_record.read(home, id)
    if record is not None:
        with suppress(OSError):
            files_leftover.settle(folder, record)


def _spawn(folder: int, end: int, record: Record) -> int | None:
    import json

    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    path = json.dumps([entry or os.getcwd() for entry in sys.path])
    # Another number than it has: some systems take a descriptor that stays the same away from the new process.
    number = 3 if folder != 3 else 4
    with suppress(OSError):
        return os.posix_spawn(
            sys.executable,
            [sys.executable, *options, "-c", _SPAWNED, path, str(number), record.home, record.id],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, end, 0),
                (os.POSIX_SPAWN_DUP2, folder, number),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            # A group of its own: what is done to helm's, Ctrl-C and a kill too, is not done to it.
            setpgroup=0,
        )
    return None


def _wait(guard: int | None) -> None:
    if guard is None:
        return
    with suppress(ProcessLookupError):
        # Nothing is left to do for it, and it may not even have come up yet.
        os.kill(guard, signal.SIGKILL)
    with suppress(ChildProcessError):  # a helm whose children nobody waits for
        os.waitpid(guard, 0)
