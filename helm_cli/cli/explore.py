"""`helm db tables` and `helm db query`: a person's own look into a database, always read-only."""

from collections.abc import Sequence
from typing import Final

from helm_cli.broker import explorer
from helm_cli.broker.explorer import Desk
from helm_cli.broker.workspace import Workspace
from helm_cli.cli import one_of
from helm_cli.cli.answer import check_known, report
from helm_cli.cli.arguments import typed
from helm_cli.cli.here import Here, need_person
from helm_cli.cli.listing import show_rows
from helm_cli.model.envelope import ROWS, Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.view import result

EXPLORER: Final = "the database explorer"
_LISTS: Final = ("auto", "json", "table", "csv", "tsv", "ndjson")


def tables(place: Here, name: str, output: str) -> int:
    """Print the tables and views of a database; the exit status."""
    one_of("-o", output, _LISTS)
    need_person(place, EXPLORER)
    envelope = explorer.tables(place.stores, desk(place, name, "tables"))
    if envelope["ok"] is not True or output not in ("auto", "json"):
        return report(place, envelope, ROWS, output)
    _list(place, envelope, output)
    return 0


def query(place: Here, name: str, sql: str, words: Sequence[str], output: str) -> int:
    """Print the answer to one statement, its values typed as those of a call; the exit status."""
    check_known(output)
    result.check_format(output, ROWS)
    try:
        need_person(place, EXPLORER)
        envelope = explorer.read(place.stores, desk(place, name, "query"), sql, [typed(word) for word in words])
    except HelmError as error:
        envelope = failure(error)
    return report(place, envelope, ROWS, output)


def desk(place: Here, name: str, command: str) -> Desk:
    """Where this person sits. The explorer is of no workspace; one that is found here has it in its history."""
    try:
        workspace = place.workspace(None)
    except HelmError as error:
        if error.code != "usage":
            raise
        workspace = Workspace("", "none")
    return Desk(name, workspace, command)


def _list(place: Here, envelope: Envelope, output: str) -> None:
    data = envelope["data"]
    if not isinstance(data, dict):
        raise HelmError("internal", "the list of tables has no rows")
    columns, rows = data["columns"], data["rows"]
    assert isinstance(columns, list) and isinstance(rows, list)
    names = [str(name) for name in columns]
    listed = [dict(zip(names, row, strict=True)) for row in rows if isinstance(row, list)]
    show_rows(place, output, names, listed, "the database has no tables")
