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
from helm_cli.model.plan import Revision
from helm_cli.store import confirmations, outcomes
from helm_cli.store.confirmations import Pending

PAUSE: Final = 0.1
# What no waiting mends: declared, approved and bound otherwise by now, or the file another one. A store that is
# locked, a network that is down or a profile without its secret may be in order again within the five minutes.
LASTING: Final = frozenset({"refused", "conflict", "too_large", "not_text", "confirmation_required"})
_CHANGED: Final = frozenset({"refused", "too_large", "not_text"})

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
    if pending is None or pending.state != "waiting":
        raise _over(id_, pending)
    return pending


def write(stores: Stores, pending: Pending) -> Waiting:
    """The waiting write as a person is to see it.

    Raises what `call.describe` raises, and "confirmation_required" where it no longer is what was asked for: the
    token is bound to that, and so would be refused after the person said yes.
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
    prepared = call.describe(stores, request)
    confirmations.check(stores.db, pending.id, prepared.binding)
    return Waiting(pending, request, prepared)


def revisions(stores: Stores, waiting: Waiting) -> tuple[Revision, ...]:
    """Which texts it would replace, as `call.preview`. HelmError "conflict" too for a file that no longer can be."""
    try:
        return call.preview(stores, waiting.prepared)
    except HelmError as error:
        # When it was asked for, the same file could be replaced.
        if error.code in _CHANGED and waiting.prepared.plan.driver == "files":
            raise HelmError("conflict", error.message) from None
        raise


def send(stores: Stores, waiting: Waiting, perform: Perform = call.perform) -> Envelope:
    """Use the token of a waiting write, once, and send it: the person has confirmed what `write` gave."""
    pending = waiting.pending
    token = confirmations.token(stores.db, pending.id, stores.clock())
    entry = pending.subject.get("entry")
    envelope = perform(stores, waiting.request, token, entry if isinstance(entry, int) else None)
    error = envelope.get("error")
    if isinstance(error, dict) and error.get("code") in LASTING:
        # It may have been refused before its token was used.
        _answer(stores, pending, str(error["code"]), envelope)
    return envelope


def lapsed(stores: Stores, pending: Pending, error: HelmError) -> HelmError:
    """The error; where it stays so, what waited is used up, and whoever asked for it gets the error too."""
    if error.code in LASTING:
        _answer(stores, pending, error.code, failure(error))
    return error


def still_waits(stores: Stores, pending: Pending) -> bool:
    found = confirmations.find(stores.db, pending.id, stores.clock())
    return found is not None and found.state == "waiting"


def _answer(stores: Stores, pending: Pending, outcome: str, envelope: Envelope) -> None:
    if not confirmations.spend(stores.db, pending.id, stores.clock()):
        return
    entry = pending.subject.get("entry")
    if isinstance(entry, int):
        ledger.end(stores, entry, outcome)
    ledger.settle(stores, pending.id, envelope)


def decline(stores: Stores, id_: str, entry: Json) -> HelmError:
    """Use a waiting entry up without sending anything: the answer to whoever asked, which is `declined`.

    Where it waited no longer, because another terminal was quicker, the answer says that instead.
    """
    if not confirmations.decline(stores.db, id_, stores.clock()):
        return _over(id_, confirmations.find(stores.db, id_, stores.clock()))
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


def _over(id_: str, pending: Pending | None) -> HelmError:
    if pending is None:
        return HelmError("confirmation_required", f"nothing waits under {id_}; see helm confirm --list")
    return HelmError("confirmation_required", f"{id_} was {pending.state} already; make the call again")
