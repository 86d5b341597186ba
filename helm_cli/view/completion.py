"""What can stand at the cursor of a statement: columns of the tables it names, tables, keywords."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from helm_cli.view.text import shown

KEYWORDS: Final = (
    "ALL", "ALTER", "AND", "AS", "ASC", "BEGIN", "BETWEEN", "BY", "CASE", "CAST", "COALESCE", "COUNT", "CREATE",
    "CROSS", "DEFAULT", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "END", "EXCEPT", "EXISTS", "EXPLAIN", "FALSE",
    "FROM", "FULL", "GROUP", "HAVING", "IN", "INDEX", "INNER", "INSERT", "INTERSECT", "INTO", "IS", "JOIN", "LEFT",
    "LIKE", "LIMIT", "MAX", "MIN", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION",
    "RECURSIVE", "RETURNING", "RIGHT", "SELECT", "SET", "SUM", "TABLE", "THEN", "TRUE", "UNION", "UNIQUE", "UPDATE",
    "USING", "VALUES", "VIEW", "WHEN", "WHERE", "WITH",
)  # fmt: skip
META: Final = ("\\d", "\\dt", "\\l", "\\o", "\\w", "\\q", "\\?")

_WORD: Final = re.compile(r"[\w$]*\Z")
_PATH: Final = re.compile(r"(?:([\w$]+|\"[^\"]+\"|`[^`]+`)\.)?([\w$]*)\Z")
_TABLE_NEXT: Final = re.compile(
    r"(?:\b(?:from|join|into|update|table|describe)\s+(?:[\w$.\"`]+\s*,\s*)*|\\d\s+)[\w$]*\Z", re.I
)
_NAMED: Final = re.compile(
    r"\b(?:from|join|into|update|,)\s*([\w$.\"`]+)(?:\s+(?:as\s+)?(?!(?:on|where|set|join|left|right|inner|cross|group"
    r"|order|limit|using|values|returning|union)\b)([\w$]+))?",
    re.I,
)
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_PLAIN_ANY_CASE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Table(NamedTuple):
    """A table as a statement may call it, and its columns. `schema` is None where the name alone is enough."""

    schema: str | None
    name: str
    columns: tuple[str, ...]


class Names(NamedTuple):
    """What a database has, and how its engine writes names: `quote` around those that need it."""

    tables: Sequence[Table]
    quote: str
    folds: bool
    formats: Sequence[str]


def candidates(before: str, whole: str, names: Names) -> Iterator[tuple[str, int]]:
    """What may take the place of the word that ends at the cursor, and where it begins, as a negative number.

    `before` is the text up to the cursor, `whole` all of it. Names that a terminal could not show are left out.
    """
    if before.startswith("\\") and " " not in before:
        yield from ((word, -len(before)) for word in META if word.startswith(before))
        return
    if before.startswith("\\o "):
        word = before.split()[-1] if not before.endswith(" ") else ""
        yield from ((name, -len(word)) for name in names.formats if name.startswith(word))
        return
    found = _PATH.search(before)
    owner, word = (found[1], found[2]) if found else (None, "")
    seen: set[str] = set()
    for text in _words(owner, before, whole, names):
        if text.strip('"`').lower().startswith(word.lower()) and text not in seen and shown(text) == text:
            seen.add(text)
            yield text, -len(word)


def _words(owner: str | None, before: str, whole: str, names: Names) -> Iterator[str]:
    if owner is not None:
        yield from _under(_bare(owner), whole, names)
        return
    written = [_written(name, names) for name in dict.fromkeys(table.schema or table.name for table in names.tables)]
    if _TABLE_NEXT.search(before):
        yield from written
        return
    for table in _mentioned(whole, names):
        yield from (_written(column, names) for column in table.columns)
    yield from KEYWORDS
    yield from written


def _under(owner: str, whole: str, names: Names) -> Iterator[str]:
    """What may follow a name and a dot: the columns of that table or alias, the tables of that schema."""
    aliases = {alias.lower(): _bare(table.rpartition(".")[2]) for table, alias in _NAMED.findall(whole) if alias}
    meant = aliases.get(owner.lower(), owner).lower()
    for table in names.tables:
        if table.name.lower() == meant:
            yield from (_written(column, names) for column in table.columns)
        if table.schema is not None and table.schema.lower() == meant:
            yield _written(table.name, names)


def _mentioned(whole: str, names: Names) -> Iterator[Table]:
    said = {_bare(table.rpartition(".")[2]).lower() for table, _ in _NAMED.findall(whole)}
    return (table for table in names.tables if table.name.lower() in said)


def _written(name: str, names: Names) -> str:
    plain = (_PLAIN if names.folds else _PLAIN_ANY_CASE).fullmatch(name)
    if plain and name.upper() not in KEYWORDS:
        return name
    return names.quote + name.replace(names.quote, names.quote * 2) + names.quote


def _bare(name: str) -> str:
    return name.strip('"`')
