"""What the agent writes down about itself: one line each time, bounded, and nothing of what was called."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

# Of a log that grew longer, the newer half is kept.
MOST_BYTES: Final = 128 * 1024


def say(log: Path, text: str) -> None:
    """Adds a line with the time and the process. A log that cannot be written is no reason to end anything."""
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} [{os.getpid()}] {text}\n".encode("utf-8", "replace")
    with suppress(OSError):
        descriptor = opened(log)
        try:
            if os.fstat(descriptor).st_size + len(line) > MOST_BYTES:
                _halve(descriptor)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def opened(log: Path) -> int:
    """A descriptor that adds to the log, private from its first byte. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(log, flags, 0o600)


def _halve(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    kept = os.pread(descriptor, MOST_BYTES // 2, max(0, size - MOST_BYTES // 2))
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept.partition(b"\n")[2])
