"""Where a warning is put: at the line of what it is about, in either manifest and in the texts of a plugin."""

import json

import pytest

from helm_cli import dialects
from helm_cli.broker import warnings
from helm_cli.dialects import whereabouts
from helm_cli.model.content import Content
from helm_cli.model.review import Caution

MANIFEST = {
    "id": "close",
    "permissions": {"write": True},
    "connections": [
        {"id": "look", "kind": "db", "service": "a", "engine": "sqlite", "queries": {"close": {"sql": "SELECT 1"}}},
        {"id": "app", "kind": "db", "service": "a", "engine": "sqlite", "queries": {"close": {"sql": "DELETE FROM t"}}},
        {"id": "gh", "kind": "mcp", "server": "gh", "operations": ["app", "delete_it"]},
        {"id": "notes", "kind": "files", "root": "workspace", "paths": ["a/**", "**/.env"], "operations": ["read"]},
    ],
}
PLUGIN = """\
name: a
version: 1.0.0
description: d
settings:
  - key: list_posts
    type: string
tools:
  - ref: mcp:cms
    allow: [list_posts]
  - ref: mcp:cms
    allow: [make_post]
    risk: write
  - kind: builtin
    name: make_post
    risk: read
"""


def lines(content: dict[str, str], *cautions: Caution) -> list[tuple[str, str]]:
    """The file of each warning, and its text from there on."""
    found = whereabouts.placed(Content({path: text.encode() for path, text in content.items()}), cautions)
    return [(one.file, content[one.file].split("\n")[one.line - 1][one.column - 1 :]) for one in found]


def test_in_a_manifest_json() -> None:
    text = json.dumps(MANIFEST, indent=1)
    places = lines(
        {"manifest.json": text},
        Caution("app", "close", ""),
        Caution("gh", "app", ""),
        Caution("gh", "", ""),
        Caution("notes", "", "", word="**/.env"),
        Caution("notes", "gone", ""),
        Caution("", "", "", word="permissions"),
        Caution("", "", ""),
        Caution("nobodys", "", ""),
    )
    assert places == [
        ("manifest.json", '"close": {'),
        ("manifest.json", '"app",'),
        ("manifest.json", "{"),
        ("manifest.json", '"**/.env"'),
        ("manifest.json", "{"),
        ("manifest.json", '"permissions": {'),
        ("manifest.json", "{"),
        ("manifest.json", "{"),
    ]


def test_the_same_name_elsewhere_is_not_meant() -> None:
    text = json.dumps(MANIFEST, indent=1)
    found = whereabouts.placed(
        Content({"manifest.json": text.encode()}), [Caution("look", "close", ""), Caution("app", "close", "")]
    )
    numbers = [number for number, line in enumerate(text.split("\n"), start=1) if '"close": {' in line]
    assert [one.line for one in found] == numbers


def test_in_a_plugin_yaml() -> None:
    content = {"plugin.yaml": PLUGIN, "agents/w.md": "One.\nCall `gone` and `gone_too`.\n"}
    places = lines(
        content,
        Caution("cms", "list_posts", ""),
        Caution("cms", "make_post", ""),
        Caution("_tools", "make_post", ""),
        Caution("cms", "", ""),
        Caution("", "", "", word="list_posts"),
        Caution("", "", "", word="agents"),
        Caution("", "", "", "agents/w.md", "`gone_too"),
        Caution("", "", "", "agents/w.md", "absent"),
    )
    assert places == [
        ("plugin.yaml", "list_posts]"),
        ("plugin.yaml", "make_post]"),
        ("plugin.yaml", "make_post"),
        ("plugin.yaml", "ref: mcp:cms"),
        ("plugin.yaml", "list_posts"),
        ("plugin.yaml", "name: a"),
        ("agents/w.md", "`gone_too`."),
        ("agents/w.md", "One."),
    ]


def test_what_an_author_is_warned_of_is_what_can_be_mended() -> None:
    data = json.dumps(MANIFEST, indent=1).encode()
    content = Content({"manifest.json": data})
    extension = dialects.read(content).extension
    assert extension is not None
    told = [(one.caution.connection, one.caution.operation, one.line) for one in warnings.of_author(extension, content)]
    numbers = {line.strip(): number for number, line in enumerate(data.decode().split("\n"), start=1)}
    assert told == [
        ("", "", numbers['"permissions": {']),
        ("app", "close", told[1][2]),
        ("gh", "delete_it", numbers['"delete_it"']),
        ("notes", "", numbers['"**/.env"']),
    ]


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_what_new_writes_has_nothing_to_mend(dialect: str) -> None:
    content = Content({path: text.encode() for path, text in dialects.template("a", dialect).items()})
    extension = dialects.read(content).extension
    assert extension is not None
    assert warnings.of_author(extension, content) == ()
