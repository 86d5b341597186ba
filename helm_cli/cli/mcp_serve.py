"""`helm mcp serve`: the approved operations of a workspace, or of one run, as tools for a client that speaks MCP."""

from helm_cli.broker import runs
from helm_cli.broker.workspace import Workspace
from helm_cli.cli.here import Here
from helm_cli.model.errors import HelmError
from helm_cli.serve import mcp
from helm_cli.serve.calls import Scope


def run(place: Here, workspace: str | None, of_run: str | None, *, wait: bool) -> int:
    """Serve on standard input and output until the client closes them."""
    return mcp.run(mcp.Served(place.stores, _scope(place, workspace, of_run), wait))


def _scope(place: Here, workspace: str | None, of_run: str | None) -> Scope:
    if of_run is None:
        return Scope(place.workspace(workspace))
    run = runs.find(place.stores, of_run).run
    if workspace is not None and place.workspace(workspace).path != run.workspace:
        raise HelmError("usage", f"the run {run.id} belongs to the workspace {run.workspace}; leave --workspace out")
    return Scope(Workspace(run.workspace, f"that of the run {run.id}"), run.id)
