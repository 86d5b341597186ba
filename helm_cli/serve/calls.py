"""How a client's call becomes a call of helm: a read is performed, a write waits for the person, whom no client is."""

from typing import Final, NamedTuple

from helm_cli.agent import client as agent
from helm_cli.broker import budget, call, confirm, offers, runs
from helm_cli.broker.offers import Offer
from helm_cli.broker.runs import Running
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.store import outcomes

# Of a client's own name, which goes into what a person reads.
_LONGEST_NAME: Final = 60


class Waiting(NamedTuple):
    """A write that a person was asked about in a terminal, and what to tell the client meanwhile."""

    asked: call.Asked
    told: str


class Scope(NamedTuple):
    """Whose calls these are: those of a workspace, or of one run there, which has the tools of its plugin alone."""

    workspace: Workspace
    run: str | None = None


def offered(stores: Stores, scope: Scope) -> list[Offer]:
    """What may be called now. Raises HelmError "state", and "refused" for a run that may go on no more."""
    return _offered(stores, scope, _running(stores, scope))


def begin(
    stores: Stores, scope: Scope, name: str, arguments: dict[str, Json], client: str, *, wait: bool
) -> Envelope | Waiting:
    """Make a call: its envelope; for a write that the client will wait for, what it waits for."""
    try:
        running = _running(stores, scope)
        offer = next((offer for offer in _offered(stores, scope, running) if offer.name == name), None)
        if offer is None:
            raise HelmError("refused", f"there is no tool {name[:_LONGEST_NAME]}; list the tools again")
        asker = f"the MCP client {client[:_LONGEST_NAME] or 'without a name'}"
        if running is not None:
            budget.check(stores, running.team)
            asker += f" in the run {running.run.id}"
        request = call.Request(
            scope.workspace,
            offer.connection,
            offer.operation,
            arguments,
            offer.extension,
            asked_by=asker,
        )
        if offer.effect == "read":
            return agent.perform(stores, request)
        return _ask(stores, request, wait=wait)
    except HelmError as error:
        return failure(error)


def answer(stores: Stores, waiting: Waiting) -> Envelope | None:
    """What became of a write that waits; None while nobody decided. It can be had once."""
    try:
        return outcomes.outcome(stores.db, waiting.asked.id, stores.clock())
    except HelmError as error:
        return failure(error)


def give_up(stores: Stores, waiting: Waiting) -> None:
    """The client waits no longer, so nobody shall confirm what it asked for."""
    confirm.decline(stores, waiting.asked.id, waiting.asked.entry)


def _running(stores: Stores, scope: Scope) -> Running | None:
    return None if scope.run is None else runs.find(stores, scope.run)


def _offered(stores: Stores, scope: Scope, running: Running | None) -> list[Offer]:
    return offers.offers(stores, scope.workspace, None if running is None else running.run.extension)


def _ask(stores: Stores, request: call.Request, *, wait: bool) -> Envelope | Waiting:
    asked = call.ask(stores, request, listed=True, awaited=wait)
    seconds = round(asked.expires - stores.clock())
    told = f"ask the user to run `helm confirm {asked.id}` in a terminal within {seconds} s"
    if wait:
        return Waiting(asked, told)
    return failure(
        HelmError(
            "confirmation_required",
            f"{request.connection} {request.operation} writes, and only a person can confirm it: {told}",
            {"confirmation": asked.id},
        )
    )
