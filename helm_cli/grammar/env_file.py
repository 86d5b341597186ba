"""Which variables a .env file sets, as the programs that read such files agree on it; a $ is never filled in."""

import re
from typing import Final, NamedTuple

_LINE: Final = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*")
_QUOTED: Final = {
    "'": re.compile(r"'([^']*)'"),
    "`": re.compile(r"`([^`]*)`"),
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
}
_REST: Final = re.compile(r"[ \t]*(?:#.*)?(?=\n|\Z)")
_COMMENT: Final = re.compile(r"(?:^|[ \t]+)#.*")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_FILLED_IN: Final = re.compile(r"\$(?:\{|\(|[A-Za-z_])")
_DATABASE: Final = re.compile(r"(?:postgres|postgresql|mysql|mariadb|sqlite)(?:\+\w+)?:", re.IGNORECASE)
_DROPPED: Final = re.compile(r"(?:^|_)(?:DATABASE|DB)?_?(?:URL|URI|DSN)$", re.IGNORECASE)
# What such a variable is called where it says of nothing but its engine.
_PLAIN: Final = frozenset(("", "database", "db", "sql", "postgres", "postgresql", "pg", "mysql", "mariadb", "sqlite"))


class Variable(NamedTuple):
    """One variable of a file and its value, "" where `fault` says why it has none that can be used."""

    name: str
    value: str
    line: int
    fault: str = ""

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, …, {self.line}, {self.fault!r})"


def read(text: str) -> list[Variable]:
    """The variables of a file, the last of each name, in its order; lines that set none are passed over."""
    text = text.replace("\r\n", "\n")
    there: dict[str, Variable] = {}
    at, line = 0, 1
    while at < len(text):
        found = _LINE.match(text, at)
        end = text.find("\n", at) if found is None else -1
        if found is None:
            end = len(text) if end < 0 else end
        else:
            variable, end = _variable(text, found, line)
            there.pop(variable.name, None)
            there[variable.name] = variable
        line += text.count("\n", at, end) + 1
        at = end + 1
    return list(there.values())


def names_database(variable: Variable) -> bool:
    """Whether a variable is meant for a connection URL of a database, by its name or by its value."""
    return variable.name == "DATABASE_URL" or bool(_DATABASE.match(variable.value))


def short(name: str) -> str:
    """What a variable says of its database by its name: "shop" for SHOP_DATABASE_URL, "" for DATABASE_URL."""
    said = _DROPPED.sub("", name).lower()
    return "" if said in _PLAIN else said


def _variable(text: str, found: re.Match[str], line: int) -> tuple[Variable, int]:
    """A variable and where its last line ends."""
    name, at = found[1], found.end()
    quoted = _QUOTED[text[at]].match(text, at) if at < len(text) and text[at] in _QUOTED else None
    if quoted is None:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        value = _COMMENT.sub("", text[at:end]).strip()
        return _checked(Variable(name, value, line)), end
    rest = _REST.match(text, quoted.end())
    if rest is None:
        end = text.find("\n", quoted.end())
        fault = "something stands behind the quotation mark that closes its value"
        return Variable(name, "", line, fault), len(text) if end < 0 else end
    variable = Variable(name, quoted[1], line)
    if text[at] == '"':
        # What a backslash makes plain is no place to fill in.
        checked = _checked(variable._replace(value=_ESCAPE.sub("", quoted[1])))
        variable = checked if checked.fault else variable._replace(value=_ESCAPE.sub(_escaped, quoted[1]))
    return variable, rest.end()


def _checked(variable: Variable) -> Variable:
    if _FILLED_IN.search(variable.value):
        # Its beginning, by which it is told to be a URL, is no secret.
        scheme = _DATABASE.match(variable.value)
        told = "it has a $ that other programs fill in and helm does not; put the whole value in single quotes"
        return variable._replace(value=scheme[0] if scheme else "", fault=told)
    return variable


def _escaped(found: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1])
