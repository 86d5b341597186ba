"""How a declared HTTP call and its arguments become the one method, URL and body that are sent."""

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from helm_cli import kinds
from helm_cli.grammar import template, url
from helm_cli.kinds import check_names, check_scalars, object_schema, scalar, shown
from helm_cli.model.envelope import JSON
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.jsontext import Json, Scalar
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Service

# In characters, all of them ASCII: as much as httpx sends, and far more than services take.
MOST_CHARACTERS: Final = 65_536


def plan(
    extension: Extension,
    connection: Connection,
    operation: Operation,
    arguments: dict[str, Json],
    service: Service,
    most: int = kinds.MOST_CHARACTERS,
) -> Plan:
    """The request with its placeholders filled (contract, HTTP; design, section 8).

    `request` is `{"method", "url", "body"}`: the whole URL under the base URL of the service, and the JSON text of
    the body in ASCII, absent where none is declared. HelmError "refused" when an argument is unknown, no scalar or a
    text of more than `most` characters, or a path value is missing, empty, or leaves its place in the path.
    """
    check_names(operation, arguments)
    check_scalars(arguments, most)
    return Plan(
        kind="http",
        effect=operation.effect,
        extension=extension.id,
        connection=connection.id,
        operation=operation.name,
        group=connection.group,
        profile=connection.profile,
        driver="http",
        shape=JSON,
        title="Confirm request",
        verb="Send",
        noun="call",
        request=_filled(operation, arguments, service),
    )


def _filled(operation: Operation, arguments: dict[str, Json], service: Service) -> dict[str, Json]:
    values: dict[str, Any] = arguments
    request: dict[str, Json] = {
        "method": operation.spec["method"],
        "url": service.base_url + _path(operation, values) + _query(operation, values),
    }
    if len(str(request["url"])) > MOST_CHARACTERS:
        raise HelmError(
            "refused", f"the arguments of {operation.name} make its URL longer than {MOST_CHARACTERS:,} characters"
        )
    if "body" in operation.spec:
        # ASCII, so that what a terminal shows are the bytes that are sent.
        body = template.fill_body(operation.spec["body"], values)
        request["body"] = json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return request


def schema(connection: Connection, operation: Operation, most: int = kinds.MOST_CHARACTERS) -> dict[str, Json]:
    """A value for each placeholder, a text of at most so many characters; one in the path is required, never null."""
    needed = dict.fromkeys(operation.spec["path_names"])
    names = dict.fromkeys(operation.params or ())
    return object_schema({name: scalar(null=name not in needed, most=most) for name in names}, needed)


def _path(operation: Operation, values: Mapping[str, Scalar]) -> str:
    path: str = operation.spec["path"]
    for name in operation.spec["path_names"]:
        if values.get(name) is None:
            raise HelmError("refused", f"{operation.name} needs the argument {shown(name)}, which is part of its path")
        if values[name] == "":
            raise HelmError("refused", f"the argument {shown(name)} is empty, but is part of the path; give it a text")
    if url.climbs(template.fill(path, lambda name: _text(values[name]))):
        raise HelmError(
            "refused", f'the arguments of {operation.name} make a "." or ".." segment of its path, which is not allowed'
        )
    return template.fill(path, lambda name: quote(_text(values[name]), safe=""))


def _query(operation: Operation, values: Mapping[str, Scalar]) -> str:
    """The query with its "?"; a parameter with a placeholder whose argument is missing or null is left out."""
    query: Mapping[str, str] = operation.spec["query"]
    pairs = [
        f"{quote(key, safe='')}={quote(template.fill(value, lambda name: _text(values[name])), safe='')}"
        for key, value in query.items()
        if all(values.get(name) is not None for name in template.names(value))
    ]
    return "?" + "&".join(pairs) if pairs else ""


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)
