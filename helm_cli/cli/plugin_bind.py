"""`helm plugin bind`: where the calls of a plugin's named tool go, shown to a person and bound on their yes alone."""

from typing import Annotated

import typer

from helm_cli.broker import bindings, declared, plugin
from helm_cli.broker.plugin import Team
from helm_cli.cli import PluginArgument, WorkspaceOption, arguments, group
from helm_cli.cli.entry import asked, can_ask
from helm_cli.cli.here import Here, answered, here, need_person, note
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import Bound
from helm_cli.view import binding as view
from helm_cli.view import question

app = group("Review, approve and list extensions.")


@app.command("bind")
def bind(
    id_: PluginArgument,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="One of its named tools of kind http.")],
    service: Annotated[
        str | None, typer.Option("--service", metavar="S", help="The service profile that its calls go to.")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="M", help="GET, POST, PUT, PATCH or DELETE.")
    ] = None,
    path: Annotated[
        str | None, typer.Option("--path", metavar="P", help="The path under the base URL, perhaps with a query.")
    ] = None,
    body: Annotated[
        str | None, typer.Option("--body", metavar="JSON|@FILE|-", help="The JSON body; none is sent without.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the binding away.")] = False,
    workspace: WorkspaceOption = None,
) -> int:
    """Say where the calls of a plugin's named tool go. It needs a person at the terminal.

    {name} in the path, in a value of its query, or as a whole string of the body stands for an argument of the call; a
    draft that is published gives title, body and kind. The binding is part of the approval: after a review of changed
    content it holds again because that shows it.

    \b
    Examples:
      helm plugin bind acme/marketing post_update --service blog --method POST --path /posts --body @post.json
      helm plugin bind acme/marketing find_posts --service blog --method GET --path '/posts?q={text}'
      helm plugin bind acme/marketing post_update --remove
    """
    place = here()
    team = plugin.approved(place.stores, place.workspace(workspace), id_)
    if remove:
        if any(option is not None for option in (service, method, path, body)):
            raise HelmError("usage", "--remove goes alone: it takes what is bound away")
        return _unbind(place, team, tool)
    declared.check_approved(place.stores, team.approval)
    asking = can_ask(place)
    to = Bound(
        tool,
        service or asked(place, asking, "--service", "Service profile"),
        (method or asked(place, asking, "--method", "Method")).upper(),
        path or asked(place, asking, "--path", "Path under its base URL"),
        None if body is None else _text(body),
    )
    return _bind(place, team, to)


def _bind(place: Here, team: Team, to: Bound) -> int:
    approval, id_ = team.approval, team.extension.id
    operation, service = bindings.check(place.stores, approval.workspace, team.extension, to)
    need_person(place, f"binding {to.tool}")
    former = next(
        (one for one in bindings.kept(place.stores, approval.workspace, team.extension) if one.tool == to.tool), None
    )
    lines = view.lines(team.extension, approval.workspace, operation, service, former)
    answer = question.ask(f"Bind tool {to.tool}", lines, "Bind", None)
    answered(place)
    if answer == "hasty":
        raise HelmError("declined", f"{question.HASTY}, so {to.tool} was not bound; ask again")
    if answer != "confirmed":
        raise HelmError("declined", f"cancelled; {to.tool} was not bound")
    bindings.bind(place.stores, approval, to)
    note(place.streams, f"{to.tool} of {id_} is bound to the service profile {to.service}")
    return 0


def _unbind(place: Here, team: Team, tool: str) -> int:
    gone = bindings.unbind(place.stores, team.approval, tool)
    note(place.streams, f"{tool} is no longer bound" if gone else f"{tool} is not bound, so nothing was changed")
    return 0


def _text(body: str) -> str:
    text = arguments.given("--body", body)
    try:
        return text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise HelmError("usage", "--body is not UTF-8; write it in UTF-8") from None
