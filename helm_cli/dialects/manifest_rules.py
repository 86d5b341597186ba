"""The rules of manifest.json that no schema can say: what depends on another field, and what has a grammar.

Every rule looks only at values of the right shape; a wrong shape is the schema's to tell.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from helm_cli.dialects.faults import Path, Trouble, dotted, quoted, subject, visible
from helm_cli.grammar import glob, sql, template, url
from helm_cli.model.profile import ENGINES

_MOST_VALUES: Final = 20_000
_READS: Final = ("GET", "POST")
_WRITES: Final = ("POST", "PUT", "PATCH", "DELETE")


def too_large(document: Any) -> bool:
    """Whether there are more connections, or more in them, than any check would end on soon."""
    level, count = [document.get("connections") if isinstance(document, dict) else None], 0
    while level:
        count += len(level)
        if count > _MOST_VALUES:
            return True
        parts = (
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, (dict, list))
        )
        level = [part for inner in parts for part in inner]
    return False


def troubles(document: Any) -> Iterator[Trouble]:
    """What the rules find wrong, in no order."""
    if not isinstance(document, dict):
        return
    entries = document.get("connections")
    connections = [
        (("connections", index), entry)
        for index, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    ]
    yield from _ids(connections)
    for path, connection in connections:
        kind = connection.get("kind")
        if isinstance(kind, str) and kind in _KINDS:
            yield from _KINDS[kind](path, connection)
    permissions = document.get("permissions")
    if not (isinstance(permissions, dict) and permissions.get("write") is True):
        for path, connection in connections:
            yield from _unpermitted(path, connection)


def _ids(connections: Sequence[tuple[Path, Mapping[str, Any]]]) -> Iterator[Trouble]:
    first: dict[str, Path] = {}
    for path, connection in connections:
        name = connection.get("id")
        if not isinstance(name, str):
            continue
        if name in first:
            both = f"{dotted(first[name])} and {dotted(path)}"
            yield Trouble(
                (*path, "id"), f"the id {quoted(name)} is used twice, by {both}; ids are unique in a manifest"
            )
        first.setdefault(name, path)


def _unpermitted(path: Path, connection: Mapping[str, Any]) -> Iterator[Trouble]:
    for place, what in _declared_writes(path, connection):
        yield Trouble(
            place, f'{what} is a write; declare "permissions": {{ "write": true }} at the top of the manifest'
        )


def _declared_writes(path: Path, connection: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Each write of a connection: where it is declared, and what it is called."""
    kind = connection.get("kind")
    if kind in ("http", "db"):
        section = "calls" if kind == "http" else "queries"
        for name, declared in _entries(connection.get(section)):
            if declared.get("write") is True:
                yield (*path, section, name, "write"), quoted(name)
    section = {"mcp": "writes", "tdt-mcp": "writes", "files": "operations"}.get(str(kind), "")
    for index, name in _texts(connection.get(section)):
        if section == "writes" or name == "write":
            yield (*path, section, index), quoted(name)


def _tools(path: Path, connection: Mapping[str, Any]) -> Iterator[Trouble]:
    reads = {name for _, name in _texts(connection.get("operations"))}
    for index, name in _texts(connection.get("writes")):
        if name in reads:
            yield Trouble(
                (*path, "writes", index),
                f'the tool {quoted(name)} stands in "operations" too; list it in one of the two',
            )
    for section in ("operations", "writes"):
        for index, name in _texts(connection.get(section)):
            if not name.isprintable() or name != name.strip():
                place = (*path, section, index)
                yield Trouble(place, f"{subject(place)} must have only visible characters, and no space at its ends")


def _http(path: Path, connection: Mapping[str, Any]) -> Iterator[Trouble]:
    for name, call in _entries(connection.get("calls")):
        place = (*path, "calls", name)
        yield from _method(place, call)
        yield from _clause((*place, "path"), call.get("path"), url.path_fault)
        if "body" in call and (fault := template.body_fault(call["body"])):
            yield Trouble((*place, "body"), f'"body" {fault}')
    oauth2 = connection.get("oauth2")
    if isinstance(oauth2, dict):
        yield from _clause((*path, "oauth2", "authorizeUrl"), oauth2.get("authorizeUrl"), url.authorize_fault)
        yield from _clause((*path, "oauth2", "tokenUrl"), oauth2.get("tokenUrl"), url.token_fault)


def _method(place: Path, call: Mapping[str, Any]) -> Iterator[Trouble]:
    method, write = call.get("method"), call.get("write", False)
    at, name = (*place, "method"), quoted(str(place[-1]))
    if method == "GET" and "body" in call:
        yield Trouble((*place, "body"), f"{name} is a GET, which has no body; read with POST, or leave the body out")
    if write is True and method == "GET":
        yield Trouble(at, f"{name} is a write, and a write is POST, PUT, PATCH or DELETE, never GET")
    if write is False and method in _WRITES and method not in _READS:
        yield Trouble(at, f'{name} is a {method} without "write": true; a read is GET, or POST with a declared body')
    if write is False and method == "POST" and "body" not in call:
        yield Trouble(at, f'{name} is a POST without a "body"; a read is GET, or POST with a declared body')


def _files(path: Path, connection: Mapping[str, Any]) -> Iterator[Trouble]:
    for index, pattern in _texts(connection.get("paths")):
        yield from _clause((*path, "paths", index), pattern, glob.fault)


def _db(path: Path, connection: Mapping[str, Any]) -> Iterator[Trouble]:
    engine = next((known for known in ENGINES if known == connection.get("engine")), None)
    for name, query in _entries(connection.get("queries")):
        statement, params = query.get("sql"), query.get("params", [])
        if engine is None or not isinstance(statement, str):
            continue
        scan = sql.scan(statement, engine)
        if scan.fault is not None:
            yield Trouble(
                (*path, "queries", name, "sql"), f"{quoted(name)} cannot be read as {engine} SQL: {visible(scan.fault)}"
            )
        elif scan.statements != 1:
            yield Trouble((*path, "queries", name, "sql"), _statements(name, scan.statements))
        elif isinstance(params, list) and len(params) != scan.placeholders:
            place = (*path, "queries", name, "params" if "params" in query else "sql")
            yield Trouble(place, _count(name, engine, scan.placeholders, len(params)))


def _statements(name: str, count: int) -> str:
    has = "no statement" if count == 0 else f"{count} statements"
    return f"{quoted(name)} has {has}; a query is exactly one statement"


def _count(name: str, engine: str, placeholders: int, params: int) -> str:
    mark = "$1, $2 …" if engine == "postgres" else "?"
    has = f"{placeholders} placeholder{'' if placeholders == 1 else 's'} ({mark} for {engine})"
    return f'{quoted(name)} has {has}, but "params" names {params}; name one argument for each, in order'


_KINDS: Final = {"tdt-mcp": _tools, "mcp": _tools, "http": _http, "files": _files, "db": _db}


def _clause(path: Path, value: Any, fault: Callable[[str], str | None]) -> Iterator[Trouble]:
    if isinstance(value, str) and (reason := fault(value)) is not None:
        yield Trouble(path, f"{subject(path)} {reason}")


def _entries(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, dict):
        yield from ((name, entry) for name, entry in value.items() if isinstance(entry, dict))


def _texts(value: Any) -> Iterator[tuple[int, str]]:
    if isinstance(value, list):
        yield from ((index, entry) for index, entry in enumerate(value) if isinstance(entry, str))
