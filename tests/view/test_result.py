"""Every format of every shape of answer, whole, in a pipe and on a terminal."""

import csv
import io
import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.model.envelope import CONTENT, FILES, JSON, OBJECT, ROWS, TEXT, Envelope, failure, success
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, dump
from helm_cli.view.result import FORMATS, check_format, render
from helm_cli.view.table import listing
from tests.rig.streams import streams_of

TABLE: Final[Json] = {
    "columns": ["id", "title", "id"],
    "rows": [[1, 'say "hi", then\nleave', 2.5], [10, None, None], [3, "a\tb\\", True]],
}
WRITTEN: Final[Json] = {"rowsAffected": 3, "at": None}
ANY: Final[Json] = [{"name": "é", "n": 1.5, "ok": True, "none": None}]
BLOCKS: Final[Json] = [{"type": "text", "text": "one\n"}, {"type": "text", "text": "two"}]
LISTED: Final[Json] = {
    "files": [{"path": "a.md", "size": 12}, {"path": "docs/b", "size": 3}],
    "truncated": True,
    "skipped": 2,
}
FILE: Final[Json] = {"path": "a.txt", "text": "one\n\ttwo", "sha256": "ab"}

PIPED: Final = {
    (ROWS, "auto"): dump({"ok": True, "data": TABLE, "error": None}) + "\n",
    (ROWS, "json"): dump({"ok": True, "data": TABLE, "error": None}) + "\n",
    (ROWS, "data"): dump(TABLE) + "\n",
    (ROWS, "csv"): 'id,title,id\r\n1,"say ""hi"", then\nleave",2.5\r\n10,,\r\n3,a\tb\\,true\r\n',
    (ROWS, "tsv"): 'id\ttitle\tid\n1\tsay "hi", then\\nleave\t2.5\n10\t\t\n3\ta\\tb\\\\\ttrue\n',
    (ROWS, "ndjson"): '{"id":1,"title":"say \\"hi\\", then\\nleave","id_2":2.5}\n'
    '{"id":10,"title":null,"id_2":null}\n{"id":3,"title":"a\\tb\\\\","id_2":true}\n',
    (ROWS, "table"): "id   title                  id\n"
    "────────────────────────────────\n"
    ' 1   say "hi", then⏎leave   2.5\n'
    "10   null                   null\n"
    " 3   a\\u{9}b\\               true\n",
    (OBJECT, "auto"): '{"ok":true,"data":{"rowsAffected":3,"at":null},"error":null}\n',
    (OBJECT, "data"): '{"rowsAffected":3,"at":null}\n',
    (OBJECT, "table"): "rowsAffected  3\nat            null\n",
    (OBJECT, "csv"): "rowsAffected,at\r\n3,\r\n",
    (OBJECT, "tsv"): "rowsAffected\tat\n3\t\n",
    (OBJECT, "ndjson"): '{"rowsAffected":3,"at":null}\n',
    (FILES, "auto"): '{"ok":true,"data":{"files":[{"path":"a.md","size":12},{"path":"docs/b","size":3}],'
    '"truncated":true,"skipped":2},"error":null}\n',
    (FILES, "table"): "path     size\n─────────────\na.md       12\ndocs/b      3\n",
    (FILES, "csv"): "path,size\r\na.md,12\r\ndocs/b,3\r\n",
    (FILES, "tsv"): "path\tsize\na.md\t12\ndocs/b\t3\n",
    (FILES, "ndjson"): '{"path":"a.md","size":12}\n{"path":"docs/b","size":3}\n',
    (JSON, "auto"): '{"ok":true,"data":[{"name":"é","n":1.5,"ok":true,"none":null}],"error":null}\n',
    (JSON, "data"): '[{"name":"é","n":1.5,"ok":true,"none":null}]\n',
    (JSON, "pretty"): '{\n  "ok": true,\n  "data": [\n    {\n      "name": "é",\n      "n": 1.5,\n      "ok": true,\n'
    '      "none": null\n    }\n  ],\n  "error": null\n}\n',
    (TEXT, "auto"): '{"ok":true,"data":{"path":"a.txt","text":"one\\n\\ttwo","sha256":"ab"},"error":null}\n',
    (TEXT, "text"): "one\n\ttwo",
    (TEXT, "data"): '{"path":"a.txt","text":"one\\n\\ttwo","sha256":"ab"}\n',
    (
        CONTENT,
        "auto",
    ): '{"ok":true,"data":[{"type":"text","text":"one\\n"},{"type":"text","text":"two"}],"error":null}\n',
    (CONTENT, "text"): "one\n\ntwo",
}
ON_TERMINAL: Final = {
    (ROWS, "auto"): PIPED[ROWS, "table"] + "3 rows\n",
    (ROWS, "table"): PIPED[ROWS, "table"] + "3 rows\n",
    (OBJECT, "auto"): PIPED[OBJECT, "table"],
    (FILES, "auto"): PIPED[FILES, "table"]
    + "2 rows; more files match; 2 left out, whose names cannot be shown or which cannot be read\n",
    (JSON, "auto"): '[\n  {\n    "name": "é",\n    "n": 1.5,\n    "ok": true,\n    "none": null\n  }\n]\n',
    (TEXT, "auto"): "one\n\ttwo\n",
    (TEXT, "text"): "one\n\ttwo\n",
    (CONTENT, "auto"): "one\n\ntwo\n",
    (ROWS, "json"): PIPED[ROWS, "json"],
}
DATA: Final = {ROWS: TABLE, OBJECT: WRITTEN, JSON: ANY, TEXT: FILE, FILES: LISTED, CONTENT: BLOCKS}


