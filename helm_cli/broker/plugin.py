"""Which team's plugin of a workspace is meant, and whether it is one at all and still what was approved."""

from typing import NamedTuple

from helm_cli import dialects
from helm_cli.broker import declared
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Extension
from helm_cli.model.plugin import Plugin
from helm_cli.model.wording import meant
from helm_cli.store import approvals
from helm_cli.store.approvals import Approval


class Team(NamedTuple):
    """An approved plugin, as it was approved, with what it declares beside its connections."""

    approval: Approval
    extension: Extension
    plugin: Plugin


def find(stores: Stores, workspace: Workspace, id_: str) -> Team:
    """The enabled plugin of this id, whose folder still is what was approved.

    Raises HelmError "refused": it is not approved here, disabled, changed since, or no team's plugin.
    """
    team = approved(stores, workspace, id_)
    if not team.approval.enabled:
        told = f"{id_} is disabled for the workspace {workspace.path}; run helm plugin enable {id_}"
        raise HelmError("refused", told)
    declared.check_approved(stores, team.approval)
    return team


def approved(stores: Stores, workspace: Workspace, id_: str) -> Team:
    """The plugin of this id as it was approved, whatever became of its folder since.

    Raises HelmError "refused": it is not approved here, or no team's plugin.
    """
    approval = approvals.find(stores.db, workspace.path, id_)
    if approval is None:
        known = [one.extension for one in approvals.listed(stores.db, workspace.path)]
        close = meant(id_, known)
        hint = f"did you mean {close}?" if close else "run helm plugin review on its folder"
        where = f"the workspace {workspace.path} ({workspace.found})"
        raise HelmError("refused", f"{id_} is not approved for {where}; {hint}")
    extension = declared.extension(stores, approval)
    if extension.plugin is None:
        raise HelmError(
            "refused", f"{extension.id} is no team's plugin: it has no plugin.yaml, so no runs and no drafts"
        )
    return Team(approval, extension, extension.plugin)


def instructed(stores: Stores, team: Team) -> Plugin:
    """What the plugin declares, with the texts of its agents and skills, which no call needs. HelmError "state"."""
    whole = dialects.build(approvals.content(stores.db, team.approval.digest)).plugin
    return whole if whole is not None else team.plugin


def teams(stores: Stores, workspace: Workspace) -> list[Team]:
    """Every enabled team's plugin of a workspace, whether or not its folder changed. Raises HelmError "state"."""
    found = []
    for approval in approvals.enabled(stores.db, workspace.path):
        extension = declared.extension(stores, approval)
        if extension.plugin is not None:
            found.append(Team(approval, extension, extension.plugin))
    return found
