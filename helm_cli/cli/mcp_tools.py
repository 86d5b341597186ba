"""How the tools of an MCP server are listed: what it calls them, what it claims of them, what it says of them."""

from typing import Final

from helm_cli.cli.here import Here
from helm_cli.cli.listing import show_rows, write_json
from helm_cli.drivers import mcp
from helm_cli.model.profile import Server
from helm_cli.view import tool as view

_COLUMNS: Final = ("name", "hints", "description")


def show(place: Here, profile: Server, token: str | None, output: str) -> None:
    """Print the tools that a server lists, in its order. Raises HelmError where it cannot be asked."""
    found = mcp.tools(profile, token, mcp.LIMITS)
    if output == "json":
        write_json(place, [tool._asdict() for tool in found])
        return
    rows = [{"name": tool.name, "hints": view.hints(tool), "description": view.described(tool)} for tool in found]
    show_rows(place, output, _COLUMNS, rows, f"{profile.name} offers no tools")
