"""Which drafts this home sent out: what a folder that others write to says of them is not all that counts."""

import os
import sqlite3
from typing import Any, Final

from helm_cli.model.draft import Sending
from helm_cli.store import database

_COLUMNS: Final = "draft, state, via, digest, at"


def every(db: sqlite3.Connection) -> dict[str, Sending]:
    """What became of the drafts that were sent from here, by their ids. Raises HelmError("state")."""
    return {draft: _sending(*told) for draft, *told in database.rows(db, f"SELECT {_COLUMNS} FROM sent")}


def find(db: sqlite3.Connection, id_: str) -> Sending | None:
    """What became of one draft, None where it was never sent from here. Raises HelmError("state")."""
    found = database.row(db, f"SELECT {_COLUMNS} FROM sent WHERE draft = ?", (id_,))
    return _sending(*found[1:]) if found else None


def claim(db: sqlite3.Connection, sending: Sending, id_: str) -> bool:
    """Say that this draft is sent from here from now on; False where it was before. Raises HelmError("state")."""
    values = (id_, sending.state, sending.via, sending.digest, sending.at)
    return database.run(db, f"INSERT OR IGNORE INTO sent ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", values) == 1


def settle(db: sqlite3.Connection, sending: Sending, id_: str) -> None:
    """Put what became of a draft that `claim` gave. Raises HelmError("state")."""
    database.run(db, "UPDATE sent SET state = ? WHERE draft = ?", (sending.state, id_))


def unclaim(db: sqlite3.Connection, id_: str) -> None:
    """Nothing was sent, so the draft may be sent again. Raises HelmError("state")."""
    database.run(db, "DELETE FROM sent WHERE draft = ?", (id_,))


def _sending(state: Any, via: str, digest: str, at: str) -> Sending:
    return Sending(os.geteuid(), state, via, digest, at)
