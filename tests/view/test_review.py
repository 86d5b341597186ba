"""The review page, whole: everything that can be done with an extension, and nothing that acts on the terminal."""

import io
import json
import re
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.model import jsontext
from helm_cli.model.content import Content
from helm_cli.model.extension import Fault
from helm_cli.model.review import Caution, Change, FileChange, Placed, Profiled, Review, State
from helm_cli.view import changes, review_json
from helm_cli.view import faults as fault_lines
from helm_cli.view import review as view
from helm_cli.view.streams import Streams
from tests.broker.folders import FIVE_KINDS, manifest

PIPE = Streams(io.StringIO(), io.StringIO(), False, False, 80, False)
TERMINAL = Streams(io.StringIO(), io.StringIO(), True, True, 60, False)
DIGEST = "sha256:" + "0" * 64


def reviewed(declared: dict[str, Any], states: dict[str, tuple[State, str]] | None = None, **members: Any) -> Review:
    content = Content({"manifest.json": json.dumps(declared).encode()})
    extension = dialects.build(content)
    connections = tuple(
        Profiled(connection, *(states or {}).get(connection.id, ("none needed", "")))
        for connection in extension.connections
    )
    return Review(
        workspace="/code/app",
        workspace_found="the enclosing Git work tree",
        folder="/code/app/everything",
        content=Content({"manifest.json": b"x" * 1234, "README.md": b""}),
        digest=DIGEST,
        extension=extension,
        status="new",
        enabled=False,
        approved_folder="",
        approved_digest="",
        connections=connections,
        warnings=(),
        changes=(),
        files=(),
        elsewhere=(),
    )._replace(**members)


FIVE = reviewed(
    FIVE_KINDS,
    {
        "app": ("configured", ""),
        "cal": ("missing", ""),
        "gh": ("broken", "the key url is missing"),
    },
    warnings=(
        Caution("gh", "", "Helm cannot know."),
        Caution("gh", "delete_issue", "by its name."),
        Caution("", "", "All."),
    ),
)
CHANGED = reviewed(
    manifest(),
    {"app": ("engine differs", "the profile is postgres")},
    status="changed",
    enabled=True,
    approved_folder="/old/folder",
    approved_digest="sha256:" + "1" * 64,
    changes=(
        Change("widened", "app: new query all"),
        Change("changed", "app recent: its SQL changed", "SELECT 1\nFROM t", "SELECT 2"),
        Change("narrowed", "app: query old is gone"),
    ),
    files=(FileChange("manifest.json", "changed"), FileChange("x", "added"), FileChange("y", "removed")),
    elsewhere=("/code/a", "/code/b"),
)


@pytest.mark.contract("C7", "C8")
def test_the_page_of_an_extension_with_all_five_kinds() -> None:
    assert (
        view.page(FIVE, PIPE)
        == """\
Extension everything
  Everything 2.1.0
  One connection of each kind.
  status    new, not approved in this workspace
  folder    /code/app/everything
  workspace /code/app (the enclosing Git work tree)
  digest    sha256:0000000000000000000000000000000000000000000000000000000000000000
  content   2 files, 1,234 bytes

Warnings
  ! gh: Helm cannot know.
  ! gh delete_issue: by its name.
  ! All.

Connections
  app: db (sqlite), profile local-app: configured
  cal: http, profile calendar: missing
      OAuth2 authorizeUrl https://auth.example.com/authorize?access_type=offline
      OAuth2 tokenUrl https://auth.example.com/token
      OAuth2 scopes calendar.read profile
  notes: files
      root project
      path docs/**
      path *.md
  gh: mcp, profile github: broken (the key url is missing)
  tdt: tdt-mcp

Writes: 3; each is shown and confirmed by a person before it is sent

  app: db (sqlite), profile local-app
    WRITE app close(id)
        UPDATE tickets SET status = 'closed' WHERE id = ?

  cal: http, profile calendar
    WRITE cal cancel(id)
        PATCH /events/{id}
        body {
          "state": "cancelled"
        }

  gh: mcp, profile github; a tool gets the caller's arguments as they are
    WRITE gh create_issue

Reads: 8; they run without asking

  app: db (sqlite), profile local-app
    app recent(status, limit)
        SELECT id, title
        FROM tickets
        WHERE status = ? LIMIT ?

  cal: http, profile calendar
    cal events(calendar, limit)
        GET /calendars/{calendar}/events
        query per_page={limit}
        query state=open

    cal search(limit)
        POST /graphql
        body {
          "query": "query($first: Int) { events }",
          "variables": {
            "first": "{limit}"
          }
        }

  notes: files
    notes list(project)
        lists the files that match docs/**, *.md

    notes read(project, path or paths)
        reads files that match docs/**, *.md

  gh: mcp, profile github; a tool gets the caller's arguments as they are
    gh list_issues
    gh delete_issue

  tdt: tdt-mcp; a tool of the workspace's TDT server gets the caller's arguments as they are
    tdt tdt_workspace_status

Not used by the command line: widgets
"""
    )


