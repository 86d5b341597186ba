"""How a plugin's named tool, bound by the user to a service, becomes one HTTP request, and why it may be none."""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl

from helm_cli.grammar import template, url
from helm_cli.kinds import http
from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_READS: Final = ("GET", "POST")
# In characters of a text: as long as the body of a draft may be.
MOST_CHARACTERS: Final = 262_144


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    target: Service,
) -> Plan:
    """The request of a bound tool, its placeholders filled as those of an HTTP call are (design, section 10).

    `request` is as in `http.plan`; a text may have 262,144 characters. HelmError "refused" as there, and where the tool
    cannot be called (`problem`).
    """
    if (wrong := problem(extension.id, operation)) is not None:
        raise HelmError("refused", wrong)
    return http.plan(extension, connection, operation, arguments, target, MOST_CHARACTERS)._replace(noun="tool")


def schema(connection: Connection, operation: Operation) -> dict[str, Json]:
    """A value for each placeholder of a bound tool; of another nothing is known."""
    if not is_bound(operation):
        return {"type": "object"}
    return http.schema(connection, operation, MOST_CHARACTERS)


def is_bound(operation: Operation) -> bool:
    return "method" in operation.spec


def problem(extension: str, operation: Operation) -> str | None:
    """Why nobody can call this tool, as a sentence that begins with its name; None where it can be called."""
    name = operation.name
    if operation.spec.get("kind") == "builtin":
        return f"{name} is a builtin tool of CoderHelm, and this helm has none; leave it out, or declare it as http"
    if not is_bound(operation):
        step = f"helm plugin bind {extension} {name} --service S --method M --path P"
        return f"{name} is not bound to a service for what is approved; run {step}"
    wrong = _misfit(operation, str(operation.spec["method"]), has_body="body" in operation.spec)
    return None if wrong is None else f"{name} cannot be called as it is bound: {wrong}; bind it again"


def bound(operation: Operation, to: Bound) -> Operation:
    """The tool with what it is bound to: `spec` then has the members of an http call, and "service".

    Raises ValueError for a binding that has a `fault`.
    """
    path, query = _parts(to.path)
    names = template.names(path)
    spec = {
        **operation.spec,
        "service": to.service,
        "method": to.method,
        "path": path,
        "query": query,
        "path_names": names,
    }
    used = [*names, *(name for value in query.values() for name in template.names(value))]
    if to.body is not None:
        spec["body"] = jsontext.parse(to.body)
        used += template.body_names(spec["body"])
    return operation._replace(params=tuple(dict.fromkeys(used)), spec=spec)


def fault(operation: Operation, to: Bound) -> str | None:
    """Why a tool cannot be bound so, as a sentence; None if it can. The rules are those of a declared HTTP call."""
    if operation.spec.get("kind") != "http":
        return f"{operation.name} is a builtin tool; only tools of kind http are bound"
    if to.method not in METHODS:
        return f"{to.method} is no method of these calls; take one of {', '.join(METHODS)}"
    return _misfit(operation, to.method, has_body=to.body is not None) or _path_fault(to.path) or _body_fault(to.body)


def _misfit(operation: Operation, method: str, *, has_body: bool) -> str | None:
    """How a method and a tool's risk do not go together: a read is never asked about (contract, HTTP)."""
    risk = operation.spec.get("risk")
    if method == "GET" and has_body:
        return "a GET has no body"
    if risk != "read":
        return f"its risk is {risk}, and a GET is for tools that only read" if method == "GET" else None
    if method not in _READS:
        return f"its risk is read, so it runs without asking, and a {method} writes; a read is GET, or POST with a body"
    return "its risk is read, and a POST that reads has a body" if method == "POST" and not has_body else None


def _path_fault(text: str) -> str | None:
    try:
        path, query = _parts(text)
    except ValueError as error:
        return f"the query of the path {error}"
    if (wrong := url.path_fault(path)) is not None:
        return f"the path {wrong}"
    if any("{" in name or "}" in name for name in query):
        return "the names in the query of the path must hold no braces"
    if any(set("{}") & set(template.without(value)) for value in query.values()):
        return "the query of the path has a brace that belongs to no {name} placeholder"
    return None


def _body_fault(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        body = jsontext.parse(text)
    except ValueError as error:
        return f"the body is no JSON: {error}"
    if (wrong := template.body_fault(body)) is not None:
        return f"the body {wrong}"
    for part in _strings(body):
        if template.names(part) and template.exact(part) is None:
            name = template.names(part)[0]
            told = f'only a whole string of the body is filled in: "{{{name}}}", and nothing beside it'
            return f"the body would send {{{name}}} as it is written: {told}"
    return None


def _strings(body: Json) -> Iterator[str]:
    """Every text of a body, keys too."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict):
        # A key is never filled in, not even as a whole.
        yield from (f"{name} " for name in body)
    parts = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    for part in parts:
        yield from _strings(part)


def _parts(text: str) -> tuple[str, Mapping[str, str]]:
    """The path, and the values of its query by name. Raises ValueError, as a clause that follows what it is about."""
    path, mark, written = text.partition("?")
    if not mark:
        return path, {}
    if "#" in written:
        raise ValueError('must not contain "#"')
    try:
        pairs = parse_qsl(written, keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise ValueError("must be written name=value&name=value") from None
    query = dict(pairs)
    if len(query) < len(pairs):
        raise ValueError("has a name twice")
    return path, query


def narrowed(connection: Connection, operation: Operation) -> Connection:
    """The connection of this one tool alone, to the service that it is bound to; as it is where it is not bound."""
    if not is_bound(operation):
        return connection
    oauth2 = {"oauth2": operation.spec["oauth2"]} if "oauth2" in operation.spec else {}
    return Connection(connection.id, connection.kind, "service", str(operation.spec["service"]), (operation,), oauth2)
