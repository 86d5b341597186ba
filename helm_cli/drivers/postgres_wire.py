"""How a Postgres server is waited for: no wait outlasts the deadline, and what was left running is cancelled."""

from collections.abc import Callable, Iterator
from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_library import Error, PGconn, PGresult
from helm_cli.drivers.postgres_line import Line

# Of libpq's enumerations, which are plain integers for its C callers.
COMMAND_OK, TUPLES_OK, SINGLE_TUPLE, EMPTY_QUERY = 1, 2, 9, 0
COPYING: Final = (3, 4, 8)  # out, in, both
BAD, CONNECTING = 1, 2  # of ConnStatusType
READING, WRITING, DONE = 1, 2, 3  # of PostgresPollingStatusType
IDLE, ACTIVE, IN_TRANSACTION, IN_ERROR = 0, 1, 2, 3  # of PGTransactionStatusType

# A wait looks this often whether somebody stopped the work.
_SLICE: Final = 0.05

# What may come in answer to a statement of helm's own, and before the first answer of a new connection.
MOST: Final = 1024 * 1024
# Of a message of the server's with its detail, in bytes: a function may raise any text.
_MOST_TOLD: Final = 4096
_CUT: Final = " … (cut by helm)"


class Late(Exception):
    """The deadline came before the server's answer."""


class Lost(Exception):
    """The connection ended before the server's answer."""


class Copying(Exception):
    """The statement wants to copy data through the connection, which leaves it of no use for anything else."""


class Flood(Exception):
    """More came than what was asked for can be; `noticed` is whether most of it was notices."""

    def __init__(self, *, noticed: bool) -> None:
        super().__init__()
        self.noticed = noticed


class ServerError(Exception):
    """An error that the server reported, with its SQLSTATE; message and detail are cut to 4 KiB, and say so.

    `placed` is whether it points into the statement, `parsing` whether the statement was not even taken.
    """

    def __init__(self, sqlstate: str, message: str, detail: str = "", *, placed: bool = False) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.message = _cut(message, _MOST_TOLD)
        room = _MOST_TOLD - len(self.message.encode())
        self.detail = _cut(detail, room) if room > 0 else ""
        self.placed = placed
        self.parsing = False


class Link:
    """An open connection to a Postgres server.

    `another` opens one more like it; `end_statement` ends on the server what still runs there.
    """

    def __init__(
        self,
        conn: PGconn,
        line: Line,
        another: "Callable[[Deadline], Link]",
        end_statement: "Callable[[Link], None]",
    ) -> None:
        self.conn = conn
        self.line = line
        self.another = another
        self.end_statement = end_statement
        self.noticed = 0
        conn.notice_handler = self._notice

    @property
    def state(self) -> int:
        return self.conn.transaction_status

    def close(self) -> None:
        """Ends the connection at once; what still runs on the server is cancelled first."""
        if self.state == ACTIVE:
            self.end_statement(self)
        self.conn.notice_handler = None
        self.conn.finish()
        self.line.close()

    def untouched(self) -> bool:
        """Whether nothing came since the last answer: a server that goes away sends something or closes."""
        return self.state == IDLE and self.line.silent()

    def _notice(self, result: PGresult) -> None:
        self.noticed += len(result.error_message)


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


def answer(link: Link, clock: Deadline, most: int = MOST) -> PGresult | None:
    """The next result, None after the last. Raises Flood where more than `most` bytes came before it was whole."""
    conn, line = link.conn, link.line
    begun, noticed = line.received, link.noticed
    try:
        unsent = bool(conn.flush())
        while conn.is_busy():
            wait(line, clock)
            conn.consume_input()
            if line.received - begun > most:
                raise Flood(noticed=(link.noticed - noticed) * 2 > most)
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
    if not sqlstate or (_field(result, "V") or _field(result, "S")) in ("FATAL", "PANIC"):
        raise Lost
    raise ServerError(
        sqlstate, _field(result, "M"), _field(result, "D"), placed=bool(_field(result, "P") or _field(result, "p"))
    )


def wait(line: Line, clock: Deadline) -> None:
    """Returns once libpq has something to read. Raises Late at the deadline."""
    while not clock.over():
        if line.step(min(_SLICE, clock.remaining())):
            return
    raise Late


def _field(result: PGresult, code: str) -> str:
    return (result.error_field(ord(code)) or b"").decode("utf-8", "replace")


def _cut(text: str, most: int) -> str:
    raw = text.encode()
    return text if len(raw) <= most else raw[:most].decode("utf-8", "ignore") + _CUT
