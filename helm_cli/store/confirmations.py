"""What waits for a person's yes, and the one-time tokens that stand for it."""

import base64
import hashlib
import json
import os
import sqlite3
from typing import Any, Final, Literal, NamedTuple

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Binding
from helm_cli.store import database, running

VALID_SECONDS: Final = 300.0
MOST_LISTED: Final = 20

# A clock that was set back must not lengthen a token's life; this much is a clock's ordinary unrest.
CLOCK_SECONDS: Final = 5.0
# How long the answer of a confirmed call waits for a caller that looks for it many times a second.
_UNREAD_SECONDS: Final = 60.0
# How long it can still be said why a question cannot be confirmed.
_KEPT_SECONDS: Final = 3_600.0

What = Literal["write", "approval"]
State = Literal["waiting", "used", "declined", "expired"]


class Pending(NamedTuple):
    """One question to a person. `subject` is what is shown and then sent; empty once it no longer waits.

    `asked_by` says in words who wants it. `created` and `expires` are seconds since 1970.
    """

    id: str
    what: What
    workspace: str
    extension: str
    connection: str
    operation: str
    subject: dict[str, Json]
    created: float
    expires: float
    state: State
    asked_by: str


class Issued(NamedTuple):
    """A new question's short id, which may be shown, and its token, which only the confirming process may know."""

    id: str
    token: str


_PENDING: Final = "id, what, workspace, extension, connection, operation, subject, created, expires, state, asked_by"
_OVER: Final = "(state = 'waiting' AND (expires <= ? OR created > ?))"
_UNREAD: Final = "(outcome IS NOT NULL AND used_at <= ?)"


def issue(
    db: sqlite3.Connection,
    what: What,
    binding: Binding,
    subject: dict[str, Json],
    now: float,
    *,
    listed: bool,
    asked_by: str,
    awaited: bool = False,
) -> Issued:
    """A new question and its token, valid for 300 seconds and for exactly this binding (contract, Writes 2 and 3).

    `listed` questions are kept with their subject for `helm confirm`; at most 20 may wait for one extension in a
    workspace (HelmError("refused")). Others are asked by the process at hand, and their subject is not kept.
    `awaited` is as `wait_for`. Raises HelmError("state").
    """
    id, token = base64.b32encode(os.urandom(5)).decode().lower(), _token()
    kept = jsontext.dump(subject) if listed else None
    sweep(db, now)
    with database.transaction(db):
        _discard(db, now)
        if listed and _count(db, binding) >= MOST_LISTED:
            raise HelmError(
                "refused",
                f"{MOST_LISTED} requests of the extension {binding.extension} wait for confirmation already;"
                " confirm or decline them with: helm confirm",
            )
        values = (id, what, binding.workspace, binding.extension, binding.connection, binding.operation)
        database.run(
            db,
            f"INSERT INTO confirmations ({_PENDING}, binding, listed, awaited)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?, ?)",
            (*values, kept, now, now + VALID_SECONDS, asked_by, jsontext.digest(list(binding)), listed, awaited),
        )
        database.run(db, "INSERT INTO tokens (sum, confirmation) VALUES (?, ?)", (_sum(token), id))
    return Issued(id, token)


def token(db: sqlite3.Connection, id: str, now: float) -> str:
    """One more token for a question that still waits; of all its tokens only one can be redeemed.

    Raises HelmError("confirmation_required") where it waits no longer, and HelmError("state").
    """
    new = _token()
    sweep(db, now)
    with database.transaction(db):
        found = database.row(db, "SELECT state FROM confirmations WHERE id = ?", (id,))
        if found is None or found[0] != "waiting":
            raise no_longer(found[0] if found else None)
        database.run(db, "INSERT INTO tokens (sum, confirmation) VALUES (?, ?)", (_sum(new), id))
    return new


def redeem(db: sqlite3.Connection, token: str, binding: Binding, now: float) -> str:
    """Use a token up, and every other of its question; the question's id. Of any number at once, one succeeds.

    Raises HelmError("confirmation_required") when it is unknown, used, declined or expired, and when it was issued
    for another binding, which does not use it up. Raises HelmError("state").
    """
    sweep(db, now)
    with database.transaction(db):
        found = database.row(
            db,
            "SELECT id, state, binding FROM tokens JOIN confirmations ON id = confirmation WHERE sum = ?",
            (_sum(token),),
        )
        refusal = _refusal(found, binding)
        if found and not refusal:
            database.run(
                db,
                "UPDATE confirmations SET state = 'used', subject = NULL, used_at = ?, used_by = ? WHERE id = ?",
                (now, running.mark(), found[0]),
            )
    if refusal or not found:
        raise refusal or no_longer(None)
    return str(found[0])