def test_the_page_of_a_changed_extension_begins_with_the_difference() -> None:
    assert (
        view.page(CHANGED, PIPE)
        == """\
Extension tickets
  status    changed since it was approved
  folder    /code/app/everything
  replaces  /old/folder
  workspace /code/app (the enclosing Git work tree)
  digest    sha256:0000000000000000000000000000000000000000000000000000000000000000
  content   2 files, 1,234 bytes
  approved  sha256:1111111111111111111111111111111111111111111111111111111111111111
  also in   /code/a, /code/b

Changed since it was approved
  widened       app: new query all
  changed       app recent: its SQL changed
      - SELECT 1
      - FROM t
      + SELECT 2
  narrowed      app: query old is gone
  file changed  manifest.json
  file added    x
  file removed  y

Connections
  app: db (sqlite), profile local-app: engine differs (the profile is postgres)

Writes: none

Reads: 1; they run without asking

  app: db (sqlite), profile local-app
    app recent()
        SELECT id FROM tickets
"""
    )


def test_the_summary_of_a_page_that_was_read() -> None:
    assert [line.text for line in view.summary(FIVE)] == [
        "  extension  everything",
        "  writes     3; each is confirmed before it is sent",
        "  reads      8; they run without asking",
        "  warnings   3",
        "  digest     sha256:000000000000…",
    ]
    assert [line.text for line in view.summary(CHANGED)] == [
        "  extension  tickets",
        "  writes     none",
        "  reads      1; they run without asking",
        "  warnings   none",
        "  changes    1 widened, 1 changed, 1 narrowed",
        "  digest     sha256:000000000000…",
    ]


def test_a_color_terminal_shows_what_matters() -> None:
    told = view.page(FIVE, TERMINAL._replace(color=True)).splitlines()
    for line in (
        "\x1b[1mExtension everything\x1b[0m",
        "  \x1b[33m!\x1b[0m All.",
        "  \x1b[1mapp\x1b[0m: db (sqlite), profile local-app: configured",
        "    \x1b[1;31mWRITE\x1b[0m \x1b[1mapp close\x1b[0m(id)",
        "\x1b[1mReads\x1b[0m: 8; they run without asking",
    ):
        assert line in told
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in told]
    assert plain == view.page(FIVE, TERMINAL).splitlines()


def test_params_stand_as_they_are_bound_and_arguments_of_a_call_once() -> None:
    queries = {"q": {"sql": "SELECT ?, ?, ?", "params": ["a", "b", "a"]}}
    calls = {"c": {"method": "GET", "path": "/{a}/{b}", "query": {"x": "{a}"}}}
    entries = [
        {"id": "app", "kind": "db", "service": "x", "engine": "sqlite", "queries": queries},
        {"id": "api", "kind": "http", "service": "x", "calls": calls},
    ]
    told = [line.text for line in view.lines(reviewed(manifest(connections=entries)))]
    assert "    app q(a, b, a)" in told and "    api c(a, b)" in told


