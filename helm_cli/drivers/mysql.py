"""How a planned query runs on a MySQL or MariaDB server: read-only twice over, in time, and never half."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar, cast

from helm_cli.drivers import Limits, deadline, mysql_bind, mysql_statement, mysql_values
from helm_cli.drivers.deadline import Abandoned, Deadline
from helm_cli.drivers.mysql_faults import BEFORE_IT_RAN, NOT_COMMITTED, message, misread, translated
from helm_cli.drivers.mysql_library import Error
from helm_cli.drivers.mysql_session import Query, Session, open_session
from helm_cli.drivers.mysql_wire import Late, Lost, TooBig
from helm_cli.drivers.outcome import timed_out, unknown
from helm_cli.drivers.rows import collect, too_large
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, Scalar
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Database

Result = TypeVar("Result")

# How long after the deadline ending the query and undoing it may take, in seconds.
LIMITS: Final = Limits()
_GRACE: Final = 0.9
_MISREAD: Final = "the server took an argument for another value"
# How long the answer to a COMMIT that was sent in time is waited for beyond the deadline.
_COMMIT_GRACE: Final = 0.5

_RETURNING: Final = ("INSERT", "DELETE", "REPLACE")

_TABLES: Final = "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"


class _Target(NamedTuple):
    """Whose session is needed, and for what."""

    profile: Database
    secret: str | None
    extension: str
    effect: Effect


def run(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> Json:
    """`{"columns", "rows"}` of a read, `{"rowsAffected"}` (rows matched) of a write that was committed.

    Values by the type of their column: BIGINT and DECIMAL are strings, BIT a number, bytes base64, JSON (of
    MySQL) JSON (its text where a double would lose digits), dates the server's text. Of a FLOAT the server writes six
    digits; CAST it to DOUBLE for all of them.

    MySQL compares a text to a number as numbers, so that 0 is every text without one: a write in which the server
    does so to a text that holds no number is rolled back, in a read only its own arguments are looked at. A fraction
    that a DECIMAL column would cut is rolled back too, but an integer column rounds it and MySQL does not tell.

    HelmError with the codes of a db call (contract, Database; design,
    section 8). A write that failed was rolled back, unless the error has `"applied": "unknown"`: so where the
    server could not confirm it, or the statement is one that MySQL commits by itself.
    """
    query = _query(plan)
    mysql_statement.check_counts(query.sql, query.values)
    perform = _write if query.effect == "write" else _read
    target = _Target(profile, secret, plan.extension, query.effect)
    return _in_time(lambda session: perform(session, query, limits), target, limits)


def prepare(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> None:
    """Has the server prepare the query, and runs nothing. HelmError as `run` before it executes."""
    query = _query(plan)

    def described(session: Session) -> None:
        try:
            session.describe(query)
        except (Error, Late, Lost, TooBig) as error:
            raise _unsent(error, session, query.effect, limits) from None

    # A read-only session would refuse to prepare a write.
    _in_time(described, _Target(profile, secret, plan.extension, query.effect), limits)


def probe(profile: Database, secret: str | None, limits: Limits) -> str:
    """The product and version that answered, and how much is in the database. HelmError as for `run`."""
    query = Query(_TABLES, "SELECT", (), "read")

    def asked(session: Session) -> str:
        version, _, rest = session.version.partition("-")
        found = cast(dict[str, list[list[str]]], _read(session, query, limits))["rows"][0][0]
        product = "MariaDB" if "mariadb" in rest.lower() else "MySQL"
        line = f"{product} {version}, {found} table{'' if found == '1' else 's'}"
        return "".join(letter for letter in line if letter.isprintable())

    return _in_time(asked, _Target(profile, secret, "", "read"), limits)


def _query(plan: Plan) -> Query:
    sql = str(plan.request["sql"])
    values = [value for _, value in cast(list[tuple[str, Scalar]], plan.request["params"])]
    keyword = mysql_statement.keyword(sql, plan.effect)
    mysql_bind.check(values)
    return Query(sql, keyword, values, plan.effect)


def _in_time(work: Callable[[Session], Result], target: _Target, limits: Limits) -> Result:
    opened: list[Session] = []

    def whole(clock: Deadline) -> Result:
        try:
            session = open_session(*target, clock, limits)
        except (Error, Late, Lost, TooBig) as error:
            raise _unready(error, target.profile) from None
        opened.append(session)
        clean = False
        try:
            result = work(session)
            clean = True
        finally:
            session.leave(clean=clean)
        return result

    try:
        return deadline.run(whole, limits.seconds, _GRACE)
    except Abandoned as left:
        if not opened:
            raise HelmError("unavailable", "the database server could not be reached in time") from None
        if left.open_ended or target.effect == "write":
            raise unknown("timeout", f"the write took longer than {limits.seconds:g} s") from None
        raise timed_out(target.effect, limits) from None


def _read(session: Session, query: Query, limits: Limits) -> Json:
    try:
        session.describe(query)
        session.begin(query)
        data = _rows(session, query, limits)
        # What the server ended on another's word may come as a row, and late.
        if session.clock.over():
            raise timed_out("read", limits)
        session.command("ROLLBACK")
    except (Error, Late, Lost, TooBig) as error:
        raise _unsent(error, session, "read", limits) from None
    return data


def _rows(session: Session, query: Query, limits: Limits) -> Json:
    for answer in session.results(query):
        columns = answer.get("columns", [])
        rows = mysql_values.rows(columns, session.rows())
        try:
            data = collect([str(column[0]) for column in columns], rows, lambda value: value, limits)
        except HelmError:
            session.stop()
            raise
        remark = misread(session.remarks, query.values, "read", session.profile)
        if remark:
            raise HelmError("query_failed", f"{_MISREAD}: {remark}")
        return data
    raise Lost


def _write(session: Session, query: Query, limits: Limits) -> Json:
    try:
        session.describe(query)
        session.begin(query)
    except (Error, Late, Lost, TooBig) as error:
        raise _unsent(error, session, "write", limits) from None
    try:
        affected, remark = _affected(session, query)
    except Error as error:
        raise _failed(error, session, query, limits) from None
    except Late:
        raise _late(session, query, limits, undone=session.stopped() and session.undo()) from None
    except Lost:
        raise unknown("unavailable", "the connection to the database server was lost during the write") from None
    except TooBig:
        raise _overfull(session, query) from None
    if remark:
        told = HelmError("query_failed", f"{_MISREAD}: {remark}; the write was rolled back")
        raise _unless_undone("query_failed", f"{_MISREAD}: {remark}", query, told, undone=session.undo())
    if session.connection.in_transaction:
        _commit(session, query, limits)
    return {"rowsAffected": affected}


def _affected(session: Session, query: Query) -> tuple[int, str]:
    """How many rows the write matched, and what the server remarked where it took an argument for another value."""
    affected, warned = 0, 0
    for answer in session.results(query):
        if "columns" not in answer:
            affected += answer["affected_rows"]
            warned = answer["warning_count"]
            continue
        returned = 0
        for _ in session.rows():
            returned += 1
        affected += returned if query.keyword in _RETURNING else 0
    remarks = session.warnings() if warned and query.values else []
    return affected, misread(remarks, query.values, "write", session.profile)


def _overfull(session: Session, query: Query) -> HelmError:
    """The error of a write that returns more than may be read."""
    session.wire.until = session.clock.ends + _COMMIT_GRACE
    undone = session.skipped() and session.undo()
    reason = "the write returns a row that is too large to be read"
    return _unless_undone(
        "too_large", reason, query, HelmError("too_large", f"{reason}; it was rolled back"), undone=undone
    )


def _commit(session: Session, query: Query, limits: Limits) -> None:
    clock = session.clock
    if not clock.begin_commit():
        raise _late(session, query, limits, undone=session.undo())
    session.wire.until = clock.ends + _COMMIT_GRACE
    try:
        session.command("COMMIT")
    except Error as error:
        if error.errno in NOT_COMMITTED:
            clock.committing = False
            raise translated(error, "write", clock, limits, session.profile) from None
        raise unknown("query_failed", message(error, session.profile)) from None
    except Late:
        raise unknown("timeout", f"the write took longer than {limits.seconds:g} s") from None
    except (Lost, TooBig):
        raise unknown("unavailable", "the connection to the database server was lost during the COMMIT") from None


def _failed(error: Error, session: Session, query: Query, limits: Limits) -> HelmError:
    """The error of a write that the server refused while it ran."""
    undone = session.undo()
    told = translated(error, "write", session.clock, limits, session.profile)
    if undone and error.errno in BEFORE_IT_RAN and query.keyword != "CALL":
        return told
    return _unless_undone(told.code, message(error, session.profile), query, told, undone=undone)


def _unless_undone(code: str, reason: str, query: Query, told: HelmError, *, undone: bool) -> HelmError:
    """`told` of a write that was rolled back whole, else that nobody knows."""
    if not mysql_statement.undoable(query.sql):
        return unknown(code, f"{reason}; MySQL may commit parts of {query.keyword} by itself")
    return told if undone else unknown(code, f"{reason}; it could not be rolled back whole")


def _late(session: Session, query: Query, limits: Limits, *, undone: bool) -> HelmError:
    if undone and mysql_statement.undoable(query.sql):
        return timed_out("write", limits)
    return unknown("timeout", f"the write took longer than {limits.seconds:g} s")


def _unsent(error: Exception, session: Session, effect: Effect, limits: Limits) -> HelmError:
    """The error of a query that changed nothing: a read, or a write that was not run yet."""
    if isinstance(error, Error):
        return translated(error, effect, session.clock, limits, session.profile)
    if isinstance(error, Lost):
        return HelmError("unavailable", "the connection to the database server was lost; nothing changed")
    session.stop()
    return timed_out(effect, limits) if isinstance(error, Late) else too_large(limits)


def _unready(error: Exception, profile: Database) -> HelmError:
    if isinstance(error, Error):
        return HelmError("unavailable", f"the database server did not accept the session: {message(error, profile)}")
    return HelmError("unavailable", "the database server ended the session before the query, or did not answer in time")
