"""Which approved extension of a workspace declares a connection, and whether it is still what was approved."""

from functools import lru_cache

from helm_cli import dialects
from helm_cli.broker import content
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension
from helm_cli.model.wording import meant
from helm_cli.store import approvals
from helm_cli.store.approvals import Approval, Stamps

Found = tuple[Approval, Extension, Connection]


def find(stores: Stores, workspace: Workspace, connection: str, named: str | None) -> Found:
    """The connection of this id among the enabled, approved extensions of the workspace.

    Raises HelmError "refused": none has it, or two have and `named` says neither.
    """
    enabled = approvals.enabled(stores.db, workspace.path)
    if named is not None:
        enabled = [approval for approval in enabled if approval.extension == named]
        if not enabled:
            raise HelmError("refused", _absent(stores, workspace, named))
    found = list(_having(stores, enabled, connection))
    if not found:
        raise HelmError("refused", _undeclared(stores, workspace, connection, named))
    if len(found) > 1:
        names = " and ".join(extension.id for _, extension, _ in found)
        raise HelmError("refused", f"the connection {connection} is declared by {names}; say which with --plugin")
    return found[0]


def check_approved(stores: Stores, approval: Approval, stamps: Stamps | None = None) -> None:
    """Nothing, if the extension's folder still is what was approved; `stamps` as `content.matches` takes them.

    Raises HelmError "refused".
    """
    if not content.matches(stores, approval, stamps):
        raise HelmError(
            "refused",
            f"{approval.extension} changed since it was approved for {approval.workspace}, or its folder is gone; "
            f"run helm plugin review {approval.folder}",
        )


def extension(stores: Stores, approval: Approval) -> Extension:
    """The extension as it was approved, read from the approved copy, with what a plugin's approval added to it."""
    built = _built(tuple(approvals.content(stores.db, approval.digest, only=dialects.DIALECTS).files.items()))
    if built.plugin is None:
        return built
    # Other extensions do not pay for what only plugins have.
    from helm_cli.broker import expansion

    return expansion.approved(stores, approval, built)


@lru_cache(maxsize=32)
def _built(files: tuple[tuple[str, bytes], ...]) -> Extension:
    # The calls of a batch, and of the agent, are mostly of the same few manifests.
    return dialects.build(Content(dict(files)))


def _having(stores: Stores, enabled: list[Approval], connection: str) -> list[Found]:
    found = []
    for approval in enabled:
        declared = extension(stores, approval)
        if (declared_connection := declared.connection(connection)) is not None:
            found.append((approval, declared, declared_connection))
    return found


def connections(stores: Stores, workspace: Workspace) -> dict[str, Connection]:
    """The connections that calls in this workspace may name."""
    found: dict[str, Connection] = {}
    for approval in approvals.enabled(stores.db, workspace.path):
        found |= {connection.id: connection for connection in extension(stores, approval).connections}
    return found


def _undeclared(stores: Stores, workspace: Workspace, connection: str, named: str | None) -> str:
    if named is not None:
        return f"the extension {named} declares no connection {connection}; see helm plugin show {named}"
    here = [approval for approval in approvals.listed(stores.db, workspace.path) if not approval.enabled]
    for approval, _, _ in _having(stores, here, connection):
        return _disabled(approval, f"the connection {connection} belongs to the extension")
    others = [approval for approval in approvals.listed(stores.db, None) if approval.workspace != workspace.path]
    elsewhere = {approval.workspace for approval, _, _ in _having(stores, others, connection)}
    close = meant(connection, connections(stores, workspace))
    return (
        f"no approved extension of the workspace {workspace.path} ({workspace.found}) declares a connection "
        f"{connection}{_also(elsewhere)}; "
        + (f"did you mean {close}?" if close else "run helm plugin review on its folder")
    )


def _absent(stores: Stores, workspace: Workspace, named: str) -> str:
    approval = approvals.find(stores.db, workspace.path, named)
    if approval is not None:
        return _disabled(approval, "this names the extension")
    others = {other.workspace for other in approvals.listed(stores.db, None) if other.extension == named}
    close = meant(named, (approved.extension for approved in approvals.listed(stores.db, workspace.path)))
    return (
        f"the extension {named} is not approved for the workspace {workspace.path} ({workspace.found})"
        f"{_also(others)}; " + (f"did you mean {close}?" if close else "run helm plugin review on its folder")
    )


def _disabled(approval: Approval, what: str) -> str:
    name = approval.extension
    return f"{what} {name}, which is disabled for the workspace {approval.workspace}; run helm plugin enable {name}"


def _also(workspaces: set[str]) -> str:
    return f", only for {', '.join(sorted(workspaces))}" if workspaces else ""
