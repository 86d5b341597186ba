"""`helm workspace`: what belongs to the folder that helm works for, and the little that can be chosen for it."""

from typing import Annotated, Any, get_args

import typer

from helm_cli.broker import projects, targets
from helm_cli.broker.workspace import Workspace
from helm_cli.cli import OutputOption, WorkspaceOption, group, listing_format
from helm_cli.cli.here import Here, here, need_person, note
from helm_cli.cli.listing import show_members
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import TdtProfile
from helm_cli.store import approvals, workspaces

app = group(
    "Show or set what belongs to this workspace.",
    "A workspace is the folder that approvals, projects and the limit of calls belong to: the one named by --workspace"
    " or HELM_CLI_WORKSPACE, else the nearest around the current folder that a review registered.",
    ("helm workspace show", "helm workspace set --tdt-profile everyday"),
)


@app.command("show")
def show(output: OutputOption = "auto", workspace: WorkspaceOption = None) -> None:
    """Show the workspace: its folder, how it was found, and what is approved, registered and allowed in it.

    \b
    Examples:
      helm workspace show
      helm workspace show --workspace ~/notes -o json
    """
    place = here()
    members = _members(place, place.workspace(workspace))
    if listing_format(output) == "json":
        return show_members(place, output, members)
    lists = {name: _told(found) for name, found in members.items() if isinstance(found, list)}
    show_members(place, output, {**members, **lists})


@app.command("set")
def set_(
    tdt_profile: Annotated[
        str | None,
        typer.Option("--tdt-profile", metavar="PROFILE", help="What TDT may do here: read-only or everyday."),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Set what belongs to the workspace.

    With the TDT profile everyday, extensions can ask for TDT's write tools, of which each call is still confirmed.
    Only a person at the terminal can choose it.

    \b
    Examples:
      helm workspace set --tdt-profile everyday
      helm workspace set --tdt-profile read-only --workspace ~/notes
    """
    place = here()
    known: tuple[TdtProfile, ...] = get_args(TdtProfile)
    chosen = next((profile for profile in known if profile == tdt_profile), None)
    if chosen is None:
        raise HelmError("usage", "--tdt-profile takes read-only or everyday")
    where = place.workspace(workspace)
    if not targets.is_tdt(where.path):
        raise HelmError("usage", f"the workspace {where.path} ({where.found}) is not one of TDT's; run tdt init in it")
    if chosen == "everyday":
        need_person(place, "enabling the TDT profile everyday")
    workspaces.set_tdt_profile(place.stores.db, where.path, chosen, place.stores.clock())
    note(place.streams, f"TDT works with the profile {chosen} in the workspace {where.path}")


def _members(place: Here, where: Workspace) -> dict[str, Any]:
    stores = place.stores
    return {
        "path": where.path,
        "found": where.found,
        "registered": workspaces.is_registered(stores.db, where.path),
        "extensions": [
            {
                "id": approval.extension,
                "digest": approval.digest,
                "enabled": approval.enabled,
                "folder": approval.folder,
            }
            for approval in approvals.listed(stores.db, where.path)
        ],
        "projects": [project._asdict() for project in projects.every(stores, where.path)],
        "tdt_profile": workspaces.tdt_profile(stores.db, where.path) if targets.is_tdt(where.path) else None,
        "calls_per_minute": stores.config.calls_per_minute,
    }


def _told(found: list[dict[str, Any]]) -> str:
    """The ids of a list, with what is not as usual about them."""
    texts = []
    for one in found:
        notes = [note for note in (one.get("state"), one.get("enabled")) if note not in ("available", True, None)]
        texts.append(f"{one['id']} ({'disabled' if notes[0] is False else notes[0]})" if notes else one["id"])
    return ", ".join(texts) or "none"
