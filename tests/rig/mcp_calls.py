"""How a test calls a tool by the driver itself, and what is left of the process group of a server afterwards."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from helm_cli.drivers import Limits, mcp
from helm_cli.model.extension import Effect
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Server
from tests.program import ROOT

SCRIPT: Final = str(ROOT / "tests" / "rig" / "mcp_server.py")
SECRET: Final = "t0ken-of-the-server"
# Long enough for any answer on a busy machine, and for a server that gives none to be given up.
SOON: Final = Limits(seconds=20)


def command(mode: str, log: Path | None = None) -> tuple[str, ...]:
    """The misbehaving server in one of its modes."""
    return (sys.executable, "-I", "-S", SCRIPT, mode, *([] if log is None else [str(log)]))


def server(mode: str = "plain", log: Path | None = None, **more: Any) -> Server:
    return Server("mine", command(mode, log), token_env="SERVER_TOKEN", start_seconds=20, folder=os.getcwd())._replace(
        **more
    )


def plan(tool: str, arguments: dict[str, Any], effect: Effect = "read", extension: str = "x") -> Plan:
    return Plan(
        kind="mcp",
        effect=effect,
        extension=extension,
        connection="tools",
        operation=tool,
        group="mcp",
        profile="mine",
        driver="mcp",
        shape="content",
        title="Confirm tool call",
        verb="Call",
        noun="tool",
        request={"server": "mine", "tool": tool, "arguments": arguments},
    )


def call(
    target: Server,
    tool: str = "say",
    arguments: dict[str, Any] | None = None,
    effect: Effect = "read",
    limits: Limits = SOON,
) -> Any:
    """The data of one call, whose session is not kept unless the test keeps it."""
    given = {"message": "hi"} if arguments is None else arguments
    return mcp.run(plan(tool, given, effect), target, SECRET, limits)


def groups(log: Path) -> list[int]:
    """The process groups of the servers that wrote this log."""
    if not log.exists():
        return []
    return [int(line) for line in log.read_text().splitlines() if line.isdecimal()]


def members(group: int) -> list[int]:
    """The processes of a group that still run."""
    return [pid for pid, whose in _processes() if whose == group]


def gone(group: int, seconds: float = 10) -> bool:
    """Whether nothing is left of a group, at the latest after this time."""
    ends = time.monotonic() + seconds
    while members(group):
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def _processes() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if state[0] not in "ZX":
            yield int(name), int(state[2])
