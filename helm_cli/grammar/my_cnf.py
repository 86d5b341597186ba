"""What MySQL's and MariaDB's option files say to a client, and what of it a database profile can keep.

Source: MySQL's documentation, "Using Option Files", and what MariaDB's my_print_defaults does with such files.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar import profile_name
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
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
_ON: Final = frozenset(("1", "on", "true", "yes", ""))
_LEFT_OUT: Final = frozenset(
    (
        "ssl-cert",
        "ssl-key",
        "ssl-cipher",
        "tls-version",
        "tls-ciphersuites",
        "init-command",
        "default-auth",
        "plugin-dir",
    )
)
# Without these the connection would be less protected than its owner wants: nothing is kept then.
_NEEDED: Final = frozenset(
    (
        "ssl-crl",
        "ssl-crlpath",
        "ssl-capath",
        "ssl-fp",
        "ssl-fplist",
    )
)
# What says of a group that it is about a server at all.
_TELLING: Final = frozenset(
    (
        "host",
        "port",
        "socket",
        "user",
        "password",
        "database",
    )
)

Options = Mapping[str, str | None]


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


def options(file: File, suffix: str = "") -> Options:
    """What the client programs make of a file, with --defaults-group-suffix where there is a suffix.

    Of an option that stands twice the last counts. Names are as the manual writes them, with - and no "loose-".
    """
    wanted = {name + end for name in _GROUPS for end in ("", suffix)}
    merged: dict[str, str | None] = {}
    for name, written in file.groups:
        if name in wanted:
            merged |= {option.replace("_", "-").removeprefix("loose-"): value for option, value in written}
    return merged


def found(file: File, login: str) -> list[FoundDatabase]:
    """The servers of a file as helm would keep them: that of its usual groups, and one for each suffix of [client].

    `login` is the name of the person's account, which the clients take where there is no user.
    """
    usual = options(file)
    there = [_found("", usual, login)] if usual.keys() & _TELLING else []
    names = dict.fromkeys(name for name, _ in file.groups if name not in _GROUPS)
    suffixes = [match[1] for name in names if (match := _SUFFIXED.fullmatch(name))]
    return [*there, *(_found(suffix, options(file, suffix), login) for suffix in suffixes)]


def _found(suffix: str, given: Options, login: str) -> FoundDatabase:
    values = {name: value for name, value in given.items() if value}
    name = suffix or values.get("database") or values.get("host") or "mysql"
    made = FoundDatabase(profile_name.made(name), f"[client{suffix}]")
    needed = sorted(values.keys() & _NEEDED)
    if needed:
        told = "without which the connection would be less protected; add it by hand to go without"
        return made._replace(fault=f"helm has no setting for its {needed[0]}, {told}")
    left = [name for name in values if name in _LEFT_OUT]
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


def _secured(made: FoundDatabase, given: Options, values: Mapping[str, str]) -> FoundDatabase:
    """With its TLS; nothing is made less strict than the clients have it."""
    written, authority = values.get("ssl-mode", "").lower(), values.get("ssl-ca")
    if written and written not in _MODES:
        return made._replace(fault="its ssl-mode is none that the clients know")
    tls = _MODES[written] if written else _switched(given)
    if not written and tls in (None, "require") and authority is not None:
        # The clients then check who vouches for the server, as helm does where it is given an authority.
        tls = "require"
    if written == "preferred":
        made = made.noted(
            "its ssl-mode preferred may go without TLS; helm is stricter and requires it off this machine"
        )
        authority = None
    if written == "verify_ca" and authority is None:
        tls = "verify-full"
        made = made.noted("its ssl-mode verify_ca becomes the stricter verify-full, with this machine's authorities")
    parts = made.parts._replace(tls=tls, tls_ca=None if tls == "disable" else authority) if made.parts else None
    return made._replace(parts=parts)


def _switched(given: Options) -> Tls | None:
    """What MariaDB's switches say, in the order of the file."""
    tls: Tls | None = None
    for name, on in _switches(given):
        if name == "ssl":
            tls = "require" if on else "disable"
        elif name == "ssl-verify-server-cert" and on:
            tls = "verify-full"
    return tls


def _switches(given: Options) -> Iterator[tuple[str, bool]]:
    for written, value in given.items():
        name = re.sub(r"^(skip|disable|enable)-", "", written)
        yield name, ((value or "").lower() in _ON) != written.startswith(("skip-", "disable-"))
