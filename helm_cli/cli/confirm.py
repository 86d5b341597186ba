"""`helm confirm`: what waits for a person, decided at this terminal."""

from datetime import datetime
from typing import Annotated

import typer

from helm_cli.broker import confirm
from helm_cli.cli import WorkspaceOption, group
from helm_cli.cli.answer import check_known, report
from helm_cli.cli.here import Here, here, need_person
from helm_cli.cli.listing import show_rows
from helm_cli.cli.writing import decide
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.store import confirmations
from helm_cli.store.confirmations import Pending
from helm_cli.view import result

app = group("")


@app.command("confirm")
def command(
    id_: Annotated[str | None, typer.Argument(metavar="[ID]", help="The id that the call gave.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what waits, and decide nothing.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help=", ".join(result.FORMATS) + ".")
    ] = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Decide about a write or an approval that waits for a person.

    It was asked for without one at the terminal, and is shown exactly as it will be sent.
    Without an ID, what waits is listed.

    \b
    Examples:
      helm confirm --list
      helm confirm k3v7q2ab
    """
    place = here()
    check_known(output)
    if id_ is None or list_:
        named = place.workspace(workspace).path if workspace else None
        return _list(place, confirmations.waiting(place.stores.db, place.stores.clock(), named), output)
    try:
        need_person(place, "deciding")
        pending = confirm.find(place.stores, id_)
        if pending.what == "write":
            return _write(place, pending, output)
    except HelmError as error:
        return report(place, failure(error), None, output)
    from helm_cli.cli import approving

    return approving.decide_pending(place, pending)


def _write(place: Here, pending: Pending, output: str) -> int:
    waiting = confirm.write(place.stores, pending)
    plan = waiting.prepared.plan
    result.check_format(output, plan.shape)
    context = {"asked by": pending.asked_by, "workspace": pending.workspace}
    try:
        answer = decide(place, plan, pending.expires, context)
    except HelmError as error:
        confirm.decline(place.stores, pending.id, pending.subject.get("entry"))
        raise error from None
    if answer == "confirmed":
        envelope = confirm.send(place.stores, waiting)
    elif answer == "declined":
        envelope = failure(confirm.decline(place.stores, pending.id, pending.subject.get("entry")))
    else:
        envelope = failure(HelmError("confirmation_required", f"{pending.id} expired; make the call again"))
    return report(place, envelope, plan.shape, output, wrote=True)


def _list(place: Here, pending: list[Pending], output: str) -> int:
    if output not in ("auto", "json"):
        raise HelmError("usage", f"a list is shown as auto or json, not {output}")
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
    return 0
