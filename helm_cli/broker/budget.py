"""What a plugin may still use this month: the tokens that hosts report, against the limit of its file or its team."""

from datetime import UTC, datetime
from typing import Literal, NamedTuple

from helm_cli.broker.plugin import Team
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.store import budgets


class Budget(NamedTuple):
    """One month of a plugin in a workspace. `month` is in UTC, "2026-07"; `limit` None where there is none.

    `source` says whose the limit is: the plugin's own file, or the team that put another in its place.
    """

    plugin: str
    workspace: str
    month: str
    used: int
    limit: int | None
    source: Literal["plugin", "team"]

    @property
    def left(self) -> int | None:
        """The tokens that may still be used, None for no limit."""
        return None if self.limit is None else max(self.limit - self.used, 0)

    @property
    def spent(self) -> bool:
        return self.left == 0


def find(stores: Stores, team: Team) -> Budget:
    """How the budget of a plugin stands now; 0 is no limit (contract, budget). Raises HelmError "state"."""
    workspace, id_ = team.approval.workspace, team.extension.id
    month = datetime.fromtimestamp(stores.clock(), UTC).strftime("%Y-%m")
    own, teams = team.plugin.monthly_tokens, budgets.limit(stores.db, workspace, id_)
    return Budget(
        plugin=id_,
        workspace=workspace,
        month=month,
        used=budgets.used(stores.db, workspace, id_, month),
        limit=(own if teams is None else teams) or None,
        source="plugin" if teams is None else "team",
    )


def check(stores: Stores, team: Team) -> Budget:
    """The budget, where something is left of it. Raises HelmError "refused" where nothing is."""
    budget = find(stores, team)
    if budget.spent:
        raise HelmError(
            "refused",
            f"{budget.plugin} has used {budget.used:,} of its {budget.limit:,} tokens of {budget.month} (UTC); wait for"
            f" the next month, or raise the limit with: helm plugin usage {budget.plugin} --limit N",
        )
    return budget


def add(stores: Stores, team: Team, tokens: int, run: str | None) -> Budget:
    """Count what a host reports, for a run too where it names one; how the budget stands then. HelmError "state"."""
    budget = find(stores, team)
    budgets.add(stores.db, budget.workspace, budget.plugin, budget.month, tokens, run)
    return find(stores, team)


def set_limit(stores: Stores, team: Team, tokens: int) -> Budget:
    """Put the team's limit in the place of any other; 0 is none. How the budget stands then. HelmError "state"."""
    budgets.set_limit(stores.db, team.approval.workspace, team.extension.id, tokens)
    return find(stores, team)


def widens(budget: Budget, tokens: int) -> bool:
    """Whether this limit would let the plugin use more than it may now, so that a person has to say yes to it."""
    return budget.limit is not None and (tokens == 0 or tokens > budget.limit)
