"""What MySQL's and MariaDB's option files say to a client, and what of it a database profile can keep.

Source: MySQL's documentation, "Using Option Files", and what MariaDB's my_print_defaults does with such files.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar import mysql_option, profile_name
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.mysql_option import Option
from helm_cli.model.profile import PORTS, Tls

# The clients read a line into a buffer of 4,096 bytes.
_MOST_LINE: Final = 4_000
_BLANKS: Final = " \t\n\v\f\r"
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
# What the client programs read, those of MariaDB included; with --defaults-group-suffix these with the suffix too.
_GROUPS: Final = ("client", "mysql", "client-server", "client-mariadb", "mariadb-client")
_SUFFIXED: Final = re.compile(r"client([-_].+)")
_MODES: Final[dict[str, Tls | None]] = {
    "disabled": "disable",
    "preferred": None,
    "required": "require",
    "verify_ca": "require",
    "verify_identity": "verify-full",
}
# These turn TLS on where they stand, as `ssl` does, whatever they say.
_IMPLYING: Final = frozenset(("ssl-ca", "ssl-cert", "ssl-key", "ssl-cipher"))
_STRICTNESS: Final[tuple[Tls | None, ...]] = ("disable", None, "require", "verify-full")


class File(NamedTuple):
    """The groups of a file in its order, each with its options in theirs, and how many files it includes."""

    groups: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...]
    includes: int

    def __repr__(self) -> str:
        return f"File({[name for name, _ in self.groups]!r}, {self.includes})"


def read(text: str) -> File:
    """The groups of an option file; an option without a value has None.

    Raises ValueError, a lower-case clause without anything of the file, for what the clients refuse as well.
    """
    groups: list[tuple[str, list[tuple[str, str | None]]]] = []
    includes = 0
    for number, written in enumerate(text.split("\n"), 1):
        if len(written.encode()) > _MOST_LINE:
            raise ValueError(f"line {number} is over {_MOST_LINE:,} bytes")
        line = written.lstrip(_BLANKS)
        if not line or line[0] in "#;":
            continue
        if line[0] == "!":
            includes += 1
        elif line[0] == "[":
            name, closed, _ = line[1:].partition("]")
            if not closed:
                raise ValueError(f"line {number} has no ] at the end of its group's name")
            groups.append((name.rstrip(_BLANKS), []))
        elif groups:
            groups[-1][1].append(_option(line))
        else:
            raise ValueError(f"line {number} stands before the first group, such as [client]")
    return File(tuple((name, tuple(options)) for name, options in groups), includes)


def _option(line: str) -> tuple[str, str | None]:
    name, assigned, value = _without_comment(line).partition("=")
    return name.rstrip(_BLANKS), _unescaped(_unquoted(value.strip(_BLANKS))) if assigned else None


def _without_comment(line: str) -> str:
    """The line without what a # begins that stands in no quotes; a backslash counts only within them."""
    quote, escaped = "", False
    for at, char in enumerate(line):
        if char in "'\"" and not escaped:
            quote = char if not quote else "" if quote == char else quote
        if char == "#" and not quote:
            return line[:at]
        escaped = bool(quote) and char == "\\" and not escaped
    return line


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] in "'\"" and value[0] == value[-1]
    return value[1:-1] if quoted else value


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), value, flags=re.DOTALL)


def options(file: File, suffix: str = "") -> list[Option]:
    """What the client programs take of a file, with --defaults-group-suffix where there is a suffix, in its order.

    Of an option that stands twice the last counts.
    """
    wanted = {name + end for name in _GROUPS for end in ("", suffix)}
    return [mysql_option.meant(*option) for name, written in file.groups if name in wanted for option in written]


def found(file: File, login: str) -> list[FoundDatabase]:
    """The servers of a file as helm would keep them: that of its usual groups, and one for each suffix of [client].

    `login` is the name of the person's account, which the clients take where there is no user.
    """
    usual = options(file)
    there = [_found("", usual, login)] if {option.name for option in usual} & mysql_option.TELLING else []
    names = dict.fromkeys(name for name, _ in file.groups if name not in _GROUPS)
    suffixes = [match[1] for name in names if (match := _SUFFIXED.fullmatch(name))]
    return [*there, *(_found(suffix, options(file, suffix), login) for suffix in suffixes)]


