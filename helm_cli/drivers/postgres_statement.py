"""What can be seen in the text of a Postgres statement: hidden changes, and where a fraction would be rounded."""

from collections.abc import Iterator
from typing import Final

from helm_cli.grammar.sql import Token, tokens
from helm_cli.model.extension import Effect

_CHANGES: Final = ("INSERT", "UPDATE", "DELETE", "MERGE")
_INTEGERS: Final = ("INT", "INTEGER", "INT2", "INT4", "INT8", "SMALLINT", "BIGINT", "OID")
_COMPARING: Final = ("=", "<>", "!=", "<", ">", "<=", ">=")
_ENDS: Final = Token("semicolon", ";")


def changes_uncounted(sql: str) -> bool:
    """Whether a SELECT or an EXPLAIN changes rows, for which the server tells no count."""
    found = list(_outside_of_names(sql))
    words = [token.text.upper() for token in found]
    if "EXPLAIN" in words[:1]:
        return any(word in ("ANALYZE", "ANALYSE") for word in words) and any(word in _CHANGES for word in words)
    return _main(words) not in _CHANGES and any(
        (word in ("INSERT", "MERGE") and after == "INTO")
        or (word == "DELETE" and after == "FROM")
        or (word == "UPDATE" and before in ("(", ")"))
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    )


def rounded(sql: str, number: int, effect: Effect, *, integer: bool) -> bool:
    """Whether a fraction as the parameter `$number` would be rounded in one of its places.

    `integer` is whether the server takes the parameter for an integer. It is safe then only where it is compared.
    """
    found = [_ENDS, _ENDS, _ENDS, *_outside_of_names(sql), *[_ENDS] * 4]
    for at, token in enumerate(found):
        if token.kind == "param" and int(token.text[1:]) == number:
            if _cast_to_integer(found, at):
                return True
            if integer and (effect == "write" or not _only_compared(found, at)):
                return True
    return False


def _outside_of_names(sql: str) -> Iterator[Token]:
    """The tokens, quoted names and strings without what they hold."""
    for token in tokens(sql, "postgres"):
        yield Token(token.kind, f'"{token.kind}"') if token.kind in ("name", "string") else token


def _main(words: list[str]) -> str:
    """The keyword of the statement that a WITH belongs to, "" where it stands in parentheses."""
    if words[:1] != ["WITH"]:
        return words[0] if words else ""
    depth = 0
    for before, word in zip(["", *words], words, strict=False):
        depth += (word == "(") - (word == ")")
        if depth == 0 and before == ")" and word in (*_CHANGES, "SELECT", "VALUES", "TABLE"):
            return word
    return ""


def _cast_to_integer(found: list[Token], at: int) -> bool:
    words = [token.text.upper() for token in found]
    if words[at - 1] in ("LIMIT", "OFFSET") or (words[at - 1] in ("FIRST", "NEXT") and words[at - 2] == "FETCH"):
        return True
    if words[at - 2 : at] == ["CAST", "("] and words[at + 1] == "AS":
        return _integer(words[at + 2 :])
    before, after = at - 1, at + 1
    while words[before] == "(" and words[after] == ")":
        before, after = before - 1, after + 1
    return words[after : after + 2] == [":", ":"] and _integer(words[after + 2 :])


def _integer(words: list[str]) -> bool:
    return (words[2] if words[:2] == ["PG_CATALOG", "."] else words[0]) in _INTEGERS


def _only_compared(found: list[Token], at: int) -> bool:
    before, after = found[at - 1], found[at + 1]
    goes_on = after.text in (":", "[", ".") or (after.kind == "operator" and after.text not in _COMPARING)
    if before.text in _COMPARING:
        return not goes_on
    word, third = before.text.upper(), found[at - 3].text.upper()
    if word == "BETWEEN" or (word == "AND" and third == "BETWEEN"):
        return not goes_on
    compared = after.text in _COMPARING or after.text.upper() in ("IS", "BETWEEN")
    return compared and before.kind != "operator" and before.text not in (":", ".")
