"""Which passwords libpq's .pgpass has, for which connection libpq takes which, and which lines name one whole.

Source: libpq's documentation, 32.16, and what libpq 18 does with such files.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar import profile_name
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.model.profile import PORTS

# libpq looks a connection through one of these up as that of localhost; which of them is its own, its maker chose.
_USUAL_SOCKETS: Final = ("/var/run/postgresql", "/run/postgresql", "/tmp")


class Entry(NamedTuple):
    """One line: what a connection must have for its password, None where anything fits. `fault`: it fits none."""

    line: int
    host: str | None = None
    port: str | None = None
    database: str | None = None
    user: str | None = None
    password: str = ""
    fault: str = ""

    def __repr__(self) -> str:
        return f"Entry({self.line}, {self.host!r}, {self.port!r}, {self.database!r}, {self.user!r}, …, {self.fault!r})"


def read(text: str) -> list[Entry]:
    """The lines of a file but empty ones and comments, in its order, which is that of their precedence."""
    lines = (line.rstrip("\r") for line in text.split("\n"))
    return [_entry(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]


def password(entries: Sequence[Entry], parts: Parts) -> str | None:
    """The password that libpq takes for a connection: that of the first line that fits, None where that is empty."""
    entry = first(entries, parts)
    return (entry.password or None) if entry else None


def first(entries: Sequence[Entry], parts: Parts) -> Entry | None:
    """The line that libpq takes for a connection."""
    hosts = [host for host in (parts.host, parts.socket) if host is not None]
    if parts.socket in _USUAL_SOCKETS:
        hosts.append("localhost")
    for entry in entries:
        if entry.fault or (entry.host is not None and entry.host not in hosts):
            continue
        wanted = (str(parts.port or PORTS["postgres"]), parts.database, parts.user)
        if all(mine in (None, theirs) for mine, theirs in zip(entry[2:5], wanted, strict=True)):
            return entry
    return None


def found(entry: Entry, usual: int = PORTS["postgres"]) -> FoundDatabase:
    """A line as helm would keep it, with its own password; `usual` is the port where it is for any."""
    made = FoundDatabase(profile_name.made(entry.database or entry.host or ""), f"line {entry.line}")
    fault = entry.fault or _fault(entry)
    if fault or not made.name:
        return made._replace(fault=fault or "no name of a profile can be made from it")
    number = numbers.port(entry.port) if entry.port is not None else usual
    if number is None:
        return made._replace(fault="its port is none from 1 to 65535")
    if entry.port is None:
        made = made.noted(f"it is for any port (*), of which helm takes {number}")
    parts = Parts("postgres", port=number, database=entry.database, user=entry.user, password=entry.password)
    return made._replace(parts=parts._replace(**numbers.at(entry.host or "")))


def ranked(made: FoundDatabase, entries: Sequence[Entry]) -> FoundDatabase:
    """A line's database with the password that libpq takes for it, which may be that of a line before.

    Where the database is still to be asked for, that cannot be said yet, and it stays as it is.
    """
    parts = made.parts
    entry = first(entries, parts) if parts is not None and parts.database is not None else None
    if parts is None or entry is None or f"line {entry.line}" == made.origin:
        return made
    told = f"libpq takes the password of line {entry.line} for it, which comes first, and so does helm"
    return made.noted(told)._replace(parts=parts._replace(password=entry.password or None))


def _fault(entry: Entry) -> str:
    for what, value in (("host", entry.host), ("user", entry.user)):
        if value is None:
            return f"it is for any {what} (*), and a profile has one"
    if "" in (entry.host, entry.user, entry.database):
        return "its host, database or user is empty, so it fits no connection"
    return "" if entry.password else "it has no password"


def _entry(number: int, line: str) -> Entry:
    fields: list[str | None] = []
    rest = line
    while len(fields) < 4:
        field, ended, rest = _field(rest)
        if not ended:
            return Entry(number, fault="it is not host:port:database:user:password, so libpq never takes it")
        fields.append(field)
    value, _, _ = _field(rest, last=True)
    host, port, database, user = fields
    return Entry(number, host, port, database, user, value or "")


def _field(text: str, *, last: bool = False) -> tuple[str | None, bool, str]:
    """The field that a text begins with (None for *), whether a colon ends it, and what stands behind that.

    A backslash makes the character behind it plain; as the last character of a password it is one itself.
    """
    if text.startswith("*:") and not last:
        return None, True, text[2:]
    field, at = "", 0
    while at < len(text) and text[at] != ":":
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
        field += text[at]
        at += 1
    return field, at < len(text), text[at + 1 :]
