"""How a review is laid out as the page that a person reads before saying yes."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from helm_cli.model import files
from helm_cli.model.extension import Connection, Effect, Operation
from helm_cli.model.review import Caution, Profiled, Review
from helm_cli.view import changes, plugin_page, tool
from helm_cli.view.lines import Line, Style, drawn, folded, line
from helm_cli.view.review_json import plain
from helm_cli.view.streams import Streams
from helm_cli.view.text import shown, shown_lines

_DEEP: Final = "      "
_DEEPER: Final = "        "
_BLANK: Final = Line("")
_CONFIRMED: Final = "each is shown and confirmed by a person before it is sent"
_UNASKED: Final = "they run without asking"


def page(review: Review, streams: Streams) -> str:
    """The review page (design, section 6), each line ended; on a terminal no line is longer than it is wide."""
    laid = lines(review)
    if streams.out_terminal:
        laid = [part for whole in laid for part in folded(whole, streams.width)]
    return "".join(f"{drawn(whole, color=streams.color)}\n" for whole in laid)


def lines(review: Review) -> list[Line]:
    """The review page line by line, of any length. Text of the manifest never begins at the left edge.

    The first line is the title: which extension it is.
    """
    unused = review.extension.unused
    sections: list[list[Line]] = [
        _head(review),
        _changes(review),
        _warnings(review.warnings),
        plugin_page.settings(review.extension.plugin) if review.extension.plugin is not None else [],
        [_heading("Connections"), *(part for profiled in review.connections for part in _connection(review, profiled))],
        *_all_operations(review),
        *(plugin_page.rest(review.extension.plugin, review.team_tokens) if review.extension.plugin is not None else []),
        [_heading("Not used by the command line", f": {shown(', '.join(unused))}")] if unused else [],
    ]
    return [part for section in sections if section for part in (*section, _BLANK)][:-1]


def summary(review: Review) -> list[Line]:
    """The review in a few lines, for above the question about a page that was read."""
    rows = [
        ("extension", review.extension.id),
        ("writes", _counted(review, "write", "each is confirmed before it is sent")),
        ("reads", _counted(review, "read", _UNASKED)),
        ("warnings", str(len(review.warnings)) if review.warnings else "none"),
    ]
    if review.changes:
        sorts = [change.sort for change in review.changes]
        rows.append(("changes", ", ".join(f"{sorts.count(sort)} {sort}" for sort in dict.fromkeys(sorts))))
    rows.append(("digest", review.digest[:19] + "…"))
    return [Line(f"  {label:<11}{shown(value)}") for label, value in rows]


def caution_lines(cautions: Iterable[Caution]) -> list[str]:
    """A warning a line, after what it is about."""
    return [shown(f"{_about(caution)}{caution.message}") for caution in cautions]


def _heading(title: str, rest: str = "") -> Line:
    return line((title, "bold"), rest)


def _head(review: Review) -> list[Line]:
    extension = review.extension
    name = "" if extension.name == extension.id else extension.name
    called = " ".join(part for part in (name, extension.version) if part)
    sizes = [len(data) for data in review.content.files.values()]
    rows = [
        ("status", _status(review)),
        ("folder", review.folder),
        ("workspace", f"{review.workspace} ({review.workspace_found})"),
        ("digest", review.digest),
        ("content", f"{_count(len(sizes), 'file')}, {_count(sum(sizes), 'byte')}"),
    ]
    if review.approved_folder not in ("", review.folder):
        rows.insert(2, ("replaces", review.approved_folder))
    if review.approved_digest not in ("", review.digest):
        rows.append(("approved", review.approved_digest))
    if review.elsewhere:
        rows.append(("also in", ", ".join(review.elsewhere)))
    return [
        _heading(f"Extension {extension.id}"),
        *(Line(f"  {shown(text)}") for text in (called, extension.description) if text),
        *(Line(f"  {label:<10}{shown(value)}") for label, value in rows),
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _counted(review: Review, effect: Effect, note: str) -> str:
    number = len(review.operations(effect))
    return f"{number}; {note}" if number else "none"


def _status(review: Review) -> str:
    if review.status == "new":
        return "new, not approved in this workspace"
    if review.digest != review.approved_digest:
        return "changed since it was approved"
    if review.folder != review.approved_folder:
        return "the approved content, in another folder"
    enabled = "approved and enabled" if review.enabled else "approved, but disabled"
    if review.status == "changed":
        return f"{enabled}; its folder changed since, so calls are refused until it is reviewed again"
    return enabled


def _changes(review: Review) -> list[Line]:
    if not review.changes and (review.status != "changed" or review.digest == review.approved_digest):
        return []
    return [_heading("Changed since it was approved"), *changes.laid(review.changes, review.files)]


def _warnings(cautions: Iterable[Caution]) -> list[Line]:
    told = [line("  ", ("!", "warning"), f" {text}") for text in caution_lines(cautions)]
    return [_heading("Warnings"), *told] if told else []


def _about(caution: Caution) -> str:
    about = " ".join(part for part in (caution.connection, caution.operation) if part)
    return f"{about}: " if about else ""


def _connection(review: Review, profiled: Profiled) -> list[Line]:
    connection, spec = profiled.connection, profiled.connection.spec
    state = f": {profiled.state}" if connection.profile is not None else ""
    detail = f" ({shown(profiled.detail)})" if profiled.detail else ""
    told = [_presented(connection, f"{state}{detail}")]
    if "root" in spec:
        told.append(Line(f"{_DEEP}root {shown(spec['root'])}"))
        told += [Line(f"{_DEEP}path {shown(path)}") for path in spec["paths"]]
    if spec.get("oauth2"):
        oauth2 = spec["oauth2"]
        told.append(Line(f"{_DEEP}OAuth2 authorizeUrl {shown(oauth2['authorizeUrl'])}"))
        told.append(Line(f"{_DEEP}OAuth2 tokenUrl {shown(oauth2['tokenUrl'])}"))
        told.append(Line(f"{_DEEP}OAuth2 scopes {shown(' '.join(oauth2.get('scopes', ())) or '(none)')}"))
    return [*told, *plugin_page.globs(review, connection)]


def _presented(connection: Connection, rest: str = "") -> Line:
    engine = f" ({connection.spec['engine']})" if "engine" in connection.spec else ""
    profile = "" if connection.profile is None else f", profile {connection.profile}"
    return line("  ", (shown(connection.id), "bold"), f": {connection.kind}{shown(engine + profile)}{rest}")


def _all_operations(review: Review) -> list[list[Line]]:
    """Everything that can be called, in sections: a plugin's by risk, any other's by effect."""
    if review.extension.plugin is None:
        return [
            _operations(review, review.operations("write"), "Writes", _CONFIRMED),
            _operations(review, review.operations("read"), "Reads", _UNASKED),
        ]
    notes = {"read": _UNASKED}
    return [
        [_heading("Tools", f": {plugin_page.CLOSED}")],
        *(
            _operations(review, found, plugin_page.TITLES[risk], notes.get(risk, _CONFIRMED))
            for risk, found in plugin_page.tools(review)
        ),
    ]


def _operations(review: Review, pairs: Sequence[tuple[Connection, Operation]], title: str, note: str) -> list[Line]:
    """Some operations by connection; those of several lines have a blank line between them."""
    told = [_heading(title, f": {len(pairs)}; {note}" if pairs else ": none")]
    for connection, found in groupby(pairs, key=lambda pair: pair[0]):
        told += [_BLANK, _presented(connection, _OF_ALL.get(connection.kind, ""))]
        several = False
        for _, operation in found:
            details = [
                Line(_DEEPER + part)
                for part in (
                    *_DETAILS[connection.kind](connection, operation),
                    *tool.claims(review.listed(connection), operation.name),
                )
            ]
            if several:
                told.append(_BLANK)
            several = bool(details)
            told += [_operation(connection, operation), *details]
    return told


def _operation(connection: Connection, operation: Operation) -> Line:
    word = "CONSEQUENTIAL" if operation.spec.get("risk") == "consequential" else "WRITE"
    mark: list[str | tuple[str, Style]] = [(word, "write"), " "] if operation.effect == "write" else []
    called = f"{shown(connection.id)} {shown(operation.name)}"
    return line("    ", *mark, (called, "bold"), _arguments(connection, operation))


def _arguments(connection: Connection, operation: Operation) -> str:
    if connection.kind == "files":
        return f"({files.written(operation.name, connection.spec['root'])})"
    if connection.kind not in ("db", "http", "tools") or operation.params is None:
        return ""
    # A query binds its params in order, one of them perhaps twice; a call has each once.
    names = operation.params if connection.kind == "db" else dict.fromkeys(operation.params)
    return f"({shown(', '.join(names))})"


def _query(_: Connection, operation: Operation) -> list[str]:
    return _text(operation.spec["sql"])


def _call(_: Connection, operation: Operation) -> list[str]:
    spec = operation.spec
    told = [f"{shown(spec['method'])} {shown(spec['path'])}"]
    told += [f"query {shown(name)}={shown(value)}" for name, value in spec["query"].items()]
    if "body" in spec:
        first, *rest = _text(json.dumps(plain(spec["body"]), ensure_ascii=False, indent=2))
        told += [f"body {first}", *rest]
    return told


def _tool(connection: Connection, operation: Operation) -> list[str]:
    return plugin_page.of_server(connection, operation)


def _named(connection: Connection, operation: Operation) -> list[str]:
    called = _call(connection, operation) if "method" in operation.spec else []
    return [*plugin_page.named(operation), *called]


def _files(connection: Connection, operation: Operation) -> list[str]:
    what = _VERBS.get(operation.name, "works on files that match")
    return [f"{what} {shown(', '.join(connection.spec['paths']))}"]


_VERBS: Final = {
    "list": "lists the files that match",
    "read": "reads files that match",
    "write": "replaces one existing file that matches",
}
# What is to be said of every operation of a kind at once.
_OF_ALL: Final = {
    "tools": ", the plugin's own tools",
    "mcp": "; a tool gets the caller's arguments as they are",
    "tdt-mcp": "; a tool of the workspace's TDT server gets the caller's arguments as they are",
}
_DETAILS: Final[dict[str, Callable[[Connection, Operation], list[str]]]] = {
    "db": _query,
    "http": _call,
    "mcp": _tool,
    "tdt-mcp": _tool,
    "files": _files,
    "tools": _named,
}


def _text(text: str) -> list[str]:
    # A tab is as wide as the terminal likes, and would spoil what is measured.
    return shown_lines(text).replace("\t", "    ").split("\n")
