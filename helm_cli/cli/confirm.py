"""`helm confirm`: what waits for a person, decided at this terminal."""

from typing import Annotated

import typer

from helm_cli.broker import confirm
from helm_cli.cli import group, waiting
from helm_cli.cli.answer import check_known, report
from helm_cli.cli.here import Here, here, need_person, note
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.view import result

app = group("")


@app.command("confirm")
def command(
    id_: Annotated[str | None, typer.Argument(metavar="[ID]", help="The id that the call gave.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what waits, and decide nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Ask about each as it comes, until Ctrl-C.")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="Decline it unseen: send nothing.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help=", ".join(result.FORMATS) + ".")
    ] = "auto",
    workspace: Annotated[
        str | None, typer.Option("--workspace", metavar="DIR", help="Only what waits in it; else in every workspace.")
    ] = None,
) -> int:
    """Decide about a write or an approval that waits for a person.

    It was asked for without one at the terminal, and is shown exactly as it will be sent.
    Without an ID, what waits is listed, and at a terminal you choose what to look at. To confirm needs a person at
    the terminal; to list or to decline does not, because neither sends anything.

    \b
    Examples:
      helm confirm --list
      helm confirm k3v7q2ab
      helm confirm k3v7q2ab --decline
      helm confirm --watch
    """
    place = here()
    check_known(output)
    _check(id_, output, list_=list_, watch=watch, decline=decline)
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
    return _declined(place, id_, output) if decline else _decide(place, id_, output)


def _check(id_: str | None, output: str, *, list_: bool, watch: bool, decline: bool) -> None:
    if watch and (id_ is not None or list_ or decline or output != "auto"):
        raise HelmError(
            "usage", "--watch asks about everything that comes; give no ID, no --list, no --decline and no --output"
        )
    if id_ in ("list", "ls"):
        raise HelmError("usage", f"{id_} is the id of nothing that waits; did you mean helm confirm --list?")
    if list_ and id_ is not None:
        raise HelmError("usage", "--list lists everything that waits; give no ID")
    if decline and (id_ is None or list_):
        raise HelmError("usage", "--decline needs the ID of what to decline; see helm confirm --list")


def _declined(place: Here, id_: str, output: str) -> int:
    try:
        pending = confirm.find(place.stores, id_)
        answer = confirm.decline(place.stores, id_, pending.subject.get("entry"))
        if answer.code != "declined":
            raise answer
    except HelmError as error:
        return report(place, failure(error), None, output)
    note(place.streams, f"{id_} was declined; nothing was sent")
    return 0


def _decide(place: Here, id_: str, output: str) -> int:
    try:
        need_person(place, "deciding")
        pending = confirm.find(place.stores, id_)
        if pending.what == "write":
            envelope, shape = waiting.look(place, pending, output)
            return report(place, envelope, shape, output, wrote=True, operation=pending.operation)
    except HelmError as error:
        return report(place, failure(error), None, output)
    return waiting.approve(place, pending)