def carried(format: str, shape: str) -> bool:
    try:
        check_format(format, shape)
    except HelmError:
        return False
    return True


SHOWN_AS: Final = [(shape, format) for shape in DATA for format in FORMATS if carried(format, shape)]


def rendered(envelope: Envelope, shape: str, format: str, *, terminal: bool = False, color: bool = False) -> str:
    check_format(format, shape)
    return render(envelope, shape, format, streams_of(terminal=terminal, color=color))


@pytest.mark.parametrize(("shape", "format"), PIPED.keys())
def test_in_a_pipe(shape: str, format: str) -> None:
    assert rendered(success(DATA[shape]), shape, format) == PIPED[shape, format]


@pytest.mark.parametrize(("shape", "format"), ON_TERMINAL.keys())
def test_on_a_terminal(shape: str, format: str) -> None:
    assert rendered(success(DATA[shape]), shape, format, terminal=True) == ON_TERMINAL[shape, format]


@pytest.mark.parametrize("data", [[{"type": "text", "text": "a"}, {"type": "image", "data": "AA=="}], {"text": "a"}, 7])
def test_content_that_is_not_text_alone_is_shown_as_json(data: Json) -> None:
    assert json.loads(rendered(success(data), CONTENT, "text")) == data


def test_the_content_of_a_failure_is_shown_as_text_too() -> None:
    failed = failure(HelmError("tool_error", "it failed", outer={"data": BLOCKS}))
    assert rendered(failed, CONTENT, "text") == "one\n\ntwo"
    structured = failure(HelmError("tool_error", "it failed", outer={"data": {"a": 1}}))
    assert json.loads(rendered(structured, CONTENT, "auto", terminal=True)) == {"a": 1}
    assert rendered(failure(HelmError("timeout", "too late")), CONTENT, "text") == ""


def test_pretty_on_a_terminal_with_colors() -> None:
    text = rendered(success({"a": ["x:", -1.5e3, None]}), JSON, "auto", terminal=True, color=True)
    assert text == (
        '{\n  \x1b[34m"a"\x1b[0m: [\n    \x1b[32m"x:"\x1b[0m,\n'
        "    \x1b[36m-1500.0\x1b[0m,\n    \x1b[36mnull\x1b[0m\n  ]\n}\n"
    )


def test_a_table_with_colors_shows_null_dim() -> None:
    text = rendered(success({"columns": ["n"], "rows": [[None], ["null"]]}), ROWS, "auto", terminal=True, color=True)
    assert "\x1b[2mnull\x1b[0m" in text
    assert text.endswith("\nnull\n2 rows\n")


