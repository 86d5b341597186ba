"""How `state.db` is looked into where nothing may be changed, waited for or left behind."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NAME: Final = "state.db"
_BESIDE: Final = ("-journal", "-wal", "-shm")
# Whoever writes is done in a moment, and nobody waits longer for a key that they pressed.
_WAIT_SECONDS: Final = 0.2


@contextmanager
def opened(home: str) -> Iterator[sqlite3.Connection]:
    """The state of this home, which cannot be changed through it. Raises OSError, LookupError or sqlite3.Error."""
    path = os.path.join(home, _NAME)
    # A FIFO in its place, or beside it, would hold the shell.
    for each in (path, *filter(os.path.exists, (f"{path}{end}" for end in _BESIDE))):
        if not stat.S_ISREG(os.stat(each).st_mode):
            raise LookupError("no state")
    for sign in "%?#":
        path = path.replace(sign, f"%{ord(sign):02x}")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        yield db
    finally:
        db.close()
