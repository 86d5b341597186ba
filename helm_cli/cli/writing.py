"""How a call is carried out from this terminal: a read at once, a write after the person confirmed it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from helm_cli.broker import call, confirm
from helm_cli.cli.here import Here, answered, tell
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Plan
from helm_cli.view import plan as plan_view
from helm_cli.view import question
from helm_cli.view.result import check_format
from helm_cli.view.streams import person_present

Decision = Literal["confirmed", "declined", "expired"]


class Done(NamedTuple):
    """A call's envelope, the shape of its data where it got far enough to be known, and whether it is a write."""

    envelope: Envelope
    shape: str | None
    wrote: bool = False


def carry_out(place: Here, request: call.Request, output: str, *, wait: bool) -> Done:
    """Perform a request, asking the person first where it writes. It never raises a HelmError of the call."""
    try:
        prepared = call.describe(place.stores, request)
        check_format(output, prepared.plan.shape)
    except HelmError as error:
        return Done(call.refused(place.stores, request, error), None)
    if prepared.plan.effect == "read":
        return Done(call.perform(place.stores, request, prepared=prepared), prepared.plan.shape)
    return Done(ask(place, request, wait=wait), prepared.plan.shape, wrote=True)


def ask(place: Here, request: call.Request, *, wait: bool) -> Envelope:
    """Have a write confirmed, here or in another terminal, and send it then."""
    person = person_present(place.streams)
    try:
        # A write too long to be read could wait, but never be confirmed.
        plan_view.plan_text(call.describe(place.stores, request).plan)
    except HelmError as error:
        return call.refused(place.stores, request, error)
    try:
        asked = call.ask(place.stores, request, listed=not person, awaited=wait and not person)
    except HelmError as error:
        return failure(error)
    if person:
        return _here(place, request, asked)
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


def decide(place: Here, plan: Plan, expires: float, context: Mapping[str, str] = {}) -> Decision:
    """Show a write exactly as it will be sent, and ask. `context` is as in `plan_text`: who asks, and where.

    Raises HelmError "declined" for a yes that came too fast to be one, and "refused" for a plan too long to be read:
    the write is as it was, neither sent nor declined.
    """
    answer = question.ask(plan.title, plan_view.plan_text(plan, context), plan.verb, expires)
    if answer != "expired":
        answered(place)
    if answer == "hasty":
        told = f"{question.HASTY}, so nothing was sent; ask again, and press Enter once the mark has moved"
        raise HelmError("declined", told)
    return answer


def _here(place: Here, request: call.Request, asked: call.Asked) -> Envelope:
    try:
        answer = decide(place, asked.plan, asked.expires, {"workspace": request.workspace.path})
    except HelmError as error:
        confirm.decline(place.stores, asked.id, asked.entry)
        return failure(error)
    if answer == "confirmed":
        return call.perform(place.stores, request, asked.token, asked.entry)
    if answer == "expired":
        return failure(HelmError("confirmation_required", "the confirmation expired; make the call again"))
    return failure(confirm.decline(place.stores, asked.id, asked.entry))


def _elsewhere(place: Here, asked: call.Asked) -> Envelope:
    tell(place.streams, f"waiting for a person to run helm confirm {asked.id} in a terminal")
    try:
        return confirm.outcome(place.stores, asked)
    except KeyboardInterrupt:
        # Nobody waits for it any more, so nobody shall confirm it.
        confirm.decline(place.stores, asked.id, asked.entry)
        raise
