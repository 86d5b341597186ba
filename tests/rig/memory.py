"""How much memory this process has held at the most, without what its parent held when it started it."""

import resource
import sys


def peak() -> int:
    """The largest size so far, in KiB."""
    if sys.platform == "linux":
        # The peak of getrusage begins with that of the process that forked this one.
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // 1024 if sys.platform == "darwin" else size
