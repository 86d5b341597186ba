"""`helm call`: one operation of a connection, or a batch of them."""

from typing import TYPE_CHECKING, Annotated

import typer

from helm_cli.broker.request import Request
from helm_cli.cli import WorkspaceOption, arguments, group
from helm_cli.cli.answer import check_known, report
from helm_cli.cli.carrying import carry_out
from helm_cli.cli.here import Here, here
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.model.wording import meant
from helm_cli.view import result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helm_cli.model.extension import Connection

app = group("")


@app.command("call")
def command(
    connection: Annotated[
        str | None, typer.Argument(metavar="CONNECTION", help="The id of a connection; none lists them.")
    ] = None,
    operation: Annotated[
        str | None, typer.Argument(metavar="OPERATION", help="One of its operations; none lists them.")
    ] = None,
    plugin: Annotated[str | None, typer.Option("--plugin", metavar="ID", help="The extension meant.")] = None,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="An argument; 20, true, null are typed.")
    ] = None,
    arg_str: Annotated[
        list[str] | None, typer.Option("--arg-str", metavar="NAME=VALUE", help="An argument that is always text.")
    ] = None,
    args: Annotated[
        str | None, typer.Option("--args", metavar="JSON|@FILE|-", help="All arguments as one JSON object.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help=", ".join(result.FORMATS) + ".")
    ] = "auto",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until a write is confirmed in another terminal.")] = False,
    wait_rate: Annotated[bool, typer.Option("--wait-rate", help="Wait instead of failing with rate_limited.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, and send nothing.")] = False,
    batch: Annotated[
        str | None, typer.Option("--batch", metavar="FILE|-", help="Make the calls of a file of JSON Lines.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=64, help="Reads side by side.")] = 1,
    workspace: WorkspaceOption = None,
) -> int:
    """Call one operation of a connection, or a batch of them.

    A write is shown exactly as it will be sent and is confirmed in the terminal; nothing else confirms it.
    A line of a batch is {"connection": …, "operation": …, "args": {…}, "plugin": …, "id": …}; the last three
    may be left out.

    \b
    Examples:
      helm call app recent --arg status=open --arg limit=20
      helm call app close --args '{"id": 7}' -o json
      helm call --batch calls.jsonl --jobs 4
    """
    place = here()
    if jobs > 1 and batch is None:
        raise HelmError("usage", "--jobs goes with --batch: a single call has nothing to run beside it")
    if batch is not None:
        from helm_cli.cli import batch as batch_

        _alone(connection, operation, plugin, arg, arg_str, args, dry_run)
        return batch_.run(place, batch_.Batch(batch, jobs, output, wait, wait_rate, workspace))
    try:
        check_known(output)
        request = Request(
            place.workspace(workspace),
            *_named(place, workspace, connection, operation),
            arguments.collect(arg or [], arg_str or [], args),
            plugin,
            wait_rate,
        )
        if dry_run:
            from helm_cli.cli import dry_run as dry_run_

            return dry_run_.show(place, request, output)
    except HelmError as error:
        return report(place, failure(error), None, output)
    done = carry_out(place, request, output, wait=wait)
    return report(place, done.envelope, done.shape, output, wrote=done.wrote, operation=request.operation)


def _named(place: Here, workspace: str | None, connection: str | None, operation: str | None) -> tuple[str, str]:
    if any("://" in word for word in (connection, operation) if word is not None):
        # A URL may hold a password, and a refused call's names are kept in the history.
        raise HelmError("usage", "a call names a CONNECTION that an extension declares, not a URL; see helm call")
    if connection is not None and operation is not None:
        return connection, operation
    from helm_cli.broker import declared

    known = declared.connections(place.stores, place.workspace(workspace))
    if connection is None:
        has = f"this workspace has {', '.join(known)}" if known else "this workspace has none yet"
        raise HelmError("usage", f"a call names a CONNECTION and an OPERATION; {has}")
    if connection not in known:
        raise HelmError("usage", f"a call of {connection} names one of its operations too; {_meant(connection, known)}")
    from helm_cli.broker import signatures

    operations = ", ".join(signatures.of(place.stores, place.workspace(workspace), connection))
    raise HelmError("usage", f"a call of {connection} names one of its operations: {operations}")


def _meant(word: str, known: "Mapping[str, Connection]") -> str:
    """What a word that is no connection may stand for: both words in one, as in app.recent, or a slip."""
    for sign in ".:/":
        connection, _, operation = word.partition(sign)
        if connection in known and operation:
            return f"did you mean helm call {connection} {operation}?"
    for id_, connection_ in known.items():
        if any(operation_.name == word for operation_ in connection_.operations):
            return f"{word} is one of {id_}: did you mean helm call {id_} {word}?"
    close = meant(word, known)
    return f"did you mean helm call {close}?" if close else "see helm call --help"


def _alone(*others: object) -> None:
    if any(others):
        raise HelmError("usage", "--batch takes its calls from the file; give no connection, operation or argument")
