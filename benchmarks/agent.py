"""Whether the agent's memory stays as it is over a thousand calls."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.pairs import Row, cost
from benchmarks.services import LINE, service
from benchmarks.services import right as issues
from tests.rig import mcp_calls

BATCH: Final = 100
WARMING: Final = 3
BATCHES: Final = 10


def memory(rounds: int | None) -> Iterator[Row]:
    with service() as (on, _):
        on.well("mcp", "add", "mine", "--", *mcp_calls.command("plain"))
        on.approve("mine", {"id": "mine", "kind": "mcp", "server": "mine", "operations": ["echo"]})
        asked = [
            LINE,
            {"connection": "mine", "operation": "echo", "args": {"message": "hi"}},
        ]
        lines = "".join(f"{json.dumps(line)}\n" for line in asked) * (BATCH // 2)
        batch = on.call(
            "--batch", "-", data=lambda data: issues(data) or data == {"message": "hi"}, stdin=lines.encode()
        )
        with on.agent() as agent:
            held = []
            for _ in range(WARMING + BATCHES):
                cost(batch)
                held.append(_resident(agent.pid))
            assert agent.calls() == BATCH * len(held), agent.status()
    first, last = held[WARMING - 1], held[-1]
    told = f"RSS {first:.1f}, then {last:.1f} MiB; a service and a tool in turn"
    yield Row(f"the agent after {BATCH * BATCHES:,} calls", last - first, "MiB", 2, told)


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
