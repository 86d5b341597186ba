"""How much memory this process has held at the most, without what its parent held when it started it."""

import os
import resource


def peak() -> int:
    """The largest size so far, in KiB."""
    if os.path.exists("/proc/self/status"):
        # The peak of getrusage begins with that of the process that forked this one.
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    # macOS counts bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
