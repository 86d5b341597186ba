"""What `state.db` and the drafts beside it know of names: extensions, calls, and all that waits for a person."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from helm_cli.complete import declared, drafts, place
from helm_cli.complete.declared import Declared
from helm_cli.complete.line import Line
from helm_cli.model.extension import Extension, Operation
from helm_cli.model.plugin import TOOLS

Candidates = Iterable[tuple[str, str]]
_One = TypeVar("_One")

# As much unrest of a clock as a token's life is not lengthened by (`store/confirmations.py`).
_CLOCK_SECONDS: Final = 5.0


class Asked(NamedTuple):
    """One question: the home, its state, and what is typed so far."""

    home: str
    db: sqlite3.Connection
    line: Line

    @property
    def workspace(self) -> str:
        return place.workspace(self.line.value("--workspace"), self._is_registered)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, values).fetchall()

    def _is_registered(self, path: str) -> bool:
        return bool(self.rows("SELECT 1 FROM workspaces WHERE path = ?", path))


def _plugins(asked: Asked) -> Candidates:
    sql = "SELECT extension, enabled FROM approvals WHERE workspace = ? ORDER BY extension"
    for extension, enabled in asked.rows(sql, asked.workspace):
        yield extension, "" if enabled else "disabled"


def _teams(asked: Asked) -> Candidates:
    sql = (
        "SELECT extension, enabled FROM approvals WHERE workspace = ? AND digest IN"
        " (SELECT digest FROM contents WHERE path = 'plugin.yaml') ORDER BY extension"
    )
    for extension, enabled in asked.rows(sql, asked.workspace):
        yield extension, "" if enabled else "disabled"


def _connections(asked: Asked) -> Candidates:
    for extension, connection in _declared(asked):
        yield connection.id, f"{connection.kind} of {extension}"


def _operations(asked: Asked) -> Candidates:
    wanted = asked.line.argument(0) or asked.line.value("--connection")
    every = (connection for _, connection in _declared(asked))
    for connection in every if wanted is None else _first(one for one in every if one.id == wanted):
        yield from ((operation.name, operation.effect) for operation in connection.operations)


def _arguments(asked: Asked) -> Candidates:
    connection, name, workspace = asked.line.argument(0), asked.line.argument(1), asked.workspace
    every = declared.connections(asked.db, workspace, asked.line.value("--plugin"))
    for one in _first(one for one in every if one.connection.id == connection):
        operation = one.connection.operation(name or "")
        if operation is not None:
            yield from _open(asked, declared.arguments(asked.db, workspace, one, operation))


def _confirmations(asked: Asked) -> Candidates:
    now = time.time()
    sql = (
        "SELECT id, what, extension, connection, operation, workspace FROM confirmations"
        " WHERE state = 'waiting' AND listed AND expires > ? AND created <= ? ORDER BY created, rowid"
    )
    only = asked.workspace if asked.line.value("--workspace") else None
    for id_, what, extension, connection, operation, workspace in asked.rows(sql, now, now + _CLOCK_SECONDS):
        if only in (None, workspace):
            yield id_, " ".join(filter(None, (what, extension, connection, operation)))


def _drafts(asked: Asked) -> Candidates:
    return ((draft.id, f"{draft.plugin}: {draft.title}") for draft in drafts.every(asked.home))


def _runs(asked: Asked) -> Candidates:
    sql = "SELECT id, extension, trigger FROM runs WHERE workspace = ? ORDER BY started_at DESC, id"
    return ((id_, f"{extension}, {trigger}") for id_, extension, trigger in asked.rows(sql, asked.workspace))


def _projects(asked: Asked) -> Candidates:
    return asked.rows("SELECT id, path FROM projects WHERE workspace = ? ORDER BY id", asked.workspace)


def _tools(asked: Asked) -> Candidates:
    for operation in _named_tools(_plugin(asked)):
        if operation.spec["kind"] == "http":
            yield operation.name, str(operation.spec["risk"])


def _settings(asked: Asked) -> Candidates:
    if (plugin := _plugin(asked)) is not None and plugin.plugin is not None:
        yield from ((setting.key, setting.type) for setting in plugin.plugin.settings)


def _roles(asked: Asked) -> Candidates:
    if (plugin := _plugin(asked)) is not None and plugin.plugin is not None:
        yield from ((one.role, f"approves {one.via}") for one in plugin.plugin.publishes if one.role is not None)


def _fields(asked: Asked) -> Candidates:
    if (plugin := _plugin(asked)) is not None and plugin.plugin is not None:
        for trigger in plugin.plugin.triggers:
            yield from _open(asked, trigger.form)


def _schedules(asked: Asked) -> Candidates:
    if (plugin := _plugin(asked)) is not None and plugin.plugin is not None:
        yield from ((trigger.cron, "") for trigger in plugin.plugin.triggers if trigger.on == "schedule")


def _via(asked: Asked) -> Candidates:
    plugin = _of_draft(asked)
    if plugin is not None and plugin.plugin is not None:
        yield from ((one.via, one.words()) for one in plugin.plugin.publishes)


def _publishing(asked: Asked) -> Candidates:
    """What the tool of a draft needs beside what the draft itself says."""
    plugin = _of_draft(asked)
    if plugin is None or plugin.plugin is None:
        return
    ways = [one.via for one in plugin.plugin.publishes]
    via = asked.line.value("--via") or (ways[0] if len(ways) == 1 else None)
    for operation in _named_tools(plugin):
        if operation.name == via:
            one = Declared(plugin.id, next(found for found in plugin.connections if found.id == TOOLS))
            names = declared.arguments(asked.db, asked.workspace, one, operation)
            yield from _open(asked, (name for name in names if name not in drafts.OWN))


def _declared(asked: Asked) -> Iterator[Declared]:
    return declared.connections(asked.db, asked.workspace, asked.line.value("--plugin"))


def _plugin(asked: Asked) -> Extension | None:
    return declared.plugin(asked.db, asked.workspace, asked.line.argument(0) or "")


def _of_draft(asked: Asked) -> Extension | None:
    draft = drafts.find(asked.home, asked.line.argument(0) or "")
    return None if draft is None else declared.plugin(asked.db, asked.workspace, draft.plugin)


def _named_tools(plugin: Extension | None) -> tuple[Operation, ...]:
    connection = plugin.connection(TOOLS) if plugin is not None else None
    return connection.operations if connection is not None else ()


def _first(found: Iterator[_One]) -> Iterator[_One]:
    """One is enough: a call of a connection that two extensions have is refused, unless it says which."""
    return islice(found, 1)


def _open(asked: Asked, names: Iterable[str]) -> Candidates:
    """`NAME=` for each argument that was not given yet."""
    given = [*asked.line.options.get("--arg", ()), *asked.line.options.get("--arg-str", ())]
    done = {one.partition("=")[0] for one in given}
    return ((f"{name}=", "") for name in names if name not in done and "=" not in name)


KINDS: Final[dict[str, Callable[[Asked], Candidates]]] = {
    "plugin": _plugins,
    "team": _teams,
    "connection": _connections,
    "operation": _operations,
    "argument": _arguments,
    "confirmation": _confirmations,
    "draft": _drafts,
    "run": _runs,
    "project": _projects,
    "tool": _tools,
    "setting": _settings,
    "role": _roles,
    "field": _fields,
    "schedule": _schedules,
    "via": _via,
    "publish": _publishing,
}
