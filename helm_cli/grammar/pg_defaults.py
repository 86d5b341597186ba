"""What libpq takes of its environment where nothing else says it, and which TLS a profile has for an sslmode.

Source: libpq's documentation, 32.15 and 32.19, and what libpq 18 does.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar.found import FoundDatabase
from helm_cli.model.profile import Tls

# Without these the connection would be another, or less protected than its owner wants: nothing is kept then.
NEEDED: Final = frozenset(
    (
        "options",
        "replication",
        "requirepeer",
        "require_auth",
        "sslcrl",
        "sslcrldir",
        "scram_client_key",
    )
)
_NEEDED_WHERE: Final = {"channel_binding": "require", "gssencmode": "require"}
# Keyword -> the variable that libpq looks at, of those that say where to, who, or how well protected.
VARIABLES: Final = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "dbname": "PGDATABASE",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "options": "PGOPTIONS",
    "requirepeer": "PGREQUIREPEER",
    "require_auth": "PGREQUIREAUTH",
    "sslcrl": "PGSSLCRL",
    "sslcrldir": "PGSSLCRLDIR",
    "channel_binding": "PGCHANNELBINDING",
    "gssencmode": "PGGSSENCMODE",
}
_PASSED_OVER: Final = (
    ("hostaddr", "PGHOSTADDR is left out: helm looks its host up"),
    ("sslcert", "the client certificate in PGSSLCERT is left out: a server that wants one does not let helm in"),
)
# The older way to say sslmode=require.
_OLDER: Final = "PGREQUIRESSL"
_MODES: Final[dict[str, Tls | None]] = {
    "": None,
    "allow": None,
    "prefer": None,
    "disable": "disable",
    "require": "require",
    "verify-ca": "require",
    "verify-full": "verify-full",
}


class Surroundings(NamedTuple):
    """What libpq finds around it: its variables, and the person's own file of authorities, None where that is not."""

    variables: Mapping[str, str] = {}
    root: str | None = None

    def __repr__(self) -> str:
        return f"Surroundings({sorted(VARIABLES.values() & self.variables.keys())!r}, {self.root!r})"

    def where_unsaid(self, said: Collection[str]) -> dict[str, tuple[str, str]]:
        """Each keyword that is not said and that a variable fills, with its value and that variable's name."""
        there = {key: (value, name) for key, name in VARIABLES.items() if (value := self.variables.get(name))}
        if "sslmode" not in there and self.variables.get(_OLDER, "").startswith("1"):
            there["sslmode"] = ("require", _OLDER)
        return {key: found for key, found in there.items() if key not in said}


def needed(key: str, value: str, called: str) -> str:
    """Why nothing is kept where a keyword has this value, "" where that does not hinder."""
    if key not in NEEDED and _NEEDED_WHERE.get(key) != value:
        return ""
    told = "and without it the connection would be another, or less protected; add it by hand to go without"
    return f"helm has no setting for {called}, {told}"


def completed(made: FoundDatabase, around: Surroundings) -> FoundDatabase:
    """A place that libpq's programs connect to, with the port and TLS that they take where it says none.

    Who signs in and what for stays as it is said, and so does that nothing is.
    """
    parts = made.parts
    if parts is None or parts.engine != "postgres":
        return made
    fields = {"port": parts.port, "sslmode": parts.tls, "sslrootcert": parts.tls_ca}
    said = {key: str(value) for key, value in fields.items() if value is not None}
    left = around.where_unsaid({*said, "host", "dbname", "user", "password"})
    hinders = next(filter(None, (needed(key, value, name) for key, (value, name) in left.items())), "")
    if hinders:
        return made._replace(parts=None, fault=hinders)
    values = {**{key: value for key, (value, _) in left.items()}, **said}
    if "port" in left:
        port = numbers.port(values["port"])
        if port is None:
            return made._replace(parts=None, fault="its port, that of PGPORT, is none from 1 to 65535")
        parts = parts._replace(port=port)
    made = made._replace(parts=parts).noted(*(told for key, told in _PASSED_OVER if key in left))
    made = made.noted(*taken({key: found for key, found in left.items() if key in fields}))
    return secured(made, values.get("sslmode", ""), values.get("sslrootcert"), around.root)


def taken(left: Mapping[str, tuple[str, str]]) -> list[str]:
    """What is told of each keyword that a variable fills, never its value."""
    told = ("port", "sslmode", "sslrootcert", "host", "hostaddr", "dbname", "user", "password")
    return [f"its {key} is that of {left[key][1]}, as libpq has it" for key in told if key in left]


def secured(made: FoundDatabase, mode: str, authority: str | None, root: str | None) -> FoundDatabase:
    """With the TLS of an sslmode, "" for none; nothing is made less strict than libpq has it."""
    parts = made.parts
    if parts is None or parts.socket is not None:
        return made
    if authority == "system" and not mode:
        mode = "verify-full"
    if mode not in _MODES:
        return made._replace(parts=None, fault="its sslmode is none that libpq knows")
    tls, authority = _MODES[mode], authority or root
    if tls is None:
        told = f"its sslmode {mode} may go without TLS; helm is stricter and requires it off this machine"
        return made.noted(told) if mode else made
    if tls == "disable":
        return made._replace(parts=parts._replace(tls=tls, tls_ca=None))
    if authority == "system" or (mode == "verify-ca" and authority is None):
        authority, tls = None, "verify-full"
    if tls != mode and not (mode == "verify-ca" and tls == "require"):
        made = made.noted(f"its sslmode {mode} becomes the stricter verify-full, with this machine's authorities")
    return made._replace(parts=parts._replace(tls=tls, tls_ca=authority))
