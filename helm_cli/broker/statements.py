"""Where one statement that a person typed ends and the next begins."""

import sqlite3
from typing import NamedTuple

from helm_cli.grammar import sql
from helm_cli.model.profile import Engine


class Typed(NamedTuple):
    """The whole statements of a text, without their semicolons; `open` where more follows that has no end yet."""

    statements: tuple[str, ...]
    open: bool


def split(text: str, engine: Engine) -> Typed:
    """The statements of a text as the engine would read them; a semicolon within a string or a trigger is none."""
    found: list[str] = []
    begin = at = 0
    while (semicolon := text.find(";", at)) >= 0:
        at = semicolon + 1
        if _ends(text[begin:at], engine):
            statement = text[begin:semicolon].strip()
            if _holds_code(statement, engine):
                found.append(statement)
            begin = at
    return Typed(tuple(found), _holds_code(text[begin:], engine))


def _ends(text: str, engine: Engine) -> bool:
    # SQLite itself knows best where the body of a trigger ends.
    if engine == "sqlite" and not sqlite3.complete_statement(text):
        return False
    try:
        kinds = [token.kind for token in sql.tokens(text, engine)]
    except ValueError:
        return False
    return kinds[-1:] == ["semicolon"]


def _holds_code(text: str, engine: Engine) -> bool:
    try:
        return any(token.kind != "semicolon" for token in sql.tokens(text, engine))
    except ValueError:
        return True
