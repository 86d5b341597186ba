"""What libpq's pg_service.conf says of each service, and what of it a database profile can keep.

Source: libpq's documentation, 32.17 and 32.1.2, and what libpq 18 does with such files.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from helm_cli.grammar import found as numbers
from helm_cli.grammar import pg_defaults, profile_name
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase
from helm_cli.grammar.pg_defaults import Surroundings
from helm_cli.model.profile import PORTS

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
_NOWHERE: Final = Surroundings()


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
    elif not assigned or key not in _KEPT | pg_defaults.NEEDED | _LEFT_OUT:
        yield f"line {number} is no setting that libpq knows; it is written key=value without blanks"
    else:
        # Of two, libpq takes the first.
        values.setdefault(key, value)


def found(service: Service, login: str, around: Surroundings = _NOWHERE) -> FoundDatabase:
    """A service as helm would keep it, its password that of the file or of PGPASSWORD alone.

    `login` is the name of the person's account, which libpq takes where there is no user.
    """
    made = FoundDatabase(profile_name.made(service.name), service.name, fault=service.fault)
    if made.fault or not made.name:
        return made._replace(fault=made.fault or "no name of a profile can be made from its name")
    filled = around.where_unsaid(service.values)
    called = {key: name for key, (_, name) in filled.items()}
    values = {key: value for key, value in service.values.items() if value}
    values |= {key: value for key, (value, _) in filled.items()}
    for key, value in values.items():
        fault = pg_defaults.needed(key, value, called.get(key) or f"its {key}")
        if fault:
            return made._replace(fault=fault)
    made = made.noted(*pg_defaults.taken(filled))
    left = [key for key in service.values if key in _LEFT_OUT and key not in _CERTIFICATE and service.values[key]]
    if left:
        made = made.noted(f"{numbers.listed(left)} left out: helm has no such setting")
    if any(key in values for key in _CERTIFICATE):
        made = made.noted("its client certificate is left out: a server that wants one does not let helm in")
    made = _placed(made, values, login)
    return pg_defaults.secured(made, values.get("sslmode", ""), values.get("sslrootcert"), around.root)


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
