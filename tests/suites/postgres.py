"""The bench of a Postgres server."""

from tests.rig.postgres import PASSWORD, Postgres, free_port
from tests.suites.driver import TICKETS, Bench


def bench_of(server: Postgres) -> Bench:
    """A Bench on this server, whose owner may do anything: only helm stands between a query and that."""
    server.fresh(
        "CREATE TABLE tickets (id integer PRIMARY KEY, title text, status text)",
        "INSERT INTO tickets VALUES " + ", ".join(map(str, TICKETS)),
    )
    return Bench(
        profile=server.profile(),
        secret=PASSWORD,
        nowhere=server.profile(port=free_port()),
        outside=server.outside,
        endless="SELECT generate_series(1, 100000000)",
        slow="SELECT 1 WHERE pg_sleep(600) IS NULL",
        slow_write="DELETE FROM tickets WHERE pg_sleep(600) IS NULL",
    )
