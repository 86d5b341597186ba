"""The JSON Schema of plugin.yaml: valid, each of its rules seen to fail, and the contract's own page made from it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from helm_cli import dialects
from helm_cli.dialects import plugin_yaml, plugin_yaml_files, yaml_document
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.plugin import DRAFT_KINDS, RISKS, USUAL_FORM, Publish
from tests.dialects.test_plugin_yaml_faults import CASES
from tests.dialects.yaml_samples import FULL, HEAD, content

DIALECT = "plugin.yaml"
SCHEMA = json.loads(dialects.schema_text(DIALECT))
DEFINITIONS = SCHEMA["$defs"]
ASSERTIONS = {
    "type", "required", "additionalProperties", "enum", "pattern", "anyOf", "not", "uniqueItems", "minimum",
    "minLength", "maxLength", "minItems",
}  # fmt: skip


@pytest.mark.contract("P2", "P3")
def test_the_schema_is_valid_and_has_the_stable_address() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$id"] == "https://docs.coderhelm.com/schema/plugin-manifest.v1.json"


@pytest.mark.contract("P2")
def test_any_validator_agrees_about_a_plugin_with_every_field() -> None:
    assert not list(Draft202012Validator(SCHEMA).iter_errors(yaml_document.read(FULL).value))


@pytest.mark.contract("P2")
def test_every_example_and_default_in_the_schema_is_valid() -> None:
    validator = Draft202012Validator(SCHEMA)
    checked = 0
    for node in _nodes(SCHEMA):
        for example in (*node.get("examples", ()), *([node["default"]] if "default" in node else ())):
            assert not list(validator.evolve(schema={"$defs": DEFINITIONS, **node}).iter_errors(example))
            checked += 1
    assert checked > 15


@pytest.mark.contract("P2")
def test_every_rule_of_the_schema_fails_in_the_table_of_faults() -> None:
    failed = set()
    for case in CASES:
        document = yaml_document.read(case.manifest)
        if not document.broken:
            errors = Draft202012Validator(SCHEMA).iter_errors(document.value)
            failed |= {_rule(error.schema, error.validator) for error in errors}
    rules = {
        _rule(node, keyword)
        for node in _nodes(SCHEMA)
        for keyword in ASSERTIONS & set(node)
        if not (keyword == "additionalProperties" and node[keyword] is not False)
        # What tells the shapes apart is there wherever one of them is looked at; the reference says so.
        if not (keyword == "required" and node[keyword] in (["on"], ["type"]) and "const" in str(node))
    }
    assert len(rules) > 60
    assert sorted(rules - failed) == []


@pytest.mark.contract("P4")
def test_every_object_of_the_schema_refuses_unknown_fields() -> None:
    open_ones = {
        node["title"]
        for node in _nodes(SCHEMA)
        if "properties" in node and "title" in node and node.get("additionalProperties") is not False
    }
    # The fields of these entries are refused by their shapes.
    assert open_ones == {"triggers[]", "outputs[]"}


def test_what_the_code_repeats_of_the_schema_is_the_same() -> None:
    """`build` is quick because it does not read the schema."""
    top = SCHEMA["properties"]
    assert list(plugin_yaml_files.AGENTS) == top["agents"]["default"]
    assert list(plugin_yaml_files.SKILLS) == top["skills"]["default"]
    assert dict(USUAL_FORM) == DEFINITIONS["trigger-manual"]["properties"]["form"]["default"]
    assert list(plugin_yaml.SETTING_TYPES) == DEFINITIONS["setting"]["properties"]["type"]["enum"]
    assert list(plugin_yaml.TRIGGERS) == DEFINITIONS["trigger"]["properties"]["on"]["enum"]
    assert list(plugin_yaml.TOOL_KINDS) == DEFINITIONS["tool-named"]["properties"]["kind"]["enum"]
    assert list(DRAFT_KINDS) == DEFINITIONS["output-draft"]["properties"]["kinds"]["items"]["enum"]
    for shape in ("tool-server", "tool-named"):
        assert list(RISKS) == DEFINITIONS[shape]["properties"]["risk"]["enum"]


@pytest.mark.contract("P2", "P43")
def test_the_tables_of_the_reference_are_those_of_the_contract() -> None:
    """plugin_reference.tsv is the contract's page, a row a line: field, type, required, default, description."""
    expected: dict[str, list[list[str]]] = {}
    for line in Path(__file__).with_name("plugin_reference.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            rows = expected.setdefault(line.removeprefix("== "), [])
        else:
            rows.append(line.split("\t"))
    found: dict[str, list[list[str]]] = {}
    for line in dialects.reference(DIALECT).splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        elif line.startswith("| `"):
            found.setdefault(title, []).append([_plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    assert found == expected
    assert list(found) == list(expected)
    assert sum(map(len, found.values())) == 35


@pytest.mark.contract("P2", "P43")
def test_the_reference_around_its_tables() -> None:
    page = dialects.reference(DIALECT)
    assert page == dialects.reference(DIALECT)
    assert re.findall(r"^#+ .*", page, re.MULTILINE) == [
        "# Reference of plugin.yaml",
        "# yaml-language-server: $schema=https://docs.coderhelm.com/schema/plugin-manifest.v1.json",
        "## Top-level fields",
        "## settings[]",
        "## tools[]",
        "### Tools from an MCP server",
        "### A built-in or plugin-defined tool",
        "### Risk levels",
        "## triggers[]",
        "### on: manual",
        "### on: schedule",
        "### on: github.release",
        "## outputs[]",
        "### type: draft",
        "### type: publish",
        "### approval",
        "## budget",
    ]
    for sentence in (
        "Fields not listed here are refused, so a typo fails loudly instead of being ignored.",
        "A connection setting needs provider. secret and connection settings are always sensitive.",
        "A tool that is not listed here does not exist for a plugin run. Each entry is one of two shapes.",
        "What starts a run of the plugin, besides a person writing a brief on the plugin's page.",
        "Runs when a release is published on a GitHub repo the team connected. The run gets the release notes",
    ):
        assert f"\n\n{sentence}" in page or sentence in page


@pytest.mark.contract("P8", "P16", "P19", "P25", "P32")
def test_what_takes_effect() -> None:
    assert dialects.effective(content(HEAD)) == {
        "name": "a",
        "version": "1.0.0",
        "description": "d",
        "skills": ["skills/*/SKILL.md"],
        "agents": ["agents/*.md"],
        "settings": [],
        "tools": [],
        "triggers": [],
        "outputs": [],
    }
    found = dialects.effective(content())
    assert found is not None
    assert [setting["sensitive"] for setting in found["settings"]] == [False, True, True, True]
    assert [tool["risk"] for tool in found["tools"]] == ["read", "write", "consequential", "read", "consequential"]
    assert found["triggers"][:2] == [
        {"on": "manual", "form": {"brief": "text", "tone": ["plain", "playful"]}},
        {"on": "manual", "form": {"brief": "text"}},
    ]
    assert found["outputs"][2:] == [
        {"type": "publish", "via": "send_mail", "approval": {"role": "marketing_editor", "min": 2}},
        {"type": "publish", "via": "send_mail"},
    ]
    tools = "tools: [{name: x, kind: http, risk: consequential}]\n"
    outputs = "outputs: [{type: publish, via: x, approval: {}}]\n"
    filled = dialects.effective(content(HEAD + tools + outputs))
    assert filled is not None and filled["outputs"][0]["approval"] == {"min": 1}


def test_the_other_dialect_has_no_defaults() -> None:
    assert dialects.effective(Content({"manifest.json": b'{"id": "x", "connections": []}'})) is None
    assert dialects.effective(Content({})) is None


@pytest.mark.contract("P43")
def test_a_new_plugin_is_valid_and_has_every_field() -> None:
    files = dialects.template("acme/marketing", DIALECT)
    assert list(files) == [
        "plugin.yaml",
        "agents/writer.md",
        "skills/house-style/SKILL.md",
        "README.md",
        ".gitattributes",
    ]
    assert files[".gitattributes"] == "* -text\n"
    assert files["plugin.yaml"].startswith(f"# yaml-language-server: $schema={SCHEMA['$id']}\n")
    reading = dialects.read(Content({path: text.encode() for path, text in files.items()}))
    assert reading.faults == () and reading.extension is not None and reading.extension.plugin is not None
    plugin = reading.extension.plugin
    assert reading.extension.id == "acme/marketing"
    assert [connection.kind for connection in reading.extension.connections] == ["mcp", "tools"]
    assert reading.extension.connections[0].spec == {"globs": (("get_*", "read"),)}
    assert {operation.spec["risk"] for one in reading.extension.connections for operation in one.operations} == {*RISKS}
    assert [agent.name for agent in plugin.agents] == ["writer"]
    assert [skill.name for skill in plugin.skills] == ["house-style"]
    assert [setting.type for setting in plugin.settings] == ["string", "string", "secret", "connection"]
    assert [trigger.on for trigger in plugin.triggers] == list(plugin_yaml.TRIGGERS)
    assert plugin.draft_kinds == DRAFT_KINDS
    assert plugin.publishes == (Publish("send_newsletter", "marketing_editor", 2),)
    assert plugin.monthly_tokens == 2_000_000
    named = set(_names(yaml_document.read(files["plugin.yaml"]).value))
    fields = {name for node in _nodes(SCHEMA) for name in node.get("properties", {}) if "title" in node}
    assert fields - named == set()


@pytest.mark.contract("P5", "P43")
@pytest.mark.parametrize("identifier", ["", "A", "a b", "-a", "a" * 65, "a\n", "../a", "a/b/c", "a/", "/a"])
def test_a_new_plugin_needs_a_valid_id(identifier: str) -> None:
    with pytest.raises(HelmError) as raised:
        dialects.template(identifier, DIALECT)
    assert (raised.value.code, raised.value.message) == (
        "usage",
        "the id of a plugin must be lower-case letters, digits and -, as in marketing or acme/marketing;"
        " choose another",
    )


def _plain(cell: str) -> str:
    return cell.strip().replace("\\|", "|").replace("\\<", "<").replace("`", "")


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema, but for those that only decide (`if`, `not`, the parts of an `anyOf`)."""
    if not isinstance(node, dict):
        return
    yield node
    for keyword in ("properties", "$defs"):
        for inner in node.get(keyword, {}).values():
            yield from _nodes(inner)
    for keyword in ("items", "additionalProperties", "propertyNames", "then"):
        yield from _nodes(node.get(keyword))


def _rule(node: Any, keyword: Any) -> str:
    return f"{keyword} of {json.dumps(node)}"
