"""`helm plugin usage` and `helm plugin approvers`: what a team decides about a plugin, beside approving it."""

from typing import Annotated

import typer

from helm_cli.broker import budget, drafts, plugin
from helm_cli.broker.budget import Budget
from helm_cli.broker.plugin import Team
from helm_cli.cli import OutputOption, PluginArgument, WorkspaceOption, group, listing_format
from helm_cli.cli.here import Here, answered, here, need_person, tell
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.model.errors import HelmError
from helm_cli.model.wording import meant
from helm_cli.store import approvers, budgets, runs
from helm_cli.view import question

app = group("Review, approve and list extensions.")


@app.command("usage")
def usage(
    id_: PluginArgument,
    add: Annotated[
        int | None, typer.Option("--add", metavar="N", min=1, help="Count so many tokens that a host used.")
    ] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="The run that used them.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="The team's own limit a month; 0 for none.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Show the tokens that a plugin used this month (in UTC), count some, or set the team's limit.

    helm counts nothing by itself: the host of the model reports what it used. Once that reaches the limit, new runs,
    drafts of runs and every call of the plugin are refused until the next month; drafts that people approved still go
    out. The team's limit holds in place of the plugin's own, also of a later version's. To raise it, or to take it away
    with 0, needs a person at the terminal.

    \b
    Examples:
      helm plugin usage acme/marketing
      helm plugin usage acme/marketing --add 1800 --run k3v7q2ab
      helm plugin usage acme/marketing --limit 2000000
    """
    place = here()
    listing_format(output)
    if run is not None and add is None:
        raise HelmError("usage", "--run goes with --add: it says which run used the tokens")
    if add is not None and limit is not None:
        raise HelmError("usage", "give --add or --limit, not both")
    if add is not None and add > budgets.MOST_TOKENS:
        raise HelmError("usage", f"at most {budgets.MOST_TOKENS:,} tokens are counted; report what was used")
    team = plugin.approved(place.stores, place.workspace(workspace), id_)
    found = budget.find(place.stores, team)
    if add is not None:
        _check_run(place, team, run)
        found = budget.add(place.stores, team, add, run)
        if found.spent:
            tell(place.streams, f"{id_} has used up its tokens of {found.month}: its runs and calls are refused")
    elif limit is not None:
        found = _limited(place, team, found, limit)
    show_members(place, output, _members(found, output))
    return 0


@app.command("approvers")
def approvers_(
    id_: PluginArgument,
    role: Annotated[str | None, typer.Argument(metavar="ROLE", help="A role that the plugin's approvals name.")] = None,
    users: Annotated[list[str] | None, typer.Argument(metavar="USER…", help="Users of this machine.")] = None,
    anyone: Annotated[bool, typer.Option("--anyone", help="Take the list away: anyone but the asker may.")] = False,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Show who may approve the drafts of a plugin, or list the users of a role in place of those it had.

    Without a list, anyone may but the person who asked for a draft. To change one needs a person at the terminal.

    A list holds for what is published from this home, and nowhere else: whoever publishes from another home goes by
    the list there. So let one home publish, and give the token of the service to no other.

    \b
    Examples:
      helm plugin approvers acme/marketing
      helm plugin approvers acme/marketing marketing_editor ada grace
      helm plugin approvers acme/marketing marketing_editor --anyone
    """
    place = here()
    listing_format(output)
    team = plugin.approved(place.stores, place.workspace(workspace), id_)
    if role is not None and (users or anyone):
        _change(place, team, role, users or [], anyone=anyone)
    elif role is not None or anyone:
        raise HelmError("usage", "give a ROLE and the users that have it, or a ROLE and --anyone")
    lists = approvers.listed(place.stores.db, team.approval.workspace, id_)
    rows = []
    for publish in team.plugin.publishes:
        listed = lists.get(publish.role or "")
        names = None if listed is None else [*map(drafts.user, listed)]
        told = names if output == "json" else _named(names)
        rows.append({"via": publish.via, "min": publish.least, "role": publish.role, "approvers": told})
    show_rows(place, output, ("via", "min", "role", "approvers"), rows, f"{id_} publishes nothing")
    return 0


def _check_run(place: Here, team: Team, id_: str | None) -> None:
    # Tokens that were used count, whatever became of the plugin since.
    found = runs.find(place.stores.db, id_) if id_ is not None else None
    mine = found is not None and (found.workspace, found.extension) == (team.approval.workspace, team.extension.id)
    if id_ is not None and not mine:
        raise HelmError("refused", f"{team.extension.id} has no run {id_[:20]} in this workspace")


def _limited(place: Here, team: Team, before: Budget, tokens: int) -> Budget:
    if tokens > budgets.MOST_TOKENS:
        raise HelmError("usage", f"a limit is at most {budgets.MOST_TOKENS:,} tokens; 0 is no limit")
    if budget.widens(before, tokens):
        told = "no limit" if tokens == 0 else f"{tokens:,} tokens"
        lines = [
            f"  plugin     {team.extension.id}",
            f"  workspace  {team.approval.workspace}",
            f"  used       {before.used:,} tokens in {before.month}",
            f"  now        {before.limit or 0:,} tokens a month",
            f"  then       {told} a month",
        ]
        _ask(place, f"Raise the limit of {team.extension.id}", lines, "Raise")
    return budget.set_limit(place.stores, team, tokens)


def _change(place: Here, team: Team, role: str, users: list[str], *, anyone: bool) -> None:
    if anyone and users:
        raise HelmError("usage", "give the users of a role, or --anyone, not both")
    known = [publish.role for publish in team.plugin.publishes if publish.role is not None]
    if role not in known:
        close = meant(role, known)
        has = f"it names {', '.join(dict.fromkeys(known))}" if known else "it names none"
        raise HelmError(
            "usage",
            f"no approval of {team.extension.id} names the role {role[:64]}; "
            + (f"did you mean {close}?" if close else has),
        )
    uids = list(dict.fromkeys(map(drafts.uid_of, users)))
    workspace, id_ = team.approval.workspace, team.extension.id
    before = approvers.listed(place.stores.db, workspace, id_).get(role)
    lines = [
        f"  plugin     {id_}",
        f"  workspace  {workspace}",
        f"  role       {role}",
        f"  now        {_named(None if before is None else [*map(drafts.user, before)])}",
        f"  then       {_named([f'{drafts.user(uid)} (uid {uid})' for uid in uids] or None)}",
        "  holds for  what is published from this home; other homes have lists of their own",
    ]
    _ask(place, f"Change who approves drafts of {id_}", lines, "Change")
    approvers.put(place.stores.db, workspace, id_, role, uids)


def _ask(place: Here, title: str, lines: list[str], verb: str) -> None:
    need_person(place, "this")
    answer = question.ask(title, lines, verb, None)
    answered(place)
    if answer == "hasty":
        raise HelmError("declined", f"{question.HASTY}, so nothing was changed; ask again")
    if answer != "confirmed":
        raise HelmError("declined", "cancelled; nothing was changed")


def _named(users: list[str] | None) -> str:
    return "anyone but who asked" if users is None else ", ".join(users)


def _members(found: Budget, output: str) -> dict[str, object]:
    whose = {"plugin": "the plugin's own", "team": "the team's"}[found.source]
    if output == "json":
        return {**found._asdict(), "source": found.source if found.limit is not None else None, "left": found.left}
    limit = "none" if found.limit is None else f"{found.limit:,} ({whose})"
    left = None if found.left is None else f"{found.left:,}"
    return {
        "plugin": found.plugin,
        "month": f"{found.month} (UTC)",
        "used": f"{found.used:,}",
        "limit": limit,
        "left": left,
    }
