"""The JSON Schema: valid itself, each of its rules shown to fail somewhere, and the reference rendered from it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from helm_cli import dialects
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError

SCHEMA = json.loads(dialects.schema_text())
ASSERTIONS = {
    "type", "required", "additionalProperties", "enum", "pattern", "anyOf", "uniqueItems",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_example_and_default_in_the_schema_is_valid() -> None:
    validator = Draft202012Validator(SCHEMA)
    checked = 0
    for node in _nodes(SCHEMA):
        for example in (*node.get("examples", ()), *([node["default"]] if "default" in node else ())):
            assert not list(validator.evolve(schema={"$defs": SCHEMA["$defs"], **node}).iter_errors(example))
            checked += 1
    assert checked > 25


def test_every_rule_of_the_schema_fails_in_the_table_of_faults() -> None:
    failed = set()
    for block in Path(__file__).with_name("faulty.txt").read_text(encoding="utf-8").split("\n== "):
        manifest = block.partition("\n")[2].partition("\n--\n")[0]
        try:
            document = json.loads(manifest)
        except ValueError:
            continue
        failed |= {_rule(error.schema, error.validator) for error in Draft202012Validator(SCHEMA).iter_errors(document)}
    rules = {
        _rule(node, keyword)
        for node in _nodes(SCHEMA)
        for keyword in ASSERTIONS & set(node)
        if not (keyword == "additionalProperties" and node[keyword] is not False)
    }
    assert len(rules) > 60
    assert sorted(rules - failed) == []


def test_every_object_of_the_schema_refuses_unknown_fields() -> None:
    open_ones = {
        node["title"]
        for node in _nodes(SCHEMA)
        if "properties" in node and "title" in node and node.get("additionalProperties") is not False
    }
    # A connection's fields are refused by its kind.
    assert open_ones == {"connections[]"}


def test_every_field_is_described() -> None:
    for node in _nodes(SCHEMA):
        for name, about in node.get("properties", {}).items():
            if isinstance(about, dict) and "title" in node:
                target = SCHEMA["$defs"].get(about.get("$ref", "").rpartition("/")[2], {})
                assert "description" in {**target, **about}, name


def test_the_reference_is_the_same_every_time() -> None:
    assert dialects.reference() == dialects.reference("manifest.json")


def test_the_reference_names_every_field_in_a_table_of_its_own() -> None:
    page = dialects.reference()
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert list(sections) == [
        "Top level",
        "permissions",
        "connections[]",
        "connections[] of kind tdt-mcp",
        "connections[] of kind mcp",
        "connections[] of kind http",
        "calls.NAME",
        "oauth2",
        "connections[] of kind files",
        "connections[] of kind db",
        "queries.NAME",
    ]
    for node in _nodes(SCHEMA):
        if "properties" in node and "title" in node:
            for name, about in node["properties"].items():
                if about is not True:
                    assert f"`{name}`" in sections[node["title"]]


def test_a_section_of_the_reference() -> None:
    page = dialects.reference()
    assert page.startswith("# Reference of manifest.json\n\n## Top level\n\nThe manifest.json of a Helm extension: ")
    assert (
        """
## queries.NAME

One statement. It runs read-only unless `write` is true.

| Field | Type | Required | Default | Description |
|---|---|---|---|---|
| `sql` | string | yes |  | One statement with the engine's placeholders: `?` for SQLite and MySQL, `$1`, `$2` … for \
Postgres. Example: `"SELECT id, title FROM tickets WHERE status = ? LIMIT ?"`. |
| `params` | list of strings | no | `[]` | The arguments bound to the placeholders, in order; as many as there are \
placeholders. A name may repeat. An entry is the name of an argument: a letter or _, then letters, digits, _, . and -, \
at most 64 characters. Example: `["status", "limit"]`. |
| `write` | boolean | no | `false` | Whether it changes something. Needs `"permissions": { "write": true }`; a person \
confirms every call. |

Any other field is refused.
"""
        in page
    )


def test_a_new_extension_is_valid_and_shows_a_read_and_a_write() -> None:
    files = dialects.template("my-plugin")
    assert list(files) == ["manifest.json", "README.md", ".gitattributes"]
    assert files[".gitattributes"] == "* -text\n"
    reading = dialects.read(Content({path: text.encode() for path, text in files.items()}))
    assert reading.faults == ()
    assert reading.extension is not None
    assert reading.extension.id == "my-plugin"
    (connection,) = reading.extension.connections
    assert (connection.kind, connection.profile, dict(connection.spec)) == ("db", "local-app", {"engine": "sqlite"})
    assert [(operation.name, operation.effect) for operation in connection.operations] == [
        ("recent", "read"),
        ("close", "write"),
    ]


@pytest.mark.parametrize("identifier", ["", "A", "a b", "-a", "a" * 65, "a\n", "../a"])
def test_a_new_extension_needs_a_valid_id(identifier: str) -> None:
    with pytest.raises(HelmError) as raised:
        dialects.template(identifier)
    assert raised.value.code == "usage"


def test_the_packaged_example_is_valid() -> None:
    folder = Path(dialects.__file__).parents[1] / "demo" / "extension"
    copy = Content({file.name: file.read_bytes() for file in folder.iterdir()})
    reading = dialects.read(copy)
    assert reading.faults == ()
    assert reading.extension is not None
    assert reading.extension.id == "tickets"
    (connection,) = reading.extension.connections
    assert (connection.id, connection.profile) == ("app", "local-app")
    assert [(operation.name, operation.effect, operation.params) for operation in connection.operations] == [
        ("recent", "read", ("status", "limit")),
        ("close", "write", ("id",)),
    ]


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema, but for those that only decide (`if`, the parts of an `anyOf`)."""
    if not isinstance(node, dict):
        return
    yield node
    for keyword in ("properties", "$defs"):
        for name, inner in node.get(keyword, {}).items():
            if name not in ("readsSomething", "writesSomething"):
                yield from _nodes(inner)
    for keyword in ("items", "additionalProperties", "propertyNames"):
        yield from _nodes(node.get(keyword))


def _rule(node: Any, keyword: Any) -> str:
    return f"{keyword} of {json.dumps(node)}"
