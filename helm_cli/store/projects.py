"""Which folders are projects: those a person registered for a workspace, and those that TDT has registered in it."""

import hashlib
import os
import re
import sqlite3
from pathlib import Path
from typing import Any, Final, NamedTuple

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.store import database
from helm_cli.store import home as homes

ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
# What TDT calls a project: never free for one of helm's own.
_TDT_ID: Final = re.compile(r"[0-9a-f]{64}")
_TDT_CONFIG: Final = os.path.join(".tdt", "config.json")
_TDT_REGISTRY: Final = os.path.join(".tdt", "state", "projects.json")


class Registered(NamedTuple):
    """A project's id and the path it was registered with; `archived` is TDT's own word for one that is put away."""

    id: str
    path: str
    archived: bool = False


def check_id(id: str) -> None:
    """Raises HelmError("usage") for what cannot be the id of a project of helm's."""
    if not ID.fullmatch(id):
        raise HelmError(
            "usage",
            f"{id[:80]!r} cannot be the id of a project: it takes 1 to 64 of a-z, 0-9 and hyphen, the first a letter"
            " or digit",
        )
    if _TDT_ID.fullmatch(id):
        raise HelmError("usage", "64 hexadecimal digits are what TDT calls its projects; take another id")


def add(db: sqlite3.Connection, workspace: str, project: Registered, now: float) -> bool:
    """Register a project by its resolved path; False if the workspace has one of that id. Raises HelmError("state")."""
    check_id(project.id)
    sql = "INSERT OR IGNORE INTO projects (workspace, id, path, added_at) VALUES (?, ?, ?, ?)"
    return database.run(db, sql, (workspace, project.id, project.path, now)) == 1


def of(db: sqlite3.Connection, workspace: str) -> list[Registered]:
    """The projects of a workspace that helm was told of, sorted by id. Raises HelmError("state")."""
    sql = "SELECT id, path FROM projects WHERE workspace = ? ORDER BY id"
    return [Registered(id, path) for id, path in database.rows(db, sql, (workspace,))]


def find(db: sqlite3.Connection, workspace: str, id: str) -> Registered | None:
    """The project of this id that helm was told of. Raises HelmError("state")."""
    found = database.row(db, "SELECT id, path FROM projects WHERE workspace = ? AND id = ?", (workspace, id))
    return Registered(*found) if found else None


def remove(db: sqlite3.Connection, workspace: str, id: str) -> bool:
    """Forget a project; its folder is left alone. False if there was none. Raises HelmError("state")."""
    return database.run(db, "DELETE FROM projects WHERE workspace = ? AND id = ?", (workspace, id)) == 1


def of_tdt(workspace: str) -> list[Registered]:
    """The projects in TDT's own registry, in its order; none where the workspace has none, or is no workspace of TDT's.

    It is read directly, because asking TDT takes a second. Raises HelmError("state") where it cannot be read, or does
    not hold what TDT would accept: then none of it counts.
    """
    path = Path(workspace, _TDT_REGISTRY)
    data = homes.read(path) if os.path.isfile(os.path.join(workspace, _TDT_CONFIG)) else None
    if data is None:
        return []
    try:
        entries = jsontext.parse(data)
        found = [_entry(entry) for entry in entries] if isinstance(entries, list) else None
    except (ValueError, KeyError, TypeError):
        found = None
    if found is None or len({project.id for project in found}) != len(found):
        raise HelmError("state", f"{path} is not a registry of TDT's; look at it with: tdt project list")
    return found


def _entry(entry: Any) -> Registered:
    """One entry as TDT checks it: its id is the SHA-256 of its path."""
    id, path, status = entry["id"], entry["path"], entry.get("status", "active")
    if not os.path.isabs(path) or "\0" in path or id != hashlib.sha256(path.encode()).hexdigest():
        raise ValueError
    if status not in ("active", "archived"):
        raise ValueError
    return Registered(id, path, status == "archived")
