"""Where the statements, strings, comments and placeholders of an SQL text are, in each engine's own writing."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from helm_cli.model.profile import Engine


class Scan(NamedTuple):
    """What an SQL text is made of.

    `statements` counts those that hold more than comments, `placeholders` the arguments it needs: each `?` for
    SQLite and MySQL, the highest `$n` for Postgres. `fault` is one lower-case clause on what no engine could
    prepare (an open string or comment, a placeholder of another engine), None where there is nothing to say.
    """

    statements: int
    placeholders: int
    fault: str | None


class Token(NamedTuple):
    """One piece of code: `kind` is word, param, operator, mark, semicolon, string or name (a quoted one)."""

    kind: str
    text: str


def _quoted(mark: str, *, escapes: bool) -> str:
    """What stands between two of this mark; written twice it stands for itself, as does any character after a \\.

    No mark may follow the last one, else an open quote would match as a shorter, closed one. Possessive repeats would
    say that more plainly, but match wrongly in the first releases of Python 3.11.
    """
    plain = rf"[^{mark}\\]*" if escapes else rf"[^{mark}]*"
    pair = rf"(?:\\(?s:.)|{mark}{mark})" if escapes else mark + mark
    return rf"{mark}{plain}(?:{pair}{plain})*{mark}(?!{mark})"


_SINGLE: Final = _quoted("'", escapes=False)
_SINGLE_ESCAPED: Final = _quoted("'", escapes=True)
_DOUBLE: Final = _quoted('"', escapes=False)
_DOUBLE_ESCAPED: Final = _quoted('"', escapes=True)
_BACKTICK: Final = _quoted("`", escapes=False)
_WORD: Final = r"[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*"
_NUMBER: Final = r"[0-9][\w.]*"

_PATTERNS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "sqlite": (
        ("space", r"[ \t\r\n\f\v\ufeff]+|--[^\n]*|/\*(?s:.*?)\*/"),
        ("string", _SINGLE),
        ("name", rf"{_DOUBLE}|{_BACKTICK}|\[[^\]]*\]"),
        ("foreign", r"\?[0-9]+|[:@$#][\w$:\x80-\U0010ffff]+"),
        ("param", r"\?"),
        ("number", _NUMBER),
        ("word", _WORD),
        ("open", r"['\"`\[]|/\*"),
        ("operator", r"[-+*/<>=!|&~%]"),
    ),
    "postgres": (
        ("space", r"[ \t\r\n\f\v]+|--[^\r\n]*"),
        ("nested", r"/\*"),
        ("string", rf"[eE]{_SINGLE_ESCAPED}|{_SINGLE}|(?P<tag>\$(?:[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)?\$)"
                   r"(?s:.*?)(?P=tag)"),
        ("name", _DOUBLE),
        ("open", r"[eE]?'|\"|\$(?:[A-Za-z_]\w*)?\$"),
        ("param", r"\$[0-9]+"),
        ("number", _NUMBER),
        ("word", _WORD),
        ("operator", r"(?:(?!--|/\*)[-+*/<>=~!@#%^&|`?])+"),
    ),
    "mysql": (
        ("space", r"[ \t\r\n\f\v]+|#[^\n]*|--(?=[\s\x00-\x1f]|\Z)[^\n]*|/\*(?!M?!)(?s:.*?)\*/"),
        ("code", r"/\*M?![0-9]*"),
        ("string", rf"{_SINGLE_ESCAPED}|{_DOUBLE_ESCAPED}"),
        ("name", _BACKTICK),
        ("foreign", r"\$[0-9]+|:[A-Za-z_]\w*"),
        ("param", r"\?"),
        ("number", _NUMBER),
        ("word", rf"@{{0,2}}{_WORD}"),
        ("endcode", r"\*/"),
        ("open", r"['\"`]|/\*"),
        ("operator", r"[-+*/<>=~!@%^&|:]"),
    ),
}  # fmt: skip
_REST: Final = (("semicolon", ";"), ("mark", r"(?s:.)"))
_QUOTES: Final = {
    "'": "string",
    "$": "string",
    '"': "quoted text",
    "`": "quoted name",
    "[": "quoted name",
    "*": "comment",
}
_STYLE: Final = {
    "sqlite": "sqlite placeholders are a plain ?",
    "postgres": "postgres placeholders are $1, $2 and so on",
    "mysql": "mysql placeholders are a plain ?",
}


def scan(text: str, engine: Engine) -> Scan:
    """What `text` holds, as the engine would read it. Whether it is valid SQL is for the engine to say."""
    try:
        found = list(tokens(text, engine))
    except ValueError as error:
        return Scan(0, 0, str(error))
    params = [token.text for token in found if token.kind == "param"]
    misplaced = [token.text for token in found if token.kind == "foreign"]
    count, fault = len(params), None
    if engine == "postgres":
        count, fault = _numbered(params)
        misplaced = _question_marks(found)
    if misplaced:
        fault = f"{_STYLE[engine]}; {misplaced[0]} is not one"
    statements = _statements(found, engine)
    if engine != "postgres" and statements == 1 and [token.kind for token in found[-2:]] == ["semicolon"] * 2:
        fault = fault or f"{engine} takes at most one ; after the statement"
    return Scan(statements, count, fault)


def first_keyword(text: str, engine: Engine) -> str:
    """The first word of the first statement in capitals, "" where it does not begin with one."""
    try:
        first = next((token for token in tokens(text, engine) if token.text not in "(;"), None)
    except ValueError:
        return ""
    return first.text.upper() if first is not None and first.kind == "word" else ""


READS: Final = ("SELECT", "VALUES", "TABLE", "WITH", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "PRAGMA")
_CHANGES: Final = ("INSERT", "UPDATE", "DELETE", "MERGE")


def writes(text: str, engine: Engine) -> bool:
    """Whether the statement looks like one that cannot run read-only: a hint for a review, never a boundary."""
    try:
        found = words(text, engine)
    except ValueError:
        return True
    first = first_keyword(text, engine)
    if first not in READS:
        return True
    if first == "EXPLAIN":
        return "ANALYZE" in found and any(word in _CHANGES for word in found)
    if any(word in _CHANGES for word in found):  # also SELECT … FOR UPDATE
        return True
    if engine == "sqlite":
        return "REPLACE INTO" in " ".join(found)
    return any(word in ("INTO", "NEXTVAL", "SETVAL") for word in found) or "FOR SHARE" in " ".join(found)


def words(text: str, engine: Engine) -> list[str]:
    """The keywords and unquoted names of `text` in capitals; ValueError as of `tokens`."""
    return [token.text.upper() for token in tokens(text, engine) if token.kind == "word"]


def tokens(text: str, engine: Engine) -> Iterator[Token]:
    """The code of `text` without its comments. ValueError, one lower-case clause, where it cannot be split."""
    _encodable(text)
    pattern, at, depth = _pattern(engine), 0, 0
    while at < len(text):
        match = pattern.match(text, at)
        assert match is not None and match.lastgroup is not None  # the last alternative takes any character
        kind = match.lastgroup
        at = _comment_end(text, at) if kind == "nested" else match.end()
        if kind == "code":
            depth += 1
        elif kind == "endcode" and depth:
            depth -= 1
        elif kind == "open":
            what = _QUOTES[match.group()[-1]]
            raise ValueError(f"the {what} that begins at character {match.start() + 1} never ends")
        elif kind not in ("space", "nested"):
            yield Token(kind, match.group())
    if depth:
        raise ValueError("a comment of the form /*! … */ never ends")


@cache
def _pattern(engine: Engine) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in (*_PATTERNS[engine], *_REST)))


def _encodable(text: str) -> None:
    if "\0" in text:
        raise ValueError("the text holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("the text holds a lone surrogate, which no UTF-8 text can carry") from None


def _comment_end(text: str, begin: int) -> int:
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, begin):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise ValueError(f"the comment that begins at character {begin + 1} never ends")


def _statements(found: list[Token], engine: Engine) -> int:
    count, words = 0, [""]
    begun = trigger = False
    for token in found:
        word = token.text.upper() if token.kind == "word" else token.kind
        if token.kind != "semicolon":
            count += not begun
            begun = True
            words.append(word)
            trigger = trigger or (engine == "sqlite" and _begins_trigger(words))
        elif not trigger or words[-2:] == ["semicolon", "END"]:
            words, begun, trigger = [""], False, False
        else:  # SQLite: the body of a trigger ends with "; END"
            words.append(word)
    return count


def _begins_trigger(words: list[str]) -> bool:
    return len(words) < 6 and words[-1] == "TRIGGER" and "CREATE" in words[1:3]


def _numbered(params: list[str]) -> tuple[int, str | None]:
    if any(len(param) > len("$65535") for param in params):
        return 0, "postgres takes at most 65535 placeholders"
    numbers = {int(param[1:]) for param in params}
    most = max(numbers, default=0)
    if 0 in numbers:
        return most, "postgres placeholders count from $1; $0 is not one"
    missing = next((number for number in range(1, min(most, len(numbers) + 1) + 1) if number not in numbers), None)
    return most, None if missing is None else f"it uses ${most} but not ${missing}"


# After one of these a value must follow, so a "?" there cannot be the JSON operator.
_BEFORE_VALUE: Final = frozenset({
    "ALL", "AND", "ANY", "BETWEEN", "BY", "CASE", "DISTINCT", "ELSE", "FROM", "HAVING", "ILIKE", "IN", "IS",
    "LIKE", "LIMIT", "NOT", "OFFSET", "ON", "OR", "RETURNING", "SELECT", "SET", "THEN", "VALUES", "WHEN",
    "WHERE",
})  # fmt: skip


def _question_marks(found: list[Token]) -> list[str]:
    """Postgres: each "?" that stands where a value must, and so is no JSON operator (?, ?|, ?&, @?)."""
    around = [Token("semicolon", ";"), *found, Token("semicolon", ";")]
    return [
        "?"
        for before, token, after in zip(around, around[1:], around[2:], strict=False)
        if token.kind == "operator" and _stands_for_value(before, token.text, after)
    ]


def _stands_for_value(before: Token, operator: str, after: Token) -> bool:
    if operator != "?":
        return operator.endswith("?") and operator != "@?"
    opens = before.kind in ("operator", "semicolon") or before.text in "([," or before.text.upper() in _BEFORE_VALUE
    return opens or after.kind in ("operator", "semicolon") or after.text in ")],"
