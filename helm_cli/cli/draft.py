"""`helm draft`: the review queue of a team's plugins, where people approve what then goes out."""

from typing import Annotated, Any

import typer

from helm_cli.broker import budget, drafts, plugin, runs
from helm_cli.broker.drafts import Queued
from helm_cli.cli import OutputOption, WorkspaceOption, deciding, draft_text, entry, group, listing_format
from helm_cli.cli.here import Here, here, note
from helm_cli.cli.listing import show_rows, write_json
from helm_cli.model.draft import title_fault
from helm_cli.model.errors import HelmError

app = group(
    "Review what plugins drafted, approve it and publish it.",
    "What a team's plugin wrote waits here until as many people as its manifest asks for have approved it; then it goes"
    " out once, after it was shown.",
    ("helm draft list", "helm draft approve k3v7q2ab", "helm draft publish k3v7q2ab"),
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The draft's id.")]


@app.command("add")
def add(
    text: Annotated[str, typer.Argument(metavar="@FILE|-", help="Its text: a file, or standard input.")] = "-",
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="A kind that the plugin declares.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title, one line.")] = None,
    plugin_: Annotated[str | None, typer.Option("--plugin", metavar="ID", help="The plugin it comes from.")] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="The run it comes of.")] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Put a draft into the review queue and print its id.

    A draft of a run is refused once the plugin has used up its tokens of the month. Who asks for drafts must not own
    the folder that they wait in, unless that is root: it could take away what others say there.

    \b
    Examples:
      helm draft add --run k3v7q2ab --kind blog --title "Version 2" < post.md
      helm draft add @post.md --plugin acme/marketing --kind blog --title "Version 2"
    """
    place = here()
    listing_format(output)
    if (run is None) == (plugin_ is None):
        raise HelmError("usage", "say where the draft comes from: --run ID, or --plugin ID")
    if run is not None:
        team = runs.find(place.stores, run).team
        budget.check(place.stores, team)
    else:
        team = plugin.find(place.stores, place.workspace(workspace), plugin_ or "")
    asking = entry.can_ask(place)
    kinds = list(team.plugin.draft_kinds)
    if kind is None:
        kind = entry.asked(place, asking and bool(kinds), "--kind", "Kind", kinds)
    if title is None:
        title = entry.asked(place, asking, "--title", "Title", check=_check_title)
    filed = drafts.add(place.stores, team, drafts.Text(kind, title, draft_text.read(text), run))
    entry.kept(place)
    if output == "json":
        write_json(place, {"id": filed.id, "digest": filed.digest})
    else:
        place.streams.write(f"{filed.id}\n")
    note(place.streams, f"the draft {filed.id} waits for review; others approve it with: helm draft approve {filed.id}")
    return 0


@app.command("list")
def list_(output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """List the review queue, and what left it.

    \b
    Examples:
      helm draft list
      helm draft list -o json
    """
    place = here()
    listing_format(output)
    found = drafts.every(place.stores, place.workspace(workspace))
    rows = [_row(queued) for queued in found]
    columns = ("id", "state", "approvals", "kind", "title", "plugin", "asked_by", "at")
    show_rows(place, output, columns, rows, "no drafts yet; a plugin's host adds them with helm draft add")
    return 0


@app.command("show")
def show(id_: IdArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """Show a draft in full, with what people said to it.

    \b
    Examples:
      helm draft show k3v7q2ab
      helm draft show k3v7q2ab -o json
    """
    place = here()
    listing_format(output)
    queued = drafts.find(place.stores, place.workspace(workspace), id_)
    if output == "json":
        write_json(place, _whole(queued))
    else:
        place.streams.write("".join(f"{line}\n" for line in deciding.page(queued, place.streams)))
    return 0


@app.command("approve")
def approve(id_: IdArgument, workspace: WorkspaceOption = None) -> int:
    """Read a draft and approve exactly what it says; never the person who asked for it.

    \b
    Examples:
      helm draft approve k3v7q2ab
      helm draft approve k3v7q2ab --workspace ~/site
    """
    place = here()
    return deciding.decide(place, place.workspace(workspace), id_, "approve")


@app.command("reject")
def reject(id_: IdArgument, workspace: WorkspaceOption = None) -> int:
    """Read a draft and reject it, or, as the one who asked for it, take it back.

    \b
    Examples:
      helm draft reject k3v7q2ab
      helm draft reject k3v7q2ab --workspace ~/site
    """
    place = here()
    return deciding.decide(place, place.workspace(workspace), id_, "reject")


@app.command("publish")
def publish(
    id_: IdArgument,
    via: Annotated[
        str | None, typer.Option("--via", metavar="TOOL", help="Through which of the plugin's tools.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="What its tool needs beside the draft.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Send an approved draft out, once, after you saw exactly what is sent.

    \b
    Examples:
      helm draft publish k3v7q2ab
      helm draft publish k3v7q2ab --via send_newsletter --arg list=customers
    """
    place: Here = here()
    listing_format(output)
    return deciding.publish(place, place.workspace(workspace), id_, via, arg or [], output)


def _check_title(title: str) -> None:
    if fault := title_fault(title):
        raise HelmError("usage", f"the title {fault}")


def _row(queued: Queued) -> dict[str, Any]:
    draft = queued.filed.draft
    best = max(queued.outlets, key=lambda outlet: len(outlet.standing.approved))
    return {
        "id": draft.id,
        "state": queued.state,
        "approvals": f"{len(best.standing.approved)}/{best.standing.least}",
        "kind": draft.kind,
        "title": draft.title,
        "plugin": draft.plugin,
        "run": draft.run,
        "asked_by": drafts.user(draft.asker),
        "at": draft.at,
        "digest": draft.digest,
    }


def _whole(queued: Queued) -> dict[str, Any]:
    filed, draft = queued.filed, queued.filed.draft
    publishes = [
        {
            "via": outlet.via or None,
            "role": outlet.rule.role,
            "min": outlet.rule.least,
            "approvers": None if outlet.rule.listed is None else [*map(drafts.user, outlet.rule.listed)],
            "approved": [*map(drafts.user, outlet.standing.approved)],
            "rejected": [*map(drafts.user, outlet.standing.rejected)],
            "ready": outlet.standing.ready,
        }
        for outlet in queued.outlets
    ]
    sent = filed.sending
    decisions = [
        {
            "by": drafts.user(one.uid),
            "uid": one.uid,
            "decision": one.said,
            "at": one.at,
            "current": one.digest == draft.digest,
        }
        for one in filed.decisions
    ]
    return {
        **_row(queued),
        "uid": draft.asker,
        "body": draft.body,
        "publishes": publishes,
        "decisions": decisions,
        "sent": None
        if sent is None
        else {"by": drafts.user(sent.uid), "state": sent.state, "via": sent.via, "at": sent.at},
        "ignored": list(filed.ignored),
    }