@pytest.mark.parametrize(
    ("shape", "format", "message"),
    [
        (JSON, "csv", "this result cannot be shown as csv: use one of auto, json, pretty, data"),
        (TEXT, "table", "this result cannot be shown as table: use one of auto, json, pretty, data, text"),
        (
            ROWS,
            "text",
            "this result cannot be shown as text: use one of auto, json, pretty, data, table, csv, tsv, ndjson",
        ),
        (
            OBJECT,
            "xml",
            "there is no such format: this result cannot be shown as xml: "
            "use one of auto, json, pretty, data, table, csv, tsv, ndjson",
        ),
    ],
)
def test_a_format_that_cannot_carry_it(shape: str, format: str, message: str) -> None:
    with pytest.raises(HelmError) as caught:
        check_format(format, shape)
    assert (caught.value.code, caught.value.message) == ("usage", message)


REFUSED: Final = failure(HelmError("refused", "no such operation", {"hint": "\x1b"}))
HTTP_ERROR: Final = failure(HelmError("http_error", "status 404", outer={"data": {"why": "gone"}, "status": 404}))


def test_failures_in_a_pipe() -> None:
    line = '{"ok":false,"data":null,"error":{"code":"refused","message":"no such operation","hint":"\\u001b"}}\n'
    assert {format: rendered(REFUSED, ROWS, format) for format in ("auto", "json", "data", "csv", "tsv", "ndjson")} == {
        "auto": line,
        "json": line,
        "data": "",
        "csv": "",
        "tsv": "",
        "ndjson": "",
    }
    assert json.loads(rendered(REFUSED, ROWS, "pretty")) == REFUSED
    assert rendered(HTTP_ERROR, JSON, "data") == '{"why":"gone"}\n'


def test_failures_on_a_terminal() -> None:
    assert [rendered(REFUSED, shape, "auto", terminal=True) for shape in DATA] == [""] * len(DATA)
    assert rendered(HTTP_ERROR, JSON, "auto", terminal=True) == '{\n  "why": "gone"\n}\n'


HOSTILE: Final = "\x1b]0;x\x07\x9b2J\u202e\u200b\x00\x7f\ue000e" + "\u0301" * 9


