"""How a Postgres server is waited for: no wait outlasts the deadline, and what was left running is cancelled."""

import select
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_library import Error, PGcancelConn, PGconn, PGresult

# Of libpq's enumerations, which are plain integers for its C callers.
COMMAND_OK, TUPLES_OK, SINGLE_TUPLE, EMPTY_QUERY = 1, 2, 9, 0
COPYING: Final = (3, 4, 8)  # out, in, both
BAD = 1  # of ConnStatusType
READING, WRITING, DONE = 1, 2, 3  # of PostgresPollingStatusType
IDLE, ACTIVE, IN_TRANSACTION, IN_ERROR = 0, 1, 2, 3  # of PGTransactionStatusType

# A wait looks this often whether somebody stopped the work.
_SLICE: Final = 0.05

# A server that hangs does not answer a request to cancel either.
_CANCEL_WITHIN: Final = 1.0


class Late(Exception):
    """The deadline came before the server's answer."""


class Lost(Exception):
    """The connection ended before the server's answer."""


class Copying(Exception):
    """The statement wants to copy data through the connection, which leaves it of no use for anything else."""


class ServerError(Exception):
    """An error that the server reported, with its SQLSTATE; `placed` is whether it points into the statement."""

    def __init__(self, sqlstate: str, message: str, detail: str = "", *, placed: bool = False) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.message = message
        self.detail = detail
        self.placed = placed


class Link:
    """An open connection to a Postgres server."""

    def __init__(self, conn: PGconn) -> None:
        self.conn = conn

    @property
    def state(self) -> int:
        return self.conn.transaction_status

    def close(self) -> None:
        """Ends the connection at once; what still runs on the server is cancelled first."""
        with suppress(Error):
            if self.state == ACTIVE:
                cancel(self.conn)
        self.conn.finish()

    def untouched(self) -> bool:
        """Whether nothing came since the last answer: a server that goes away sends something or closes."""
        with suppress(Error):
            return self.state == IDLE and not _ready(self.conn.socket, select.POLLIN, 0)
        return False


def execute(link: Link, sql: str, clock: Deadline) -> None:
    """Runs statements of helm's own, with nothing bound to them and no rows of interest."""
    send(link.conn.send_query, sql.encode())
    for _ in answers(link, clock):
        pass


def send(function: Callable[..., None], *arguments: object) -> None:
    """Calls one of the sending methods of a PGconn. Raises Lost."""
    try:
        function(*arguments)
    except Error:
        raise Lost from None


def answers(link: Link, clock: Deadline) -> Iterator[PGresult]:
    """Each result of what was sent, to the last. Raises ServerError once all of them have come, Late, Lost."""
    failed: ServerError | None = None
    while (result := answer(link, clock)) is not None:
        try:
            check(result)
        except ServerError as error:
            failed = failed or error
        else:
            yield result
    if failed is not None:
        raise failed


def answer(link: Link, clock: Deadline, most: int | None = None) -> PGresult | None:
    """The next result, None after the last. OverflowError where more than `most` bytes came before it was whole."""
    conn, begun = link.conn, -1
    try:
        unsent = bool(conn.flush())
        while conn.is_busy():
            if begun < 0 and most is not None:
                begun = _received(conn.socket)
            events = wait(conn.socket, select.POLLIN | (select.POLLOUT if unsent else 0), clock)
            if events & ~select.POLLOUT:
                conn.consume_input()
                if most is not None and _received(conn.socket) - begun > most:
                    raise OverflowError
            unsent = unsent and bool(conn.flush())
        return conn.get_result()
    except Error:
        raise Lost from None


def check(result: PGresult) -> None:
    """Raises ServerError where a result is an error, Copying, and Lost where the server ended the session."""
    status = result.status
    if status in (COMMAND_OK, TUPLES_OK, SINGLE_TUPLE, EMPTY_QUERY):
        return
    if status in COPYING:
        raise Copying
    sqlstate = _field(result, "C")
    if not sqlstate or sqlstate.startswith("57P"):
        raise Lost
    raise ServerError(
        sqlstate, _field(result, "M"), _field(result, "D"), placed=bool(_field(result, "P") or _field(result, "p"))
    )


def wait(socket: int, events: int, clock: Deadline) -> int:
    """The events that came on a socket. Raises Late at the deadline."""
    while not clock.over():
        if ready := _ready(socket, events, min(_SLICE, clock.remaining())):
            return ready
    raise Late


def cancel(conn: PGconn) -> None:
    """Asks the server, over a connection of its own, to end what this one runs; waits a second at most."""
    with suppress(Error):
        request: PGcancelConn = conn.cancel_conn()
        request.start()
        ends = monotonic() + _CANCEL_WITHIN
        while (state := request.poll()) in (READING, WRITING) and (left := ends - monotonic()) > 0:
            _ready(request.socket, select.POLLIN if state == READING else select.POLLOUT, left)


def _ready(socket: int, events: int, seconds: float) -> int:
    poll = select.poll()
    poll.register(socket, events)
    found = poll.poll(max(1, int(seconds * 1000)) if seconds else 0)
    return found[0][1] if found else 0


def _received(socket: int) -> int:
    """The bytes that came over a TCP connection so far, by the kernel's count; 0 where it keeps none.

    libpq takes whatever is there, and makes room for the whole of a row however long the server says it is.
    """
    if sys.platform != "linux":
        return 0
    from socket import IPPROTO_TCP, TCP_INFO
    from socket import socket as Socket

    borrowed = Socket(fileno=socket)
    try:
        return int.from_bytes(borrowed.getsockopt(IPPROTO_TCP, TCP_INFO, 136)[128:136], sys.byteorder)
    except OSError:  # a Unix socket
        return 0
    finally:
        borrowed.detach()


def _field(result: PGresult, code: str) -> str:
    return (result.error_field(ord(code)) or b"").decode("utf-8", "replace")
