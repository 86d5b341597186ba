"""How a planned query runs on a Postgres server: described before it runs, read-only twice over, in time."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar, cast

from helm_cli.drivers import Limits, kept, postgres_bind, postgres_clean, postgres_statement, postgres_values
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.outcome import AS_WRITE, in_time, timed_out, unknown
from helm_cli.drivers.postgres_connect import connect
from helm_cli.drivers.postgres_faults import flooded, lost, told, translated
from helm_cli.drivers.postgres_library import PGresult
from helm_cli.drivers.postgres_wire import (
    EMPTY_QUERY,
    IDLE,
    IN_ERROR,
    IN_TRANSACTION,
    SINGLE_TUPLE,
    Copying,
    Flood,
    Late,
    Link,
    Lost,
    ServerError,
    answer,
    answers,
    check,
    execute,
    send,
)
from helm_cli.drivers.rows import collect, too_large
from helm_cli.grammar import sql as grammar
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, Scalar
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Database

Result = TypeVar("Result")

# What the text of the results depends on, whatever the role or the database set. The order of day and month in
# what is bound stays the role's own, and so does the time zone.
LIMITS: Final = Limits()
_BEGIN: Final = (
    "BEGIN READ {mode}; SET LOCAL statement_timeout = {timeout}; SET LOCAL datestyle = 'ISO';"
    " SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 3;"
    " SET LOCAL client_min_messages = error"
)
# Undone with the transaction, for a pooler may give this session to somebody else.
_READ_ONLY_SESSION: Final = "; SET SESSION default_transaction_read_only = on"
# A database without an encoding holds any bytes; the server would refuse to send some of them as UTF-8.
_ANY_BYTES: Final = "; SET LOCAL client_encoding = 'SQL_ASCII'"

# The server's own timer ends a statement this much before the deadline, so that it seldom needs to be cancelled.
_EARLIER: Final = 0.05

# Statements that would end or divide the transaction that a write runs in.
_TRANSACTIONS: Final = ("ABORT", "BEGIN", "COMMIT", "END", "PREPARE", "RELEASE", "ROLLBACK", "SAVEPOINT", "START")
# Errors at COMMIT that do not say whether it took effect: of the connection, of a server that stops, and just that.
_IN_DOUBT: Final = ("08", "40003", "57P0")
_COUNTED: Final = (b"INSERT", b"UPDATE", b"DELETE", b"MERGE")

# The server's text of a value may be this much longer than its JSON (a bytea is twice its bytes, json has spaces),
# and a row under way this much longer than all that may be returned.
_TEXT_OVER_JSON: Final = 4
_ROW_UNDER_WAY: Final = 16

_TABLES: Final = (
    "SELECT count(*) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    " AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> 'pg_catalog'::regnamespace"
)


class _Query(NamedTuple):
    sql: str
    values: list[Scalar]
    effect: Effect


class _Call(NamedTuple):
    """One call under way."""

    link: Link
    query: _Query
    limits: Limits
    clock: Deadline
    profile: Database


def run(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> Json:
    """`{"columns", "rows"}` of a read, `{"rowsAffected"}` of a write that was committed.

    int8 and numeric are strings, json and arrays of scalars JSON, bytea base64, dates ISO where they are plain;
    everything else is the server's text (design, section 8). What a function or a procedure changes is in no count:
    `SELECT f()`, CALL and DO as a write have `rowsAffected` 0. HelmError with the codes of a db call (contract,
    Database). A write that failed was rolled back, unless the error has `"applied": "unknown"`.
    """
    return _on_server(
        _query(plan), profile, secret, limits, plan.extension, _write if plan.effect == "write" else _read
    )


def prepare(plan: Plan, profile: Database, secret: str | None, limits: Limits) -> None:
    """Has the server parse and describe the statement, and nothing run. HelmError: what `run` would end with."""

    def described(call: _Call) -> None:
        _described(call)
        if call.query.effect == "read" and grammar.writes(call.query.sql, "postgres"):
            raise HelmError("refused", f"the query writes, which the server refuses to a read; {AS_WRITE}")

    _on_server(_query(plan), profile, secret, limits, plan.extension, described)


def probe(profile: Database, secret: str | None, limits: Limits) -> str:
    """The version of the server that the profile signs in to, and how many tables are seen there. HelmError."""

    def asked(call: _Call) -> str:
        count = cast(dict[str, list[list[str]]], _read(call))["rows"][0][0]
        version = (call.link.conn.parameter_status(b"server_version") or b"").decode("utf-8", "replace").split(" ")[0]
        tls = ", TLS" if call.link.conn.ssl_in_use else ""
        return f"PostgreSQL {version}, {count} table{'' if count == '1' else 's'}{tls}"

    return _on_server(_Query(_TABLES, [], "read"), profile, secret, limits, "", asked)


def _query(plan: Plan) -> _Query:
    pairs = cast(list[tuple[str, Scalar]], plan.request["params"])
    query = _Query(str(plan.request["sql"]), [value for _, value in pairs], plan.effect)
    if "\0" in query.sql:
        raise HelmError("refused", "the query holds a NUL character; correct the declaration")
    return query


def _on_server(
    query: _Query,
    profile: Database,
    secret: str | None,
    limits: Limits,
    extension: str,
    work: Callable[[_Call], Result],
) -> Result:
    """What `work` gives, in time, on a connection that is closed or cleaned at the end."""
    key = ("postgres", profile.target_digest(), secret, extension)

    def body(clock: Deadline) -> Result:
        link: Link | None = None
        try:
            link = kept.take(
                key, lambda: connect(profile, secret, clock), Link.untouched, kept.label(profile, extension)
            )
            result = work(_Call(link, query, limits, clock, profile))
        except (ServerError, Late, Lost, Copying, Flood) as error:
            raise _ending(error, query.effect, limits, clock, profile) from None
        finally:
            if link is not None:
                _leave(key, link, query, clock)
        return result

    return in_time(body, query.effect, limits)


def _ending(error: Exception, effect: Effect, limits: Limits, clock: Deadline, profile: Database) -> HelmError:
    if isinstance(error, ServerError):
        return translated(error, effect, limits, clock, profile)
    if isinstance(error, Flood):
        return flooded(effect, noticed=error.noticed)
    if isinstance(error, Copying):
        return HelmError("refused", "helm does not copy data through a query; declare a statement that reads or writes")
    return timed_out(effect, limits) if isinstance(error, Late) else lost(effect)


def _leave(key: object, link: Link, query: _Query, clock: Deadline) -> None:
    """Ends what is left of the transaction, and keeps the connection where that is wanted and nothing is in doubt.

    After a write it never is, for not all that a function can leave in a session can be taken from it.
    """
    try:
        if link.state not in (IDLE, IN_TRANSACTION, IN_ERROR):
            raise Lost
        if link.state != IDLE:
            execute(link, "ROLLBACK", clock)
        if kept.wanted() and query.effect == "read" and postgres_clean.leaves_nothing(link, query.sql, clock):
            execute(link, "DISCARD ALL", clock)
            if link.state == IDLE:
                kept.give(key, link)
                return
    except (ServerError, Late, Lost, Copying, Flood):
        pass  # the server rolls back when the connection ends
    link.close()


def _begin(call: _Call) -> None:
    mode = "WRITE" if call.query.effect == "write" else "ONLY"
    timeout = max(1, int((call.clock.remaining() - _EARLIER) * 1000))
    begin = "" if call.link.state == IDLE else "ROLLBACK; "
    more = "" if mode == "WRITE" else _READ_ONLY_SESSION
    more += _ANY_BYTES if call.link.conn.parameter_status(b"server_encoding") == b"SQL_ASCII" else ""
    execute(call.link, begin + _BEGIN.format(mode=mode, timeout=timeout) + more, call.clock)


def _described(call: _Call) -> postgres_bind.Described:
    """Begins the transaction and has the statement prepared, which must fit its parameters and its effect."""
    _begin(call)
    sql, values, effect = call.query
    described = postgres_bind.prepare(call.link, sql, values, effect, call.clock, lambda: _begin(call))
    if len(described.parameters) != len(values):
        raise HelmError(
            "refused", f"the query has {len(described.parameters)} placeholders but {len(values)} params; correct it"
        )
    if effect == "read" and not described.columns:
        raise HelmError("refused", f"a read query must return columns; {AS_WRITE}")
    if effect == "write" and grammar.first_keyword(sql, "postgres") in _TRANSACTIONS:
        raise HelmError("refused", "a write query runs in a transaction of helm's, which it cannot end or divide")
    if effect == "write" and postgres_statement.changes_uncounted(sql):
        raise HelmError(
            "refused",
            "the rows that this query changes cannot be counted; write its INSERT, UPDATE, DELETE or MERGE as the"
            " statement itself",
        )
    return described


def _read(call: _Call) -> Json:
    described = _described(call)
    types = [oid for _, oid in described.columns]
    readers = postgres_values.decoders(call.link, types, call.clock)
    if postgres_values.foreign(types):
        postgres_bind.parsed(call.link, call.query.sql, described.parameters, call.clock)
    _send(call, described)
    call.link.conn.set_single_row_mode()
    return collect([name for name, _ in described.columns], _rows(call, readers), lambda value: value, call.limits)


def _send(call: _Call, described: postgres_bind.Described) -> None:
    send(call.link.conn.send_query_prepared, b"", postgres_bind.encode(call.query.values, described.parameters))


def _next(call: _Call) -> PGresult | None:
    """The next result of the query itself, of which more than a row may have been under way."""
    try:
        return answer(call.link, call.clock, call.limits.bytes * _ROW_UNDER_WAY)
    except Flood as flood:
        if flood.noticed:
            raise
        raise too_large(call.limits) from None


def _rows(call: _Call, readers: list[postgres_values.Decoder]) -> Iterator[list[Json]]:
    most = call.limits.bytes * _TEXT_OVER_JSON
    while (result := _next(call)) is not None:
        check(result)
        if result.status != SINGLE_TUPLE:
            continue
        values = [result.get_value(0, column) for column in range(len(readers))]
        if any(value is not None and len(value) > most for value in values):
            raise too_large(call.limits)
        yield [
            None if value is None else read(value.decode("utf-8", "replace"))
            for value, read in zip(values, readers, strict=True)
        ]


def _write(call: _Call) -> Json:
    described = _described(call)
    _send(call, described)
    call.link.conn.set_single_row_mode()  # rows of RETURNING are read over without being held
    affected = 0
    while (result := _next(call)) is not None:
        check(result)
        if result.status == EMPTY_QUERY:
            raise HelmError("refused", "the query holds no statement; correct the declaration")
        if (result.command_status or b"").startswith(_COUNTED):
            affected = result.command_tuples or 0
    if call.link.state != IN_TRANSACTION:
        raise unknown("query_failed", "the query ended the transaction that it ran in")
    execute(call.link, "SET CONSTRAINTS ALL IMMEDIATE", call.clock)  # else COMMIT would check them, without a timer
    _commit(call)
    return {"rowsAffected": affected}


def _commit(call: _Call) -> None:
    if not call.clock.begin_commit():
        raise Late
    try:
        send(call.link.conn.send_query, b"COMMIT")
        tags = [result.command_status for result in answers(call.link, call.clock)]
    except ServerError as error:
        if error.sqlstate.startswith(_IN_DOUBT):
            raise unknown("query_failed", f"COMMIT ended with an error: {told(error, call.profile)}") from None
        call.clock.committing = False  # any other error at COMMIT is a rollback
        raise HelmError("query_failed", told(error, call.profile)) from None
    except Flood:
        raise unknown("query_failed", "the database answered COMMIT with more than helm reads") from None
    except Late:
        raise unknown("timeout", f"the write took longer than {call.limits.seconds:g} s") from None
    except Lost:
        raise unknown("unavailable", "the connection to the database was lost during COMMIT") from None
    if tags != [b"COMMIT"]:
        call.clock.committing = False
        raise HelmError("query_failed", "the database rolled the write back")
