"""How the caller that waits for a confirmation learns what became of it, whatever ended the confirming process."""

import json
import sqlite3
from typing import Final

from helm_cli.model import jsontext
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.store import confirmations, database, running

# Longer than any call may last. It only counts where the confirming process cannot be seen from here.
LONGEST_SECONDS: Final = 600.0


def wait_for(db: sqlite3.Connection, id: str) -> bool:
    """A caller will wait: what `settle` is given is kept for it. False when the question waits no longer.

    Raises HelmError("state").
    """
    sql = "UPDATE confirmations SET awaited = 1 WHERE id = ? AND state = 'waiting'"
    return database.run(db, sql, (id,)) == 1


def settle(db: sqlite3.Connection, id: str, envelope: Envelope) -> None:
    """The confirmed call ended with this envelope; kept only where somebody waits. Raises HelmError("state")."""
    sql = "UPDATE confirmations SET outcome = ? WHERE id = ? AND state = 'used' AND awaited = 1"
    database.run(db, sql, (jsontext.dump(envelope), id))


def outcome(db: sqlite3.Connection, id: str, now: float) -> Envelope | None:
    """What became of a question that somebody waits for; None while it waits, or while its call runs.

    It can be had once, and is wiped then. A decline is `declined`, an expiry `confirmation_required`, and a
    confirming process that died `unavailable` with `applied` "unknown". Raises HelmError("state").
    """
    confirmations.sweep(db, now)
    found = database.row(db, "SELECT state, used_at, used_by FROM confirmations WHERE id = ?", (id,))
    state, used_at, used_by = found or (None, 0.0, "")
    if state == "waiting":
        return None
    if state == "declined":
        return failure(HelmError("declined", "the request was declined; nothing was sent"))
    if state != "used":
        return failure(confirmations.no_longer(state))
    # Looked at before the outcome is, which it may leave in its last moment.
    over = running.ended(used_by) or now > used_at + LONGEST_SECONDS
    return _taken(db, id) or (_lost() if over else None)


def _taken(db: sqlite3.Connection, id: str) -> Envelope | None:
    found = database.row(db, "SELECT outcome FROM confirmations WHERE id = ? AND outcome IS NOT NULL", (id,))
    if not found:
        return None
    database.run(db, "UPDATE confirmations SET outcome = NULL, awaited = 0 WHERE id = ?", (id,))
    envelope: Envelope = json.loads(found[0])
    return envelope


def _lost() -> Envelope:
    return failure(
        HelmError(
            "unavailable",
            "the process that confirmed this write ended without saying how it went; look before you repeat it",
            {"applied": "unknown"},
        )
    )
