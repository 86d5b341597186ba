"""`helm plugin`: what extensions may do, shown before anything is approved, and what was approved."""

import os
from datetime import datetime
from shlex import quote
from typing import Annotated

import typer

from helm_cli.broker import approve, content
from helm_cli.broker import review as reviewing
from helm_cli.cli import (
    OutputOption,
    WorkspaceOption,
    approving,
    authoring,
    checking,
    group,
    listing_format,
    plugin_bind,
    plugin_runs,
    plugin_settings,
    plugin_team,
)
from helm_cli.cli.authoring import PathArgument
from helm_cli.cli.here import Here, here, need_person, note, tell
from helm_cli.cli.listing import show_rows
from helm_cli.model.errors import HelmError
from helm_cli.model.review import Invalid
from helm_cli.model.wording import meant
from helm_cli.store import approvals, person
from helm_cli.store.approvals import Approval
from helm_cli.store.confirmations import Pending
from helm_cli.view.streams import person_present

app = group(
    "Review, approve and list extensions.",
    "An extension is a folder whose manifest declares the calls that it makes. Nothing of it can be called before you"
    " reviewed it, and a change of it is reviewed again.",
    ("helm plugin new ./tickets", "helm plugin review ./tickets", "helm plugin list"),
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of an approved extension.")]


@app.command("review")
def review(
    path: PathArgument,
    check: Annotated[
        bool, typer.Option("--check", help="Ask no person and no server: 0 if approved, else 17.")
    ] = False,
    digest: Annotated[
        str | None, typer.Option("--approve", metavar="DIGEST", help="Approve, if this is the digest shown.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Show what an extension may do, and ask whether to approve it.

    Without a person at the terminal it ends with 17 unless this exact content is approved and enabled.

    \b
    Examples:
      helm plugin review ./tickets
      helm plugin review ./tickets --approve sha256:0f5c… -o json
    """
    place = here()
    listing_format(output)
    if check and digest is not None:
        raise HelmError("usage", "--check never approves; give it or --approve, not both")
    if digest is not None:
        approving.check_digest(digest)
    folder = reviewing.folder_of(path)
    # Only a person's yes rests on what the servers say; without one, a review is quick and always the same.
    person = digest is None and not check and person_present(place.streams)
    found = reviewing.review(place.stores, place.workspace(workspace, review=True), folder, ask=person)
    if isinstance(found, Invalid):
        return approving.invalid(place, found, folder, output)
    if digest is not None:
        return approving.pin(place, found, digest, output)
    if not person or (found.standing and not found.changes):
        return approving.as_it_stands(place, found, output, whole=not check or place.streams.voice != "quiet")
    return approving.decide(place, found, output)


app.add_typer(authoring.app)
app.add_typer(plugin_runs.app)
app.add_typer(plugin_team.app)
app.add_typer(plugin_settings.app)
app.add_typer(plugin_bind.app)


@app.command("list")
def list_(
    output: OutputOption = "auto",
    every: Annotated[bool, typer.Option("--all", help="Of every workspace.")] = False,
    workspace: WorkspaceOption = None,
) -> int:
    """List the approved extensions of the workspace.

    \b
    Examples:
      helm plugin list
      helm plugin list --all -o json
    """
    place = here()
    listing_format(output)
    found = approvals.listed(place.stores.db, None if every else place.workspace(workspace).path)
    rows = [
        {
            "id": approval.extension,
            "state": _state(place, approval),
            "enabled": approval.enabled,
            "folder": approval.folder,
            "digest": approval.digest,
            "workspace": approval.workspace,
            "approved_at": datetime.fromtimestamp(approval.approved_at).astimezone().isoformat(timespec="seconds"),
            "approved_by": approval.by,
        }
        for approval in found
    ]
    columns = ("id", "state", "folder", "digest", *(("workspace",) if every else ()))
    show_rows(place, output, columns, rows, "no extension is approved here yet; see helm plugin review --help")
    return 0


@app.command("show")
def show(id_: IdArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """Show what was approved, from the copy that calls run from.

    \b
    Examples:
      helm plugin show tickets
      helm plugin show tickets -o json
    """
    place = here()
    listing_format(output)
    approval = _approval(place, id_, workspace)
    found = reviewing.approved(place.stores, approval)
    if found.status == "changed":
        tell(place.streams, f"the folder of {id_} changed since; calls are refused until it is reviewed again")
    approving.show(place, found, output)
    return 0


@app.command("enable")
def enable(id_: IdArgument, workspace: WorkspaceOption = None) -> int:
    """Let calls use an approved extension again.

    It needs a person at the terminal, but for a home in which no person has ever answered a question.

    \b
    Examples:
      helm plugin enable tickets
      helm plugin enable tickets --workspace ~/code/app
    """
    place = here()
    approval = _approval(place, id_, workspace)
    if not approval.enabled:
        if person.seen(place.stores.db):
            need_person(place, f"enabling {id_}")
        if person_present(place.streams):
            approving.ask(place, "Enable", reviewing.approved(place.stores, approval), None)
        if not approvals.set_enabled(place.stores.db, approval.workspace, id_, True):
            raise HelmError("refused", f"{id_} is no longer approved; run helm plugin review on its folder")
    note(place.streams, f"{id_} is enabled for the workspace {approval.workspace}")
    return 0


@app.command("disable")
def disable(id_: IdArgument, workspace: WorkspaceOption = None) -> int:
    """Refuse every call of an extension until it is enabled again.

    \b
    Examples:
      helm plugin disable tickets
      helm plugin disable tickets --workspace ~/code/app
    """
    place = here()
    approval = _approval(place, id_, workspace)
    approvals.set_enabled(place.stores.db, approval.workspace, id_, False)
    note(place.streams, f"{id_} is disabled for the workspace {approval.workspace}")
    return 0


@app.command("forget")
def forget(id_: IdArgument, workspace: WorkspaceOption = None) -> int:
    """Take an approval back, with its settings; its folder is left alone.

    \b
    Examples:
      helm plugin forget tickets
      helm plugin forget tickets --workspace ~/code/app
    """
    place = here()
    approval = _approval(place, id_, workspace)
    approve.forget(place.stores, approval)
    note(place.streams, f"{id_} is no longer approved for the workspace {approval.workspace}")
    return 0


@app.command("check")
def check(id_: IdArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """Ask the databases whether each declared query would work; none is run.

    \b
    Examples:
      helm plugin check tickets
      helm plugin check tickets -o json
    """
    place = here()
    return checking.check(place, _approval(place, id_, workspace), listing_format(output))


def decide_pending(place: Here, pending: Pending) -> int:
    """Decide about an approval that was asked for where no person was, for `helm confirm`."""
    return approving.decide_pending(place, pending)


def _approval(place: Here, id_: str, named: str | None) -> Approval:
    where = place.workspace(named)
    found = approvals.find(place.stores.db, where.path, id_)
    if found is None:
        others = [other.workspace for other in approvals.listed(place.stores.db, None) if other.extension == id_]
        also = f", only for {', '.join(others)}" if others else ""
        close = meant(id_, (one.extension for one in approvals.listed(place.stores.db, where.path)))
        step = f"did you mean {close}?" if close else "see helm plugin list --all"
        if "/" in id_ and os.path.isdir(id_):
            step = f"a folder is looked at with: helm plugin review {quote(id_)}"
        message = f"{id_} is not approved for the workspace {where.path} ({where.found}){also}; {step}"
        raise HelmError("refused", message)
    return found


def _state(place: Here, approval: Approval) -> str:
    if not approval.enabled:
        return "disabled"
    return "enabled" if content.matches(place.stores, approval) else "changed"
