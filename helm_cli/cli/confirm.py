"""`helm confirm`: what waits for a person, decided at this terminal."""

from typing import Annotated

import typer

from helm_cli.broker import confirm
from helm_cli.cli import WorkspaceOption, group, waiting
from helm_cli.cli.answer import check_known, report
from helm_cli.cli.here import Here, here, need_person
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.view import result

app = group("")


@app.command("confirm")
def command(
    id_: Annotated[str | None, typer.Argument(metavar="[ID]", help="The id that the call gave.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what waits, and decide nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Ask about each as it comes, until Ctrl-C.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help=", ".join(result.FORMATS) + ".")
    ] = "auto",
    workspace: WorkspaceOption = None,
) -> int:
    """Decide about a write or an approval that waits for a person.

    It was asked for without one at the terminal, and is shown exactly as it will be sent.
    Without an ID, what waits is listed, and at a terminal you choose what to look at.

    \b
    Examples:
      helm confirm --list
      helm confirm k3v7q2ab
      helm confirm --watch
    """
    place = here()
    check_known(output)
    if watch and (id_ is not None or list_):
        raise HelmError("usage", "--watch asks about everything that comes; give no ID and no --list")
    named = place.workspace(workspace).path if workspace else None
    if watch:
        return waiting.watch(place, named)
    if id_ is None or list_:
        pending = waiting.listed(place, named)
        chosen = None if list_ or output != "auto" else waiting.choose(place, pending)
        if chosen is None:
            waiting.show(place, pending, output)
            return 0
        id_ = chosen.id
    return _decide(place, id_, output)


def _decide(place: Here, id_: str, output: str) -> int:
    try:
        need_person(place, "deciding")
        pending = confirm.find(place.stores, id_)
        if pending.what == "write":
            envelope, shape = waiting.look(place, pending, output)
            return report(place, envelope, shape, output, wrote=True, operation=pending.operation)
    except HelmError as error:
        return report(place, failure(error), None, output)
    from helm_cli.cli import approving

    return approving.decide_pending(place, pending)
