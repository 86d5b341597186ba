"""What a call of each kind goes to: a profile that the user configured, or a folder of the workspace."""

import os

from helm_cli.broker import projects
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Brain, Root, Server, Target
from helm_cli.store import profiles, workspaces


def find(stores: Stores, workspace: Workspace, connection: Connection, arguments: dict[str, Json]) -> Target:
    """What a call with these arguments goes to, as it is configured now.

    Raises HelmError "not_configured" where there is no such profile or the workspace is none of TDT's, "state" where
    a file of these is broken, and "refused" where the arguments name a project that is not registered or not available.
    """
    if connection.kind == "files":
        return _root(stores, workspace, connection, arguments)
    if connection.kind == "tdt-mcp":
        return _brain(stores, workspace)
    if connection.group is None or connection.profile is None:
        raise HelmError("refused", f"this version of helm cannot call {connection.kind} connections yet; update helm")
    profile = profiles.load(stores.home, connection.group, connection.profile)
    return profile._replace(folder=workspace.path) if isinstance(profile, Server) else profile


def is_tdt(workspace: str) -> bool:
    """Whether TDT was set up in this folder."""
    return os.path.isfile(os.path.join(workspace, ".tdt", "config.json"))


def _root(stores: Stores, workspace: Workspace, connection: Connection, arguments: dict[str, Json]) -> Root:
    if connection.spec["root"] == "workspace":
        return Root("workspace", workspace.path, private=str(stores.home))
    project = arguments.get("project")
    if not isinstance(project, str):
        raise HelmError(
            "refused",
            f"every call of {connection.id} needs the argument project, the id of a registered project;"
            " see helm project list",
        )
    return projects.root(stores, workspace.path, project)


def _brain(stores: Stores, workspace: Workspace) -> Brain:
    if not is_tdt(workspace.path):
        raise HelmError(
            "not_configured",
            f"the workspace {workspace.path} ({workspace.found}) is not one of TDT's; run tdt init in it, or name"
            " another with --workspace",
        )
    return Brain(workspace.path, workspaces.tdt_profile(stores.db, workspace.path), str(stores.home / "run"))
