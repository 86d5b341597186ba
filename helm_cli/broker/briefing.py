"""What the host of a model is told when a run starts: instructions, tools, kinds of drafts, settings, budget."""

from typing import NamedTuple

from helm_cli.broker import offers, plugin, settings
from helm_cli.broker.budget import Budget
from helm_cli.broker.offers import Offer
from helm_cli.broker.runs import Running
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.extension import Extension
from helm_cli.model.plugin import Instructions
from helm_cli.store.runs import Run


class Briefing(NamedTuple):
    """All that belongs to one run. `settings` are those that a model may see; of others `withheld` has the keys alone.

    `serve` is the command that serves the tools of this run, as its words.
    """

    run: Run
    extension: Extension
    agents: tuple[Instructions, ...]
    skills: tuple[Instructions, ...]
    tools: tuple[Offer, ...]
    draft_kinds: tuple[str, ...]
    settings: dict[str, str]
    withheld: tuple[str, ...]
    budget: Budget
    serve: tuple[str, ...]


def of(stores: Stores, running: Running) -> Briefing:
    """The briefing of a run. Raises HelmError "state"."""
    run, team = running.run, running.team
    whole = plugin.instructed(stores, team)
    workspace = Workspace(run.workspace, f"that of the run {run.id}")
    plain = settings.plain(stores, run.workspace, team.extension)
    return Briefing(
        run=run,
        extension=team.extension,
        agents=whole.agents,
        skills=whole.skills,
        tools=tuple(offers.offers(stores, workspace, run.extension)),
        draft_kinds=team.plugin.draft_kinds,
        settings=plain,
        withheld=tuple(setting.key for setting in team.plugin.settings if setting.key not in plain),
        budget=running.budget,
        serve=("helm", "mcp", "serve", "--run", run.id),
    )
