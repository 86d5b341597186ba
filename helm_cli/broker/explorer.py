"""What a person may do with a database by hand: read it, and write to it once writes are turned on.

Nothing here is reached by way of an extension: it takes a profile's name and SQL, which no extension can give.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from helm_cli import kinds
from helm_cli.broker import call, catalog, ledger
from helm_cli.broker.call import Asked, Prepared, Request
from helm_cli.broker.catalog import Question
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers import Limits
from helm_cli.drivers.outcome import AS_WRITE
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Binding
from helm_cli.model.profile import Database
from helm_cli.store import confirmations, profiles

CONNECTION: Final = "explorer"
OPERATION: Final = "shell"
# What stands in the place of an extension's id where a person is shown who wants what.
NOBODYS: Final = "(none: you, in the explorer)"

# Large schemas have more tables than a result may have rows; what is asked about them is the explorer's own.
CATALOG_LIMITS: Final = Limits(rows=50_000, bytes=16 * 1024 * 1024)


class Desk(NamedTuple):
    """Where a person sits: which profile they look into, from which workspace, by which command."""

    profile: str
    workspace: Workspace
    command: str


class Writes(NamedTuple):
    """That a person turned writes on for a profile: where it went then, and which revision of its file that was."""

    profile: str
    target: str
    revision: tuple[int, int] | None


class Columns(NamedTuple):
    """A table as a statement may call it, by its schema too where its name is not enough, and its columns."""

    schema: str | None
    table: str
    columns: tuple[str, ...]


def profile(stores: Stores, desk: Desk) -> Database:
    """The profile as it is now. Raises HelmError "not_configured" and "state"."""
    return profiles.load(stores.home, "db", desk.profile)


def read(stores: Stores, desk: Desk, sql: str, values: Sequence[Json] = ()) -> Envelope:
    """The answer to one statement, which the database runs read-only, with the limits of a call."""
    return _read(stores, desk, Question(sql, tuple(values)), Limits())


def tables(stores: Stores, desk: Desk) -> Envelope:
    """The tables and views: schema, name, type, number of columns, estimate of rows."""
    envelope = _read(stores, desk, catalog.tables(profile(stores, desk).engine), CATALOG_LIMITS)
    for row in _rows(envelope):
        row[3:] = [catalog.count(value) for value in row[3:]]
    return envelope


def describe(stores: Stores, desk: Desk, table: str) -> Envelope:
    """The columns of one table: column, type, nullable, default, key."""
    return _read(stores, desk, catalog.describe(profile(stores, desk).engine, table), CATALOG_LIMITS)


def names(stores: Stores, desk: Desk) -> list[Columns]:
    """What there is to complete; the history does not tell of it. HelmError where the database cannot be asked."""
    found: dict[tuple[str | None, str], list[str]] = {}
    for number, question in enumerate(catalog.columns(profile(stores, desk).engine)):
        envelope = _answer(stores, desk, question, CATALOG_LIMITS)
        if number == 0 and (error := _error(envelope)) is not None:
            raise error
        for schema, table, column in _rows(envelope):
            found.setdefault((schema, table), []).append(column)
    return [Columns(schema, table, tuple(columns)) for (schema, table), columns in found.items()]


def turned_on(stores: Stores, desk: Desk) -> Writes:
    """Writes for the profile as it is now; the person must have confirmed it."""
    revision = profiles.revision(stores.home, "db", desk.profile)
    return Writes(desk.profile, profile(stores, desk).target_digest(), revision)


def still_on(stores: Stores, desk: Desk, writes: Writes | None) -> bool:
    """Whether writes that were turned on still are: a profile that changed, or is gone, turns them off."""
    try:
        return writes == turned_on(stores, desk)
    except HelmError:
        return False


def ask(stores: Stores, desk: Desk, sql: str, writes: Writes | None) -> Asked:
    """One statement that writes, planned, and its one-time token, bound to the profile and the exact SQL.

    Raises HelmError "refused" where writes are off, and what planning raises. Nothing is left for `helm confirm`.
    """
    prepared = _prepared(stores, desk, Question(sql), "write")
    _check_on(stores, desk, writes)
    now = stores.clock()
    issued = confirmations.issue(stores.db, "write", prepared.binding, {}, now, listed=False, asked_by=ledger.caller())
    return Asked(prepared.plan, issued.id, issued.token, now + confirmations.VALID_SECONDS, 0)


def write(stores: Stores, desk: Desk, sql: str, writes: Writes | None, token: str) -> Envelope:
    """Send one statement that writes, for the token that `ask` gave for exactly it; a refusal is an envelope too."""
    with ledger.ended(stores, _request(desk, Question(sql)), "", None) as ending:
        ending.envelope = _written(stores, desk, sql, writes, token)
    return ending.envelope


def decline(stores: Stores, desk: Desk, sql: str, asked: Asked) -> None:
    """Use a token up without sending anything."""
    confirmations.decline(stores.db, asked.id, stores.clock())
    ledger.record(stores, _request(desk, Question(sql)), "", "declined")


def _written(stores: Stores, desk: Desk, sql: str, writes: Writes | None, token: str) -> Envelope:
    try:
        prepared = _prepared(stores, desk, Question(sql), "write")
        _check_on(stores, desk, writes)
        confirmations.redeem(stores.db, token, prepared.binding, stores.clock())
        return call.send(stores, prepared)
    except HelmError as error:
        return failure(error)


def _check_on(stores: Stores, desk: Desk, writes: Writes | None) -> None:
    if writes is None:
        raise HelmError("refused", f"writes to {desk.profile} are off; turn them on first")
    if not still_on(stores, desk, writes):
        raise HelmError("refused", f"the profile {desk.profile} changed, so writes to it are off; turn them on again")


def _read(stores: Stores, desk: Desk, question: Question, limits: Limits) -> Envelope:
    with ledger.ended(stores, _request(desk, question), "", None) as ending:
        ending.envelope = _answer(stores, desk, question, limits)
    return ending.envelope


def _answer(stores: Stores, desk: Desk, question: Question, limits: Limits) -> Envelope:
    try:
        envelope = call.send(stores, _prepared(stores, desk, question, "read"), limits)
    except HelmError as error:
        envelope = failure(error)
    told = envelope.get("error")
    if isinstance(told, dict):
        # Who types a statement declares nothing.
        told["message"] = str(told["message"]).removesuffix(f"; {AS_WRITE}")
    return envelope


def _prepared(stores: Stores, desk: Desk, question: Question, effect: Effect) -> Prepared:
    """The plan of a statement, made by the kind that plans declared ones, for an extension that there is not."""
    target = profile(stores, desk)
    arguments = {str(number): value for number, value in enumerate(question.values, start=1)}
    operation = Operation(OPERATION, effect, tuple(arguments), {"sql": question.sql})
    connection = Connection(CONNECTION, "db", "db", target.name, (operation,), {"engine": target.engine})
    nobodys = Extension("", "", "", "", "", effect == "write", (connection,), ())
    plan = kinds.kind("db").plan(nobodys, connection, operation, arguments, target)
    binding = Binding(
        workspace=desk.workspace.path,
        extension="",
        content="",
        connection=CONNECTION,
        operation=OPERATION,
        target=target.target_digest(),
        request=plan.digest(),
    )
    return Prepared(plan._replace(extension=NOBODYS), binding, target)


def _request(desk: Desk, question: Question) -> Request:
    told: dict[str, Json] = {"sql": question.sql, "params": list(question.values)}
    return Request(desk.workspace, CONNECTION, f"{desk.command} {desk.profile}", told)


def _error(envelope: Envelope) -> HelmError | None:
    error = envelope.get("error")
    return HelmError(str(error["code"]), str(error["message"])) if isinstance(error, dict) else None


def _rows(envelope: Envelope) -> list[Any]:
    data = envelope.get("data")
    return cast(list[Any], data["rows"]) if isinstance(data, dict) else []
