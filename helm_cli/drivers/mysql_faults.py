"""What MySQL's own errors and remarks mean in the codes and words of helm."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.mysql_library import Error
from helm_cli.drivers.outcome import AS_WRITE, timed_out
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Scalar
from helm_cli.model.profile import Database

# ER_STATEMENT_TIMEOUT of MariaDB and ER_QUERY_TIMEOUT of MySQL.
_TOO_LONG: Final = frozenset((1969, 3024))
_INTERRUPTED: Final = 1317
_LOCKED: Final = 1205
_NOT_PREPARED: Final = 1295
_READ_ONLY: Final = 1792
# The server counts its waits for locks in whole seconds.
_SLACK: Final = 0.3

# Errors of COMMIT after which the transaction certainly was rolled back.
NOT_COMMITTED: Final = frozenset((1213,))
# Errors that come before a statement does anything: no right to it, LOCAL is off, no such thread, it is there already.
BEFORE_IT_RAN: Final = frozenset((1007, 1044, 1050, 1094, 1095, 1142, 1143, 1148, 1227, 1304, 3948, 4166))

# Remarks: a column cut a number; a text was no number, and its beginning was taken for one.
_CUT: Final = 1265
_NO_NUMBER: Final = 1292
# The server shortens a long value in its remark.
_SURELY_WHOLE: Final = 30

# Bytes of the server's own words in an error.
_MOST: Final = 4096
_USER: Final = "the profile's user"
# "SELECT command denied to user 'app'@'10.0.0.1' for table …"
_ACCOUNT: Final = re.compile(r"user '(?:[^']|'')*'@'(?:[^']|'')*'|'(?:[^']|'')*'@'(?:[^']|'')*'")


def translated(error: Error, effect: Effect, clock: Deadline, limits: Limits, profile: Database) -> HelmError:
    """The error to report for what the server answered to a statement that changed nothing."""
    if error.errno in _TOO_LONG or (error.errno == _INTERRUPTED and clock.remaining() < _SLACK):
        return timed_out(effect, limits)
    if error.errno == _LOCKED and clock.remaining() < _SLACK:
        return HelmError("timeout", f"the rows stayed locked for {limits.seconds:g} s; try again later")
    if error.errno == _NOT_PREPARED:
        return HelmError("refused", f"{message(error, profile)}; helm runs prepared statements only")
    hint = f"; {AS_WRITE}" if error.errno == _READ_ONLY and effect == "read" else ""
    return HelmError("query_failed", message(error, profile) + hint)


def message(error: Error, profile: Database) -> str:
    """What the server says, in one line of at most 4 KiB, without the profile's user, host and database."""
    text = " ".join(str(error.msg or "the server gave no reason").split())
    return _shortened(_nameless(text, profile))


def misread(remarks: Iterable[tuple[int, str]], values: Sequence[Scalar], effect: Effect, profile: Database) -> str:
    """What the server remarked if it says that it took an argument for another value than it is, else "".

    A write takes no number from a text that holds none, and a fraction among its `values` is not cut. A read only
    heeds remarks on its own values: the texts in the table are as they are.
    """
    for number, text in remarks:
        cut = number == _CUT and any(isinstance(value, float) and value != int(value) for value in values)
        no_number = number == _NO_NUMBER and values
        if (effect == "write" and (cut or no_number)) or (no_number and _names(text, values)):
            return _shortened(_nameless(" ".join(text.split()), profile))
    return ""


def _names(remark: str, values: Sequence[Scalar]) -> bool:
    """Whether it is one of these texts that was no number; an empty one is how a filter is left open."""
    what, _, quoted = remark.partition(": '")
    told = quoted.removesuffix("'")
    if not told or not what.startswith("Truncated"):
        return False
    texts = [value for value in values if isinstance(value, str)]
    return told in texts or (len(told) > _SURELY_WHOLE and any(text.startswith(told[:_SURELY_WHOLE]) for text in texts))


def _nameless(text: str, profile: Database) -> str:
    if profile.user:  # a name with a quote in it stands there as it is
        user = re.escape(profile.user)
        text = re.sub(rf"(?:user )?'{user}'@'[^']*'", _USER, text)
        text = re.sub(rf"(?<=['`]){user}(?=['`])|(?<![\w$]){user}(?=@)", _USER, text)
    text = _ACCOUNT.sub(_USER, text)
    if profile.database:
        name = re.escape(profile.database)
        text = re.sub(rf"`{name}`\.|(?<![\w$.`]){name}\.(?=[\w$`#])", "", text)
        text = re.sub(rf"(?:database )?(?:'{name}'|`{name}`)", "the profile's database", text)
    if profile.host and profile.host != "localhost":
        text = re.sub(rf"(?<![\w$.-]){re.escape(profile.host)}(?![\w$.-])", "the server", text)
    return text


def _shortened(text: str) -> str:
    words = text.encode()
    return text if len(words) <= _MOST else f"{words[:_MOST].decode('utf-8', 'ignore')} … (the message is longer)"
