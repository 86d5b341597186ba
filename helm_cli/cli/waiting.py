"""What waits for a person, one by one: chosen from a list, or as it comes."""

import time
from datetime import datetime
from typing import Any, Final

from helm_cli.broker import confirm
from helm_cli.cli import telling
from helm_cli.cli.here import Here, need_person, note, tell
from helm_cli.cli.listing import show_rows
from helm_cli.cli.writing import decide, own, sending
from helm_cli.model.envelope import Envelope, exit_status, failure
from helm_cli.model.errors import HelmError
from helm_cli.store import confirmations
from helm_cli.store.confirmations import Pending
from helm_cli.view import result
from helm_cli.view.streams import person_present
from helm_cli.view.text import shown

LOOK_SECONDS: Final = 0.3
_NONE: Final = "none of them"


def listed(place: Here, workspace: str | None) -> list[Pending]:
    """What waits, oldest first, in one workspace or in all (None)."""
    return confirmations.waiting(place.stores.db, place.stores.clock(), workspace)


def show(place: Here, pending: list[Pending], output: str) -> None:
    """List what waits, and decide nothing."""
    if output not in ("auto", "json"):
        raise HelmError("usage", "a list is shown as auto or json")
    now = place.stores.clock()
    rows = [
        {
            "id": entry.id,
            "what": entry.what,
            "workspace": entry.workspace,
            "extension": entry.extension,
            "connection": entry.connection or None,
            "operation": entry.operation or None,
            "asked_by": entry.asked_by,
            "expires": datetime.fromtimestamp(entry.expires).astimezone().isoformat(timespec="seconds"),
            "seconds_left": max(0, round(entry.expires - now)),
        }
        for entry in pending
    ]
    columns = ("id", "what", "workspace", "extension", "connection", "operation", "seconds_left")
    show_rows(place, output, columns, rows, empty="nothing waits for you")


def choose(place: Here, pending: list[Pending]) -> Pending | None:
    """Which of them the person wants to look at; None for none of them, or where nobody is there to choose."""
    if not pending or not person_present(place.streams):
        return None
    from helm_cli.cli import wizard

    offered = {shown(_told(place, entry)): entry for entry in pending}
    return offered.get(wizard.ask("Which one do you want to look at?", [*offered, _NONE]))


def look(place: Here, pending: Pending, output: str) -> tuple[Envelope, str]:
    """Show one waiting write, have it decided and send it on a yes: its envelope, and the shape of its data.

    Raises HelmError where it cannot be shown or the yes was none. Then it is used up, and whoever waits for it has the
    same error, unless that may be mended while it waits.
    """
    try:
        waiting = confirm.write(place.stores, pending)
        telling.of_call(place, waiting.request)
        plan = waiting.prepared.plan
        result.check_format(output, plan.shape)
        revisions = confirm.revisions(place.stores, waiting)
    except HelmError as error:
        raise confirm.lapsed(place.stores, pending, error) from None
    context = {"asked by": pending.asked_by, "workspace": pending.workspace}
    try:
        answer = decide(place, plan, pending.expires, context, revisions)
    except HelmError as error:
        if error.code == "declined":
            confirm.decline(place.stores, pending.id, pending.subject.get("entry"))
        raise confirm.lapsed(place.stores, pending, error) from None
    if answer == "confirmed":
        return confirm.send(place.stores, waiting, sending(plan)), plan.shape
    if answer == "declined":
        return failure(own(confirm.decline(place.stores, pending.id, pending.subject.get("entry")))), plan.shape
    return failure(HelmError("confirmation_required", f"{pending.id} expired; make the call again")), plan.shape


def approve(place: Here, pending: Pending) -> int:
    """Show one waiting approval, and have it decided; the exit status. Raises HelmError where that came to nothing."""
    from helm_cli.cli import approving

    try:
        return approving.decide_pending(place, pending)
    except HelmError as error:
        raise confirm.lapsed(place.stores, pending, error) from None


def watch(place: Here, workspace: str | None) -> int:
    """Ask about each write and approval as it comes, until Ctrl-C or until the terminal goes away."""
    need_person(place, "watching")
    note(place.streams, "watching for what waits for you; Ctrl-C ends it")
    seen: set[str] = set()
    while person_present(place.streams):
        for pending in listed(place, workspace):
            if pending.id not in seen:
                seen.add(pending.id)
                note(place.streams, f"{_named(pending)}: {_decided(place, pending)}")
        time.sleep(LOOK_SECONDS)
    tell(place.streams, "watching ended: helm is in the background, or its terminal is gone; watch in the foreground")
    return 0


def _decided(place: Here, pending: Pending) -> str:
    """Have one decided; how that went, in words. Nothing that goes wrong with one ends the watch."""
    try:
        if pending.what == "approval":
            approve(place, pending)
            return "approved"
        envelope, _ = look(place, pending, "auto")
    except HelmError as error:
        left = confirm.still_waits(place.stores, pending)
        return f"{error.message}; it still waits: helm confirm {pending.id}" if left else error.message
    if exit_status(envelope) == 0:
        return "confirmed and sent"
    told: Any = envelope.get("error")
    return str(told.get("message", "it failed")) if isinstance(told, dict) else "it failed"


def _told(place: Here, pending: Pending) -> str:
    left = max(0, round(pending.expires - place.stores.clock()))
    return f"{_named(pending)}, for {pending.asked_by}, {left // 60}:{left % 60:02} left"


def _named(pending: Pending) -> str:
    what = f"{pending.connection} {pending.operation}" if pending.what == "write" else "an approval"
    return f"{pending.id}  {what} of {pending.extension}"
