"""`helm agent`: the background process that keeps connections warm, started, looked at and ended."""

from datetime import datetime
from typing import Any

from helm_cli import __version__
from helm_cli.agent import control, place
from helm_cli.cli import OutputOption, group, listing_format
from helm_cli.cli.here import Here, here, note
from helm_cli.cli.listing import show_members, show_rows, write_json
from helm_cli.model.errors import EXIT

app = group(
    "Keep connections warm in a background process.",
    "Calls work the same without it; with it those of MCP servers, databases and signed-in services are quicker.",
    ("helm agent start", "helm agent status"),
)


@app.command("start")
def start() -> None:
    """Start the agent of this home, detached from this terminal; nothing is changed where it runs already.

    It keeps MCP servers, database connections and sign-ins ready for the next call, so that `helm call` is quicker
    without being told. It ends after 15 minutes without a call ([agent] idle_minutes in config.toml).

    \b
    Examples:
      helm agent start
      helm agent start && helm call app recent --arg status=open --arg limit=20
    """
    at = here()
    started = control.start(at.stores.home)
    begun = "the agent runs" if started.new else "the agent runs already"
    log = place.of(at.stores.home).log
    note(at.streams, f"{begun}: process {started.pid}, helm {__version__}, log {log}")


@app.command("stop")
def stop() -> None:
    """End the agent of this home and all that it started. Calls under way may finish for 10 seconds.

    \b
    Examples:
      helm agent stop
      helm agent stop && helm agent start
    """
    at = here()
    pid = control.stop(at.stores.home)
    note(at.streams, "no agent runs" if pid is None else f"the agent ended: process {pid}")


@app.command("status")
def status(output: OutputOption = "auto") -> int:
    """Show whether an agent runs for this home, since when, and what it keeps. Without one the exit status is 10.

    \b
    Examples:
      helm agent status
      helm agent status -o json
    """
    format_ = listing_format(output)
    at = here()
    found = control.status(at.stores.home)
    if format_ == "json":
        write_json(at, {"running": False} if found is None else _members(found))
    elif found is None:
        note(at.streams, "no agent runs; start it with: helm agent start")
    else:
        _show(at, _members(found))
    return 0 if found is not None else EXIT["unavailable"]


def _members(found: dict[str, Any]) -> dict[str, Any]:
    since = datetime.fromtimestamp(found["since"]).astimezone().isoformat(timespec="seconds")
    return {
        "running": True,
        "pid": found["pid"],
        "version": found["helm"],
        "since": since,
        "idle_seconds": found["idle_seconds"],
        "calls": found["calls"],
        "calls_running": found["running"],
        "kept": found["kept"],
        "differing": found["differing"],
    }


def _show(at: Here, members: dict[str, Any]) -> None:
    kept, differing = members.pop("kept"), members.pop("differing")
    show_members(at, "auto", members)
    if kept:
        at.streams.write("\n")
        show_rows(at, "auto", ("what", "seconds", "calls", "busy"), kept)
    if differing:
        note(
            at.streams,
            f"some calls from here are made without the agent, for it was started with another {', '.join(differing)};"
            " helm agent stop, then start, makes it the same",
        )
