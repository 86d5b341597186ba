"""What libpq's pg_service.conf says of each service, and what of it a database profile can keep.

Source: libpq's documentation, 32.17 and 32.1.2, and what libpq 18 does with such files.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar import profile_name
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.model.profile import PORTS, Tls

# libpq reads a line into a buffer of 1,024 bytes.
_MOST_LINE: Final = 1_022
_BLANKS: Final = " \t\n\v\f\r"
_KEPT: Final = frozenset(
    (
        "host",
        "hostaddr",
        "port",
        "dbname",
        "user",
        "password",
        "passfile",
        "sslmode",
        "sslrootcert",
    )
)
# Without these the connection would be another, or less protected than its owner wants: nothing is kept then.
_NEEDED: Final = frozenset(
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
_LEFT_OUT: Final = frozenset(
    (
        "connect_timeout",
        "client_encoding",
        "application_name",
        "fallback_application_name",
        "keepalives",
        "keepalives_idle",
        "keepalives_interval",
        "keepalives_count",
        "tcp_user_timeout",
        "sslnegotiation",
        "sslcompression",
        "sslcert",
        "sslkey",
        "sslcertmode",
        "sslpassword",
        "sslsni",
        "min_protocol_version",
        "max_protocol_version",
        "ssl_min_protocol_version",
        "ssl_max_protocol_version",
        "krbsrvname",
        "gsslib",
        "gssdelegation",
        "target_session_attrs",
        "load_balance_hosts",
        "scram_server_key",
        "oauth_issuer",
        "oauth_client_id",
        "oauth_client_secret",
        "oauth_scope",
        "sslkeylogfile",
        "channel_binding",
        "gssencmode",
        "requiressl",
        "authtype",
        "tty",
    )
)
_CERTIFICATE: Final = ("sslcert", "sslkey", "sslpassword")
_MODES: Final[dict[str, Tls | None]] = {
    "": None,
    "allow": None,
    "prefer": None,
    "disable": "disable",
    "require": "require",
    "verify-ca": "require",
    "verify-full": "verify-full",
}


class Service(NamedTuple):
    """One service: its name and what it sets, or why libpq cannot use it ("" where it can)."""

    name: str
    values: Mapping[str, str]
    fault: str = ""

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {[*self.values]!r}, {self.fault!r})"


def read(text: str) -> list[Service]:
    """The services of a file in its order. No fault repeats anything but its line's number.

    Raises ValueError, with a lower-case clause, for a line that is longer than libpq reads.
    """
    services: list[tuple[str, dict[str, str], list[str]]] = []
    names = set[str]()
    for number, written in enumerate(text.split("\n"), 1):
        if len(written.encode()) > _MOST_LINE:
            raise ValueError(f"line {number} is longer than libpq reads ({_MOST_LINE:,} bytes)")
        line = written.strip(_BLANKS)
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            name, closed, _ = line[1:].partition("]")
            twice = ["it stands twice, and libpq reads the first"] if name in names else []
            if closed:
                services.append((name, {}, twice))
                names.add(name)
            else:
                # A service all the same, that nothing can name.
                services.append(("[", {}, [f"line {number} has no ] at its end"]))
        elif services:
            _, values, faults = services[-1]
            faults.extend(_set(values, line, number))
    return [Service(name, values, faults[0] if faults else "") for name, values, faults in services]


def _set(values: dict[str, str], line: str, number: int) -> Iterator[str]:
    """Takes one line of a service; gives what is wrong with it, if anything."""
    key, assigned, value = line.partition("=")
    if line.startswith("ldap"):
        yield f"line {number} would have it looked up in LDAP, which helm does not do"
    elif key in ("service", "servicefile") and assigned:
        yield f"line {number} names another service, which libpq refuses too"
    elif not assigned or key not in _KEPT | _NEEDED | _LEFT_OUT:
        yield f"line {number} is no setting that libpq knows; it is written key=value without blanks"
    else:
        # Of two, libpq takes the first.
        values.setdefault(key, value)


def found(service: Service, login: str, root: str | None = None) -> FoundDatabase:
    """A service as helm would keep it, its password that of the file alone.

    `login` is the name of the person's account, which libpq takes where there is no user, and `root` the file of
    authorities of theirs that libpq takes where none is named, None where it is not there.
    """
    made = FoundDatabase(profile_name.made(service.name), service.name, fault=service.fault)
    values = {key: value for key, value in service.values.items() if value}
    if made.fault or not made.name:
        return made._replace(fault=made.fault or "no name of a profile can be made from its name")
    for key, value in values.items():
        if key in _NEEDED or _NEEDED_WHERE.get(key) == value:
            told = "and without it the connection would be another, or less protected; add it by hand to go without"
            return made._replace(fault=f"helm has no setting for its {key}, {told}")
    left = [key for key in values if key in _LEFT_OUT and key not in _CERTIFICATE]
    if left:
        made = made.noted(f"{numbers.listed(left)} left out: helm has no such setting")
    if any(key in values for key in _CERTIFICATE):
        made = made.noted("its client certificate is left out: a server that wants one does not let helm in")
    return _secured(_placed(made, values, login), values, root)


def _placed(made: FoundDatabase, values: Mapping[str, str], login: str) -> FoundDatabase:
    """With where the server is and who signs in."""
    host, number = values.get("host") or values.get("hostaddr", ""), values.get("port", str(PORTS["postgres"]))
    if "," in host + number:
        return made._replace(fault="it names several hosts, and a profile has one")
    if not host or host.startswith("@"):
        told = "an abstract socket" if host else "no host, and helm guesses no socket"
        return made._replace(fault=f"it names {told}; add it by hand with --host or --socket")
    port = numbers.port(number)
    if port is None:
        return made._replace(fault="its port is none from 1 to 65535")
    if "host" in values and "hostaddr" in values:
        made = made.noted("hostaddr is left out: helm looks its host up")
    user = values.get("user", login)
    if not user:
        return made._replace(fault="it names no user, and your account here has no name")
    if "user" not in values:
        made = made.noted(f"it names no user, so libpq takes your own name, {user}")
    if "dbname" not in values:
        made = made.noted(f"it names no database, so libpq takes that of the user's name, {user}")
    parts = Parts("postgres", port=port, database=values.get("dbname", user), user=user)
    return made._replace(parts=parts._replace(password=values.get("password"), **numbers.at(host)))


def _secured(made: FoundDatabase, values: Mapping[str, str], root: str | None) -> FoundDatabase:
    """With its TLS; nothing is made less strict than libpq has it."""
    mode, authority, parts = values.get("sslmode", ""), values.get("sslrootcert") or root, made.parts
    if parts is None or parts.socket is not None:
        return made
    if mode not in _MODES:
        return made._replace(fault="its sslmode is none that libpq knows")
    tls = _MODES[mode]
    if tls is None:
        told = f"its sslmode {mode} may go without TLS; helm is stricter and requires it off this machine"
        return made.noted(told) if mode else made
    if tls == "disable":
        return made._replace(parts=parts._replace(tls=tls))
    if authority == "system" or (mode == "verify-ca" and authority is None):
        authority, tls = None, "verify-full"
    if tls != mode and not (mode == "verify-ca" and tls == "require"):
        made = made.noted(f"its sslmode {mode} becomes the stricter verify-full, with this machine's authorities")
    return made._replace(parts=parts._replace(tls=tls, tls_ca=authority))
