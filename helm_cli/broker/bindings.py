"""Where the calls of a plugin's named tools go: bound by a person, and only for what they were shown with."""

from collections.abc import Iterable

from helm_cli.broker import settings
from helm_cli.broker.stores import Stores
from helm_cli.kinds import tools
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plugin import TOOLS, Bound
from helm_cli.model.profile import Service
from helm_cli.store import bindings, profiles
from helm_cli.store.approvals import Approval


def filled(stores: Stores, workspace: str, extension: Extension, digest: str | None) -> Extension:
    """The extension with its named tools as they are bound: for the content of this digest, or at all (None).

    Raises HelmError "state".
    """
    connection = extension.connection(TOOLS)
    if connection is None:
        return extension
    return with_bound(stores, workspace, extension, bindings.listed(stores.db, workspace, extension.id, digest))


def with_bound(stores: Stores, workspace: str, extension: Extension, shown: Iterable[Bound]) -> Extension:
    """The extension with its named tools bound so; a binding that is none of a tool any more is left out."""
    to = {one.tool: one for one in shown}

    def completed(operation: Operation) -> Operation:
        found = to.get(operation.name)
        if found is None or tools.fault(operation, found) is not None:
            return operation
        operation = tools.bound(operation, found)
        scopes = settings.scopes_of(stores, workspace, extension, found.service)
        return (
            operation if scopes is None else operation._replace(spec={**operation.spec, "oauth2": {"scopes": scopes}})
        )

    connections = tuple(
        connection._replace(operations=tuple(completed(operation) for operation in connection.operations))
        if connection.kind == "tools"
        else connection
        for connection in extension.connections
    )
    return extension._replace(connections=connections)


def kept(stores: Stores, workspace: str, extension: Extension, digest: str | None = None) -> tuple[Bound, ...]:
    """Every binding that the tools of this extension have for the content of this digest, or for any (None)."""
    connection = extension.connection(TOOLS)
    if connection is None:
        return ()
    found = bindings.listed(stores.db, workspace, extension.id, digest)
    return tuple(one for one in found if connection.operation(one.tool) is not None)


def reach(extension: Extension, connection: Connection, operation: Operation) -> Connection:
    """The connection that a call of this named tool goes by: the one to the service that it is bound to.

    Raises HelmError "refused" for a tool that cannot be called.
    """
    if (wrong := tools.problem(extension.id, operation)) is not None:
        raise HelmError("refused", wrong)
    return tools.narrowed(connection, operation)


def check(stores: Stores, workspace: str, extension: Extension, to: Bound) -> tuple[Operation, Service]:
    """The tool as it would be bound, and where that goes.

    Raises HelmError "usage" for what cannot be, "not_configured" where there is no such service profile, and "refused"
    where its sign-in is not the plugin's to use.
    """
    connection = extension.connection(TOOLS)
    known = [operation.name for operation in connection.operations] if connection is not None else []
    operation = connection.operation(to.tool) if connection is not None else None
    if operation is None:
        has = f"it has {', '.join(known)}" if known else "it declares none"
        raise HelmError("usage", f"{extension.id} has no named tool {to.tool}; {has}")
    wrong = tools.fault(operation, to)
    if wrong is not None:
        raise HelmError("usage", f"{to.tool} cannot be bound so: {wrong}")
    service = profiles.load(stores.home, "service", to.service)
    if service.oauth2 and settings.scopes_of(stores, workspace, extension, service.name) is None:
        raise HelmError(
            "refused",
            f"{service.name} signs in by OAuth2, and no connection setting of {extension.id} names it; run helm plugin"
            f" settings {extension.id} set KEY --service {service.name} first",
        )
    return tools.bound(operation, to), service


def bind(stores: Stores, approval: Approval, to: Bound) -> None:
    """Record a person's yes to what they were shown of a binding; it holds for what is approved now."""
    bindings.bind(stores.db, approval.workspace, approval.extension, approval.digest, to, stores.clock())


def unbind(stores: Stores, approval: Approval, tool: str) -> bool:
    """Whether the tool was bound, and no longer is. Raises HelmError "state"."""
    return bindings.remove(stores.db, approval.workspace, approval.extension, tool)
