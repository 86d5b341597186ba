"""`helm history`: who called what, when, and how it ended."""

from datetime import datetime
from typing import Annotated

import typer

from helm_cli.cli import OutputOption, WorkspaceOption, group, listing_format
from helm_cli.cli.here import here
from helm_cli.cli.listing import show_rows
from helm_cli.store import history

app = group("")


@app.command("history")
def command(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="The newest N.")] = 20,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every workspace.")] = False,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> None:
    """Show which extension called what, when, and how it ended.

    \b
    Examples:
      helm history
      helm history --all -n 100 -o json
    """
    place = here()
    where = None if everywhere else place.workspace(workspace).path
    rows = [
        {
            "at": datetime.fromtimestamp(entry.at).astimezone().isoformat(timespec="seconds"),
            "workspace": entry.workspace,
            "extension": entry.extension,
            "connection": entry.connection,
            "operation": entry.operation,
            "outcome": entry.outcome,
            "ms": entry.ms,
            "arguments": entry.arguments_digest,
        }
        for entry in history.entries(place.stores.db, workspace=where, limit=limit)
    ]
    columns = ("at", "extension", "connection", "operation", "outcome", "ms")
    show_rows(
        place, listing_format(output), ("workspace", *columns) if everywhere else columns, rows, empty="no calls yet"
    )
