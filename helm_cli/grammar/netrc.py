"""Which machines a .netrc file has credentials for, and how a service profile would send them.

Source: ftp(1) and Python's netrc, which agree on the grammar; what curl and others make of a machine is HTTP Basic.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from helm_cli.grammar import profile_name, secret_words, token, url
from helm_cli.grammar.found import FoundService

_BLANKS: Final = " \t\r\n"
_TOP: Final = ("machine", "default", "macdef")
_FIELDS: Final = {"login": "login", "user": "login", "password": "password", "account": "account"}
# Logins that hosting services document for a password that is a token: the name says nothing.
_NO_NAMES: Final = frozenset(("", "oauth", "oauth2", "x-access-token", "x-token-auth", "token", "bearer"))
# GitHub's older way: the token is the login.
_NO_PASSWORD: Final = "x-oauth-basic"
# What stands for a password where the login is the secret.
_PLACEHOLDERS: Final = frozenset(("x", "api_token", "apikey", "api-key", "unused", "none", "password", _NO_PASSWORD))
# Words with a few digits, or an address of mail: what a person chose, and no generated key.
_LOGIN: Final = re.compile(
    r"[._+-]{0,2}[A-Za-z]{1,24}(?:[._+-]{1,2}[A-Za-z]{1,24}){0,4}[._+-]{0,2}[0-9]{0,6}"
    r"|[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,250}"
)
_GITHUB: Final = "github.com"


class Entry(NamedTuple):
    """The credentials for one machine, None for all others (`default`)."""

    machine: str | None
    login: str = ""
    password: str = ""
    account: str = ""

    def __repr__(self) -> str:
        # Of some services the login is the token.
        return f"Entry({self.machine!r}, …)"

    @property
    def bare(self) -> str | None:
        """The token that stands as the login (GitHub's older way), None where the login is a name."""
        shaped = bool(secret_words.in_command([self.login]))
        return self.login if self.password == _NO_PASSWORD or (shaped and not self.password) else None


class _Reader:
    """How far a file was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def word(self) -> str | None:
        """The next word, None at the end: up to a blank, or in quotes; a backslash makes what follows it plain."""
        text = self.text
        while self.at < len(text) and text[self.at] in _BLANKS:
            self.at += 1
        if self.at == len(text):
            return None
        closing = '"' if text[self.at] == '"' else _BLANKS
        self.at += closing == '"'
        found = []
        while self.at < len(text) and text[self.at] not in closing:
            if text[self.at] == "\\":
                self.at += 1
            found.append(text[self.at : self.at + 1])
            self.at += 1
        # A blank ends the line that a comment after it stands in, so it is not passed over.
        self.at += closing == '"' and self.at < len(text)
        return "".join(found)

    def pass_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end + 1

    def pass_macro(self) -> None:
        """Past the lines of a macro, which an empty one ends."""
        end = re.compile(r"\n[ \t\r]*(?:\n|\Z)").search(self.text, self.at)
        self.at = len(self.text) if end is None else end.end()

    def fault(self, told: str) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, self.at) + 1} {told}")


def read(text: str) -> list[Entry]:
    """The entries of a file in its order. Raises ValueError: a clause with the line and nothing in it."""
    reader = _Reader(text)
    entries: list[Entry] = []
    while (word := reader.word()) is not None:
        if word.startswith("#"):
            reader.pass_line()
        elif word in ("machine", "default"):
            name = reader.word() if word == "machine" else None
            if word == "machine" and not name:
                raise reader.fault("names no machine")
            entries.append(Entry(name))
        elif word == "macdef":
            reader.pass_macro()
        elif word in _FIELDS and entries:
            entries[-1] = entries[-1]._replace(**{_FIELDS[word]: _value(reader)})
        else:
            raise reader.fault("has a word that is none of machine, default, login, password, account and macdef")
    return entries


def _value(reader: _Reader) -> str:
    word = reader.word()
    if word is None:
        raise reader.fault("ends where a value should stand")
    return word


def found(entries: list[Entry]) -> list[FoundService]:
    """The entries as helm would keep them. Of one machine and login the first counts, as for those programs."""
    return list(_apart(entries))


def _apart(entries: list[Entry]) -> Iterator[FoundService]:
    seen = set[tuple[str | None, str]]()
    for number, entry in enumerate(entries, 1):
        if (entry.machine, entry.login) not in seen:
            seen.add((entry.machine, entry.login))
            yield _found(entry, number)


def _found(entry: Entry, number: int) -> FoundService:
    if entry.machine is None:
        return FoundService("", "default", fault="it is for any machine, and a profile has one base URL")
    base_url = f"https://{entry.machine}"
    wrong = url.base_fault(base_url) or ("must name a host alone" if "/" in entry.machine else None)
    if wrong or secret_words.in_command([entry.machine]):
        # It is not shown: a URL may stand there, with a token in it.
        told = f"https:// with the name of its machine {wrong or 'holds what looks like a secret'}"
        return FoundService("", f"entry {number}", fault=told)
    of = f", login {entry.login}" if _is_name(entry) else ""
    made = FoundService(profile_name.made(entry.machine), f"machine {entry.machine}{of}", url.base(base_url))
    if entry.machine.lower() == _GITHUB:
        made = made._replace(notes=("GitHub's API is not there but at https://api.github.com",))
    if entry.login == "anonymous":
        return made._replace(fault="its login is anonymous")
    if not entry.password and not entry.login:
        return made._replace(fault="it has no password")
    return _authorized(made, entry)


def _is_name(entry: Entry) -> bool:
    """Whether a login is shown: one that stands alone may be the secret, and so may one that reads like none."""
    alone = not entry.password or entry.bare is not None or entry.password.lower() in _PLACEHOLDERS
    return not alone and bool(_LOGIN.fullmatch(entry.login)) and not secret_words.in_command([entry.login])


def _authorized(made: FoundService, entry: Entry) -> FoundService:
    """With how its calls would be authorized: a token as a bearer, a name and a password as HTTP Basic (RFC 7617)."""
    if entry.bare is not None and token.bearer_fault(entry.bare) is None:
        told = "its login is a token, and is sent as a bearer token"
        return made._replace(token=entry.bare, notes=(*made.notes, told))
    if entry.login.lower() in _NO_NAMES and entry.password and token.bearer_fault(entry.password) is None:
        why = f"the login {entry.login} says that it is one" if entry.login else "there is no login"
        told = f"its password is sent as a bearer token: {why}"
        return made._replace(token=entry.password, notes=(*made.notes, told))
    if ":" in entry.login:
        return made._replace(fault="its login has a colon, which HTTP Basic cannot carry")
    pair = base64.b64encode(f"{entry.login}:{entry.password}".encode()).decode()
    told = "login and password are sent together, as HTTP Basic has it"
    if not entry.password:
        told = "it has no password: its login, which may be a token, is sent alone, as curl does (HTTP Basic)"
    return made._replace(format="raw", token=f"Basic {pair}", notes=(*made.notes, told))
