"""Runs one command to the end of all that it started, and tells what that took: `python overseer.py FD COMMAND…`.

FD gets one JSON object: `status`, `wall` until the command itself ended, `cpu` (user and system) of it and of all its
descendants, also of those that it did not wait for (Linux), both in seconds, and `left`: whether some never ended.
"""

import ctypes
import json
import os
import resource
import sys
import time
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_LEFT_AFTER: Final = 20.0


def main() -> None:
    told, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        # What loses its parent becomes a child of this process, so that its time is counted.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(told, False)
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    wall = time.perf_counter() - start
    left = not _all_ended()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = {"status": os.waitstatus_to_exitcode(status), "wall": wall, "cpu": used.ru_utime + used.ru_stime}
    os.write(told, json.dumps({**ended, "left": left}).encode())


def _all_ended() -> bool:
    ends = time.monotonic() + _LEFT_AFTER
    try:
        while time.monotonic() < ends:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.005)
    except ChildProcessError:
        return True
    return False


if __name__ == "__main__":
    main()
