"""How a review is laid out: as a page that a person reads before saying yes, and as JSON for a program."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from helm_cli.model.extension import Connection, Fault, Operation
from helm_cli.model.jsontext import Json, repaired
from helm_cli.model.review import DECLARED, Caution, Change, Profiled, Review
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown, shown_lines, wrapped

_DEEP: Final = "      "
_ADD: Final = {"db": "helm db add", "service": "helm service add", "mcp": "helm mcp add"}


def page(review: Review, streams: Streams) -> str:
    """The review page (design, section 6), each line ended; on a terminal no line is longer than it is wide."""
    laid = lines(review)
    if streams.out_terminal:
        laid = [part for line in laid for part in wrapped(line, streams.width)]
    return "".join(f"{line}\n" for line in laid)


def lines(review: Review) -> list[str]:
    """The review page line by line, of any length. Text of the manifest never begins at the left edge."""
    sections = (
        _head(review),
        _changes(review),
        _warnings(review.warnings),
        ["Connections", *(line for profiled in review.connections for line in _connection(profiled))],
        _operations("Writes", review.operations("write"), "each is shown and confirmed by a person before it is sent"),
        _operations("Reads", review.operations("read"), "none is confirmed"),
        [f"Not used by the command line: {shown(', '.join(review.extension.unused))}"]
        if review.extension.unused
        else [],
    )
    return [line for section in sections if section for line in (*section, "")][:-1]


def as_json(review: Review) -> dict[str, Json]:
    """The review for a program: what `helm plugin review -o json` prints."""
    extension = review.extension
    approved: Json = None
    if review.approved_digest:
        approved = {"folder": review.approved_folder, "digest": review.approved_digest}
    return {
        "id": extension.id,
        "name": extension.name,
        "version": extension.version,
        "description": extension.description,
        "dialect": extension.dialect,
        "workspace": review.workspace,
        "folder": review.folder,
        "digest": review.digest,
        "status": review.status,
        "enabled": review.enabled,
        "approved": approved,
        "connections": [_connection_json(profiled) for profiled in review.connections],
        "writes": [
            {"connection": connection.id, "operation": operation.name}
            for connection, operation in review.operations("write")
        ],
        "warnings": [_json(caution._asdict()) for caution in review.warnings],
        "changes": [_json(change._asdict()) for change in review.changes],
        "files": [_json(change._asdict()) for change in review.files],
        "unused": list(extension.unused),
        "elsewhere": list(review.elsewhere),
    }


def faults_json(faults: Iterable[Fault]) -> dict[str, Json]:
    """A validation for a program; no fault, no entry."""
    return {"errors": [repaired(_json(fault._asdict())) for fault in faults]}


def fault_lines(faults: Iterable[Fault]) -> list[str]:
    """A validation for people and editors: `file:line:column: message` each; the folder itself is `.`."""
    return [f"{shown(fault.file)}:{fault.line}:{fault.column}: {shown(fault.message)}" for fault in faults]


def _head(review: Review) -> list[str]:
    extension = review.extension
    title = f"Extension {extension.id}"
    called = " ".join(part for part in (extension.name, extension.version) if part)
    described = [f"  {shown(text)}" for text in (called, extension.description) if text]
    rows = [
        ("status", _status(review)),
        ("folder", review.folder),
        ("workspace", f"{review.workspace} ({review.workspace_found})"),
        ("digest", review.digest),
        ("files", f"{len(review.content.files)}, {sum(map(len, review.content.files.values())):,} bytes together"),
    ]
    if review.approved_folder not in ("", review.folder):
        rows.insert(2, ("replaces", review.approved_folder))
    if review.approved_digest not in ("", review.digest):
        rows.append(("approved", review.approved_digest))
    if review.elsewhere:
        rows.append(("also in", ", ".join(review.elsewhere)))
    return [title, *described, *(f"  {label:<10}{shown(value)}" for label, value in rows)]


def _status(review: Review) -> str:
    if review.status == "new":
        return "new, not approved in this workspace"
    if review.status == "approved":
        return "approved and enabled" if review.enabled else "approved, but disabled"
    if review.digest == review.approved_digest:
        return "the approved content, in another folder"
    return "changed since it was approved"


def _changes(review: Review) -> list[str]:
    if review.status != "changed" or review.digest == review.approved_digest:
        return []
    told = [line for change in review.changes for line in _change(change)]
    files = [f"  {'file ' + file.what:<14}{shown(file.path)}" for file in review.files]
    return ["Changed since it was approved", *(told or ["  nothing that is declared changed"]), *files]


def _change(change: Change) -> list[str]:
    told = [f"  {change.sort:<14}{shown(change.message)}"]
    for sign, text in (("-", change.before), ("+", change.after)):
        if text is not None:
            told += [f"{_DEEP}{sign} {line}" for line in _text(text)]
    return told


def _warnings(cautions: Iterable[Caution]) -> list[str]:
    told = []
    for caution in cautions:
        about = " ".join(part for part in (caution.connection, caution.operation) if part)
        told.append(f"  ! {shown(about)}: {shown(caution.message)}" if about else f"  ! {shown(caution.message)}")
    return ["Warnings", *told] if told else []


def _connection(profiled: Profiled) -> list[str]:
    connection, spec = profiled.connection, profiled.connection.spec
    engine = f" ({spec['engine']})" if "engine" in spec else ""
    told = [f"  {shown(connection.id)}: {connection.kind}{shown(engine)}{_profile(profiled)}"]
    if "root" in spec:
        told.append(f"{_DEEP}root {shown(spec['root'])}")
        told += [f"{_DEEP}path {shown(path)}" for path in spec["paths"]]
    if spec.get("oauth2"):
        oauth2 = spec["oauth2"]
        told.append(f"{_DEEP}OAuth2 authorizeUrl {shown(oauth2['authorizeUrl'])}")
        told.append(f"{_DEEP}OAuth2 tokenUrl {shown(oauth2['tokenUrl'])}")
        told.append(f"{_DEEP}OAuth2 scopes {shown(' '.join(oauth2.get('scopes', ())) or '(none)')}")
    return told


def _profile(profiled: Profiled) -> str:
    group, name = profiled.connection.group, profiled.connection.profile
    if group is None or name is None:
        return ""
    hint = f"; add it with {_ADD.get(group, 'helm')} {shown(name)}" if profiled.state == "missing" else ""
    detail = f" ({shown(profiled.detail)})" if profiled.detail else ""
    return f", profile {shown(name)}: {profiled.state}{detail}{hint}"


def _operations(title: str, operations: list[tuple[Connection, Operation]], note: str) -> list[str]:
    if not operations:
        return [f"{title}: none"]
    told = [f"{title}: {len(operations)}; {note}"]
    for connection, operation in operations:
        mark = "WRITE " if operation.effect == "write" else ""
        told.append(f"  {mark}{shown(connection.id)} {shown(operation.name)}")
        told += [_DEEP + line for line in _DETAILS[connection.kind](connection, operation)]
    return told


def _query(_: Connection, operation: Operation) -> list[str]:
    return [*_text(operation.spec["sql"]), f"params {shown(', '.join(operation.params or ())) or '(none)'}"]


def _call(_: Connection, operation: Operation) -> list[str]:
    spec = operation.spec
    told = [f"{shown(spec['method'])} {shown(spec['path'])}"]
    told += [f"query {shown(name)}={shown(value)}" for name, value in spec["query"].items()]
    if "body" in spec:
        first, *rest = _text(json.dumps(_json(spec["body"]), ensure_ascii=False, indent=2))
        told += [f"body {first}", *rest]
    return told


def _tool(connection: Connection, _: Operation) -> list[str]:
    server = f"the MCP server {connection.profile}" if connection.profile else "the workspace's TDT server"
    return [f"a tool of {shown(server)}, with the caller's arguments"]


def _files(connection: Connection, operation: Operation) -> list[str]:
    what = "replaces one existing file" if operation.effect == "write" else "of the files"
    return [f"{what} that match {shown(', '.join(connection.spec['paths']))}"]


_DETAILS: Final[dict[str, Callable[[Connection, Operation], list[str]]]] = {
    "db": _query,
    "http": _call,
    "mcp": _tool,
    "tdt-mcp": _tool,
    "files": _files,
}


def _text(text: str) -> list[str]:
    return shown_lines(text).split("\n")


def _connection_json(profiled: Profiled) -> dict[str, Json]:
    connection = profiled.connection
    profile: Json = None
    if connection.profile is not None:
        profile = {
            "group": connection.group,
            "name": connection.profile,
            "state": profiled.state,
            "detail": profiled.detail or None,
        }
    operations: list[Json] = [
        {
            "name": operation.name,
            "effect": operation.effect,
            "params": _json(operation.params),
            **{key: _json(operation.spec[key]) for key in DECLARED if key in operation.spec},
        }
        for operation in connection.operations
    ]
    declared = {str(key): _json(value) for key, value in connection.spec.items()}
    return {"id": connection.id, "kind": connection.kind, "profile": profile, **declared, "operations": operations}


def _json(value: Any) -> Any:
    """A declaration's value as plain lists and objects."""
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value
