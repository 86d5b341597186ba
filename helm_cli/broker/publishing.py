"""How an approved draft goes out through its consequential tool: once, by one person, after all that it needs."""

import os
from contextlib import suppress
from typing import Final, NamedTuple

from helm_cli.broker import call, drafts
from helm_cli.broker.drafts import Outlet, Queued
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.draft import Draft, Sending
from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plugin import TOOLS
from helm_cli.store import drafts as files
from helm_cli.store import sent

# What a tool is told of a draft, which nobody may say otherwise.
OF_THE_DRAFT: Final = ("title", "body", "kind")


class Ready(NamedTuple):
    """An approved draft, and the call that publishes it."""

    draft: Draft
    outlet: Outlet
    request: call.Request


def ready(stores: Stores, workspace: Workspace, queued: Queued, via: str | None, arguments: dict[str, Json]) -> Ready:
    """The call that publishes a draft: its tool is told `title`, `body`, `kind` and the `arguments` given beside.

    Raises HelmError "refused" where it may not go out, or went, and "usage" where it is not said which way.
    """
    outlet = _outlet(queued, via)
    draft = queued.filed.draft
    _check(queued, outlet)
    for name in OF_THE_DRAFT:
        if name in arguments:
            raise HelmError("usage", f"the argument {name} is the draft's own; leave it out")
    told: dict[str, Json] = {"title": draft.title, "body": draft.body, "kind": draft.kind}
    used = _used(queued, outlet)
    if not {"title", "body"} & set(used):
        raise HelmError("refused", f"{outlet.via} sends nothing of the draft: bind it with {{title}} or {{body}}")
    told = {name: value for name, value in told.items() if name in used} | arguments
    request = call.Request(workspace, TOOLS, outlet.via, told, draft.plugin, draft=draft.id)
    return Ready(draft, outlet, request)


def perform(stores: Stores, workspace: Workspace, found: Ready, asked: call.Asked) -> Envelope:
    """Send a draft out that a person confirmed: an envelope as of `call.perform`.

    Of any number of people at once one sends it. What became of it stays with it: it is never sent again unless
    nothing was sent. Raises HelmError "refused" where it went out meanwhile, changed, or is no longer approved.
    """
    draft = found.draft
    sending = Sending(os.geteuid(), "sending", found.outlet.via, draft.digest, files.moment(stores.clock()))
    with drafts.opened(stores) as folder:
        if not files.claim(folder, sending, draft.id):
            raise HelmError("refused", f"the draft {draft.id} is out of the queue: somebody else publishes it")
        # From here on nobody else can; what was said until here counts.
        try:
            _check_same(stores, workspace, found)
            if not sent.claim(stores.db, sending, draft.id):
                raise HelmError("refused", f"the draft {draft.id} was sent from here before; it is not sent again")
        except HelmError:
            files.unclaim(folder, draft.id)
            raise
        envelope: Envelope | None = None
        try:
            envelope = call.perform(stores, found.request, asked.token, asked.entry)
        finally:
            _settle(stores, folder, sending, draft.id, envelope)
    return envelope


def _settle(stores: Stores, folder: int, sending: Sending, id_: str, envelope: Envelope | None) -> None:
    error = envelope.get("error") if envelope is not None else None
    # What was sent was sent: its answer must not be lost over a folder that cannot be written any more.
    try:
        if isinstance(error, dict) and "applied" not in error:
            sent.unclaim(stores.db, id_)
            files.unclaim(folder, id_)
        else:
            went = envelope is not None and envelope.get("ok") is True
            became = sending._replace(state="published" if went else "unknown")
            sent.settle(stores.db, became, id_)
            files.settle(folder, became, id_)
    except HelmError as trouble:
        with suppress(HelmError):
            stores.notice(f"the draft {id_} stays marked as being published: {trouble.message}")


def _check_same(stores: Stores, workspace: Workspace, found: Ready) -> None:
    now = drafts.find(stores, workspace, found.draft.id)
    if now.filed.draft != found.draft:
        raise HelmError("refused", f"the draft {found.draft.id} changed while it was shown; look at it again")
    outlet = next((outlet for outlet in now.outlets if outlet.via == found.outlet.via), None)
    if outlet is None or not outlet.standing.ready:
        raise HelmError("refused", f"the draft {found.draft.id} is no longer approved; nothing was sent")


def _outlet(queued: Queued, via: str | None) -> Outlet:
    plugin = queued.filed.draft.plugin
    ways = [outlet for outlet in queued.outlets if outlet.via]
    if queued.team is None:
        raise HelmError("refused", f"{plugin} is not approved and enabled here; run helm plugin review on its folder")
    if not ways:
        raise HelmError("refused", f"{plugin} declares no publish output, so its drafts go out by hand")
    names = ", ".join(outlet.via for outlet in ways)
    if via is None:
        if len(ways) > 1:
            raise HelmError("usage", f"{plugin} publishes in {len(ways)} ways; say which with --via: {names}")
        return ways[0]
    found = next((outlet for outlet in ways if outlet.via == via), None)
    if found is None:
        raise HelmError("usage", f"{plugin} does not publish through {via[:64]}; take {names}")
    return found


def _used(queued: Queued, outlet: Outlet) -> tuple[str, ...]:
    """The arguments that a tool is bound with; those of the draft where it is not bound, which its call then says."""
    connection = queued.team.extension.connection(TOOLS) if queued.team is not None else None
    operation = connection.operation(outlet.via) if connection is not None else None
    return operation.params if operation is not None and operation.params is not None else OF_THE_DRAFT


def _check(queued: Queued, outlet: Outlet) -> None:
    draft, stands = queued.filed.draft, outlet.standing
    drafts.check_unowned(queued)
    if queued.filed.sending is not None:
        raise HelmError("refused", f"the draft {draft.id} is not sent: {drafts.told_sending(queued.filed)}")
    if stands.rejected:
        who = ", ".join(map(drafts.user, stands.rejected))
        raise HelmError("refused", f"the draft {draft.id} was rejected by {who}; nothing was sent")
    if not stands.ready:
        who = f" of the role {outlet.rule.role}" if outlet.rule.role else ""
        raise HelmError(
            "refused",
            f"the draft {draft.id} has {len(stands.approved)} of the {stands.least} approvals that it needs{who}, and"
            " none can come of who asked for it; see helm draft show",
        )
