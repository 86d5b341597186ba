"""`helm history`: who called what, when, and how it ended."""

import re
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from helm_cli.cli import OutputOption, WorkspaceOption, group, listing_format
from helm_cli.cli.here import here
from helm_cli.cli.listing import show_rows
from helm_cli.model import jsontext
from helm_cli.model.errors import EXIT, HelmError
from helm_cli.model.wording import meant
from helm_cli.store import history

app = group("")

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGO: Final = re.compile(r"(?P<number>[0-9]{1,6})(?P<unit>[smhdw])")
_WORD: Final = re.compile(r"\S{1,64}")
# From so many columns on there is room for who asked, too.
_WIDE: Final = 120
_OUTCOMES: Final = ("ok", "failed", "running", "interrupted", *EXIT)


@app.command("history")
def command(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="The newest N.")] = 20,
    everywhere: Annotated[bool, typer.Option("--all", help="Of every workspace.")] = False,
    plugin: Annotated[str | None, typer.Option("--plugin", metavar="ID", help="Of one extension.")] = None,
    connection: Annotated[str | None, typer.Option("--connection", metavar="ID", help="Of one connection.")] = None,
    operation: Annotated[str | None, typer.Option("--operation", metavar="NAME", help="Of one operation.")] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="CODE", help="ok, failed, running, or the code of an error.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help="From then on: 30m, 2h, 7d, or 2026-01-31T08:00.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> None:
    """Show which extension called what, when, and how it ended.

    Refused calls and declined writes are told of too. The values of arguments are kept as a digest, unless
    config.toml says `keep_arguments = true` under `[history]`.

    \b
    Examples:
      helm history
      helm history --outcome failed --since 2h
      helm history --all -n 100 -o json
    """
    place = here()
    listing_format(output)
    _check_outcome(outcome)
    wanted = history.Filter(
        None if everywhere else place.workspace(workspace).path,
        plugin,
        connection,
        operation,
        outcome,
        _since(since, place.stores.clock()),
    )
    entries = history.entries(place.stores.db, wanted, limit=limit)
    columns = ("at", "extension", "connection", "operation", "outcome", "ms")
    shown = ("workspace", *columns) if everywhere else columns
    if place.stores.config.keep_arguments:
        shown = (*shown, "values")
    if place.streams.out_terminal and place.streams.width >= _WIDE:
        shown = (*shown, "asked_by")
    empty = f"no such calls{_meant(outcome)}" if any(wanted[1:]) else "no calls yet"
    show_rows(place, output, shown, [_row(entry) for entry in entries], empty=empty)


def _row(entry: history.Entry) -> dict[str, Any]:
    return {
        "at": datetime.fromtimestamp(entry.at).astimezone().isoformat(timespec="seconds"),
        "workspace": entry.workspace,
        "extension": entry.extension,
        "connection": entry.connection,
        "operation": entry.operation,
        "outcome": entry.outcome,
        "ms": entry.ms,
        "asked_by": entry.asked_by,
        "arguments": entry.arguments_digest,
        "values": None if entry.arguments is None else jsontext.parse(entry.arguments),
    }


def _check_outcome(named: str | None) -> None:
    """Servers have codes of their own, so that any word may be one. Raises HelmError "usage" for no word."""
    if named is not None and not _WORD.fullmatch(named):
        raise HelmError("usage", "--outcome takes one word of at most 64 characters, as helm history shows it")


def _meant(named: str | None) -> str:
    close = meant(named, _OUTCOMES) if named is not None and named not in _OUTCOMES else None
    return f"; did you mean --outcome {close}?" if close else ""


def _since(text: str | None, now: float) -> float | None:
    """Seconds since 1970. Raises HelmError "usage"."""
    if text is None:
        return None
    if ago := _AGO.fullmatch(text):
        return now - int(ago["number"]) * _UNITS[ago["unit"]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise HelmError("usage", "--since takes a time: 30m, 2h, 7d, or 2026-01-31T08:00") from None
