"""What every check of helm's health starts from, and how a failure of one, foreseen or not, becomes its own line."""

import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check, Status
from helm_cli.store import database, drafts, snapshot, targets
from helm_cli.store.config import Config
from helm_cli.store.schema import STEPS

# What a message ends with that tells a command: "…; enter it again with: helm db edit x --ask-password (or …)".
_COMMAND: Final = re.compile(r"(?:.*: |(?:.* )?(?:run|see) )?(helm .+?)(?: \(or .*\))?")
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table'"
_STATUS: Final[dict[str, Status]] = {
    "state": "broken",
    "internal": "broken",
    "usage": "warning",
    "refused": "warning",
    "not_configured": "warning",
}


class Subject(NamedTuple):
    """The home that is looked at: its stores, in which the state is a copy, so that nothing reaches the home itself.

    `trouble` is why the state is of no use: then the copy is a blank one, of which nothing is to be told. `form` is
    what the state has on the disk, None where the home has none yet. `whole` says that there was the time to look at
    all of it. `notices` are what the stores had to tell.
    """

    stores: Stores
    trouble: HelmError | None
    form: int | None
    whole: bool
    notices: list[str]


def subject(home: Path, seconds: float = 5.0) -> Subject:
    """The home at this path, whatever is wrong with it; nothing there is made, changed or locked.

    To look at the state, and who writes to it, has so many `seconds`.
    """
    notices: list[str] = []
    # A keychain asks nobody to unlock it.
    stores = Stores(home, notice=notices.append, terminal=False)
    trouble, form, whole = None, None, True
    try:
        found = snapshot.take(home, seconds)
        if found is not None:
            form, whole = database.version(found), _sound(found, home, seconds)
        stores.db = found or snapshot.blank()
    except HelmError as error:
        trouble = error
        stores.db = snapshot.blank()
    try:
        config = stores.config
    except HelmError:
        config = Config()
    # Named, the folder of drafts is not made where it is missing.
    stores.config = config._replace(drafts_dir=config.drafts_dir or str(home / drafts.NAME))
    return Subject(stores, trouble, form, whole, notices)


def beside(subject: Subject) -> Subject:
    """The same for other threads, of which one at a time uses its stores; what those have to tell is dropped.

    The copy of the state is the same too: it may be large, and there may be many threads.
    """
    stores = Stores(subject.stores.home)
    stores.db, stores.config = subject.stores.db, subject.stores.config
    return subject._replace(stores=stores)


def guarded(area: str, name: str, work: Callable[[], Iterable[Check]]) -> list[Check]:
    """What a check found before it was done or failed; a failure is a line of this name."""
    found: list[Check] = []
    try:
        # What it found until then is kept.
        for check in work():
            found.append(check)  # noqa: PERF402  # extend() would drop all of it with the failure
    except HelmError as error:
        found.append(failed(area, name, error))
    except Exception as error:
        told = f"this check itself failed, {type(error).__name__} at {_place(error)}; please report it"
        found.append(Check(area, name, "broken", told))
    return found


def failed(area: str, name: str, error: HelmError, status: Status | None = None) -> Check:
    """The line of an error of helm's own, whose message says after its last semicolon what to do."""
    what, _, step = error.message.rpartition("; ")
    if not what:
        what, step = error.message, ""
    return Check(area, name, status or _STATUS.get(error.code, "unreachable"), what, command(step) or None)


def command(step: str) -> str:
    """The command that a step tells, alone where it can be pasted so."""
    found = _COMMAND.fullmatch(step)
    return found[1] if found else step


def _sound(found: sqlite3.Connection, home: Path, seconds: float) -> bool:
    """Bring a copy up to this version; whether there was the time to look at all of it. Raises HelmError "state"."""
    path = home / database.NAME
    whole, wrong = True, None
    try:
        wrong = snapshot.fault(found, seconds)
    except TimeoutError:
        whole = False
    if wrong is None:
        if database.version(found) != len(STEPS):
            database.migrate(found, path)
        with closing(snapshot.blank()) as blank:
            lacking = sorted({*database.rows(blank, _TABLES)} - {*database.rows(found, _TABLES)})
        wrong = f"the table {lacking[0][0]} is missing" if lacking else None
    if wrong is not None:
        raise HelmError("state", f"{path} is damaged ({wrong}); move it away")
    targets.home(found)
    return whole


def _place(error: Exception) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"
