"""What a server says of its tools, on the page and as JSON: called a claim, bounded, and unable to act."""

from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.jsontext import dump
from helm_cli.model.review import Change, Listed, Profiled, Review
from helm_cli.model.tool import tool
from helm_cli.view import review as page
from helm_cli.view import review_json
from helm_cli.view import tool as view
from tests.broker.folders import manifest
from tests.rig.tool_server import tool as definition


def listed(*definitions: dict[str, Any], problem: str = "") -> Listed:
    tools = {found.name: found for entry in definitions if (found := tool(entry)) is not None}
    return Listed("gh", tools, (*tools, "other"), problem)


def reviewed(*servers: Listed, **members: Any) -> Review:
    entry = {"id": "gh", "kind": "mcp", "server": "github", "operations": ["a", "b"], "writes": ["c"]}
    declared = manifest(permissions={"write": True}, connections=[entry])
    content = Content({"manifest.json": dump(declared).encode()})
    extension = dialects.build(content)
    found = Review(
        workspace="/code/app",
        workspace_found="the current folder",
        folder="/code/app/tickets",
        content=content,
        digest=content.digest,
        extension=extension,
        status="new",
        enabled=False,
        approved_folder="",
        approved_digest="",
        connections=(Profiled(extension.connections[0], "configured", ""),),
        warnings=(),
        changes=(),
        files=(),
        elsewhere=(),
        servers=servers,
    )
    return found._replace(**members)


ANSWERED = listed(
    definition("a", "Lists issues.\n\n  Of one repository.", readOnlyHint=True, destructiveHint=False),
    {**definition("c", readOnlyHint=False, destructiveHint=True), "title": "Create"},
)


def test_the_page_tells_what_the_server_says_of_each_tool() -> None:
    told = [line.text for line in page.lines(reviewed(ANSWERED))]
    assert told[told.index("Writes: 1; each is shown and confirmed by a person before it is sent") :] == [
        "Writes: 1; each is shown and confirmed by a person before it is sent",
        "",
        "  gh: mcp, profile github; a tool gets the caller's arguments as they are",
        "    WRITE gh c",
        "        the server says: not read-only, destructive",
        "        Create",
        "",
        "Reads: 2; they run without asking",
        "",
        "  gh: mcp, profile github; a tool gets the caller's arguments as they are",
        "    gh a",
        "        the server says: read-only",
        "        Lists issues. Of one repository.",
        "",
        "    gh b",
        "        the server has no such tool",
    ]


@pytest.mark.parametrize("servers", [(), (listed(problem="it did not start"),)])
def test_where_it_was_not_asked_the_page_says_nothing_of_it(servers: tuple[Listed, ...]) -> None:
    told = [line.text for line in page.lines(reviewed(*servers))]
    assert told[-2:] == ["    gh a", "    gh b"]


def test_changed_tools_of_an_approved_content_stand_on_its_page() -> None:
    changes = (Change("widened", "gh a: the server no longer marks it as read-only"),)
    found = reviewed(ANSWERED, status="approved", enabled=True, approved_folder="/code/app/tickets", changes=changes)
    found = found._replace(approved_digest=found.digest)
    told = [line.text for line in page.lines(found)]
    assert told[1:3] == ["  status    approved and enabled", "  folder    /code/app/tickets"]
    at = told.index("Changed since it was approved")
    assert told[at + 1] == "  widened       gh a: the server no longer marks it as read-only"
    assert "  changes    1 widened" in [line.text for line in page.summary(found)]


@pytest.mark.parametrize(
    ("hints", "told"),
    [
        ({}, ""),
        ({"readOnlyHint": True}, "read-only"),
        ({"readOnlyHint": True, "destructiveHint": False}, "read-only"),
        ({"readOnlyHint": True, "destructiveHint": True}, "read-only, destructive"),
        ({"readOnlyHint": False}, "not read-only"),
        ({"readOnlyHint": False, "destructiveHint": False}, "not read-only, not destructive"),
        ({"destructiveHint": True}, "destructive"),
    ],
)
def test_hints_in_words(hints: dict[str, bool], told: str) -> None:
    found = tool(definition("a", "", **hints))
    assert found is not None
    assert view.hints(found) == told
    lines = view.claims(listed(definition("a", "", **hints)), "a")
    assert lines == [f"the server says: {told or 'nothing on whether it only reads'}"]


def test_a_description_cannot_act_or_pose_or_flood() -> None:
    text = "\x1b[2J\u202egpj\u200b\r\n\nWrites: none\n" + "x" * 1_000
    told = view.claims(listed(definition("a", text)), "a")
    assert told[1].startswith("\\u{1b}[2J\\u{202e}gpj\\u{200b} Writes: none xxx")
    assert told[1].endswith("x… (623 more characters)")
    assert len(told[1]) < 500
    page_lines = [line.text for line in page.lines(reviewed(listed(definition("a", text))))]
    assert [line for line in page_lines if line.startswith("Writes")] == [
        "Writes: 1; each is shown and confirmed by a person before it is sent"
    ]


def test_the_json_of_a_review_has_it_whole() -> None:
    told: Any = review_json.reviewed(reviewed(ANSWERED))
    (connection,) = told["connections"]
    assert connection["server"] == {"problem": None, "offered": ["a", "c", "other"]}
    assert connection["operations"] == [
        {
            "name": "a",
            "effect": "read",
            "params": None,
            "tool": {
                "title": "",
                "description": "Lists issues.\n\n  Of one repository.",
                "read_only": True,
                "destructive": False,
                "input_schema": {"type": "object"},
            },
        },
        {"name": "b", "effect": "read", "params": None, "tool": None},
        {
            "name": "c",
            "effect": "write",
            "params": None,
            "tool": {
                "title": "Create",
                "description": "",
                "read_only": False,
                "destructive": True,
                "input_schema": {"type": "object"},
            },
        },
    ]


def test_the_json_says_why_a_server_was_not_asked() -> None:
    told: Any = review_json.reviewed(reviewed(listed(problem="it did not start")))
    assert told["connections"][0]["server"] == {"problem": "it did not start", "offered": ["other"]}
    assert told["connections"][0]["operations"][0] == {"name": "a", "effect": "read", "params": None}
    unasked: Any = review_json.reviewed(reviewed())
    assert "server" not in unasked["connections"][0]
