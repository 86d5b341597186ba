"""When an extension counts as approved: a person's yes, or a pin in a home where no person ever answered."""

import os
from typing import Literal

from helm_cli.broker import attention, content, expansion, review, settings, tools
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Binding
from helm_cli.model.review import Review
from helm_cli.store import (
    approvals,
    approvers,
    bindings,
    budgets,
    confirmations,
    database,
    person,
    runs,
    schedules,
    workspaces,
)
from helm_cli.store import tools as pins
from helm_cli.store.approvals import Approval
from helm_cli.store.confirmations import Pending


def by_person(stores: Stores, shown: Review) -> None:
    """Record the yes of a person who was shown `shown`, and enable the extension.

    The folder is read again: what is approved is what was shown, or nothing. Raises HelmError "not_approved",
    "state".
    """
    _record(stores, shown, "person")


def by_pin(stores: Stores, shown: Review, digest: str, asked_by: str) -> None:
    """Approve `shown` for a caller who knows its digest (design, section 6).

    Raises HelmError "not_approved" where the digest is another one, and "confirmation_required" with the id of
    the pending approval (member `confirmation`) in a home where a person has answered one of helm's questions.
    """
    if digest != shown.digest:
        raise HelmError(
            "not_approved", f"the digest of {shown.extension.id} is {shown.digest}, not {digest}; review it again"
        )
    if shown.standing:
        return
    if not person.seen(stores.db):
        _record(stores, shown, "pin")
        return
    id = _leave_pending(stores, shown, asked_by)
    attention.call(stores, id, f"the approval of {shown.extension.id}")
    message = f"approving {shown.extension.id} needs a person in this home: run helm confirm {id} in a terminal"
    raise HelmError("confirmation_required", message, {"confirmation": id})


def pending_review(stores: Stores, pending: Pending, *, ask: bool = False) -> Review:
    """The review that a pending approval asks for, read from the folder now; `ask` is as in `review.review`.

    Raises HelmError "confirmation_required" where the folder no longer holds what was asked for.
    """
    workspace = Workspace(pending.workspace, "where the approval was asked for")
    folder = str(pending.subject.get("folder"))
    try:
        found = review.review(stores, workspace, folder, ask=ask) if os.path.isdir(folder) else None
    except HelmError as error:
        if error.code != "usage":
            raise
        found = None  # Its manifest is gone.
    if not isinstance(found, Review) or found.digest != pending.subject.get("digest"):
        message = f"the folder of {pending.extension} changed since its approval was asked for; review it again"
        raise HelmError("confirmation_required", message)
    return found


def approve_pending(stores: Stores, pending: Pending, seen: Review | None = None) -> Review:
    """Record a person's yes to a pending approval as they have `seen` it: its bindings, and what its servers said.

    It is used up by that.

    Raises HelmError "confirmation_required" where it is used or expired, or the folder changed meanwhile.
    """
    shown = pending_review(stores, pending)
    if seen is not None and seen.digest == shown.digest:
        shown = shown._replace(servers=seen.servers, extension=seen.extension, bindings=seen.bindings)
    now = stores.clock()
    token = confirmations.token(stores.db, pending.id, now)
    confirmations.redeem(stores.db, token, _binding(shown), now)
    _record(stores, shown, "person")
    return shown


def forget(stores: Stores, approval: Approval) -> None:
    """Take an approval back, with all that the team decided beside it and its runs; what was used stays counted.

    Raises HelmError "state".
    """
    # First what is secret: killed in between, the command can be repeated.
    settings.forget(stores, approval.workspace, approval.extension)
    with database.transaction(stores.db):
        for remembered in (bindings, approvers, budgets, schedules, runs, approvals):
            remembered.forget(stores.db, approval.workspace, approval.extension)


def _record(stores: Stores, shown: Review, by: Literal["person", "pin"]) -> None:
    found = content.read(shown.folder)
    if found.faults or found.content.digest != shown.digest:
        message = (
            f"the folder of {shown.extension.id} changed while it was reviewed; nothing is approved: review it again"
        )
        raise HelmError("not_approved", message)
    approval = Approval(
        workspace=shown.workspace,
        extension=shown.extension.id,
        folder=shown.folder,
        digest=shown.digest,
        enabled=True,
        approved_at=stores.clock(),
        by=by,
    )
    with database.transaction(stores.db):
        workspaces.register(stores.db, shown.workspace, stores.clock())
        before = approvals.find(stores.db, shown.workspace, shown.extension.id)
        if before is None or before.digest != shown.digest:
            # What came due while nothing was approved, or something else, is nobody's to run.
            schedules.forget(stores.db, shown.workspace, shown.extension.id)
        approvals.approve(stores.db, approval, shown.content, found.stamps)
        _remember(stores, shown)
        if by == "person" and shown.bindings:
            bindings.hold(stores.db, shown.workspace, shown.extension.id, shown.digest, shown.bindings)


def _remember(stores: Stores, shown: Review) -> None:
    """Keep what the servers said of the tools, as it was shown; globs let in nothing that was not."""
    connections, before = shown.extension.connections, pins.pinned(stores.db, shown.workspace, shown.extension.id)
    seen = {}
    for connection in connections:
        if (answer := shown.listed(connection)) is not None:
            seen[connection.id] = tools.seen(connection, answer)
        elif expansion.globs(connection):
            seen[connection.id] = tools.unseen(connection, before.get(connection.id, {}))
    pins.pin(stores.db, shown.workspace, shown.extension.id, seen, [connection.id for connection in connections])


def _leave_pending(stores: Stores, shown: Review, asked_by: str) -> str:
    """The id of the pending approval: a pipeline that asks again and again leaves one entry, not twenty."""
    subject: dict[str, Json] = {"folder": shown.folder, "digest": shown.digest}
    now = stores.clock()
    for pending in confirmations.waiting(stores.db, now, shown.workspace):
        if pending.what == "approval" and pending.extension == shown.extension.id and pending.subject == subject:
            return pending.id
    issued = confirmations.issue(stores.db, "approval", _binding(shown), subject, now, listed=True, asked_by=asked_by)
    return issued.id


def _binding(shown: Review) -> Binding:
    return Binding(
        workspace=shown.workspace,
        extension=shown.extension.id,
        content=shown.digest,
        connection="",
        operation="",
        target=shown.folder,
        request=shown.digest,
    )
