"""What a run of a team's plugin is: one content that one trigger started, with its brief, and what belongs to it."""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from helm_cli.broker import budget, ledger, plugin
from helm_cli.broker.budget import Budget
from helm_cli.broker.plugin import Team
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import USUAL_FORM, Plugin
from helm_cli.model.wording import meant
from helm_cli.store import drafts, runs
from helm_cli.store.runs import Run

Form: TypeAlias = Mapping[str, str | tuple[str, ...]]

EVENT: Final = "github.release"
MOST_BYTES: Final = 64 * 1024


class Running(NamedTuple):
    """A run whose plugin still is what it was when it started."""

    run: Run
    team: Team
    budget: Budget


def forms(declared: Plugin) -> list[Form]:
    """What a person may be asked to start a run: the form of each manual trigger, else the usual one."""
    # Whatever starts a plugin, a person may write it a brief too (contract, triggers).
    return [trigger.form for trigger in declared.triggers if trigger.on == "manual"] or [USUAL_FORM]


def form_fault(form: Form, name: str, value: str) -> str | None:
    """Why this can be no answer to a field of a form, a sentence; None where it can."""
    if name not in form:
        close = meant(name, form)
        return f"the form has no field {name}; " + (f"did you mean {close}?" if close else f"it has {', '.join(form)}")
    choices = form[name]
    if isinstance(choices, tuple) and value not in choices:
        return f"{name} is one of {', '.join(choices)}, not {value[:60]}"
    if len(value.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return f"{name} is over {MOST_BYTES // 1024} KiB; give less"
    return None


def manual(stores: Stores, team: Team, form: Form, answers: Mapping[str, str]) -> Running:
    """A new run that a person started, with an answer to every field. Raises HelmError "usage" and "refused"."""
    for name, value in answers.items():
        if fault := form_fault(form, name, value):
            raise HelmError("usage", fault)
    if missing := [name for name in form if name not in answers]:
        raise HelmError("usage", f"the form needs {missing[0]} too; give it with --arg {missing[0]}=…")
    return _begin(stores, team, "manual", dict(answers))


def scheduled(stores: Stores, team: Team, expression: str) -> Running:
    """A new run of one of the plugin's schedules. Raises HelmError "usage" and "refused"."""
    declared = [trigger.cron for trigger in team.plugin.triggers if trigger.on == "schedule"]
    if expression not in declared:
        has = f"it has {'; '.join(declared)}" if declared else "it has none"
        raise HelmError("usage", f"{team.extension.id} has no schedule {expression[:60]}; {has}")
    return _begin(stores, team, f"schedule {expression}", {})


def event(stores: Stores, team: Team, name: str, told: dict[str, Json]) -> Running:
    """A new run that an event started, with what it tells. Raises HelmError "usage" and "refused"."""
    check_event(team, name)
    return _begin(stores, team, name, told)


def check_event(team: Team, name: str) -> None:
    """Raises HelmError "usage" for an event that starts no run of this plugin."""
    if name != EVENT:
        raise HelmError("usage", f"there is no event {name[:60]}; take {EVENT}")
    if not any(trigger.on == EVENT for trigger in team.plugin.triggers):
        raise HelmError("usage", f"{team.extension.id} has no trigger on: {EVENT}, so a release starts no run of it")


def find(stores: Stores, id_: str) -> Running:
    """The run of this id, for what belongs to it.

    Raises HelmError "refused": there is none, or its plugin is no longer approved as it was when the run started.
    """
    run = runs.find(stores.db, id_)
    if run is None:
        raise HelmError("refused", f"there is no run {id_[:20]}; start one with helm plugin run")
    team = plugin.find(stores, Workspace(run.workspace, f"that of the run {id_}"), run.extension)
    if team.approval.digest != run.digest:
        raise HelmError(
            "refused",
            f"{run.extension} was approved anew since the run {id_} started; start another with helm plugin run",
        )
    return Running(run, team, budget.find(stores, team))


def _begin(stores: Stores, team: Team, trigger: str, form: dict[str, Json]) -> Running:
    found = budget.check(stores, team)
    run = Run(
        id=drafts.new_id(),
        workspace=team.approval.workspace,
        extension=team.extension.id,
        digest=team.approval.digest,
        trigger=trigger,
        form=form,
        started_at=stores.clock(),
        asked_by=ledger.caller(),
        tokens=0,
    )
    runs.begin(stores.db, run)
    return Running(run, team, found)
