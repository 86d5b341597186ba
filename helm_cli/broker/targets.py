"""What a call of each kind goes to: a profile that the user configured, or a folder of the workspace."""

from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Server, Target
from helm_cli.store import profiles


def find(stores: Stores, workspace: Workspace, connection: Connection, arguments: dict[str, Json]) -> Target:
    """What a call with these arguments goes to, as it is configured now.

    Raises HelmError "not_configured" where there is no such profile, "state" where its file is broken, and "refused"
    where the arguments name a project that is not registered or not available.
    """
    if connection.group is None or connection.profile is None:
        raise HelmError("refused", f"this version of helm cannot call {connection.kind} connections yet; update helm")
    profile = profiles.load(stores.home, connection.group, connection.profile)
    return profile._replace(folder=workspace.path) if isinstance(profile, Server) else profile
