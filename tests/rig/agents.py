"""A background agent for the tests: the real program's, seen from outside, and surely ended."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from helm_cli.agent import control, place
from tests.program import Helm

SECONDS: Final = 20.0


class Agent:
    """The agent of one home, by its process."""

    def __init__(self, home: Path, pid: int) -> None:
        self.home = home
        self.pid = pid

    def status(self) -> dict[str, Any]:
        found = control.status(self.home)
        assert found is not None
        return found

    def calls(self) -> int:
        return int(self.status()["calls"])

    def kill(self) -> None:
        """As nothing can be done about; returns when it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        self.gone()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        eventually(lambda: state(self.pid) == "T")

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def gone(self, seconds: float = SECONDS) -> None:
        """Waits for its end."""
        eventually(lambda: state(self.pid) in ("", "Z"), seconds)

    def socket(self) -> Path:
        return place.of(self.home).socket


@contextmanager
def agent(helm: Helm, home: Path, env: dict[str, str | None] | None = None) -> Iterator[Agent]:
    """An agent that was started as a person does, ended with the block in whatever way it still lives."""
    assert helm("agent", "start", env=env).status == 0
    pid = control.holder(place.of(home))
    assert pid is not None
    try:
        yield Agent(home, pid)
    finally:
        end(home)


def end(home: Path) -> None:
    """No agent of this home is left, nor any process that says its home."""
    for pid in processes(home):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    control.stop(home)
    eventually(lambda: not processes(home))


def processes(home: Path) -> list[int]:
    """The agents' processes of this home, by their command lines."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            if os.fsencode(home) in words and any(b"helm_cli.agent.process" in word for word in words):
                found.append(int(name))
    return [pid for pid in found if state(pid) not in ("", "Z")]


def children(pid: int) -> list[int]:
    """The processes that this one started and did not wait for."""
    tasks = Path(f"/proc/{pid}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def state(pid: int) -> str:
    """The letter that the kernel gives the state of a process; "" where it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def eventually(true: Callable[[], object], seconds: float = SECONDS) -> None:
    """Waits until it is so."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not become so"
        time.sleep(0.01)
