"""`helm project`: the folders that files connections may use, by their ids."""

from typing import Annotated

import typer

from helm_cli.broker import projects
from helm_cli.cli import OutputOption, WorkspaceOption, group, listing_format
from helm_cli.cli.here import here, note
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.view.streams import person_present

app = group(
    "Register the folders that files connections may use as projects.",
    "A files connection whose root is a project reaches a folder only once it is registered here, in the workspace.",
    ("helm project add ~/src/website", "helm project list"),
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The project's id.")]


@app.command("add")
def add(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The project's folder; else this one.")] = ".",
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its id; else made from the folder's name.")
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Register a folder as a project of this workspace; a files connection with the root "project" can then be told it.

    Nothing in the folder is read or changed. A folder outside the workspace widens what approved extensions may reach,
    so adding it needs a person at the terminal, or a home in which no person has ever answered one of helm's
    questions: a CI job's fresh one, as with `helm plugin review --approve`.

    \b
    Examples:
      helm project add ~/src/website
      helm project add ../shop --id shop-2
    """
    place = here()
    where = place.workspace(workspace)
    project = projects.add(place.stores, where.path, path, id_, by_person=person_present(place.streams))
    note(place.streams, f"{project.path} is the project {project.id} of the workspace {where.path} ({where.found})")


@app.command("list")
def list_(output: OutputOption = "auto", workspace: WorkspaceOption = None) -> None:
    """List the projects of this workspace: those added here, and those that TDT has registered.

    \b
    Examples:
      helm project list
      helm project list -o json
    """
    place = here()
    listing_format(output)
    rows = [project._asdict() for project in projects.every(place.stores, place.workspace(workspace).path)]
    empty = "no projects yet; add one with helm project add"
    show_rows(place, output, ("id", "path", "state", "source"), rows, empty)


@app.command("show")
def show(id_: IdArgument, output: OutputOption = "auto", workspace: WorkspaceOption = None) -> None:
    """Show a project: where it is, whether it is available, and where it is known from.

    \b
    Examples:
      helm project show website
      helm project show website -o json
    """
    place = here()
    project = projects.find(place.stores, place.workspace(workspace).path, id_)
    show_members(place, listing_format(output), project._asdict())


@app.command("remove")
def remove(id_: IdArgument, workspace: WorkspaceOption = None) -> None:
    """Forget a project; its folder is left alone.

    \b
    Examples:
      helm project remove website
      helm project remove website --workspace ~/notes
    """
    place = here()
    projects.remove(place.stores, place.workspace(workspace).path, id_)
    note(place.streams, f"forgot the project {id_}; its folder is left alone")
