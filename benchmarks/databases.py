"""Calls of databases, held against bare scripts, and through the agent against the same call without it."""

import json
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.pairs import A_BATCH, Row, compared, each, median, side_by_side, start
from benchmarks.stage import Right, Stage, stage
from tests import example
from tests.rig import mariadb, postgres

RECENT: Final = ("app", "recent", "--arg", "status=open", "--arg", "limit=20")
MORE: Final = 400


def recent(first: int) -> Right:
    """Whether the data are the 20 newest open tickets, the first of which is this one."""
    return lambda data: (
        data["columns"] == ["id", "title", "status"]
        and len(data["rows"]) == 20
        and list(data["rows"][0]) == [first, f"Ticket {first}", "open"]
    )


def sqlite(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        file = str(example.ready(on.helm, on.workspace))
        ours = on.call(*RECENT, data=recent(199))
        alone, bare = side_by_side(rounds or 25, ours, on.script("sqlite", file, example.RECENT, data=recent(199)))
        yield compared("helm call on SQLite : bare sqlite3 script", alone, bare, 4)
        yield _batch(on, rounds)
        without = on.twin().call(*RECENT, data=recent(199))
        with on.agent() as agent:
            through, alone = side_by_side(rounds or 25, ours, without)
            assert agent.calls() > len(through)
        yield compared("helm call on SQLite through the agent : without", through, alone, 1)


def _batch(on: Stage, rounds: int | None) -> Row:
    line = json.dumps({"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 20}}) + "\n"
    lines = [line.encode() * count for count in (1, 1 + MORE)]
    with on.in_memory() as quick:
        runs = [quick.call("--batch", "-", data=recent(199), stdin=stdin) for stdin in lines]
        one, many, nothing = side_by_side(rounds or 10, *runs, on.nothing())
    short, long = side_by_side(3, *(on.call("--batch", "-", data=recent(199), stdin=stdin) for stdin in lines))
    cpu, wall, disk = each(one, many, MORE, "CPU"), each(one, many, MORE, "wall"), each(short, long, MORE, "wall")
    told = f"by CPU; {cpu:.2f} ms, wall {wall:.2f} ms, with the home on this disk {disk:.2f} ms; {MORE} more calls"
    return Row("one more call in a batch on SQLite : python -c pass", cpu / start(nothing), "times", A_BATCH, told)


def endless(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        example.ready(on.helm, on.workspace)
        refused = on.call("app", "endless", data=lambda data: False)
        refused = refused._replace(right=lambda out: _code(out) == "too_many_rows", statuses=(11,))
        (costs,) = side_by_side(rounds or 5, refused)
        yield Row("a query of 10^8 rows is refused after", median(costs, "CPU"), "s", 1, "CPU, the start with it")
        little, much = on.peak(*RECENT), on.peak("app", "endless", code="too_many_rows")
        yield Row("and holds more than a small call", much - little, "MiB", 30, f"{much:.1f} / {little:.1f} MiB")


def _code(out: bytes) -> Any:
    return json.loads(out)["error"]["code"]


def on_postgres(rounds: int | None) -> Iterator[Row]:
    with stage() as on, postgres.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT n, 'Ticket ' || n, 'open' FROM generate_series(1, 200) n")
        example.ready_on_postgres(on.helm, on.workspace, server)
        words = (str(server.port), postgres.OWNER)
        script = on.script("postgres", *words, data=recent(200), stdin=postgres.PASSWORD.encode())
        ours = on.call(*RECENT, data=recent(200))
        alone, bare = side_by_side(rounds or 20, ours, script)
        yield compared("helm call on Postgres : bare psycopg script", alone, bare, 1.3)
        twin = on.twin()
        twin.well("db", "edit", "pg", "--password-stdin", stdin=postgres.PASSWORD)
        without = twin.call(*RECENT, data=recent(200))
        with on.agent() as agent:
            through, alone, bare = side_by_side(rounds or 20, ours, without, script)
            assert agent.calls() > len(through)
        yield compared("helm call on Postgres through the agent : without", through, alone, 1)
        yield compared("helm call on Postgres through the agent : script", through, bare, 1)


def on_mysql(rounds: int | None) -> Iterator[Row]:
    with stage() as on, mariadb.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT seq, CONCAT('Ticket ', seq), 'open' FROM seq_1_to_200")
        example.ready_on_mysql(on.helm, on.workspace, server)
        words = (str(server.port), mariadb.USER)
        script = on.script("mariadb", *words, data=recent(200), stdin=mariadb.PASSWORD.encode())
        alone, bare = side_by_side(rounds or 20, on.call(*RECENT, data=recent(200)), script)
        yield compared("helm call on MySQL : bare connector script", alone, bare, 1.3)
