"""What MySQL's own errors mean in the codes and words of helm."""

import re
from typing import Final

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.mysql_library import Error
from helm_cli.drivers.outcome import timed_out
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect

# ER_STATEMENT_TIMEOUT of MariaDB and ER_QUERY_TIMEOUT of MySQL.
_TOO_LONG: Final = frozenset((1969, 3024))
_INTERRUPTED: Final = 1317
_LOCKED: Final = 1205
_NOT_PREPARED: Final = 1295
# The server counts its waits for locks in whole seconds.
_SLACK: Final = 0.3

# Errors of COMMIT after which the transaction certainly was rolled back.
NOT_COMMITTED: Final = frozenset((1213,))

# "SELECT command denied to user 'app'@'10.0.0.1' for table …"
_ACCOUNT: Final = re.compile(r"user '(?:[^']|'')*'@'(?:[^']|'')*'|'(?:[^']|'')*'@'(?:[^']|'')*'")


def translated(error: Error, effect: Effect, clock: Deadline, limits: Limits) -> HelmError:
    """The error to report for what the server answered to a statement that changed nothing."""
    if error.errno in _TOO_LONG or (error.errno == _INTERRUPTED and clock.remaining() < _SLACK):
        return timed_out(effect, limits)
    if error.errno == _LOCKED and clock.remaining() < _SLACK:
        return HelmError("timeout", f"the rows stayed locked for {limits.seconds:g} s; try again later")
    if error.errno == _NOT_PREPARED:
        return HelmError("refused", f"{message(error)}; helm runs prepared statements only")
    return HelmError("query_failed", message(error))


def message(error: Error) -> str:
    """What the server says, in one line, without the name of the profile's user."""
    text = " ".join(str(error.msg or "the server gave no reason").split())
    return _ACCOUNT.sub("the profile's user", text)
