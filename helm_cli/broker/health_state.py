"""What can be wrong with state.db: that it cannot be read or written, is damaged, or is not of this version."""

import os
from collections.abc import Iterator
from shlex import quote
from typing import Final

from helm_cli.broker.health import Subject, failed
from helm_cli.model.health import Check
from helm_cli.store import database
from helm_cli.store.schema import STEPS

AREA: Final = "state"
_AGAIN: Final = "put back a copy of it, or move it away, review your extensions again and enter your secrets again"


def checks(subject: Subject) -> Iterator[Check]:
    """All about the state."""
    path = quote(str(subject.stores.home / database.NAME))
    if subject.trouble is not None:
        yield _unusable(failed(AREA, database.NAME, subject.trouble), path)
    elif subject.form is None:
        yield Check(AREA, database.NAME, "ok", "there is none yet; it is made when it is first needed")
    elif not os.access(subject.stores.home / database.NAME, os.R_OK | os.W_OK):
        yield Check(AREA, database.NAME, "broken", "it is not writable for you", f"chmod 600 {path}")
    elif not subject.whole:
        told = "it is so large that there was no time to look at all of it"
        yield Check(AREA, database.NAME, "warning", told, f"sqlite3 {path} 'PRAGMA quick_check'")
    else:
        old = f"; the next call brings it up to form {len(STEPS)}" if subject.form != len(STEPS) else ""
        yield Check(AREA, database.NAME, "ok", f"sound (form {subject.form}){old}")


def _unusable(line: Check, path: str) -> Check:
    if "newer helm" in line.message:
        # What that wrote is sound.
        return line._replace(next="pip install --upgrade helm-cli")
    if "move it away" in (line.next or ""):
        return line._replace(message=f"{line.message}: {_AGAIN}", next=f"mv {path} {path}.broken")
    return line
