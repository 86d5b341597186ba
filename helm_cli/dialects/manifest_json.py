"""Helm's own dialect: how manifest.json (contract, the whole text; design, section 2) becomes an extension.

`build` is on the way of every call, so it imports nothing that checks; `read` is for reviews and loads the rest.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from helm_cli.dialects import Reading, packaged, shapes
from helm_cli.grammar.template import body_names, names
from helm_cli.model import jsontext
from helm_cli.model.content import Content
from helm_cli.model.extension import KINDS, Connection, Effect, Extension, Operation
from helm_cli.model.profile import ENGINES

FILE: Final = "manifest.json"

_SCHEMA: Final = "manifest.schema.json"
_USED: Final = ("$schema", "id", "name", "version", "description", "permissions", "connections")
_GROUPS: Final = {"http": ("service", "service"), "db": ("db", "service"), "mcp": ("mcp", "server")}
_READS: Final = ("GET", "POST")
_WRITES: Final = ("POST", "PUT", "PATCH", "DELETE")
_VERBS: Final = ("list", "read", "write")
_ROOTS: Final = ("project", "workspace")


def build(content: Content) -> Extension:
    """The extension of a content whose manifest was found valid before.

    Every ValueError, TypeError, KeyError or AttributeError means that it was not: nothing is guessed, so that
    nothing is ever granted that was not declared.
    """
    document = shapes.mapping(jsontext.parse(content.files[FILE]))
    identifier = shapes.text(document["id"])
    return Extension(
        id=identifier,
        name=shapes.text(document.get("name", identifier)),
        version=shapes.text(document.get("version", "")),
        description=shapes.text(document.get("description", "")),
        dialect=FILE,
        write_permitted=shapes.flag(shapes.mapping(document.get("permissions", {})).get("write", False)),
        connections=tuple(_connection(shapes.mapping(entry)) for entry in shapes.items(document["connections"])),
        unused=tuple(name for name in document if name not in _USED),
    )


def read(content: Content) -> Reading:
    """The extension, or every fault of its manifest, sorted by place."""
    from helm_cli.dialects import manifest_check

    faults = manifest_check.faults(FILE, content.files[FILE], schema_text())
    return Reading(None if faults else build(content), faults)


def effective(content: Content) -> None:
    """None: what a manifest.json leaves out has no effect."""


def schema_text() -> str:
    """The JSON Schema of manifest.json as it stands in the package (draft 2020-12)."""
    return packaged(_SCHEMA)


def reference() -> str:
    """The reference page of manifest.json."""
    from helm_cli.dialects.reference_page import page

    return page(FILE, json.loads(schema_text()))


def template(identifier: str) -> dict[str, str]:
    """The files of a new extension with this id."""
    from helm_cli.dialects import starter

    return starter.files(identifier)


def _connection(entry: Mapping[str, Any]) -> Connection:
    kind = shapes.one_of(entry["kind"], KINDS)
    group, field = _GROUPS.get(kind, (None, ""))
    operations, spec = _PARTS[kind](entry)
    return Connection(
        id=shapes.text(entry["id"]),
        kind=kind,
        group=group,
        profile=None if group is None else shapes.text(entry[field]),
        operations=tuple(operations),
        spec=spec,
    )


def _tools(entry: Mapping[str, Any]) -> tuple[list[Operation], dict[str, Any]]:
    writes = [shapes.text(name) for name in shapes.items(entry.get("writes", []))]
    reads = [shapes.text(name) for name in shapes.items(entry.get("operations", []))]
    if not set(reads).isdisjoint(writes):
        raise ValueError("a tool stands in both lists")
    found = [Operation(name, "read", None, {}) for name in reads]
    return found + [Operation(name, "write", None, {}) for name in writes], {}


def _files(entry: Mapping[str, Any]) -> tuple[list[Operation], dict[str, Any]]:
    verbs = [shapes.one_of(verb, _VERBS) for verb in shapes.items(entry["operations"])]
    paths = tuple(shapes.text(path) for path in shapes.items(entry["paths"]))
    operations = [Operation(verb, "write" if verb == "write" else "read", None, {}) for verb in verbs]
    return operations, {"root": shapes.one_of(entry["root"], _ROOTS), "paths": paths}


def _db(entry: Mapping[str, Any]) -> tuple[list[Operation], dict[str, Any]]:
    operations = []
    for name, declared in shapes.mapping(entry["queries"]).items():
        query = shapes.mapping(declared)
        params = tuple(shapes.text(param) for param in shapes.items(query.get("params", [])))
        operations.append(Operation(name, _effect(query), params, {"sql": shapes.text(query["sql"])}))
    return operations, {"engine": shapes.one_of(entry["engine"], ENGINES)}


def _http(entry: Mapping[str, Any]) -> tuple[list[Operation], dict[str, Any]]:
    operations = [_call(name, shapes.mapping(declared)) for name, declared in shapes.mapping(entry["calls"]).items()]
    if "oauth2" not in entry:
        return operations, {}
    oauth2 = shapes.mapping(entry["oauth2"])
    return operations, {
        "oauth2": {
            "authorizeUrl": shapes.text(oauth2["authorizeUrl"]),
            "tokenUrl": shapes.text(oauth2["tokenUrl"]),
            "scopes": tuple(shapes.text(scope) for scope in shapes.items(oauth2.get("scopes", []))),
        }
    }


def _call(name: str, call: Mapping[str, Any]) -> Operation:
    """`spec` has `body` only where it is declared, null included; `path_names` are the arguments that are required."""
    effect = _effect(call)
    safe = _WRITES if effect == "write" else _READS if "body" in call else ("GET",)
    path = shapes.text(call["path"])
    query = {key: shapes.text(value) for key, value in shapes.mapping(call.get("query", {})).items()}
    path_names = names(path)
    spec = {"method": shapes.one_of(call["method"], safe), "path": path, "query": query, "path_names": path_names}
    if "body" in call:
        spec["body"] = call["body"]
    used = [*path_names, *_query_names(query), *body_names(call.get("body"))]
    return Operation(name, effect, tuple(dict.fromkeys(used)), spec)


def _query_names(query: Mapping[str, str]) -> Iterator[str]:
    for value in query.values():
        yield from names(value)


_PARTS: Final = {"tdt-mcp": _tools, "mcp": _tools, "http": _http, "files": _files, "db": _db}


def _effect(declared: Mapping[str, Any]) -> Effect:
    return "write" if shapes.flag(declared.get("write", False)) else "read"
