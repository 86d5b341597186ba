"""How a SQLite file is found and opened without creating it, and within what bounds."""

import os
import sqlite3
import stat
from contextlib import closing
from typing import Final, Literal
from urllib.parse import quote

from helm_cli.drivers.deadline import Deadline
from helm_cli.model.errors import HelmError

# No single value, also within an expression, nor a row that is changed grows beyond this; the row data itself is
# limited in `rows`.
MOST_BYTES_A_VALUE: Final = 16 * 1024 * 1024
# All that SQLite holds at once, in the whole process.
MOST_HEAP_BYTES: Final = 48 * 1024 * 1024
# Each of the temporary files that a read sorts and groups in.
MOST_TEMPORARY_BYTES: Final = 128 * 1024 * 1024
# In steps of SQLite's virtual machine: about 50 µs of work.
STEPS_BETWEEN_CHECKS: Final = 2000


def locate(name: str, path: str) -> str:
    """The absolute path of the file of the profile `name`, links resolved.

    HelmError "unavailable" unless it is a regular file: opening a FIFO would wait for ever.
    """
    try:
        found = os.path.realpath(path)
        mode = os.stat(found).st_mode
    except FileNotFoundError:
        raise _unavailable(name, "does not exist") from None
    except (OSError, ValueError):
        raise _unavailable(name, "cannot be reached") from None
    if not stat.S_ISREG(mode):
        raise _unavailable(name, "is not a regular file")
    return found


def connect(
    path: str, mode: Literal["ro", "rw"], deadline: Deadline, *, immutable: bool = False
) -> closing[sqlite3.Connection]:
    """A connection that closes with its context and gives up at the deadline, in the bounds of this module.

    `mode` never creates the file. Raises what sqlite3 raises.
    """
    # Quoted, because a "#" or "?" in a path would cut off the mode, and absolute, because ":memory:" would not
    # be a file.
    uri = f"file://{quote(os.fsencode(path))}?mode={mode}" + ("&immutable=1" if immutable else "")
    db = sqlite3.connect(uri, uri=True, timeout=deadline.remaining(), isolation_level=None, cached_statements=0)
    db.execute(f"PRAGMA hard_heap_limit = {MOST_HEAP_BYTES}").close()
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES_A_VALUE)
    db.text_factory = _text
    db.set_progress_handler(deadline.over, STEPS_BETWEEN_CHECKS)
    return closing(db)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _unavailable(name: str, what: str) -> HelmError:
    return HelmError(
        "unavailable",
        f"the database file of the profile {name} {what}; look at it with `helm db show {name}`",
    )
