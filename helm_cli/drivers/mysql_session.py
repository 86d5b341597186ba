"""One call's conversation with a MySQL server: what is sent to it, and how it is left when the call is over."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from helm_cli.drivers import Limits, kept, mysql_bind, mysql_connect
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.mysql_library import Error, MySQLConnection
from helm_cli.drivers.mysql_wire import Late, Lost, TooBig, Wire
from helm_cli.drivers.outcome import AS_WRITE
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Scalar
from helm_cli.model.profile import Database

Result = TypeVar("Result")

# The server's own clock runs out this much after helm's, in seconds. It is for the case that helm is gone: BENCHMARK
# and SLEEP end at it with a row, as though nothing had been cut off.
_LATER: Final = 0.1
# How long the answer to a ROLLBACK, or to a query that was ended, is waited for beyond the deadline.
_UNDO_WITHIN: Final = 0.3
# Raw bytes of a row may be more than its JSON: blanks in a JSON column, digits that are padded.
_RAW: Final = 4
_UNKNOWN_VARIABLE: Final = 1193
_TOO_LONG_FOR_A_PACKET: Final = 1301

_STRICT: Final = "SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_ALL_TABLES')"

# What ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE return; they write, and a read-only transaction lets them.
_UPKEEP: Final = ["Table", "Op", "Msg_type", "Msg_text"]


class Query(NamedTuple):
    """A statement, the first word of it in capitals, and the values in the order of its placeholders."""

    sql: str
    keyword: str
    values: Sequence[Scalar]
    effect: Effect


class Link(NamedTuple):
    """A signed-in connection and the wire under it."""

    connection: MySQLConnection
    wire: Wire

    def close(self) -> None:
        with suppress(Exception):  # a farewell; the server may be gone, or in the middle of its rows
            self.connection.close()
        self.wire.close_connection()


class Session(NamedTuple):
    """A signed-in connection in one call. Methods raise Error where the server says no, and what the wire raises."""

    profile: Database
    secret: str | None
    extension: str
    effect: Effect
    clock: Deadline
    connection: MySQLConnection
    wire: Wire
    remarks: list[tuple[int, str]]  # what the server said of the rows that were read

    @property
    def version(self) -> str:
        """The server's version as it greets, without the prefix that MariaDB puts before its own."""
        return self.wire.version.removeprefix("5.5.5-")

    def command(self, sql: str) -> dict[str, Any]:
        """The answer to a statement of ours that returns no rows."""
        return dict(_asked(lambda: self.connection.cmd_query(sql)))

    def describe(self, query: Query) -> None:
        """Has the server prepare the query without running it; HelmError "refused" where it must not run."""
        found: Any = _asked(lambda: self.connection.cmd_stmt_prepare(query.sql.encode()))
        _asked(lambda: self.connection.cmd_stmt_close(found["statement_id"]))
        if found["num_params"] != len(query.values):
            raise HelmError("refused", "the query has not as many placeholders as its params; correct the declaration")
        # Of some SHOW the server tells the columns when it runs; none of them writes.
        if query.effect == "read" and not found["num_columns"] and query.keyword != "SHOW":
            raise HelmError("refused", f"a read query must return columns; {AS_WRITE}")
        if query.effect == "read" and [column[0] for column in found["columns"]] == _UPKEEP:
            raise HelmError("refused", f"a read query must not maintain a table; {AS_WRITE}")

    def begin(self, query: Query) -> None:
        """Starts the transaction and readies the query in it."""
        self.command(f"START TRANSACTION READ {'WRITE' if query.effect == 'write' else 'ONLY'}")
        self.command(mysql_bind.assignment(query.sql, query.values, exact=query.effect == "write"))
        self.command(mysql_bind.PREPARE)

    def results(self, query: Query) -> Iterator[dict[str, Any]]:
        """Runs the query: what came of it, one after the other (a procedure has several)."""
        answers = self.connection.cmd_query_iter(mysql_bind.execution(len(query.values)))
        while (answer := _asked(lambda: next(answers, None))) is not None:
            yield dict(answer)

    def rows(self) -> Iterator[Sequence[bytes | None]]:
        """The rows of the result that just began, one at a time."""
        eof = None
        while eof is None:
            self.wire.rows = True
            try:
                rows, eof = _asked(lambda: self.connection.get_rows(count=1, raw=True))
            finally:
                self.wire.rows = False
            yield from rows
        if eof.get("warning_count") and self.effect == "read":  # a procedure may have more results to give
            self.remarks.extend(self.warnings())
            if any(number == _TOO_LONG_FOR_A_PACKET for number, _ in self.remarks):
                raise TooBig  # the value would be NULL

    def warnings(self) -> list[tuple[int, str]]:
        """Number and text of each thing that the server remarked on the statement before."""
        _asked(lambda: self.connection.cmd_query("SHOW WARNINGS"))
        found, _ = _asked(lambda: self.connection.get_rows(raw=True))
        return [(int(bytes(row[1])), bytes(row[2]).decode("utf-8", "replace")) for row in found if row[1] and row[2]]

    def undo(self) -> bool:
        """Rolls back; whether the server confirmed it, and that nothing was left of the change."""
        self.wire.until = monotonic() + max(_UNDO_WITHIN, self.wire.took)
        try:
            return not self.command("ROLLBACK")["warning_count"]  # one tells of tables without transactions
        except (Error, Late, Lost, TooBig):
            return False

    def stop(self) -> None:
        """Ends what the server is still running for this connection."""
        mysql_connect.kill(self.profile, self.secret, self.connection.connection_id, self.wire.took)

    def stopped(self) -> bool:
        """`stop`, and whether the server then answered the query, so that it can be undone."""
        self.stop()
        self.wire.until = monotonic() + _UNDO_WITHIN
        try:
            self.wire.recv()
        except (Late, Lost, TooBig):
            return False
        return True

    def skipped(self) -> bool:
        """Reads past the rows that are left, and says whether the server then waits for a command."""
        try:
            done = self.wire.skip()
        except (Late, Lost):
            return False
        self.connection.unread_result = False
        return done

    def leave(self, *, clean: bool) -> None:
        """Closes the connection, or keeps one that is `clean` for the extension's next read, if that is wanted.

        What the call left behind (variables, locks, prepared statements) is reset first. Of a write the default
        database would stay, so its connection is not kept.
        """
        if clean and self.extension and self.effect == "read" and kept.wanted():
            self.wire.clock, self.wire.until = Deadline(monotonic() + _UNDO_WITHIN), 0.0
            with suppress(Error, Late, Lost, TooBig):
                _asked(lambda: mysql_connect.reset(self.connection))
                kept.give(_key(self.profile, self.secret, self.extension), Link(self.connection, self.wire))
                return
        Link(self.connection, self.wire).close()


