"""On what was measured, as a reader of a table wants to know it; nothing that names the machine or its owner."""

import os
import platform
from contextlib import suppress
from pathlib import Path


def described() -> str:
    """`2 cores (AMD EPYC 7B13), 16 GiB, Python 3.11.7, Linux 6.1`."""
    cores = os.cpu_count() or 1
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    gibibytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"{cores} core{'' if cores == 1 else 's'} ({_model()}), {gibibytes:.0f} GiB, Python"
        f" {platform.python_version()}, {platform.system()} {release}"
    )


def _model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
