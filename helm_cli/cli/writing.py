"""How a write is confirmed by the person, in this terminal or in another, and sent then."""

from collections.abc import Mapping, Sequence
from typing import Literal

from helm_cli.agent import client
from helm_cli.broker import call, confirm
from helm_cli.cli.here import Here, answered, tell
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Plan, Revision
from helm_cli.view import plan as plan_view
from helm_cli.view import question
from helm_cli.view.streams import person_present

Decision = Literal["confirmed", "declined", "expired"]


def ask(place: Here, request: call.Request, *, wait: bool, prepared: call.Prepared | None = None) -> Envelope:
    """Have a write confirmed, here or in another terminal, and send it then.

    A write that was described a moment ago may be given as `prepared`.
    """
    person = person_present(place.streams)
    try:
        # A write too long to be read, or of what changed meanwhile, could wait, but never be confirmed.
        prepared = prepared or call.describe(place.stores, request)
        revisions = call.preview(place.stores, prepared)
        plan_view.revised_text(prepared.plan, {}, revisions)
    except HelmError as error:
        return call.refused(place.stores, request, error)
    try:
        asked = call.ask(place.stores, request, listed=not person, awaited=wait and not person)
    except HelmError as error:
        return failure(error)
    if person:
        return _here(place, request, asked, revisions)
    if wait:
        return _elsewhere(place, asked)
    return failure(
        HelmError(
            "confirmation_required",
            f"{request.connection} {request.operation} writes; run helm confirm {asked.id} in a terminal "
            f"within {round(asked.expires - place.stores.clock())} s",
            {"confirmation": asked.id},
        )
    )


def decide(
    place: Here,
    plan: Plan,
    expires: float,
    context: Mapping[str, str] = {},
    revisions: Sequence[Revision] = (),
) -> Decision:
    """Show a write exactly as it will be sent, and ask. `context` is as in `plan_text`: who asks, and where.

    `revisions` are the texts that it replaces, as `call.preview` gave them. Raises HelmError "declined" for a yes that
    came too fast to be one, and "refused" for a plan too long to be read: the write is as it was, neither sent nor
    declined.
    """
    answer = question.ask(plan.title, plan_view.revised_text(plan, context, revisions), plan.verb, expires)
    if answer != "expired":
        answered(place)
    if answer == "hasty":
        told = f"{question.HASTY}, so nothing was sent; ask again, and press Enter once the mark has moved"
        raise HelmError("declined", told)
    return answer


def sending(plan: Plan) -> confirm.Perform:
    """How a write is sent once it was confirmed: through the agent, but where what it goes to was started here."""
    # TDT has one server at a time, and this process's told what the write is: the agent would have to start its own.
    return call.perform if plan.driver == "tdt" else client.perform


def _here(place: Here, request: call.Request, asked: call.Asked, revisions: Sequence[Revision]) -> Envelope:
    try:
        answer = decide(place, asked.plan, asked.expires, {"workspace": request.workspace.path}, revisions)
    except HelmError as error:
        confirm.decline(place.stores, asked.id, asked.entry)
        return failure(error)
    if answer == "confirmed":
        return sending(asked.plan)(place.stores, request, asked.token, asked.entry)
    if answer == "expired":
        return failure(HelmError("confirmation_required", "the confirmation expired; make the call again"))
    return failure(own(confirm.decline(place.stores, asked.id, asked.entry)))


def own(error: HelmError) -> HelmError:
    """The answer to a decline as the person who declined is told it."""
    return HelmError("declined", "declined; nothing was sent") if error.code == "declined" else error


def _elsewhere(place: Here, asked: call.Asked) -> Envelope:
    tell(place.streams, f"waiting for a person to run helm confirm {asked.id} in a terminal")
    try:
        return confirm.outcome(place.stores, asked)
    except KeyboardInterrupt:
        # Nobody waits for it any more, so nobody shall confirm it.
        confirm.decline(place.stores, asked.id, asked.entry)
        raise