def open_session(
    profile: Database, secret: str | None, extension: str, effect: Effect, clock: Deadline, limits: Limits
) -> Session:
    """A new session whose queries the server itself ends in time, and read-only unless `effect` is "write".

    Without an `extension` nothing is kept of it.
    """

    def new() -> Link:
        return Link(*mysql_connect.connect(profile, secret, clock))

    reuse = extension and effect == "read"
    key, label = _key(profile, secret, extension), kept.label(profile, extension)
    link = kept.take(key, new, lambda link: link.wire.quiet(), label) if reuse else new()
    link.wire.clock, link.wire.until, link.wire.most = clock, 0.0, _RAW * limits.bytes + 64 * 1024
    session = Session(profile, secret, extension, effect, clock, *link, [])
    try:
        _settle(session)
    except BaseException:
        link.wire.close_connection()
        raise
    return session


def _key(profile: Database, secret: str | None, extension: str) -> tuple[str, ...]:
    return ("mysql", profile.target_digest(), secret or "", extension)


def _settle(session: Session) -> None:
    """Sets the clocks, and that a read cannot write, and that a write fails where a value does not fit."""
    left = session.clock.remaining() + _LATER
    read, mariadb = session.effect == "read", "MariaDB" in session.version
    names = f"{mysql_connect.NAMES}, SESSION autocommit = 1" + ("" if read else f", {_STRICT}")
    settings = [f"{name} = {ceil(left)}" for name in ("lock_wait_timeout", "innodb_lock_wait_timeout")]
    # MySQL's own stops SELECT only, and only as a hint; helm's KILL QUERY at the deadline is for the rest.
    settings.append(f"max_statement_time = {left:.3f}" if mariadb else f"max_execution_time = {left * 1e3:.0f}")
    settings += [f"{'tx' if mariadb else 'transaction'}_read_only = 1"] * read
    try:
        session.command(f"SET {names}, " + ", ".join(f"SESSION {setting}" for setting in settings))
    except Error as error:
        if error.errno != _UNKNOWN_VARIABLE:
            raise
        session.command(f"SET {names}")  # a server that speaks MySQL but has other clocks
        if read:
            session.command("SET SESSION TRANSACTION READ ONLY")


def _asked(work: Callable[[], Result]) -> Result:
    """What the connector gives. Whatever it trips over in an answer that is none means a lost connection."""
    try:
        return work()
    except (Late, Lost, TooBig, HelmError):
        raise
    except Error as error:
        if error.errno is None or error.errno < 1000 or 2000 <= error.errno < 3000:  # the client's own
            raise Lost from None
        raise
    except Exception:
        raise Lost from None
