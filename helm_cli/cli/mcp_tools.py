"""How the tools of an MCP server are listed: what it calls them, what it claims of them, what it says of them."""

from typing import Final

from helm_cli.broker import probe
from helm_cli.cli.here import Here
from helm_cli.cli.listing import show_rows, write_json
from helm_cli.model.profile import Server
from helm_cli.view import tool as view

_COLUMNS: Final = ("name", "hints", "description")


def show(place: Here, profile: Server, output: str) -> None:
    """Print the tools that a server lists, in its order. Raises HelmError where it cannot be asked."""
    found = probe.tools(place.stores, profile)
    if output == "json":
        write_json(place, [tool._asdict() for tool in found])
        return
    # A terminal's table shows what is invisible; a pipe may lead to a terminal too.
    said = str if place.streams.out_terminal else _plain
    rows = [
        {"name": said(tool.name), "hints": view.hints(tool), "description": said(view.said(tool))} for tool in found
    ]
    show_rows(place, output, _COLUMNS, rows, f"{profile.name} offers no tools")


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
