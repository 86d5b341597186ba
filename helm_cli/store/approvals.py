"""Which exact content of which extension the user approved for which workspace, and the copy that calls run from."""

import hashlib
import json
import sqlite3
from collections.abc import Collection
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model.content import Content, digest_of
from helm_cli.model.errors import HelmError
from helm_cli.store import database


class Approval(NamedTuple):
    """One yes: to the content of this digest, read from this folder, for this workspace (both resolved paths).

    `by` is who gave it: a person at the terminal, or a digest pinned on the command line.
    """

    workspace: str
    extension: str
    folder: str
    digest: str
    enabled: bool
    approved_at: float
    by: Literal["person", "pin"]


class Stamp(NamedTuple):
    """What a covered file looked like from outside when its bytes were last known; `path` as in Content."""

    path: str
    size: int
    mtime_ns: int
    inode: int


Stamps = tuple[Stamp, ...]

_COLUMNS: Final = "workspace, extension, folder, digest, enabled, approved_at, approved_by"
_ONE: Final = "WHERE workspace = ? AND extension = ?"


def find(db: sqlite3.Connection, workspace: str, extension: str) -> Approval | None:
    """The approval of this extension in this workspace, enabled or not. Raises HelmError("state")."""
    found = database.row(db, f"SELECT {_COLUMNS} FROM approvals {_ONE}", (workspace, extension))
    return _approval(found) if found else None


def enabled(db: sqlite3.Connection, workspace: str) -> list[Approval]:
    """The approvals that calls in this workspace may use, by extension. Raises HelmError("state")."""
    return [approval for approval in listed(db, workspace) if approval.enabled]


def listed(db: sqlite3.Connection, workspace: str | None) -> list[Approval]:
    """Every approval of a workspace, or of all (None), by workspace and extension. Raises HelmError("state")."""
    where, values = ("", ()) if workspace is None else ("WHERE workspace = ?", (workspace,))
    order = "ORDER BY workspace, extension"
    return [
        _approval(found) for found in database.rows(db, f"SELECT {_COLUMNS} FROM approvals {where} {order}", values)
    ]


def elsewhere(db: sqlite3.Connection, digest: str, workspace: str) -> list[str]:
    """The other workspaces in which this exact content is approved, sorted. Raises HelmError("state")."""
    sql = "SELECT DISTINCT workspace FROM approvals WHERE digest = ? AND workspace <> ? ORDER BY workspace"
    return [other for (other,) in database.rows(db, sql, (digest, workspace))]


def approve(db: sqlite3.Connection, approval: Approval, content: Content, stamps: Stamps) -> None:
    """Record a yes, with a copy of every covered file, in place of any former one; the extension is then enabled.

    `content` must be what `approval.digest` names (ValueError otherwise). Raises HelmError("state").
    """
    sums = {path: hashlib.sha256(data).hexdigest() for path, data in content.files.items()}
    if digest_of(sums) != approval.digest:
        raise ValueError("the content to keep is not the content that was approved")
    with database.transaction(db):
        for path, data in content.files.items():
            database.run(db, "INSERT OR IGNORE INTO copies (sum, data) VALUES (?, ?)", (sums[path], data))
            database.run(
                db,
                "INSERT OR IGNORE INTO contents (digest, path, sum) VALUES (?, ?, ?)",
                (approval.digest, path, sums[path]),
            )
        database.run(
            db,
            f"INSERT OR REPLACE INTO approvals ({_COLUMNS}, stamps) VALUES (?, ?, ?, ?, 1, ?, ?, ?)",
            (*approval[:4], approval.approved_at, approval.by, json.dumps(stamps)),
        )
        _prune(db)


def content(db: sqlite3.Connection, digest: str, only: Collection[str] | None = None) -> Content:
    """The approved copy of this digest: every file, or those of `only` that it has.

    Raises HelmError("state"), also where there is no copy.
    """
    sql = "SELECT path, data FROM contents JOIN copies USING (sum) WHERE digest = ?"
    if only is None:
        files = dict(database.rows(db, f"{sql} ORDER BY path", (digest,)))
    else:
        files = dict(found for path in only for found in database.rows(db, f"{sql} AND path = ?", (digest, path)))
    if not files:
        raise HelmError("state", "the approved copy of the extension is missing; review the extension again")
    return Content(files)


def previous(db: sqlite3.Connection, workspace: str, extension: str) -> Content | None:
    """The copy of what is approved now, for a review to compare with. Raises HelmError("state")."""
    found = find(db, workspace, extension)
    return content(db, found.digest) if found else None


def set_enabled(db: sqlite3.Connection, workspace: str, extension: str, value: bool) -> bool:
    """Switch an approved extension on or off. False where it is not approved. Raises HelmError("state")."""
    return database.run(db, f"UPDATE approvals SET enabled = ? {_ONE}", (value, workspace, extension)) == 1


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> bool:
    """Take an approval back, with the copies that no other needs. False where there was none."""
    with database.transaction(db):
        gone = database.run(db, f"DELETE FROM approvals {_ONE}", (workspace, extension)) == 1
        _prune(db)
    return gone


def stamps(db: sqlite3.Connection, workspace: str, extension: str) -> Stamps:
    """What the folder's files looked like when they last had the approved content; empty where not approved."""
    found = database.row(db, f"SELECT stamps FROM approvals {_ONE}", (workspace, extension))
    return tuple(Stamp(*stamp) for stamp in json.loads(found[0])) if found else ()


def restamp(db: sqlite3.Connection, approval: Approval, stamps: Stamps) -> None:
    """The files look different, but were hashed and have the content of this approval; if it still stands.

    Raises HelmError("state").
    """
    # Stamps of a content that was meanwhile replaced would let the old folder pass for the new one.
    values = (json.dumps(stamps), approval.workspace, approval.extension, approval.digest, approval.folder)
    database.run(db, f"UPDATE approvals SET stamps = ? {_ONE} AND digest = ? AND folder = ?", values)


def _approval(found: tuple[Any, ...]) -> Approval:
    workspace, extension, folder, digest, is_enabled, approved_at, by = found
    return Approval(workspace, extension, folder, digest, bool(is_enabled), approved_at, by)


def _prune(db: sqlite3.Connection) -> None:
    database.run(db, "DELETE FROM contents WHERE digest NOT IN (SELECT digest FROM approvals)")
    database.run(db, "DELETE FROM copies WHERE sum NOT IN (SELECT sum FROM contents)")
    of_none = "(workspace, extension) NOT IN (SELECT workspace, extension FROM approvals)"
    database.run(db, f"DELETE FROM tools WHERE {of_none}")
