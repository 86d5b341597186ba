"""How a process writes down who it is, and how another one can tell later that it has ended."""

import errno
import os
from typing import Final

PROC: Final = "/proc"


def mark(proc: str = PROC) -> str:
    """This process, in one line: its number, when it started, and on which machine that number counts."""
    pid = os.getpid()
    return f"{pid} {_started(pid, proc)} {_machine(proc)}"


def ended(mark: str, proc: str = PROC) -> bool:
    """Whether the process of this mark has surely ended: never of another machine's or container's."""
    pid, started, machine = mark.split(" ", 2)
    if machine != _machine(proc):
        return False
    now = _started(int(pid), proc)
    if now != "-":
        # The number may have been given to another process since.
        return now != started
    try:
        os.kill(int(pid), 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False


def here(mark: str, proc: str = PROC) -> int | None:
    """The number of the process of this mark, where it can be reached by it from here and has not ended."""
    pid, _, rest = mark.partition(" ")
    if not pid.isdecimal() or rest.partition(" ")[2] != _machine(proc) or ended(mark, proc):
        return None
    return int(pid)


def _started(pid: int, proc: str) -> str:
    """When it started, in the kernel's ticks; "-" where the kernel does not say, "gone" when it has ended."""
    if not os.path.exists(f"{proc}/self/stat"):
        return "-"
    try:
        with open(f"{proc}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The second field is the program's name, which may hold anything; after it comes the state.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return "gone"
    return "gone" if fields[0] in "ZX" else fields[19]


def _machine(proc: str) -> str:
    try:
        with open(f"{proc}/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink(f'{proc}/self/ns/pid')}"
    except OSError:
        return os.uname().nodename
