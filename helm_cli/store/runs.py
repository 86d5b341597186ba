"""Which runs of a team's plugins were started: of which content, by what, with which brief, and what they used."""

import json
import sqlite3
from typing import Any, Final, NamedTuple

from helm_cli.model import jsontext
from helm_cli.model.jsontext import Json
from helm_cli.store import database

# What a run was told may be anybody's business, and after this long nobody asks for it.
KEPT_SECONDS: Final = 90 * 86_400.0


class Run(NamedTuple):
    """One run of the content of this digest. `trigger` is "manual", "schedule CRON" or "github.release".

    `form` is what it was told, by the names of the fields. `started_at` is in seconds since the epoch. `asked_by` says
    in words who started it, `tokens` is what its host reported.
    """

    id: str
    workspace: str
    extension: str
    digest: str
    trigger: str
    form: dict[str, Json]
    started_at: float
    asked_by: str
    tokens: int


_COLUMNS: Final = ", ".join(Run._fields)


def begin(db: sqlite3.Connection, run: Run) -> None:
    """Record a new run; what is older than 90 days is forgotten. Raises HelmError("state")."""
    values = run._replace(form=jsontext.dump(jsontext.repaired(run.form)))  # type: ignore[arg-type]  # as the column
    with database.transaction(db):
        database.run(db, "DELETE FROM runs WHERE started_at < ?", (run.started_at - KEPT_SECONDS,))
        database.run(db, f"INSERT INTO runs ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)


def find(db: sqlite3.Connection, id_: str) -> Run | None:
    """The run of this id. Raises HelmError("state")."""
    found = database.row(db, f"SELECT {_COLUMNS} FROM runs WHERE id = ?", (id_,))
    return _run(found) if found else None


def forget(db: sqlite3.Connection, workspace: str, extension: str) -> None:
    """Forget every run of an extension. Raises HelmError("state")."""
    database.run(db, "DELETE FROM runs WHERE workspace = ? AND extension = ?", (workspace, extension))


def _run(found: tuple[Any, ...]) -> Run:
    row = Run(*found)
    return row._replace(form=json.loads(found[5]))
