"""How what a statement still does on the server is ended, also where it takes no notice of being cancelled."""

import select
from contextlib import suppress
from time import monotonic
from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_library import Error, PGcancelConn, PGconn
from helm_cli.drivers.postgres_wire import (
    COPYING,
    READING,
    WRITING,
    Copying,
    Flood,
    Late,
    Link,
    Lost,
    ServerError,
    answer,
    answers,
    send,
)
from helm_cli.model.errors import HelmError

# In all. A server that hangs does not answer a request to cancel either.
_WITHIN: Final = 1.0
# What was cancelled ends in this time, or its session is ended; less than what a late call is waited for.
_HEEDED_WITHIN: Final = 0.1

# A pooler tells a process that is none of the server's, or another one's: it must be a session of helm's own user.
_TERMINATE: Final = (
    "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity"
    " WHERE pid OPERATOR(pg_catalog.=) {pid} AND usename OPERATOR(pg_catalog.=) current_user"
    " AND datname OPERATOR(pg_catalog.=) pg_catalog.current_database()"
    " AND application_name OPERATOR(pg_catalog.=) 'helm' AND state OPERATOR(pg_catalog.=) 'active'"
)


def end(link: Link) -> None:
    """Cancels what runs, and ends the session on the server where that is not heeded; takes a second at most."""
    clock = Deadline(monotonic() + _WITHIN)
    with suppress(Error, ServerError, Late, Lost, Copying, Flood, HelmError):
        if not _cancelled(link.conn, clock) or _heeded(link):
            return
        pid = link.conn.backend_pid
        other = link.another(clock)
        try:
            send(other.conn.send_query, _TERMINATE.format(pid=pid).encode())
            for _ in answers(other, clock):
                pass
        finally:
            other.conn.finish()
            other.line.close()


def _cancelled(conn: PGconn, clock: Deadline) -> bool:
    """Whether the server took the request, which goes over a connection of its own."""
    request: PGcancelConn = conn.cancel_conn()
    request.start()
    while (state := request.poll()) in (READING, WRITING):
        if clock.over():
            return False
        poll = select.poll()
        poll.register(request.socket, select.POLLIN if state == READING else select.POLLOUT)
        poll.poll(max(1, int(clock.remaining() * 1000)))
    return True


def _heeded(link: Link) -> bool:
    """Whether the statement ended, or is about to: a server that sends ends where nobody takes what it sends."""
    clock = Deadline(monotonic() + _HEEDED_WITHIN)
    try:
        while (result := answer(link, clock)) is not None:
            if clock.over():
                return False
            if result.status in COPYING:  # libpq would tell the same again and again
                return True
    except Late:
        return False
    except (Lost, Flood):
        return True
    return True
