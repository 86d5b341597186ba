"""What waits for a person: a write or an approval asked for elsewhere, found again and shown as it was asked."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from helm_cli.broker import call, ledger
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.store import confirmations, outcomes
from helm_cli.store.confirmations import Pending

PAUSE: Final = 0.1

# How a write is sent, with its token and the entry that was begun for it: as `call.perform`.
Perform = Callable[[Stores, call.Request, str, int | None], Envelope]


class Waiting(NamedTuple):
    """A waiting write, planned anew from the approved declaration and equal to what was asked."""

    pending: Pending
    request: call.Request
    prepared: call.Prepared


def find(stores: Stores, id_: str) -> Pending:
    """The entry of this id that still waits. Raises HelmError "confirmation_required"."""
    pending = confirmations.find(stores.db, id_, stores.clock())
    if pending is None:
        raise HelmError("confirmation_required", f"nothing waits under {id_}; see helm confirm --list")
    if pending.state != "waiting":
        raise HelmError("confirmation_required", f"{id_} was {pending.state} already; make the call again")
    return pending


def write(stores: Stores, pending: Pending) -> Waiting:
    """The waiting write as a person is to see it. Raises what `call.describe` raises.

    Whether it still is what was asked for is the token's to say: it is bound to it.
    """
    arguments = pending.subject.get("arguments")
    if not isinstance(arguments, dict):
        raise HelmError("state", f"the waiting write {pending.id} cannot be read; make the call again")
    request = call.Request(
        Workspace(pending.workspace, "named by the waiting write"),
        pending.connection,
        pending.operation,
        arguments,
        pending.extension,
        asked_by=pending.asked_by,
    )
    return Waiting(pending, request, call.describe(stores, request))


def send(stores: Stores, waiting: Waiting, perform: Perform = call.perform) -> Envelope:
    """Use the token of a waiting write, once, and send it: the person has confirmed what `write` gave."""
    token = confirmations.token(stores.db, waiting.pending.id, stores.clock())
    entry = waiting.pending.subject.get("entry")
    return perform(stores, waiting.request, token, entry if isinstance(entry, int) else None)


def lapse(stores: Stores, waiting: Waiting, error: HelmError) -> None:
    """Use a waiting write up that cannot be sent any more: whoever asked for it gets this error."""
    token = confirmations.token(stores.db, waiting.pending.id, stores.clock())
    id_ = confirmations.redeem(stores.db, token, waiting.prepared.binding, stores.clock())
    entry = waiting.pending.subject.get("entry")
    if isinstance(entry, int):
        ledger.end(stores, entry, error.code)
    ledger.settle(stores, id_, failure(error))


def decline(stores: Stores, id_: str, entry: Json) -> HelmError:
    """Use a waiting entry up without sending anything: the answer to whoever asked, which is `declined`.

    Where it waited no longer, because another terminal was quicker, the answer says that instead.
    """
    if not confirmations.decline(stores.db, id_, stores.clock()):
        try:
            find(stores, id_)
        except HelmError as error:
            return error
    if isinstance(entry, int):
        ledger.end(stores, entry, "declined")
    return HelmError("declined", "the person declined; nothing was sent")


def outcome(stores: Stores, asked: call.Asked) -> Envelope:
    """Wait until a person decided about a write in another terminal, and give its result."""
    while True:
        envelope = outcomes.outcome(stores.db, asked.id, stores.clock())
        if envelope is not None:
            return envelope
        time.sleep(PAUSE)