def _found(suffix: str, given: list[Option], login: str) -> FoundDatabase:
    last = {option.name: option.value for option in given}
    values = {name: value for name, value in last.items() if value}
    called = (suffix,) if suffix else (values.get("database", ""), values.get("host", ""), "mysql")
    name = next(filter(None, map(profile_name.made, called)), "")
    made = FoundDatabase(name, f"[client{suffix}]", fault=next((one.fault for one in given if one.fault), ""))
    if made.fault or not name:
        return made._replace(fault=made.fault or "no name of a profile can be made from its name")
    needed = sorted(values.keys() & mysql_option.NEEDED)
    if needed:
        told = "without which the connection would be less protected; add it by hand to go without"
        return made._replace(fault=f"helm has no setting for its {needed[0]}, {told}")
    left = [name for name in values if name in mysql_option.LEFT_OUT]
    if left:
        made = made.noted(f"{numbers.listed(left)} left out: helm has no such setting")
    made = _placed(made, values, login)
    return _secured(made, given, values) if made.parts is not None and made.parts.host is not None else made


def _placed(made: FoundDatabase, values: Mapping[str, str], login: str) -> FoundDatabase:
    """With where the server is and who signs in."""
    host, protocol = values.get("host", "localhost"), values.get("protocol", "").upper()
    port = numbers.port(values.get("port", str(PORTS["mysql"])))
    user = values.get("user", login)
    if protocol not in ("", "TCP", "SOCKET"):
        return made._replace(fault="its protocol is neither TCP nor SOCKET")
    if port is None:
        return made._replace(fault="its port is none from 1 to 65535")
    if not user:
        return made._replace(fault="it names no user, and your account here has no name")
    if "user" not in values:
        made = made.noted(f"it names no user, so the client takes your own name, {user}")
    parts = Parts("mysql", database=values.get("database"), user=user, password=values.get("password"))
    local = host.lower() == "localhost" and protocol != "TCP"
    if local and "socket" in values:
        return made._replace(parts=parts._replace(socket=values["socket"]))
    if protocol == "SOCKET":
        return made._replace(fault="it wants a Unix socket and does not say which; add it by hand with --socket")
    if local:
        made = made.noted("it names no socket, so helm takes TCP, where the client would take its own Unix socket")
    return made._replace(parts=parts._replace(host=host, port=port))


def _secured(made: FoundDatabase, given: list[Option], values: Mapping[str, str]) -> FoundDatabase:
    """With its TLS; nothing is made less strict than the clients have it."""
    mode = next((option for option in reversed(given) if option.name == "ssl-mode" and option.value), None)
    # MariaDB's clients know no ssl-mode, and refuse a file that has one but for a loose one.
    tls, authority = _switched(given, implied=mode is None or mode.loose), values.get("ssl-ca")
    if mode is not None:
        written = (mode.value or "").lower()
        if written not in _MODES:
            return made._replace(fault="its ssl-mode is none that the clients know")
        wanted = _MODES[written]
        if written == "verify_ca" and authority is None:
            wanted = "verify-full"
            made = made.noted(
                "its ssl-mode verify_ca becomes the stricter verify-full, with this machine's authorities"
            )
        if tls is None or _STRICTNESS.index(tls) <= _STRICTNESS.index(wanted):
            tls, authority = wanted, None if written == "preferred" else authority
        if tls is None:
            told = "may go without TLS; helm is stricter and requires it off this machine"
            made = made.noted(f"its ssl-mode preferred {told}")
    parts = made.parts._replace(tls=tls, tls_ca=None if tls == "disable" else authority) if made.parts else None
    return made._replace(parts=parts)


def _switched(given: list[Option], *, implied: bool) -> Tls | None:
    """What MariaDB's switches say, in the order of the file, and what turns TLS on besides where that counts."""
    on: bool | None = None
    verified = False
    for option in given:
        if option.name == "ssl":
            on = option.value == "1"
        elif option.name == "ssl-verify-server-cert":
            verified = option.value == "1"
            on = True if verified else on
        elif implied and option.name in _IMPLYING:
            on = True
    return ("verify-full" if verified else "require") if on else None if on is None else "disable"
