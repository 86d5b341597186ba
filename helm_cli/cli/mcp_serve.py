"""`helm mcp serve`: the approved operations of a workspace, as tools for a client that speaks MCP."""

from helm_cli.cli.here import Here
from helm_cli.serve import mcp


def run(place: Here, workspace: str | None, *, wait: bool) -> int:
    """Serve on standard input and output until the client closes them."""
    mcp.run(mcp.Served(place.stores, place.workspace(workspace), wait))
    return 0
