"""Where one statement that a person typed ends and the next begins."""

import sqlite3
from itertools import pairwise
from typing import NamedTuple

from helm_cli.grammar import sql
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Engine


class Typed(NamedTuple):
    """The whole statements of a text, without their semicolons; `open` where more follows that has no end yet."""

    statements: tuple[str, ...]
    open: bool


def split(text: str, engine: Engine) -> Typed:
    """The statements of a text as the engine would read them; a semicolon within a string or a trigger is none.

    HelmError "refused" for a statement of a server's that has statements within: its end cannot be seen from here,
    and a part of it must not be sent as if it were the whole.
    """
    found: list[str] = []
    begin = at = 0
    while (semicolon := text.find(";", at)) >= 0:
        at = semicolon + 1
        if _ends(text[begin:at], engine):
            statement = text[begin:semicolon].strip()
            if _holds_code(statement, engine):
                _check_whole(statement, engine)
                found.append(statement)
            begin = at
    return Typed(tuple(found), _holds_code(text[begin:], engine))


def _check_whole(statement: str, engine: Engine) -> None:
    words = [token.text.upper() for token in sql.tokens(statement, engine) if token.kind == "word"]
    body = engine == "mysql" and words[:1] == ["CREATE"] and "BEGIN" in words
    atomic = any(pair == ("BEGIN", "ATOMIC") for pair in pairwise(words)) and engine == "postgres"
    if body or atomic or (engine == "mysql" and words[:3] == ["BEGIN", "NOT", "ATOMIC"]):
        told = "a body between BEGIN and END cannot be typed here, so nothing was sent; use the server's own client"
        raise HelmError("refused", told)


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