@pytest.mark.contract("C120")
@pytest.mark.parametrize(("shape", "format"), SHOWN_AS)
@pytest.mark.parametrize("color", [True, False])
def test_nothing_acts_on_a_terminal(shape: str, format: str, color: bool) -> None:
    data: dict[str, Json] = {
        ROWS: {"columns": [HOSTILE, HOSTILE], "rows": [[HOSTILE, {"a" + HOSTILE: [HOSTILE]}]]},
        OBJECT: {HOSTILE: HOSTILE},
        JSON: {HOSTILE: [HOSTILE]},
        TEXT: {"text": HOSTILE},
        FILES: {"files": [{"path": HOSTILE, "size": 1}], "truncated": True, "skipped": HOSTILE},
        CONTENT: [{"type": "text", "text": HOSTILE}],
    }
    plain = render(success(data[shape]), shape, format, streams_of(terminal=True, color=color))
    for code in ("0", "1", "2", "32", "34", "36"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain.replace("\r\n", "").replace("\n", "").replace("\t", "").isprintable()
    assert "\u0301" * 4 not in plain


@pytest.mark.parametrize("format", ["data", "csv", "tsv", "ndjson"])
def test_a_pipe_gets_what_the_source_sent(format: str) -> None:
    text = rendered(success({"columns": ["c"], "rows": [["\u202e\u200b\x9b"]]}), ROWS, format)
    assert "\u202e\u200b\x9b" in text


@pytest.mark.parametrize(("shape", "format"), SHOWN_AS)
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("data", [None, 1, "\ud800", [], {}, {"columns": ["\udfff"], "rows": [["\ud800"], 7, []]}])
def test_no_data_breaks_it(shape: str, format: str, terminal: bool, data: Json) -> None:
    envelope: Envelope = {"ok": True, "data": data, "error": None, "extra": float("nan")}
    render(envelope, shape, format, streams_of(terminal=terminal)).encode()


def test_csv_is_read_back() -> None:
    rows = [["a,b", 'q"', "l\n", "cr\r\n", "\0", " "], ["", "=1+1", "é", "\t", "'", "\u2028"]]
    text = rendered(success({"columns": list("abcdef"), "rows": [list(row) for row in rows]}), ROWS, "csv")
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [list("abcdef"), *rows]


def test_names_that_repeat_never_meet() -> None:
    columns: list[Json] = ["a", "a", "a_2", "a", "a_2"]
    text = rendered(success({"columns": columns, "rows": [[1, 2, 3, 4, 5]]}), ROWS, "ndjson")
    assert json.loads(text) == {"a": 1, "a_3": 2, "a_2": 3, "a_4": 4, "a_2_2": 5}


def test_a_wide_column_wraps() -> None:
    text = render(
        success({"columns": ["n", "text"], "rows": [[1, "x" * 150]]}),
        ROWS,
        "table",
        streams_of(terminal=False, width=60),
    )
    assert all(len(line) <= 60 for line in text.splitlines())
    assert text.partition("\n")[2].count("x") == 150


def test_more_columns_than_fit_become_records() -> None:
    columns: list[Json] = [f"column {at}" for at in range(10)]
    text = render(
        success({"columns": columns, "rows": [list(range(10)), list(range(10))]}),
        ROWS,
        "table",
        streams_of(terminal=True, width=60),
    )
    record = "".join(f"column {at}  {at}\n" for at in range(10))
    assert text == f"row 1\n{record}row 2\n{record}2 rows\n"


def test_narrow_columns_fit_however_many_they_are() -> None:
    columns: list[Json] = [f"c{at}" for at in range(10)]
    text = render(
        success({"columns": columns, "rows": [list(range(10))]}), ROWS, "table", streams_of(terminal=False, width=60)
    )
    assert [line.split() for line in text.splitlines()][::2] == [columns, [str(at) for at in range(10)]]


def test_markup_and_emoji_codes_are_data() -> None:
    text = rendered(success({"columns": ["[b]c[/b]"], "rows": [["[/x] :smile: [red]"]]}), ROWS, "table")
    assert "[b]c[/b]" in text
    assert "[/x] :smile: [red]" in text


def test_no_rows() -> None:
    empty = success({"columns": ["id"], "rows": []})
    assert rendered(empty, ROWS, "csv") == "id\r\n"
    assert rendered(empty, ROWS, "ndjson") == ""
    assert rendered(empty, ROWS, "auto", terminal=True).split("\n")[-2] == "0 rows"


def test_a_listing() -> None:
    columns = ["name", "engine"]
    rows: list[list[Json]] = [["app", "sqlite"], ["we\tb", None]]
    assert listing(columns, rows, streams_of(terminal=False)) == "app\tsqlite\nwe\\tb\t\n"
    assert [line.split() for line in listing(columns, rows, streams_of(terminal=True)).splitlines()] == [
        ["name", "engine"],
        ["─" * 17],
        ["app", "sqlite"],
        ["we\\u{9}b", "null"],
    ]
    assert listing(columns, [], streams_of(terminal=True)) == ""


def test_a_heading_is_never_broken_and_cells_are() -> None:
    columns = ["id", "workspace", "seconds_left"]
    rows: list[list[Json]] = [["k3v7q2ab", "/home/somebody/code/app and more", 240]]
    assert listing(columns, rows, streams_of(terminal=True, width=40)) == (
        "id         workspace        seconds_left\n"
        "────────────────────────────────────────\n"
        "k3v7q2ab   /home/somebody            240\n"
        "           /code/app and\n"
        "           more\n"
    )


def test_a_listing_that_cannot_be_so_narrow_is_records() -> None:
    columns = ["a_long_heading", "another_long_heading", "c"]
    rows: list[list[Json]] = [["x" * 50, "y", "z"], ["1", "2", "3"]]
    assert listing(columns, rows, streams_of(terminal=True, width=40)) == (
        f"a_long_heading        {'x' * 50}\n"
        "another_long_heading  y\n"
        "c                     z\n"
        "\n"
        "a_long_heading        1\n"
        "another_long_heading  2\n"
        "c                     3\n"
    )


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 300)), min_size=1, max_size=9), st.integers(60, 120))
def test_no_table_is_wider_than_the_terminal(sizes: list[tuple[int, int]], width: int) -> None:
    columns = ["h" * head for head, _ in sizes]
    rows: list[list[Json]] = [["x" * cell for _, cell in sizes]]
    lines = listing(columns, rows, streams_of(terminal=True, width=width)).splitlines()
    if lines[1].startswith("─"):
        assert max(map(len, lines)) <= width
        assert lines[0].split() == [name for name in columns if name]
        assert "".join(lines[2:]).count("x") == sum(cell for _, cell in sizes)
