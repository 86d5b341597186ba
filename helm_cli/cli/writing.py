"""How a call is carried out from this terminal: a read at once, a write after the person confirmed it."""

from typing import NamedTuple

from helm_cli.broker import call, confirm
from helm_cli.cli.here import Here, answered, tell
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.plan import Plan
from helm_cli.view import plan as plan_view
from helm_cli.view import question
from helm_cli.view.result import check_format
from helm_cli.view.streams import person_present


class Done(NamedTuple):
    """A call's envelope, and the shape of its data where it got far enough to be known."""

    envelope: Envelope
    shape: str | None


def carry_out(place: Here, request: call.Request, output: str, *, wait: bool) -> Done:
    """Perform a request, asking the person first where it writes. It never raises a HelmError of the call."""
    try:
        prepared = call.describe(place.stores, request)
        check_format(output, prepared.plan.shape)
    except HelmError as error:
        return Done(call.refused(place.stores, request, error), None)
    if prepared.plan.effect == "read":
        return Done(call.perform(place.stores, request, prepared=prepared), prepared.plan.shape)
    return Done(ask(place, request, wait=wait), prepared.plan.shape)


def ask(place: Here, request: call.Request, *, wait: bool) -> Envelope:
    """Have a write confirmed, here or in another terminal, and send it then."""
    person = person_present(place.streams)
    try:
        asked = call.ask(place.stores, request, listed=not person, awaited=wait and not person)
    except HelmError as error:
        return call.refused(place.stores, request, error)
    if person:
        return _here(place, request, asked)
    if wait:
        tell(place.streams, f"waiting for a person to run helm confirm {asked.id} in a terminal")
        return confirm.outcome(place.stores, asked)
    return failure(
        HelmError(
            "confirmation_required",
            f"{request.connection} {request.operation} writes; run helm confirm {asked.id} in a terminal "
            f"within {round(asked.expires - place.stores.clock())} s",
            {"confirmation": asked.id},
        )
    )


def decide(place: Here, plan: Plan, expires: float) -> str:
    """Show a write exactly as it will be sent and ask: "confirmed", "declined" or "expired"."""
    answer = question.ask(plan.title, plan_view.plan_text(plan), plan.verb, expires)
    if answer != "expired":
        answered(place)
    return answer


def _here(place: Here, request: call.Request, asked: call.Asked) -> Envelope:
    answer = decide(place, asked.plan, asked.expires)
    if answer == "confirmed":
        return call.perform(place.stores, request, asked.token, asked.entry)
    if answer == "expired":
        return failure(HelmError("confirmation_required", "the confirmation expired; make the call again"))
    confirm.decline(place.stores, asked.id, asked.entry)
    return failure(DECLINED)


DECLINED = HelmError("declined", "the person declined; nothing was sent")
