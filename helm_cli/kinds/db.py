"""How a declared query and its arguments become the one statement and the values bound to it."""

from collections.abc import Mapping
from typing import Final

from helm_cli.kinds import check_names, check_scalars, object_schema, scalar, shown
from helm_cli.model.envelope import OBJECT, ROWS
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Database

_INT64: Final = range(-(2**63), 2**63)


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    profile: Database,
) -> Plan:
    """The statement with its values in the order of `params` (contract, Database; design, section 8).

    `request` is `{"engine", "sql", "params": [[name, value], …]}`; a name may be bound more than once, an
    argument that is null is NULL. HelmError "refused" when the profile is of another engine, or an argument is
    missing, unknown, or a value that the engine cannot bind.
    """
    engine: str = connection.spec["engine"]
    if profile.engine != engine:
        raise HelmError(
            "refused",
            f"the connection {connection.id} is declared for {engine}, but the profile {profile.name} is"
            f" {profile.engine}; use a {engine} profile of that name",
        )
    check_names(operation, arguments)
    check_scalars(arguments)
    params = _bound(operation, arguments)
    _check_engine(engine, arguments)
    return Plan(
        kind="db",
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        group=connection.group,
        profile=connection.profile,
        driver=engine,
        shape=OBJECT if operation.effect == "write" else ROWS,
        title="Confirm database write",
        verb="Run",
        noun="query",
        request={"engine": engine, "sql": operation.spec["sql"], "params": params},
    )


def schema(connection: Connection, operation: Operation) -> dict[str, Json]:
    """Every name of `params`, each a scalar (contract, Database)."""
    names = dict.fromkeys(operation.params or ())
    return object_schema({name: scalar() for name in names}, names)


def _bound(operation: Operation, arguments: Mapping[str, Json]) -> list[Json]:
    bound: list[Json] = []
    for name in operation.params or ():
        if name not in arguments:
            raise HelmError("refused", f"{operation.name} needs the argument {shown(name)}; give it, or null for NULL")
        bound.append([name, arguments[name]])
    return bound


def _check_engine(engine: str, arguments: Mapping[str, Json]) -> None:
    for name, value in arguments.items():
        if engine == "sqlite" and isinstance(value, int) and value not in _INT64:
            raise HelmError("refused", f"the argument {shown(name)} is beyond the 64 bits of an SQLite integer")
        if engine == "postgres" and isinstance(value, str) and "\0" in value:
            raise HelmError("refused", f"the argument {shown(name)} holds a NUL character, which Postgres cannot store")
