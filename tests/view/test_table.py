"""What a list leaves out on a terminal."""

from helm_cli.model.jsontext import Json
from helm_cli.view.table import listing
from tests.rig.streams import streams_of

COLUMNS = ("name", "where", "user", "tls")


def test_a_column_that_no_row_has_takes_no_room() -> None:
    rows: list[list[Json]] = [["app", "/srv/app.db", "", None], ["shop", "db.test", "", ""]]
    shown = listing(COLUMNS, rows, streams_of(terminal=True, width=60))
    assert [line.split() for line in shown.splitlines() if "─" not in line] == [
        ["name", "where"],
        ["app", "/srv/app.db"],
        ["shop", "db.test"],
    ]
    rows[1][2] = "me"
    assert "user" in listing(COLUMNS, rows, streams_of(terminal=True, width=60))
    # The first says what the rows are, and programs count columns.
    assert listing(COLUMNS, [["", "", "", ""]], streams_of(terminal=True, width=60)).startswith("name\n")
    assert listing(COLUMNS, [["app", "", "", ""]], streams_of(terminal=False, width=60)) == "app\t\t\t\n"
