"""Where a profile's connection goes: every value of it is the profile's, none the environment's or a file's."""

import os
import re
import select
from typing import Final

from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_faults import unreachable
from helm_cli.drivers.postgres_library import Error, PGconn
from helm_cli.drivers.postgres_wire import BAD, DONE, READING, WRITING, Link, wait
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import PORTS, Database

# A path at which no file can be. libpq looks at nothing in the home folder where it is given this.
_NO_FILE: Final = "/dev/null/none"

_LOOPBACK: Final = re.compile(r"(?i:localhost)|127(\.[0-9]{1,3}){3}|::1")

# The authorities that a machine trusts: libpq's own notion of them is that of the machine it was built on.
_AUTHORITIES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def connect(profile: Database, secret: str | None, clock: Deadline) -> Link:
    """A new connection, signed in. HelmError "unavailable" or "not_configured"; postgres_wire.Late."""
    told = conninfo(profile, secret)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # libpq reads some of them whatever it is given
    try:
        conn: PGconn = PGconn.connect_start(told)
    except Error as error:
        raise unreachable(str(error)) from None
    try:
        _finish_connecting(conn, clock)
        conn.nonblocking = 1
    except BaseException:
        conn.finish()
        raise
    return Link(conn)


def _finish_connecting(conn: PGconn, clock: Deadline) -> None:
    state = WRITING
    while conn.status != BAD and state != DONE:
        wait(conn.socket, select.POLLIN if state == READING else select.POLLOUT, clock)
        state = conn.connect_poll()
    if conn.status == BAD:
        raise unreachable(conn.error_message.decode("utf-8", "replace"), wants_password=conn.needs_password)


def conninfo(profile: Database, secret: str | None) -> bytes:
    """The connection string of libpq (its documentation, 32.1.2) with every value that could come from elsewhere."""
    host = _host(profile)
    values = {
        "host": host,
        "hostaddr": "",
        "port": str(profile.port or PORTS["postgres"]),
        "dbname": profile.database or "",
        "user": profile.user or "",
        "password": secret or "",
        "passfile": _NO_FILE,
        "gssencmode": "disable",
        "client_encoding": "UTF8",
        "application_name": "helm",
        "options": "",
        "target_session_attrs": "any",
        **_tls(profile, host),
        **({} if _may_tell_password(profile, host) else {"require_auth": "!password"}),
    }
    if any("\0" in value for value in values.values()):
        raise HelmError("not_configured", f"a value of the profile {profile.name} holds a NUL character; edit it")
    return " ".join(f"{name}={_quoted(value)}" for name, value in values.items()).encode()


def _host(profile: Database) -> str:
    if profile.socket is not None:
        return profile.socket
    host = profile.host or ""
    # libpq would read these as a list of hosts, or as a socket.
    if not host or not host.isprintable() or any(mark in host for mark in ",/@ "):
        raise HelmError("not_configured", f"the host of the profile {profile.name} is none; edit the profile")
    return host


def _tls(profile: Database, host: str) -> dict[str, str]:
    mode = profile.tls or ("disable" if _is_local(profile, host) else "require")
    authorities = profile.tls_ca or _NO_FILE
    sent_mode: str = mode
    if mode == "require" and profile.tls_ca is not None:
        sent_mode = "verify-ca"
    elif mode == "verify-full" and profile.tls_ca is None:
        authorities = next((file for file in _AUTHORITIES if os.path.isfile(file)), "system")
    return {
        "sslmode": sent_mode,
        "sslrootcert": authorities,
        "sslcert": _NO_FILE,
        "sslkey": _NO_FILE,
        "sslcrl": _NO_FILE,
        "sslcrldir": "",
        "sslsni": "1",
        "ssl_min_protocol_version": "TLSv1.2",
    }


def _may_tell_password(profile: Database, host: str) -> bool:
    """Whether the password may be sent as it is: to this machine, or through TLS to a server that proved its name."""
    return _is_local(profile, host) or profile.tls == "verify-full"


def _is_local(profile: Database, host: str) -> bool:
    return profile.socket is not None or bool(_LOOPBACK.fullmatch(host))


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
