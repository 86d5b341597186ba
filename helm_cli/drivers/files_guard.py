"""A process beside a write that lives for a moment longer, and puts right what is left where the write is killed."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from helm_cli.drivers import files_leftover

_SPAWNED: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from helm_cli.drivers.files_guard import serve; serve(int(sys.argv[2]), sys.argv[3])"
)


@contextmanager
def watching(folder: int, spare: str) -> Iterator[None]:
    """While the block runs, its death does not leave a file `spare` in the folder, whose lock the guard then holds too.

    What the block itself leaves is put right as well. Where the system has no process to give, there is no guard,
    and what a kill leaves waits for the next write or listing in that folder.
    """
    end, begun = os.pipe()
    try:
        guard = _spawn(folder, end, spare)
    finally:
        os.close(end)
    try:
        yield
    finally:
        try:
            for name in (spare, spare + files_leftover.PART):
                with suppress(OSError):
                    files_leftover.settle(folder, name)
        finally:
            os.close(begun)
            _wait(guard)


def serve(folder: int, spare: str) -> None:
    """Wait for the end of the process that writes, which is that of standard input, then put right what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    for name in (spare, spare + files_leftover.PART):
        with suppress(OSError):
            files_leftover.settle(folder, name)


def _spawn(folder: int, end: int, spare: str) -> int | None:
    import json

    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    path = json.dumps([entry or os.getcwd() for entry in sys.path])
    # Another number than it has: some systems take a descriptor that stays the same away from the new process.
    number = 3 if folder != 3 else 4
    with suppress(OSError):
        return os.posix_spawn(
            sys.executable,
            [sys.executable, *options, "-c", _SPAWNED, path, str(number), spare],
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