def test_a_files_connection_says_what_each_verb_does() -> None:
    entry = {
        "id": "n",
        "kind": "files",
        "root": "workspace",
        "paths": ["*.md"],
        "operations": ["list", "read", "write"],
    }
    told = [line.text for line in view.lines(reviewed(manifest(permissions={"write": True}, connections=[entry])))]
    assert told[told.index("Writes: 1; each is shown and confirmed by a person before it is sent") :] == [
        "Writes: 1; each is shown and confirmed by a person before it is sent",
        "",
        "  n: files",
        "    WRITE n write(path, text, expected_sha256)",
        "        replaces one existing file that matches *.md",
        "",
        "Reads: 2; they run without asking",
        "",
        "  n: files",
        "    n list()",
        "        lists the files that match *.md",
        "",
        "    n read(path or paths)",
        "        reads files that match *.md",
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "SELECT 1 ",
            "SELECT  1",
            ["changed       its SQL changed; only white space differs, shown as · → ⏎", "- SELECT·1·", "+ SELECT··1"],
        ),
        (
            "SELECT\t1\n",
            "SELECT 1",
            [
                "changed       its SQL changed; only white space differs, shown as · → ⏎",
                "- SELECT→1⏎",
                "+ SELECT·1",
            ],
        ),
        ("a \t\n\tb", "a", ["changed       its SQL changed", "- a·→", "-     b", "+ a"]),
        ("a\x1b", "b", ["changed       its SQL changed", "- a\\u{1b}", "+ b"]),
    ],
)
def test_a_difference_can_be_seen(before: str, after: str, told: list[str]) -> None:
    laid = changes.laid([Change("changed", "its SQL changed", before, after)], [])
    assert [line.text for line in laid] == [f"  {told[0]}", *(f"      {line}" for line in told[1:])]
    assert {mark.style for line in laid[1:] for mark in line.marks} == {"gone", "come"}


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"status": "approved", "enabled": True}, "approved and enabled"),
        ({"status": "approved", "enabled": False}, "approved, but disabled"),
        ({"status": "changed", "approved_folder": "/old"}, "the approved content, in another folder"),
        (
            {"status": "changed", "enabled": True},
            "approved and enabled; its folder changed since, so calls are refused until it is reviewed again",
        ),
    ],
)
def test_the_standing(members: dict[str, Any], told: str) -> None:
    members = {"approved_digest": DIGEST, "approved_folder": "/code/app/everything", **members}
    assert view.lines(reviewed(manifest(), **members))[1].text == f"  status    {told}"


def test_a_change_that_is_not_declared_says_so() -> None:
    found = CHANGED._replace(changes=(), files=(FileChange("data.csv", "changed"),))
    page = view.page(found, PIPE)
    assert "\nChanged since it was approved\n  nothing that is declared changed\n  file changed  data.csv\n" in page


EVIL = "\x1b[2J\u202e\u200b\r\x07\x9b"


@pytest.mark.contract("C120")
def test_nothing_of_the_manifest_acts_on_the_terminal_or_poses_as_the_page() -> None:
    declared = json.loads(json.dumps(FIVE_KINDS).replace("calendar.read", "calendar"))
    declared.update(name=f"A{EVIL}\nWrites: none", version=EVIL, description=f"{EVIL}\nReads: 0")
    declared[f"widgets{EVIL}"] = 1
    queries = declared["connections"][0]["queries"]
    queries["recent"]["sql"] = f"SELECT 1{EVIL}\n\nWrites: none\n\tReads: none"
    queries["recent"]["params"] = [f"p{EVIL}\nx"]
    calls = declared["connections"][1]["calls"]
    calls["events"]["query"] = {f"q{EVIL}\n": f"v{EVIL}\n"}
    calls["search"]["body"] = {f"k{EVIL}\n": f"v{EVIL}\n"}
    declared["connections"][2]["paths"] = [f"p{EVIL}\nx"]
    declared["connections"][3]["operations"] = [f"t{EVIL}\nWRITE"]
    found = reviewed(declared, warnings=(Caution("gh", f"t{EVIL}\n", f"m{EVIL}\n"),), folder=f"/code/{EVIL}\n")
    page = view.page(found, PIPE)
    assert not set(EVIL.replace("[2J", "")) & set(page)
    heads = [line for line in page.splitlines() if line and not line.startswith(" ")]
    assert [head.split(":")[0] for head in heads] == [
        "Extension everything",
        "Warnings",
        "Connections",
        "Writes",
        "Reads",
        "Not used by the command line",
    ]
    marked = [line for line in page.splitlines() if line.startswith("    WRITE ")]
    assert len(marked) == 3


def test_on_a_terminal_no_line_is_wider_and_a_rest_is_indented() -> None:
    declared = manifest()
    declared["connections"][0]["queries"]["recent"]["sql"] = "SELECT " + "very_long, " * 40 + "WRITE app"
    laid = view.page(reviewed(declared), TERMINAL).splitlines()
    assert max(map(len, laid)) <= 60
    at = laid.index(next(line for line in laid if line.startswith("        SELECT")))
    assert all(line.startswith("          very_long, ") for line in laid[at + 1 : at + 8])