def check(db: sqlite3.Connection, id: str, binding: Binding) -> None:
    """That a question waits, and was issued for this binding. Raises HelmError("confirmation_required") and "state"."""
    found = database.row(db, "SELECT state, binding FROM confirmations WHERE id = ?", (id,))
    if found is None or found[0] != "waiting":
        raise no_longer(found[0] if found else None)
    if found[1] != jsontext.digest(list(binding)):
        raise HelmError(
            "confirmation_required",
            "what would be sent now is not what was asked for: its profile or its extension changed; call again for a"
            " new one",
        )


def spend(db: sqlite3.Connection, id: str, now: float) -> bool:
    """Use a question up that can never be confirmed again, so that `outcomes.settle` may answer who waits for it.

    False where it waited no longer. Raises HelmError("state").
    """
    sweep(db, now)
    sql = (
        "UPDATE confirmations SET state = 'used', subject = NULL, used_at = ?, used_by = ?"
        " WHERE id = ? AND state = 'waiting'"
    )
    return database.run(db, sql, (now, running.mark(), id)) == 1


def redeemed(db: sqlite3.Connection, token: str) -> bool:
    """Whether somebody used this token, or another of its question. Raises HelmError("state")."""
    sql = "SELECT state FROM tokens JOIN confirmations ON id = confirmation WHERE sum = ?"
    found = database.row(db, sql, (_sum(token),))
    return found is not None and found[0] == "used"


def decline(db: sqlite3.Connection, id: str, now: float) -> bool:
    """Use a question up without a yes. False where it waited no longer. Raises HelmError("state")."""
    sweep(db, now)
    sql = "UPDATE confirmations SET state = 'declined', subject = NULL WHERE id = ? AND state = 'waiting'"
    return database.run(db, sql, (id,)) == 1


def find(db: sqlite3.Connection, id: str, now: float) -> Pending | None:
    """The question of this id, also for an hour after it ended. Raises HelmError("state")."""
    sweep(db, now)
    found = database.row(db, f"SELECT {_PENDING} FROM confirmations WHERE id = ?", (id,))
    return _pending(found) if found else None


def waiting(db: sqlite3.Connection, now: float, workspace: str | None = None) -> list[Pending]:
    """The listed questions that wait, in one workspace or in all (None), oldest first. Raises HelmError("state")."""
    sweep(db, now)
    found = database.rows(
        db, f"SELECT {_PENDING} FROM confirmations WHERE state = 'waiting' AND listed ORDER BY created, rowid"
    )
    return [pending for pending in map(_pending, found) if workspace in (None, pending.workspace)]


def sweep(db: sqlite3.Connection, now: float) -> None:
    """Wipe what expired, and answers that nobody came for. Raises HelmError("state").

    It only looks, and does not write, when there is nothing; so every call can do it in passing.
    """
    limits = (now, now + CLOCK_SECONDS, now - _UNREAD_SECONDS)
    if database.row(db, f"SELECT 1 FROM confirmations WHERE {_OVER} OR {_UNREAD} LIMIT 1", limits):
        with database.transaction(db):
            database.run(db, f"UPDATE confirmations SET state = 'expired', subject = NULL WHERE {_OVER}", limits[:2])
            database.run(db, f"UPDATE confirmations SET outcome = NULL WHERE {_UNREAD}", limits[2:])


def no_longer(state: str | None) -> HelmError:
    """Why a question cannot be confirmed: its state, None where there is no such question."""
    reason = {
        "used": "this confirmation was used already; call again for a new one",
        "declined": "this confirmation was declined; call again for a new one",
        "expired": "this confirmation expired after 5 minutes; call again for a new one",
    }
    unknown = "there is no such confirmation, or it ended long ago; call again for a new one"
    return HelmError("confirmation_required", reason.get(state or "", unknown))


def _refusal(found: tuple[Any, ...] | None, binding: Binding) -> HelmError | None:
    if found is None or found[1] != "waiting":
        return no_longer(found[1] if found else None)
    if found[2] != jsontext.digest(list(binding)):
        return HelmError(
            "confirmation_required", "what was confirmed is not what is to be sent; call again for a new one"
        )
    return None


def _discard(db: sqlite3.Connection, now: float) -> None:
    old = (now - _KEPT_SECONDS, now + CLOCK_SECONDS)
    ended = "state <> 'waiting' AND outcome IS NULL AND (expires <= ? OR created > ?)"
    if database.run(db, f"DELETE FROM confirmations WHERE {ended}", old):
        database.run(db, "DELETE FROM tokens WHERE confirmation NOT IN (SELECT id FROM confirmations)")


def _count(db: sqlite3.Connection, binding: Binding) -> int:
    sql = "SELECT count(*) FROM confirmations WHERE state = 'waiting' AND listed AND workspace = ? AND extension = ?"
    found = database.row(db, sql, (binding.workspace, binding.extension))
    return int(found[0]) if found else 0


def _pending(found: tuple[Any, ...]) -> Pending:
    pending = Pending(*found)
    return pending._replace(subject=json.loads(found[6]) if found[6] else {})


def _token() -> str:
    return base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()


def _sum(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
