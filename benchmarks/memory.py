"""What a call holds at the limits, more than a small one: what fits in them, and what would not end."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

from benchmarks import services
from benchmarks.pairs import Row, held, median, side_by_side
from benchmarks.stage import stage
from tests import example
from tests.rig import mcp_calls

RECENT: Final = ("app", "recent", "--arg", "status=open", "--arg", "limit=20")
# With the frame of the answer, just under 1 MiB.
ROWS: Final = 1000
CHARACTERS: Final = 1000


def databases(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        file = example.ready(on.helm, on.workspace)
        with closing(sqlite3.connect(file)) as db, db:
            db.execute(f"UPDATE tickets SET title = hex(zeroblob({CHARACTERS // 2}))")
            db.execute(
                "WITH RECURSIVE n(i) AS (SELECT 201 UNION ALL SELECT i + 1 FROM n WHERE i < 2200)"
                " INSERT INTO tickets SELECT i, hex(zeroblob(?)), 'open' FROM n",
                (CHARACTERS // 2,),
            )
        refused = on.call("app", "endless", data=lambda data: False)
        refused = refused._replace(right=lambda out: _code(out) == "too_many_rows", statuses=(11,))
        (costs,) = side_by_side(rounds or 5, refused)
        little = on.peak(*RECENT[:-1], "limit=1")
        yield held("1,000 rows of 1 MiB", on.peak(*RECENT[:-1], f"limit={ROWS}"), little, 32)
        yield held("10^8 rows, refused", on.peak("app", "endless", code="too_many_rows"), little, 8)
        yield Row("10^8 rows are refused after", median(costs, "CPU"), "s", 1, "CPU, the start with it")


def _code(out: bytes) -> Any:
    return json.loads(out)["error"]["code"]


def bodies(_: int | None) -> Iterator[Row]:
    with services.service() as (on, _url):
        little = on.peak(*services.CALL)
        yield held("a body of 1 MiB", on.peak("gh", "whole"), little, 32)
        yield held("a body without end", on.peak("gh", "endless", code="too_large"), little, 8)
        yield held("200 MiB in a gzip bomb", on.peak("gh", "bomb", code="too_large"), little, 8)


def results(_: int | None) -> Iterator[Row]:
    with stage() as on:
        on.well("mcp", "add", "mine", "--", *mcp_calls.command("plain"))
        on.approve("mine", {"id": "mine", "kind": "mcp", "server": "mine", "operations": ["say", "huge"]})
        little, much = on.peak("mine", "say", "--arg", "message=hi"), on.peak("mine", "huge", code="too_large")
        yield held("a tool's result without end", much, little, 30)
