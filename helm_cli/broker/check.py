"""Whether each declared operation of an extension would work with the profile it is meant for, without running it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from helm_cli import drivers, kinds
from helm_cli.broker import authorization, call, targets
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers import kept
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.profile import Service, Target

OK: Final = "ok"
NOT_CHECKED: Final = "not checked"
CHECKED: Final = ("db", "http", "tdt-mcp")

# Failures of a connection, which its other operations share: nobody waits for a server that is gone twice.
_SHARED: Final = ("unavailable", "timeout")


class Finding(NamedTuple):
    """What was found about one operation: `result` is "ok", "not checked", or the code that a call would end with."""

    connection: str
    operation: str
    kind: str
    effect: Effect
    result: str
    message: str


def check(stores: Stores, workspace: Workspace, extension: Extension) -> list[Finding]:
    """A finding for every operation, in the order in which they are declared.

    Nothing is run: a database prepares each statement with null for every argument, TDT is asked for its tools,
    and a service is sent nothing at all. Raises HelmError "state" where helm's own state cannot be read.
    """
    with kept.open_ones():
        return [
            finding
            for connection in extension.connections
            for finding in _connection(stores, workspace, extension, connection)
        ]


def failed(findings: list[Finding]) -> list[Finding]:
    """Those that a call would fail on."""
    return [finding for finding in findings if finding.result not in (OK, NOT_CHECKED)]


def _connection(
    stores: Stores, workspace: Workspace, extension: Extension, connection: Connection
) -> Iterator[Finding]:
    if connection.kind not in CHECKED:
        told = f"{connection.kind} operations are not checked by this version of helm"
        return (_finding(connection, operation, NOT_CHECKED, told) for operation in connection.operations)
    try:
        target = targets.find(stores, workspace, connection, {})
        authorization.check(stores, connection, target)
        secret = _secret(stores, target)
    except HelmError as error:
        return _all(connection, error)
    return _prepared(extension, connection, target, secret)


def _secret(stores: Stores, target: Target) -> str | None:
    """The secret that a call would be sent with, but for an access token: that might be refreshed over the network."""
    return None if isinstance(target, Service) and target.oauth2 else authorization.secret(stores, target)


def _all(connection: Connection, error: HelmError) -> Iterator[Finding]:
    return (_finding(connection, operation, error.code, error.message) for operation in connection.operations)


def _prepared(extension: Extension, connection: Connection, target: Target, secret: str | None) -> Iterator[Finding]:
    shared: HelmError | None = None
    for operation in connection.operations:
        found = shared
        if shared is None:
            try:
                _prepare(extension, connection, operation, target, secret)
            except HelmError as error:
                found = error
                shared = error if error.code in _SHARED else None
        result, message = (found.code, found.message) if found is not None else (OK, "")
        yield _finding(connection, operation, result, message)


def _prepare(
    extension: Extension, connection: Connection, operation: Operation, target: Target, secret: str | None
) -> None:
    call.permitted(extension, connection, operation.name)
    plan = kinds.kind(connection.kind).plan(extension, connection, operation, kinds.sample(operation), target)
    drivers.driver(plan.driver).prepare(plan, target, secret, drivers.Limits())


def _finding(connection: Connection, operation: Operation, result: str, message: str) -> Finding:
    return Finding(connection.id, operation.name, connection.kind, operation.effect, result, message)
