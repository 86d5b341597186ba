"""Which statements helm sends to MySQL as a read or as a write, and which of them a rollback undoes."""

import re
from collections.abc import Sequence
from itertools import count
from typing import Final

from helm_cli.drivers.outcome import AS_WRITE
from helm_cli.grammar.sql import Token, first_keyword, tokens
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Scalar

_READS: Final = frozenset(["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "HELP"])
# What else there is ends or replaces the transaction that the write runs in, or may hold what does (IF, BEGIN, XA).
_WRITES: Final = frozenset({
    "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "SELECT", "VALUES", "TABLE", "CALL", "DO", "SET", "LOAD",
    "IMPORT", "CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "GRANT", "REVOKE", "ANALYZE", "CHECK", "CHECKSUM",
    "OPTIMIZE", "REPAIR", "CACHE", "FLUSH", "RESET", "PURGE", "KILL", "INSTALL", "UNINSTALL",
})  # fmt: skip
# Every other statement may commit by itself (MySQL manual, Statements That Cause an Implicit Commit) or write a file.
_UNDONE_BY_ROLLBACK: Final = frozenset(("INSERT", "UPDATE", "DELETE", "REPLACE"))

# Comments that are none to some versions of the server: what it reads there is not what helm reads.
_CODE: Final = re.compile(r"/\*M?!")
_IDLE: Final = re.compile(r"[\s(;]+|#[^\n]*\n|--[\s\x00-\x1f][^\n]*\n|/\*(?!M?!)(?s:.*?)\*/")
# The words before a number of rows (MySQL manual, SELECT; MariaDB, LIMIT and FETCH).
_COUNTS: Final = frozenset(("LIMIT", "OFFSET", "FIRST", "NEXT", "EXAMINED"))


def keyword(sql: str, effect: Effect) -> str:
    """The first word of the statement in capitals. HelmError "refused" where helm does not send it as `effect`."""
    first = first_keyword(sql, "mysql")
    if not first:
        raise HelmError("refused", "the query holds no statement; correct the declaration")
    if _begins_in_code(sql):
        raise HelmError("refused", "the query begins in a comment of the form /*! … */; take its marks away")
    if effect == "read" and first not in _READS:
        raise HelmError("refused", f"a read query cannot be {first}; {AS_WRITE}")
    if effect == "write" and (first not in _WRITES or (first == "SET" and _words(sql)[1:2] == ["STATEMENT"])):
        raise HelmError("refused", f"helm does not let a write query use {first}; nothing changed")
    return first


def undoable(sql: str) -> bool:
    """Whether a rollback undoes all that this statement can do in tables with transactions."""
    first = first_keyword(sql, "mysql")
    if first != "WITH" or _CODE.search(sql):
        return first in _UNDONE_BY_ROLLBACK
    depth = 0
    for token in tokens(sql, "mysql"):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.kind == "word" and not depth and token.text.upper() in {*_UNDONE_BY_ROLLBACK, *_READS} - {"WITH"}:
            return token.text.upper() in _UNDONE_BY_ROLLBACK
    return False


def _begins_in_code(sql: str) -> bool:
    """Whether the first word stands in a comment that is code for some versions of the server and none for others."""
    at = 0
    while (idle := _IDLE.match(sql, at)) is not None:
        at = idle.end()
    return _CODE.match(sql, at) is not None


def _words(sql: str) -> list[str]:
    return [token.text.upper() for token in tokens(sql, "mysql")]


def check_counts(sql: str, values: Sequence[Scalar]) -> None:
    """Each value for LIMIT or OFFSET must be a whole number: of "2; drop" the server takes the 2 and says nothing.

    HelmError "refused" where one is not.
    """
    found = list(tokens(sql, "mysql"))
    if [token.kind for token in found].count("param") != len(values):
        return  # the server will say so
    numbers = count()
    before: list[Token] = []
    for token in found:
        if token.kind == "param" and _is_count(before) and not _counts(values[next(numbers)]):
            raise HelmError("refused", "an argument for LIMIT or OFFSET must be a whole number of rows")
        if token.kind == "param" and not _is_count(before):
            next(numbers)
        before = [*before[-2:], token]


def _is_count(before: Sequence[Token]) -> bool:
    """Whether a number of rows follows: `LIMIT ?`, `LIMIT 1, ?`."""
    words = [token.text.upper() for token in before]
    return words[-1:] != [] and (words[-1] in _COUNTS or (words[-1] == "," and words[:1] == ["LIMIT"]))


def _counts(value: Scalar) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return not isinstance(value, bool) and value is not None and value >= 0 and value == int(value)
