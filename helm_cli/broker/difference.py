"""What an extension may do now that it could not do when it was approved, and the other way round."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from helm_cli.broker import plugin_difference
from helm_cli.model.content import Content
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.review import DECLARED, Change, FileChange, Sort

_ORDER: Final[dict[Sort, int]] = {"widened": 0, "changed": 1, "narrowed": 2}
_NOUNS: Final = {
    "db": "query", "http": "call", "mcp": "tool", "tdt-mcp": "tool", "files": "operation", "tools": "tool",
}  # fmt: skip


def between(old: Extension, new: Extension) -> tuple[Change, ...]:
    """Every difference between two readings of one extension: widened rights first, then changed, then narrowed."""
    return ordered(_all(old, new))


def ordered(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes as they are read: widened rights first, then changed, then narrowed."""
    return tuple(sorted(changes, key=lambda change: _ORDER[change.sort]))


def files(old: Content, new: Content) -> tuple[FileChange, ...]:
    """The covered files that differ, by path."""
    found: list[FileChange] = []
    for path in sorted({*old.files, *new.files}, key=str.encode):
        if path not in old.files:
            found.append(FileChange(path, "added"))
        elif path not in new.files:
            found.append(FileChange(path, "removed"))
        elif old.files[path] != new.files[path]:
            found.append(FileChange(path, "changed"))
    return tuple(found)


def only_line_ends(old: Content, new: Content) -> bool:
    """Whether two contents differ, and in nothing but CRLF for LF (design, section 6)."""
    differing = [change.path for change in files(old, new)]
    return bool(differing) and all(
        path in old.files and path in new.files and _unix(old.files[path]) == _unix(new.files[path])
        for path in differing
    )


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _all(old: Extension, new: Extension) -> Iterator[Change]:
    yield from _extension(old, new)
    for connection in new.connections:
        before = _same(old, connection)
        if before is None:
            yield Change("widened", f"new connection {_presented(connection)}")
        else:
            yield from _connection(before, connection)
    for connection in old.connections:
        if _same(new, connection) is None:
            yield Change("narrowed", f"connection {_presented(connection)} is gone")
    if old.plugin is not None and new.plugin is not None:
        yield from plugin_difference.between(old.plugin, new.plugin)


def _extension(old: Extension, new: Extension) -> Iterator[Change]:
    if new.write_permitted and not old.write_permitted:
        yield Change("widened", "the extension now declares that it may write")
    if old.write_permitted and not new.write_permitted:
        yield Change("narrowed", "the extension no longer declares that it may write")
    for what in ("name", "version", "description", "dialect"):
        if getattr(old, what) != getattr(new, what):
            yield Change("changed", f"the {what} changed", getattr(old, what), getattr(new, what))


def _same(extension: Extension, connection: Connection) -> Connection | None:
    """The extension's connection of this id and kind: with another kind it is another connection."""
    found = extension.connection(connection.id)
    return found if found is not None and found.kind == connection.kind else None


def _presented(connection: Connection) -> str:
    writes = sum(operation.effect == "write" for operation in connection.operations)
    reads = len(connection.operations) - writes
    globs = len(connection.spec.get("globs", ()))
    counts = [_count(reads, "read"), _count(writes, "write"), *([_count(globs, "glob")] if globs else [])]
    return f"{connection.id} ({connection.kind}{_profile(connection)}), {', '.join(counts)}"


def _profile(connection: Connection) -> str:
    return "" if connection.profile is None else f", profile {connection.profile}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _connection(old: Connection, new: Connection) -> Iterator[Change]:
    if old.profile != new.profile:
        yield Change("widened", f"{new.id}: it now uses another profile", old.profile, new.profile)
    if old.spec.get("engine") != new.spec.get("engine"):
        yield Change("changed", f"{new.id}: its engine changed", old.spec.get("engine"), new.spec.get("engine"))
    if old.spec.get("root") != new.spec.get("root"):
        yield Change("widened", f"{new.id}: its root changed", old.spec.get("root"), new.spec.get("root"))
    yield from _listed(new.id, "path", old.spec.get("paths", ()), new.spec.get("paths", ()))
    yield from _oauth2(new.id, old.spec.get("oauth2"), new.spec.get("oauth2"))
    if new.kind == "tools" or "globs" in new.spec:
        yield from plugin_difference.tools(old, new)
    else:
        yield from _operations(old, new)


def _oauth2(where: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Change]:
    if old is None and new is not None:
        yield Change("widened", f"{where}: it now signs in with OAuth2")
    if new is None and old is not None:
        yield Change("changed", f"{where}: it no longer signs in with OAuth2")
    sort: Sort = "changed" if new is None else "widened"
    old, new = old or {}, new or {}
    for key, told in (("authorizeUrl", "sign-in URL"), ("tokenUrl", "token URL")):
        if old.get(key) != new.get(key):
            yield Change(sort, f"{where}: its OAuth2 {told} changed", old.get(key), new.get(key))
    yield from _listed(where, "OAuth2 scope", old.get("scopes", ()), new.get("scopes", ()))


def _listed(where: str, noun: str, old: Iterable[str], new: Iterable[str]) -> Iterator[Change]:
    before, after = set(old), set(new)
    for added in sorted(after - before):
        yield Change("widened", f"{where}: new {noun} {added}")
    for removed in sorted(before - after):
        yield Change("narrowed", f"{where}: {noun} {removed} is gone")


def _operations(old: Connection, new: Connection) -> Iterator[Change]:
    noun = _NOUNS.get(new.kind, "operation")
    for operation in new.operations:
        before = old.operation(operation.name)
        if before is None:
            told = f"new write {noun}" if operation.effect == "write" else f"new {noun}"
            yield Change("widened", f"{new.id}: {told} {operation.name}")
        else:
            yield from _operation(f"{new.id} {operation.name}", new.kind, before, operation)
    for operation in old.operations:
        if new.operation(operation.name) is None:
            yield Change("narrowed", f"{new.id}: {noun} {operation.name} is gone")


def _operation(where: str, kind: str, old: Operation, new: Operation) -> Iterator[Change]:
    if old.effect == "read" and new.effect == "write":
        yield Change("widened", f"{where}: the read became a write")
    if old.effect == "write" and new.effect == "read":
        # Nothing but the list it stands in makes an MCP tool ask: as a read it runs unconfirmed.
        unasked = kind in ("mcp", "tdt-mcp")
        told = "the write became a read, which is never confirmed" if unasked else "the write became a read"
        yield Change("widened" if unasked else "narrowed", f"{where}: {told}")
    for key in DECLARED:
        before, after = _text(old.spec, key), _text(new.spec, key)
        if before != after:
            yield Change("changed", f"{where}: its {'SQL' if key == 'sql' else key} changed", before, after)
    if kind == "db" and old.params != new.params:
        before, after = ", ".join(old.params or ()), ", ".join(new.params or ())
        yield Change("changed", f"{where}: its params changed", before, after)


def _text(spec: Mapping[str, Any], key: str) -> str | None:
    """A member as a reader compares it; None where it is not declared, which differs from a declared null."""
    if key not in spec:
        return None
    value = spec[key]
    return value if isinstance(value, str) and key != "body" else json.dumps(value, ensure_ascii=False)