def test_a_declared_null_body_is_not_an_absent_one() -> None:
    calls: dict[str, Any] = {
        "none": {"method": "POST", "path": "/x", "write": True},
        "null": {"method": "POST", "path": "/x", "body": None, "write": True},
        "text": {"method": "POST", "path": "/x", "body": "{all}", "write": True},
    }
    entry = {"id": "api", "kind": "http", "service": "api", "calls": calls}
    found = reviewed(manifest(permissions={"write": True}, connections=[entry]))
    laid = [line.text for line in view.lines(found)]
    assert laid[laid.index("    WRITE api none()") : -2] == [
        "    WRITE api none()",
        "        POST /x",
        "",
        "    WRITE api null()",
        "        POST /x",
        "        body null",
        "",
        "    WRITE api text(all)",
        "        POST /x",
        '        body "{all}"',
    ]


def test_the_json_of_a_review() -> None:
    assert review_json.reviewed(CHANGED) == {
        "id": "tickets",
        "name": "tickets",
        "version": "",
        "description": "",
        "dialect": "manifest.json",
        "workspace": "/code/app",
        "folder": "/code/app/everything",
        "digest": DIGEST,
        "status": "changed",
        "enabled": True,
        "approved": {"folder": "/old/folder", "digest": "sha256:" + "1" * 64},
        "connections": [
            {
                "id": "app",
                "kind": "db",
                "profile": {
                    "group": "db",
                    "name": "local-app",
                    "state": "engine differs",
                    "detail": "the profile is postgres",
                },
                "engine": "sqlite",
                "operations": [{"name": "recent", "effect": "read", "params": [], "sql": "SELECT id FROM tickets"}],
            }
        ],
        "writes": [],
        "warnings": [],
        "changes": [
            {"sort": "widened", "message": "app: new query all", "before": None, "after": None},
            {
                "sort": "changed",
                "message": "app recent: its SQL changed",
                "before": "SELECT 1\nFROM t",
                "after": "SELECT 2",
            },
            {"sort": "narrowed", "message": "app: query old is gone", "before": None, "after": None},
        ],
        "files": [
            {"path": "manifest.json", "what": "changed"},
            {"path": "x", "what": "added"},
            {"path": "y", "what": "removed"},
        ],
        "unused": [],
        "elsewhere": ["/code/a", "/code/b"],
    }


def test_the_json_of_all_five_kinds() -> None:
    told: Any = review_json.reviewed(FIVE)
    assert json.loads(jsontext.dump(told)) == told
    assert told["writes"] == [
        {"connection": "app", "operation": "close"},
        {"connection": "cal", "operation": "cancel"},
        {"connection": "gh", "operation": "create_issue"},
    ]
    assert told["warnings"][1] == {"connection": "gh", "operation": "delete_issue", "message": "by its name."}
    assert (told["unused"], told["approved"]) == (["widgets"], None)
    cal, notes, gh = told["connections"][1:4]
    assert cal["oauth2"] == FIVE_KINDS["connections"][1]["oauth2"]
    assert cal["operations"][2] == {
        "name": "cancel",
        "effect": "write",
        "params": ["id"],
        "method": "PATCH",
        "path": "/events/{id}",
        "query": {},
        "body": {"state": "cancelled"},
    }
    assert (notes["profile"], notes["root"], notes["paths"]) == (None, "project", ["docs/**", "*.md"])
    assert gh["operations"][0] == {"name": "list_issues", "effect": "read", "params": None}


def test_faults_as_lines_and_as_json() -> None:
    faults = (
        Fault(".", 1, 1, "", "the folder holds over 1,000 files"),
        Fault("manifest.json", 12, 7, "id", "b\x1b\nc"),
    )
    assert [line.text for line in fault_lines.lines(faults, "work/bad/")] == [
        "work/bad:1:1: the folder holds over 1,000 files",
        "work/bad/manifest.json:12:7: b\\u{1b}⏎c",
    ]
    assert [line.text.split(": ")[0] for line in fault_lines.lines(faults, ".")] == [".:1:1", "manifest.json:12:7"]
    assert [line.text.split(": ")[0] for line in fault_lines.lines(faults, "/")] == ["/:1:1", "/manifest.json:12:7"]
    assert review_json.validation(faults, (Placed(Caution("app", "q", "m"), "manifest.json", 3, 5),)) == {
        "errors": [
            {"file": ".", "line": 1, "column": 1, "path": "", "message": "the folder holds over 1,000 files"},
            {"file": "manifest.json", "line": 12, "column": 7, "path": "id", "message": "b\x1b\nc"},
        ],
        "warnings": [
            {"connection": "app", "operation": "q", "message": "m", "file": "manifest.json", "line": 3, "column": 5}
        ],
    }
