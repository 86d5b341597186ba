"""What MCP servers themselves say of the tools that an extension declares, and how that differs from what was shown."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from helm_cli.broker import expansion, secrets
from helm_cli.broker.stores import Stores
from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Server
from helm_cli.model.review import Change, Listed, Profiled, Sort
from helm_cli.model.tool import Tool, tool
from helm_cli.store import profiles
from helm_cli.store.tools import Pins

# What a review waits for: a server's start, at most that of its profile, and then its list.
START_SECONDS: Final = 30
LIST_SECONDS: Final = 5.0
MOST_SECONDS: Final = START_SECONDS + LIST_SECONDS

# Of a long text, this much is shown around the place where it begins to differ.
_BEFORE: Final = 100
_AROUND: Final = 2000

# A definition may have any members: so many are told one by one, by so much of their names.
_MOST_KEYS: Final = 8
_MOST_NAME: Final = 40

# A hint of a definition -> what it means that the server gives it now, and how that and its end are told.
_HINTS: Final[tuple[tuple[str, Sort, str, str], ...]] = (
    ("readOnlyHint", "narrowed", "now marks it as read-only", "no longer marks it as read-only"),
    ("destructiveHint", "widened", "now marks it as destructive", "no longer marks it as destructive"),
    ("openWorldHint", "widened", "now says that it reaches the outside", "no longer says that it reaches the outside"),
)
_NAMED: Final = ("name", "title", "description")
_CALLED: Final = {"inputSchema": "input schema", "outputSchema": "output schema", "annotations": "hints"}
# Of a definition, what is remembered word by word; of the rest its digest is, which tells that it changed.
_MOST_MEMBER: Final = 64 * 1024
_MOST_MEMBERS: Final = 64

# What says nothing of what a tool does.
_UNTOLD: Final = ("_meta", "icons", "name")


# The tools that a server lists, or why it did not.
Answer: TypeAlias = list[Tool] | str


class _Question(NamedTuple):
    """One server to be asked for its tools, and for which connections; `problem` says why it cannot be."""

    target: Server
    secret: str | None
    connections: list[Connection]
    problem: str = ""


def ask(stores: Stores, workspace: str, connections: Iterable[Profiled]) -> tuple[Listed, ...]:
    """Ask the server of each configured mcp connection for its tools, all of them side by side.

    It takes at most MOST_SECONDS and what stopping a server takes. A server that cannot be asked is no error.
    """
    questions = _questions(stores, workspace, connections)
    if not questions:
        return ()
    asked = [question for question in questions if not question.problem]
    if asked:
        servers = ", ".join(question.target.name for question in asked)
        stores.progress(f"asking the MCP server{'s' if len(asked) > 1 else ''} {servers} what the tools do")
    answers = _side_by_side([_asking(question) for question in questions])
    return tuple(
        _listed(connection, answer)
        for question, answer in zip(questions, answers, strict=True)
        for connection in question.connections
    )


def seen(connection: Connection, listed: Listed) -> Pins:
    """What a person was shown of the tools of a connection, as it is remembered with their yes.

    A glob stands among them by itself: that says that the server was asked, where it has no tool for it.
    """
    found = {name: _bounded(one.definition) for name, one in listed.tools.items()}
    names = (
        *(glob for glob, _ in expansion.globs(connection)),
        *(operation.name for operation in connection.operations),
    )
    return {name: found.get(name) for name in names}


def _bounded(definition: dict[str, Json]) -> dict[str, Json]:
    """A definition of which no member is long, and which has not many of them."""
    kept: dict[str, Json] = {}
    for name in sorted(definition, key=lambda name: name not in _CALLED and name not in _NAMED)[:_MOST_MEMBERS]:
        size = len(jsontext.dump(definition[name]))
        long = f"{size:,} characters with the SHA-256 {jsontext.digest(definition[name])}"
        kept[name] = definition[name] if size <= _MOST_MEMBER else long
    return kept


def unseen(connection: Connection, before: Pins) -> Pins:
    """What is left of what was shown before, where nobody was shown what the server says now: not what globs let in."""
    return {operation.name: before[operation.name] for operation in connection.operations if operation.name in before}


def remembered(connections: Iterable[Connection], pins: Mapping[str, Pins]) -> tuple[Listed, ...]:
    """What was shown when the extension was approved, as if the servers were asked now."""
    return tuple(
        _listed(connection, [found for entry in pins[connection.id].values() if (found := tool(entry)) is not None])
        for connection in connections
        if connection.id in pins
    )


def changes(connections: Iterable[Connection], servers: Iterable[Listed], pins: Mapping[str, Pins]) -> Iterator[Change]:
    """How the declared tools differ from what was shown when the extension was approved.

    A connection whose server was not asked then counts as changed: nobody has said yes to what it says now.
    """
    asked = {server.connection: server for server in servers if not server.problem}
    for connection in connections:
        if connection.id not in asked:
            continue
        if connection.id not in pins:
            yield Change("changed", f"{connection.id}: what its server says of its tools is seen for the first time")
            continue
        now = seen(connection, asked[connection.id])
        yield from _let_in(connection, pins[connection.id], now)
        for name, before in pins[connection.id].items():
            if name in now:
                yield from _tool(f"{connection.id} {name}", before, now[name])


def _let_in(connection: Connection, before: Pins, now: Pins) -> Iterator[Change]:
    """The tools that the globs of a connection let in now and not when it was approved, and the other way round."""
    for operation in connection.operations:
        globs = operation.spec.get("let_in_by", ())
        if globs and before.get(operation.name) is None:
            told = f"{connection.id}: new tool {operation.name} of risk {operation.spec['risk']}, let in by {globs[0]}"
            yield Change("widened", told)
    for name, definition in before.items():
        if name not in now and definition is not None and expansion.lets_in(connection, name):
            yield Change("narrowed", f"{connection.id} {name}: the server no longer has this tool")


def _questions(stores: Stores, workspace: str, connections: Iterable[Profiled]) -> list[_Question]:
    """One question for each profile, whichever connections use it."""
    found: dict[str, _Question] = {}
    for connection, state, _ in connections:
        if connection.kind != "mcp" or state != "configured" or connection.profile is None:
            continue
        if connection.profile not in found:
            found[connection.profile] = _question(stores, workspace, connection.profile)
        found[connection.profile].connections.append(connection)
    return list(found.values())


def _question(stores: Stores, workspace: str, name: str) -> _Question:
    target = profiles.load(stores.home, "mcp", name)
    target = target._replace(folder=workspace, start_seconds=min(target.start_seconds, START_SECONDS))
    try:
        # Before the threads begin: a keychain may have to ask the person.
        return _Question(target, secrets.read(stores, target), [])
    except HelmError as error:
        return _Question(target, None, [], error.message)


def _asking(question: _Question) -> Callable[[], Answer]:
    def answer() -> Answer:
        if question.problem:
            return question.problem
        from helm_cli.drivers import mcp

        try:
            return mcp.tools(question.target, question.secret, mcp.LIMITS._replace(seconds=LIST_SECONDS))
        except HelmError as error:
            return error.message

    return answer


def _side_by_side(questions: list[Callable[[], Answer]]) -> list[Answer]:
    """The answers to all questions, each asked in a thread of its own that nobody waits for after Ctrl-C."""
    # Most reviews ask nobody, and do not pay for it.
    from concurrent.futures import Future

    futures: list[Future[Answer]] = [Future() for _ in questions]

    def asking(question: Callable[[], Answer], future: Future[Answer]) -> None:
        try:
            future.set_result(question())
        except BaseException as error:
            future.set_exception(error)

    for pair in zip(questions, futures, strict=True):
        threading.Thread(target=asking, args=pair, daemon=True).start()
    return [future.result() for future in futures]


def _listed(connection: Connection, answer: Answer) -> Listed:
    if isinstance(answer, str):
        return Listed(connection.id, {}, (), answer)
    declared = {operation.name for operation in connection.operations}
    tools = {one.name: one for one in answer if one.name in declared or expansion.lets_in(connection, one.name)}
    return Listed(connection.id, tools, tuple(one.name for one in answer))


def _tool(where: str, before: dict[str, Json] | None, after: dict[str, Json] | None) -> Iterator[Change]:
    if before is None and after is not None:
        yield Change("widened", f"{where}: the server now has this tool")
    if before is not None and after is None:
        yield Change("narrowed", f"{where}: the server no longer has this tool")
    if before is None or after is None:
        return
    hints = list(_hints(where, before.get("annotations"), after.get("annotations")))
    yield from hints
    # Where nothing was told of the hints, they differ in what has no line of its own.
    silent = {*_UNTOLD, *(("annotations",) if hints else ())}
    keys = sorted(key for key in (before.keys() | after.keys()) - silent if before.get(key) != after.get(key))
    for key in keys[:_MOST_KEYS]:
        told = f"{where}: the server changed its {_CALLED.get(key, key[:_MOST_NAME])}"
        yield Change("changed", told, *_around(before.get(key), after.get(key)))
    if len(keys) > _MOST_KEYS:
        yield Change("changed", f"{where}: the server changed {len(keys) - _MOST_KEYS} more parts of its definition")


def _hints(where: str, before: Json, after: Json) -> Iterator[Change]:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for key, sort, given, ended in _HINTS:
        was, becomes = old.get(key) is True, new.get(key) is True
        if becomes and not was:
            yield Change(sort, f"{where}: the server {given}")
        elif was and not becomes:
            yield Change("narrowed" if sort == "widened" else "widened", f"{where}: the server {ended}")


def _around(before: Json, after: Json) -> tuple[str | None, str | None]:
    """Both values as texts, of long ones the part where they begin to differ."""
    old, new = _text(before), _text(after)
    if max(len(old or ""), len(new or "")) <= _AROUND or old is None or new is None:
        return _cut(old, 0), _cut(new, 0)
    pairs = enumerate(zip(old, new, strict=False))
    start = max(next((at for at, (one, other) in pairs if one != other), min(len(old), len(new))) - _BEFORE, 0)
    return _cut(old, start), _cut(new, start)


def _cut(text: str | None, start: int) -> str | None:
    if text is None or (start == 0 and len(text) <= _AROUND):
        return text
    end = start + _AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _text(value: Json) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return jsontext.dump(jsontext.repaired(value))
