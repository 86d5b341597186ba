"""Which option a line of MySQL's option files means: its name may be cut short, and say on or off itself.

Source: MySQL's documentation, "Program Option Modifiers", and what MariaDB's client does with such names.
"""

import re
from typing import Final, NamedTuple

# What says of a group that it is about a server at all.
TELLING: Final = frozenset(("host", "port", "socket", "user", "password", "database"))
SWITCHES: Final = frozenset(("ssl", "ssl-verify-server-cert"))
# Without these the connection would be less protected than its owner wants: nothing is kept then.
NEEDED: Final = frozenset(
    (
        "ssl-crl",
        "ssl-crlpath",
        "ssl-capath",
        "ssl-fp",
        "ssl-fplist",
        "ssl-fips-mode",
        "tls-fp",
        "tls-fplist",
        "tls-peer-fp",
        "tls-peer-fplist",
    )
)
LEFT_OUT: Final = frozenset(
    (
        "ssl-cert",
        "ssl-key",
        "ssl-cipher",
        "ssl-passphrase",
        "ssl-session-data",
        "ssl-session-data-continue-on-failed-reuse",
        "tls-version",
        "tls-ciphersuites",
        "tls-sni-servername",
        "init-command",
        "default-auth",
        "plugin-dir",
    )
)
_KNOWN: Final = (*sorted(TELLING | SWITCHES | NEEDED | LEFT_OUT | {"protocol", "ssl-ca", "ssl-mode"}),)
_MODIFIED: Final = re.compile(r"(skip|disable|enable|maximum|loose)-(.+)", re.DOTALL)
_ON: Final = frozenset(("1", "on", "true"))


class Option(NamedTuple):
    """One option: its whole name and its value, None for none; a switch has "1" or "0".

    `loose` says that a client that does not know it passes it over. `fault` says why helm cannot tell what it means.
    """

    name: str
    value: str | None
    loose: bool = False
    fault: str = ""

    def __repr__(self) -> str:
        return f"Option({self.name!r}, …, {self.loose!r}, {self.fault!r})"


def meant(written: str, value: str | None) -> Option:
    """What the clients make of a name as it is written, which they take as `Ssl_CA`, too, and as `ssl-verify`.

    Of several modifiers the last counts. An option that says nothing to helm stays as it is.
    """
    name, modifier, loose = written.lower().replace("_", "-"), "", False
    while not (whole := _whole(name)) and (found := _MODIFIED.fullmatch(name)):
        modifier, name = found[1], found[2]
        loose = loose or modifier == "loose"
    if len(whole) > 1:
        told = f"one of its options may be short for {' or '.join(whole)}; write its whole name there"
        return Option(name, value, loose, told)
    if not whole:
        return Option(name, value, loose, _UNKNOWN if name.startswith(("ssl", "tls")) else "")
    return Option(whole[0], _value(whole[0], modifier, value), loose)


_UNKNOWN: Final = (
    "one of its options for TLS is none that helm knows, and without it the connection may be less protected; add it by"
    " hand to go without"
)


def _whole(name: str) -> list[str]:
    """The options that a name is, or may be short for."""
    return [name] if name in _KNOWN else [known for known in _KNOWN if name and known.startswith(name)]


def _value(name: str, modifier: str, value: str | None) -> str | None:
    if modifier in ("skip", "disable", "enable"):
        # Twice no is yes, and only so.
        on = (modifier == "enable") != (value == "0")
        return "" if name == "password" and not on else str(int(on))
    if name in SWITCHES:
        return str(int(value is None or value.lower() in _ON))
    return value
