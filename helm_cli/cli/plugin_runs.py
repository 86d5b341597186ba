"""`helm plugin run` and `helm plugin due`: what starts a run of a team's plugin, and what its host is told then."""

import shlex
import sys
from typing import Annotated

import typer

from helm_cli.broker import briefing, due, plugin, runs
from helm_cli.broker.plugin import Team
from helm_cli.broker.runs import Form, Running
from helm_cli.cli import OutputOption, PluginArgument, WorkspaceOption, entry, group, listing_format
from helm_cli.cli.here import Here, here, note
from helm_cli.cli.listing import show_rows, write_json
from helm_cli.grammar import release_event
from helm_cli.model.errors import HelmError
from helm_cli.view import briefing as view
from helm_cli.view.streams import piped_bytes

app = group("Review, approve and list extensions.")


@app.command("run")
def run(
    id_: PluginArgument,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="The answer to a field of the form; text.")
    ] = None,
    schedule: Annotated[
        str | None, typer.Option("--schedule", metavar="CRON", help="Start it for this schedule of the plugin.")
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", metavar="NAME", help="Start it for an event; its JSON on standard input.")
    ] = None,
    output: OutputOption = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Start a run of a team's plugin: its instructions and tools for the host of a model.

    A person starts one with a brief: the fields of the form of its manual trigger, or the one field brief where it has
    none, are asked for at a terminal or given with --arg. --schedule takes one of its schedules as it is written, and
    --event the JSON of a published release as GitHub sends it. A run opens a record and prints; it calls no model.
    Refused once the plugin has used up its tokens of the month.

    \b
    Examples:
      helm plugin run acme/marketing --arg brief="Announce version 2" -o json
      helm plugin run acme/marketing --schedule "0 14 * * MON" -o json
      helm plugin run acme/marketing --event github.release -o json < "$GITHUB_EVENT_PATH"
    """
    place = here()
    listing_format(output)
    if sum(given is not None for given in (arg or None, schedule, event)) > 1:
        raise HelmError("usage", "a run has one cause: give --arg, --schedule or --event")
    team = plugin.find(place.stores, place.workspace(workspace), id_)
    if schedule is not None:
        running = runs.scheduled(place.stores, team, schedule)
    elif event is not None:
        running = _of_event(place, team, event)
    else:
        running = _manual(place, team, arg or [])
    return _show(place, running, output)


@app.command("due")
def due_(output: OutputOption = "auto", workspace: WorkspaceOption = None) -> int:
    """List the schedules that came due since this was last asked, each told once; for cron or a systemd timer.

    It starts nothing: whoever asked is to start what is told. A schedule that is seen for the first time, or for the
    first time since its plugin was approved anew, counts from then on. However often it came due since, it is told
    once. Times are those of this machine's clock and time zone.

    \b
    Examples:
      helm plugin due
      helm plugin due -o json | jq -c '.[].run'
    """
    place = here()
    listing_format(output)
    rows = [
        {"plugin": one.plugin, "cron": one.cron, "run": ["helm", "plugin", "run", one.plugin, "--schedule", one.cron]}
        for one in due.take(place.stores, place.workspace(workspace))
    ]
    if output != "json":
        rows = [{**row, "run": shlex.join(row["run"])} for row in rows]
    show_rows(place, output, ("plugin", "cron", "run"), rows, "nothing is due")
    return 0


def _of_event(place: Here, team: Team, name: str) -> Running:
    runs.check_event(team, name)
    if sys.stdin is not None and sys.stdin.isatty():
        raise HelmError("usage", "the event comes on standard input: pipe its JSON in")
    data = piped_bytes("the event", release_event.MOST_BYTES + 1)
    if len(data) > release_event.MOST_BYTES:
        raise HelmError("usage", f"the event is over {release_event.MOST_BYTES:,} bytes")
    try:
        told = release_event.read(data)
    except ValueError as error:
        raise HelmError("usage", f"the event {error}") from None
    return runs.event(place.stores, team, name, told)


def _manual(place: Here, team: Team, pairs: list[str]) -> Running:
    answers = _given(pairs)
    forms = runs.forms(team.plugin)
    # Of several forms, the first that has every field that was given.
    form = next((form for form in forms if answers.keys() <= form.keys()), forms[0])
    _check(form, answers)
    asking = entry.can_ask(place)
    for name, choices in form.items():
        if name not in answers:
            listed = list(choices) if isinstance(choices, tuple) else None
            told = f" ({', '.join(listed)})" if listed and not asking else ""
            answers[name] = entry.asked(place, asking, f"--arg {name}=…{told}", name, listed)
    running = runs.manual(place.stores, team, form, answers)
    entry.kept(place)
    return running


def _given(pairs: list[str]) -> dict[str, str]:
    answers: dict[str, str] = {}
    for word in pairs:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise HelmError("usage", "--arg takes NAME=VALUE, as in --arg title=Launch")
        if name in answers:
            raise HelmError("usage", f"the field {name} is given twice; give it once")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise HelmError("usage", f"the value of {name} is not UTF-8; write it in UTF-8") from None
        answers[name] = value
    return answers


def _check(form: Form, answers: dict[str, str]) -> None:
    for name, value in answers.items():
        if fault := runs.form_fault(form, name, value):
            raise HelmError("usage", fault)


def _show(place: Here, running: Running, output: str) -> int:
    found = briefing.of(place.stores, running)
    started = view.Started(
        id=found.run.id,
        workspace=found.run.workspace,
        digest=found.run.digest,
        trigger=found.run.trigger,
        form=found.run.form,
        extension=found.extension,
        agents=found.agents,
        skills=found.skills,
        tools=[
            view.Tool(offer.name, offer.connection, offer.operation, offer.risk or offer.effect, offer.description)
            for offer in found.tools
        ],
        draft_kinds=found.draft_kinds,
        settings=found.settings,
        withheld=found.withheld,
        month=found.budget.month,
        tokens=(found.budget.used, found.budget.limit),
        serve=found.serve,
    )
    if output == "json":
        write_json(place, view.members(started))
    else:
        place.streams.write("".join(f"{line}\n" for line in view.lines(started)))
    note(place.streams, f"the run {found.run.id} of {found.run.extension} started")
    return 0
