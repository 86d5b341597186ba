"""Where a profile's connection goes: every value of it is the profile's, none the environment's or a file's."""

import os
import re
import select
import socket
from threading import Lock
from typing import Final

from helm_cli.drivers import trust
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.postgres_ending import end
from helm_cli.drivers.postgres_faults import unreachable
from helm_cli.drivers.postgres_library import Error, PGconn
from helm_cli.drivers.postgres_line import Line
from helm_cli.drivers.postgres_wire import BAD, CONNECTING, DONE, MOST, READING, WRITING, Late, Link, wait
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import PORTS, Database

# A path at which no file can be. libpq looks at nothing in the home folder where it is given this.
_NO_FILE: Final = "/dev/null/none"

_ADDRESS: Final = re.compile(r"[0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%.*)?")
_NO_ANSWER: Final = "received invalid response"


_environment: Final = Lock()


def connect(profile: Database, secret: str | None, clock: Deadline) -> Link:
    """A new connection, signed in. HelmError "unavailable", also where that takes too long, or "not_configured"."""
    told = conninfo(profile, secret, _addresses(profile))
    with _environment:  # libpq reads some of it whatever it is given
        for name in [name for name in os.environ if name.startswith("PG")]:
            os.environ.pop(name, None)
    try:
        conn: PGconn = PGconn.connect_start(told)
    except Error as error:
        raise unreachable(str(error), profile) from None
    line: Line | None = None
    try:
        line = _finish_connecting(conn, profile, clock)
        conn.nonblocking = 1
        return Link(conn, line, lambda clock: connect(profile, secret, clock), end)
    except BaseException:
        conn.finish()
        raise


def _finish_connecting(conn: PGconn, profile: Database, clock: Deadline) -> Line:
    line: Line | None = None
    state = WRITING
    try:
        while conn.status != BAD and state != DONE:
            if conn.status != CONNECTING:
                line = _line_of(conn.socket, line)
            _wait(conn, line, state, clock)
            state = conn.connect_poll()
            if line is not None and line.received > MOST:
                raise unreachable(_NO_ANSWER, profile)
        if conn.status == BAD:
            text = conn.error_message.decode("utf-8", "replace")
            raise unreachable(text, profile, wants_password=conn.needs_password)
        return _line_of(conn.socket, line)
    except BaseException as error:
        if line is not None:
            line.close()
        if isinstance(error, Late):
            raise HelmError("unavailable", "the server did not answer the sign-in in time; nothing was run") from None
        raise


def _line_of(descriptor: int, former: Line | None) -> Line:
    """The line of this socket of libpq's: for the next address of a server it opens another."""
    if former is not None and former.is_of(descriptor):
        return former
    if former is not None:
        former.close()
    try:
        return Line(descriptor)
    except OSError:
        raise HelmError("unavailable", "the system gives helm no socket; close other programs and try again") from None


def _wait(conn: PGconn, line: Line | None, state: int, clock: Deadline) -> None:
    if line is not None and line.is_of(conn.socket):
        if state == READING:
            wait(line, clock)
        return
    poll = select.poll()
    poll.register(conn.socket, select.POLLIN if state == READING else select.POLLOUT)
    while not clock.over():
        if poll.poll(max(1, int(min(0.05, clock.remaining()) * 1000))):
            return
    raise Late


def _addresses(profile: Database) -> list[str]:
    """Those of its host, in their order, none where libpq need not ask for them.

    It would ask deaf to Ctrl-C and to the time. Raises HelmError "unavailable".
    """
    host = _host(profile)
    if _is_local(profile, host) or _ADDRESS.fullmatch(host):
        return []
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise unreachable("could not translate host name", profile) from None
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def conninfo(profile: Database, secret: str | None, addresses: list[str]) -> bytes:
    """The connection string of libpq (its documentation, 32.1.2) with every value that could come from elsewhere."""
    host = _host(profile)
    values = {
        # As many as there are addresses: libpq tries each in turn, and checks the certificate for the name.
        "host": ",".join([host] * max(1, len(addresses))),
        "hostaddr": ",".join(addresses),
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
    if mode != "disable" and profile.tls_ca is not None:
        trust.check(profile.name, profile.tls_ca)
    if mode == "require" and profile.tls_ca is not None:
        sent_mode = "verify-ca"
    elif mode == "verify-full" and profile.tls_ca is None:
        authorities = trust.authorities() or "system"
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
    return profile.socket is not None or trust.loopback(host)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
