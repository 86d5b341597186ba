"""The dialect of a team's plugins: how plugin.yaml (contract, plugin-yaml; design, section 10) becomes an extension.

`build` is on the way of every call, so it imports nothing that checks; `read` is for reviews and loads the rest.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from helm_cli.dialects import Reading, packaged, plugin_yaml_files, shapes, yaml_document
from helm_cli.grammar import tool_glob
from helm_cli.model.content import Content
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.plugin import (
    DRAFT_KINDS,
    RISKS,
    TOOLS,
    USUAL_FORM,
    Instructions,
    Plugin,
    Publish,
    Setting,
    Trigger,
)

FILE: Final = "plugin.yaml"
SETTING_TYPES: Final = ("string", "secret", "connection")
TRIGGERS: Final = ("manual", "schedule", "github.release")
TOOL_KINDS: Final = ("builtin", "http")

_SCHEMA: Final = "plugin.schema.json"


def build(content: Content) -> Extension:
    """The extension of a content whose manifest was found valid before.

    Every ValueError, TypeError, KeyError or AttributeError means that it was not: nothing is guessed, so that
    nothing is ever granted that was not declared.
    """
    document = yaml_document.read(content.files[FILE].decode("utf-8"))
    if document.faults:
        raise ValueError("no YAML that is read")
    top = shapes.mapping(document.value)
    name = shapes.text(top["name"])
    tools = [shapes.mapping(entry) for entry in shapes.items(top.get("tools", []))]
    outputs = [shapes.mapping(entry) for entry in shapes.items(top.get("outputs", []))]
    return Extension(
        id=name,
        name=name,
        version=shapes.text(top["version"]),
        description=shapes.text(top["description"]).strip(),
        dialect=FILE,
        # The risks of the tools are what is permitted, and each is reviewed (design, section 10).
        write_permitted=True,
        connections=tuple(_connections(tools)),
        unused=(),
        plugin=Plugin(
            agents=_instructions(content, top.get("agents", list(plugin_yaml_files.AGENTS))),
            skills=_instructions(content, top.get("skills", list(plugin_yaml_files.SKILLS))),
            settings=tuple(_setting(shapes.mapping(entry)) for entry in shapes.items(top.get("settings", []))),
            triggers=tuple(_trigger(shapes.mapping(entry)) for entry in shapes.items(top.get("triggers", []))),
            draft_kinds=_draft_kinds(outputs),
            publishes=tuple(_publish(entry) for entry in outputs if entry["type"] == "publish"),
            monthly_tokens=_monthly_tokens(shapes.mapping(top.get("budget", {}))),
        ),
    )


def read(content: Content) -> Reading:
    """The extension, or every fault of its manifest, its agents and its skills, sorted by place."""
    from helm_cli.dialects import plugin_yaml_check

    faults = plugin_yaml_check.faults(content, schema_text())
    return Reading(None if faults else build(content), faults)


def effective(content: Content) -> dict[str, Any]:
    """What a valid plugin.yaml says with every default filled in."""
    from helm_cli.dialects import plugin_yaml_effective

    return plugin_yaml_effective.filled(yaml_document.read(content.files[FILE].decode()).value, schema_text())


def schema_text() -> str:
    """The JSON Schema of plugin.yaml as it stands in the package (draft 2020-12)."""
    return packaged(_SCHEMA)


def reference() -> str:
    """The reference page of plugin.yaml."""
    from helm_cli.dialects import plugin_yaml_reference

    return plugin_yaml_reference.page(schema_text())


def template(identifier: str) -> dict[str, str]:
    """The files of a new plugin with this id."""
    from helm_cli.dialects import plugin_yaml_starter

    return plugin_yaml_starter.files(identifier)


def _instructions(content: Content, globs: Any) -> tuple[Instructions, ...]:
    paths = plugin_yaml_files.matched(content, shapes.texts(globs))
    return tuple(plugin_yaml_files.instructions(path, content.files[path]) for path in paths)


def _connections(tools: Iterable[Mapping[str, Any]]) -> Iterator[Connection]:
    """One connection for each MCP server, in the order in which they are named first, and one for the named tools."""
    servers: dict[str, list[Mapping[str, Any]]] = {}
    named = []
    for entry in tools:
        if "ref" not in entry:
            named.append(_tool(entry))
            continue
        if "name" in entry:
            raise ValueError("a tool of both shapes")
        scheme, _, server = shapes.text(entry["ref"]).partition(":")
        shapes.one_of(scheme, ("mcp",))
        servers.setdefault(server, []).append(entry)
    for server, entries in servers.items():
        yield _server(server, entries)
    if named:
        yield Connection(TOOLS, "tools", None, None, tuple(named), {})


def _server(server: str, entries: Iterable[Mapping[str, Any]]) -> Connection:
    allowed = [
        (allow, shapes.one_of(entry.get("risk", "read"), RISKS))
        for entry in entries
        for allow in shapes.texts(entry["allow"])
    ]
    globs = tuple(dict.fromkeys(pair for pair in allowed if tool_glob.is_glob(pair[0])))
    names = dict.fromkeys(allow for allow, _ in allowed if not tool_glob.is_glob(allow))
    risks = {name: highest([risk for allow, risk in allowed if tool_glob.matches(allow, name)]) for name in names}
    operations = tuple(
        Operation(name, "read" if risk == "read" else "write", None, {"risk": risk}) for name, risk in risks.items()
    )
    return Connection(server, "mcp", "mcp", server, operations, {"globs": globs})


def highest(risks: Iterable[str]) -> str:
    """The highest of some risks, at least one."""
    given = set(risks)
    return next(risk for risk in reversed(RISKS) if risk in given)


def _tool(entry: Mapping[str, Any]) -> Operation:
    risk = shapes.one_of(entry["risk"], RISKS)
    spec = {
        "kind": shapes.one_of(entry["kind"], TOOL_KINDS),
        "risk": risk,
        "description": shapes.text(entry.get("description", "")).strip(),
    }
    return Operation(shapes.text(entry["name"]), "read" if risk == "read" else "write", None, spec)


def _setting(entry: Mapping[str, Any]) -> Setting:
    sort: Any = shapes.one_of(entry["type"], SETTING_TYPES)
    return Setting(
        key=shapes.text(entry["key"]),
        type=sort,
        provider=shapes.text(entry["provider"]) if sort == "connection" or "provider" in entry else None,
        scopes=shapes.texts(entry.get("scopes", [])),
        sensitive=shapes.flag(entry.get("sensitive", False)) or sort != "string",
    )


def _trigger(entry: Mapping[str, Any]) -> Trigger:
    on: Any = shapes.one_of(entry["on"], TRIGGERS)
    form = shapes.mapping(entry.get("form", dict(USUAL_FORM))) if on == "manual" else {}
    fields = {
        name: shapes.one_of(asked, ("text",)) if isinstance(asked, str) else shapes.texts(asked)
        for name, asked in form.items()
    }
    return Trigger(on, fields, shapes.text(entry["cron"]) if on == "schedule" else "")


def _draft_kinds(outputs: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    kinds = (
        shapes.one_of(kind, DRAFT_KINDS)
        for entry in outputs
        if shapes.one_of(entry["type"], ("draft", "publish")) == "draft"
        for kind in shapes.items(entry["kinds"])
    )
    return tuple(dict.fromkeys(kinds))


def _publish(entry: Mapping[str, Any]) -> Publish:
    approval = shapes.mapping(entry.get("approval", {}))
    role = shapes.text(approval["role"]) if "role" in approval else None
    return Publish(shapes.text(entry["via"]), role, shapes.number(approval.get("min", 1), 1))


def _monthly_tokens(budget: Mapping[str, Any]) -> int | None:
    tokens = budget.get("monthly_tokens")
    return None if tokens is None else shapes.number(tokens, 0) or None
