"""How a call is carried out from this terminal: a read at once, a write after the person confirmed it."""

from typing import NamedTuple

from helm_cli.agent import client
from helm_cli.broker.request import Request
from helm_cli.cli import telling
from helm_cli.cli.here import Here, detail
from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.view.result import carrying, check_format


class Done(NamedTuple):
    """A call's envelope, the shape of its data where it got far enough to be known, and whether it is a write."""

    envelope: Envelope
    shape: str | None
    wrote: bool = False


def carry_out(place: Here, request: Request, output: str, *, wait: bool) -> Done:
    """Perform a request, asking the person first where it writes. It never raises a HelmError of the call."""
    telling.of_call(place, request)
    told = client.read(place.stores, request, carrying(output))
    if told is not None:
        return Done(told.envelope, told.shape)
    # What only this process needs that makes the call itself.
    from helm_cli.broker import call

    try:
        prepared = call.describe(place.stores, request)
        check_format(output, prepared.plan.shape)
    except HelmError as error:
        return Done(call.refused(place.stores, request, error), None)
    if prepared.plan.effect == "read":
        detail(place.streams, "the call is made by this process, without the background agent")
        return Done(call.perform(place.stores, request, prepared=prepared), prepared.plan.shape)
    from helm_cli.cli.writing import ask

    return Done(ask(place, request, wait=wait, prepared=prepared), prepared.plan.shape, wrote=True)
