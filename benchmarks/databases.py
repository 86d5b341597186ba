"""Calls of databases, held against bare scripts and other people's programs, and through the agent."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from benchmarks import peers
from benchmarks.pairs import Cost, Row, Run, batch, compared, side_by_side
from benchmarks.stage import Right, Stage, stage
from tests import example
from tests.rig import mariadb, postgres

RECENT: Final = ("app", "recent", "--arg", "status=open", "--arg", "limit=20")
LINE: Final = {"connection": "app", "operation": "recent", "args": {"status": "open", "limit": 20}}
# For programs that take no values beside the statement.
WRITTEN_OUT: Final = "SELECT id, title, status FROM tickets WHERE status = 'open' ORDER BY id DESC LIMIT 20"
NAMED: Final = "SELECT id, title, status FROM tickets WHERE status = :status ORDER BY id DESC LIMIT :limit"


def recent(first: int) -> Right:
    """Whether the data are the 20 newest open tickets, the first of which is this one."""
    return lambda data: (
        data["columns"] == ["id", "title", "status"]
        and len(data["rows"]) == 20
        and list(data["rows"][0]) == [first, f"Ticket {first}", "open"]
    )


def sqlite(rounds: int | None) -> Iterator[Row]:
    with stage() as on:
        file, right = str(example.ready(on.helm, on.workspace)), recent(199)
        script = on.script("sqlite", file, example.RECENT, data=right)
        words = ("query", file, NAMED, "-p", "status", "open", "-p", "limit", "20")
        utils = on.command(peers.program("sqlite-utils"), *words, right=_objects)
        lite = on.command(peers.program("litecli"), file, "--csv", "-e", WRITTEN_OUT, right=_csv(199))
        without, ours = on.twin().call(*RECENT, data=right), on.call(*RECENT, data=right)
        with on.agent() as agent:
            alone, through, bare, other, another = side_by_side(rounds or 12, without, ours, script, utils, lite)
            assert agent.calls() > len(through)
        yield compared("cold : a bare sqlite3 script", alone, bare, 4)
        yield compared("cold : sqlite-utils query", alone, other, 1)
        yield compared("cold : litecli -e", alone, another, 1)
        yield compared("through the agent : without it", through, alone, 1)
        with on.in_memory() as quick:
            loop = on.loop("sqlite", file, example.RECENT, data=right)
            yield batch(rounds, quick.batch(LINE, right), loop, on.nothing())


def on_postgres(rounds: int | None) -> Iterator[Row]:
    with stage() as on, postgres.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT n, 'Ticket ' || n, 'open' FROM generate_series(1, 200) n")
        example.ready_on_postgres(on.helm, on.workspace, server)
        words, password = (str(server.port), postgres.OWNER), postgres.PASSWORD
        where = ("-h", "127.0.0.1", "-p", str(server.port), "-U", postgres.OWNER, "-d", "zq_main", "-t")
        settings = {"PGPASSWORD": password}
        cli = on.command(peers.program("pgcli"), *where, "-c", WRITTEN_OUT, right=_drawn(200), **settings)
        script = on.script("postgres", *words, data=recent(200), stdin=password.encode())
        again = ("db", "edit", "pg", "--password-stdin")
        cold, through, bare, other = _cold_and_warm(on, rounds, again, password, 200, script, cli)
        yield compared("cold : a bare psycopg script", cold, bare, 1.3)
        yield compared("cold : pgcli -c", cold, other, 1)
        yield compared("through the agent : that script", through, bare, 1)
        with on.in_memory() as quick:
            quick.well(*again, stdin=password)
            loop = on.loop("postgres", *words, data=recent(200), stdin=password.encode())
            yield batch(rounds, quick.batch(LINE, recent(200)), loop, on.nothing())


def on_mysql(rounds: int | None) -> Iterator[Row]:
    with stage() as on, mariadb.running() as server:
        server.outside("CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)")
        server.outside("INSERT INTO tickets SELECT seq, CONCAT('Ticket ', seq), 'open' FROM seq_1_to_200")
        example.ready_on_mysql(on.helm, on.workspace, server)
        words, password = (str(server.port), mariadb.USER), mariadb.PASSWORD
        script = on.script("mariadb", *words, data=recent(200), stdin=password.encode())
        again = ("db", "edit", "my", "--password-stdin")
        cold, through, bare = _cold_and_warm(on, rounds, again, password, 200, script)
        yield compared("cold : a bare mysql.connector script", cold, bare, 1.3)
        yield compared("through the agent : that script", through, bare, 1)
        with on.in_memory() as quick:
            quick.well(*again, stdin=password)
            loop = on.loop("mariadb", *words, data=recent(200), stdin=password.encode())
            yield batch(rounds, quick.batch(LINE, recent(200)), loop, on.nothing())


def _cold_and_warm(
    on: Stage, rounds: int | None, again: Sequence[str], password: str, first: int, *others: Run
) -> list[list[Cost]]:
    """The costs of a call without the agent and of one through it, and of the others beside them."""
    twin = on.twin()
    twin.well(*again, stdin=password)
    without, ours = (place.call(*RECENT, data=recent(first)) for place in (twin, on))
    with on.agent() as agent:
        columns = side_by_side(rounds or 10, without, ours, *others)
        assert agent.calls() > len(columns[1])
    return columns


def _objects(out: bytes) -> bool:
    told = json.loads(out)
    return len(told) == 20 and told[0] == {"id": 199, "title": "Ticket 199", "status": "open"}


def _csv(first: int) -> Callable[[bytes], bool]:
    def right(out: bytes) -> bool:
        head, *rows = csv.reader(io.StringIO(out.decode()))
        return (head, rows[0], len(rows)) == (["id", "title", "status"], [str(first), f"Ticket {first}", "open"], 20)

    return right


def _drawn(first: int) -> Callable[[bytes], bool]:
    """Rows with spaces between, without a head."""
    return lambda out: (
        [line.split() for line in out.decode().splitlines()][:1] == [[str(first), "Ticket", str(first), "open"]]
        and len(out.splitlines()) == 20
    )
