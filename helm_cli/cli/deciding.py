"""How a person decides about a draft at this terminal, and sends it out: the whole of it shown before each question."""

from helm_cli.broker import call, confirm, drafts, publishing
from helm_cli.broker.drafts import Outlet, Queued
from helm_cli.broker.workspace import Workspace
from helm_cli.cli import arguments, writing
from helm_cli.cli.answer import report
from helm_cli.cli.here import Here, answered, need_person, note
from helm_cli.model.draft import Said
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.view import draft as view
from helm_cli.view import plan as plan_view
from helm_cli.view import question
from helm_cli.view.lines import Line, drawn, safe
from helm_cli.view.streams import Streams, colors


def page(queued: Queued, streams: Streams) -> list[str]:
    """A draft in full, as it is printed."""
    color = streams.out_terminal and colors()
    return [drawn(safe(line), color=color) for line in _lines(queued)]


def decide(place: Here, workspace: Workspace, id_: str, said: Said) -> int:
    """Show a draft to the person at the terminal, ask, and file what they say; the exit status."""
    verb, done = ("Approve", "approved") if said == "approve" else ("Reject", "rejected")
    need_person(place, f"{'approving' if said == 'approve' else 'rejecting'} a draft")
    queued = drafts.find(place.stores, workspace, id_)
    drafts.check_decidable(queued, said)
    draft = queued.filed.draft
    lines = _lines(queued)
    plan_view.check_readable(line if isinstance(line, str) else line.text for line in lines)
    short = view.summary(draft, drafts.user(draft.asker), queued.state)
    answer = question.ask(f"{verb} draft {draft.id}", lines, verb, None, short)
    answered(place)
    if answer == "hasty":
        raise HelmError("declined", f"{question.HASTY}, so nothing was said to {draft.id}; ask again")
    if answer != "confirmed":
        raise HelmError("declined", f"cancelled; nothing was said to {draft.id}")
    drafts.decide(place.stores, draft, said)
    note(place.streams, f"you {done} the draft {draft.id}")
    return 0


def publish(place: Here, workspace: Workspace, id_: str, via: str | None, pairs: list[str], output: str) -> int:
    """Send an approved draft out after the usual confirmation; the exit status."""
    try:
        need_person(place, "publishing a draft")
        queued = drafts.find(place.stores, workspace, id_)
        given = arguments.collect(pairs, [], None)
        found = publishing.ready(place.stores, workspace, queued, via, given)
        envelope = _sent(place, workspace, found)
    except HelmError as error:
        return report(place, failure(error), None, output)
    if envelope.get("ok") is True:
        note(place.streams, f"the draft {found.draft.id} was published through {found.outlet.via}")
    return report(place, envelope, None, output, wrote=True, operation=found.outlet.via)


def _sent(place: Here, workspace: Workspace, found: publishing.Ready) -> Envelope:
    try:
        # A request too long to be read could never be confirmed.
        prepared = call.describe(place.stores, found.request)
        plan_view.revised_text(prepared.plan, {}, ())
    except HelmError as error:
        return call.refused(place.stores, found.request, error)
    asked = call.ask(place.stores, found.request, listed=False)
    standing, draft = found.outlet.standing, found.draft
    context = {
        "workspace": workspace.path,
        "draft": f"{draft.id}, asked for by {drafts.user(draft.asker)}",
        "approved by": ", ".join(map(drafts.user, standing.approved)),
    }
    try:
        answer = writing.decide(place, asked.plan, asked.expires, context)
        if answer == "confirmed":
            return publishing.perform(place.stores, workspace, found, asked)
    except HelmError as error:
        confirm.decline(place.stores, asked.id, asked.entry)
        raise error from None
    if answer == "expired":
        raise HelmError("confirmation_required", "the confirmation expired; publish the draft again")
    raise writing.own(confirm.decline(place.stores, asked.id, asked.entry))


def _lines(queued: Queued) -> list[str | Line]:
    filed, draft = queued.filed, queued.filed.draft
    state = queued.state if filed.sending is None else drafts.told_sending(filed)
    ways = [
        view.Way(
            outlet.via,
            _needs(outlet),
            [*map(drafts.user, outlet.standing.approved)],
            [*map(drafts.user, outlet.standing.rejected)],
        )
        for outlet in queued.outlets
    ]
    return view.lines(draft, drafts.user(draft.asker), state, ways)


def _needs(outlet: Outlet) -> str:
    rule = outlet.rule
    people = "1 person" if rule.least == 1 else f"{rule.least} different people"
    role = f" of the role {rule.role}" if rule.role else ""
    listed = "" if rule.listed is None else f" ({', '.join(map(drafts.user, rule.listed))})"
    return f"{people}{role}{listed} besides who asked for it"
