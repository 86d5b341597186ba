"""How a connection to a MySQL or MariaDB server comes about from a profile's own values and nothing else."""

import socket
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from helm_cli.drivers import trust
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.mysql_library import ClientFlag, Error, MySQLConnection, ServerCmd
from helm_cli.drivers.mysql_wire import Late, Lost, TooBig, WantsClearPassword, Wire
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import PORTS, Database

if TYPE_CHECKING:
    import ssl

# How long ending a query from a second connection may take, in seconds.
KILLS_WITHIN: Final = 0.4
# The same where the server is far, and signing in took long.
_KILLS_WITHIN_AT_MOST: Final = 0.65

_COLLATION: Final = "utf8mb4_general_ci"  # known to MySQL and MariaDB alike
NAMES: Final = f"NAMES utf8mb4 COLLATE {_COLLATION}"

_FLAGS: Final = [
    -ClientFlag.MULTI_STATEMENTS,
    -ClientFlag.LOCAL_FILES,
    -ClientFlag.CONNECT_ARGS,  # they tell the server the names of this machine and its system
    ClientFlag.FOUND_ROWS,  # rows matched, not only those that became different
]
_SIGN_IN: Final = frozenset((1045, 1130, 1251, 1396, 1524, 1698, 1820, 1862, 3118, 3159, 3955, 4151))
_NO_DATABASE: Final = frozenset((1044, 1049))


def connect(profile: Database, secret: str | None, clock: Deadline) -> tuple[MySQLConnection, Wire]:
    """A connection that is signed in, and the wire under it. No option file and no variable is read.

    TLS as the profile says; where it says nothing it is required off loopback, and on it used where the server
    would otherwise want the password in clear. The password itself is told over a Unix socket, over TLS on loopback,
    and else only to a server whose certificate and name were checked ("verify-full"). The session's character set,
    time and mode are the caller's to set. HelmError "unavailable" where no connection comes about.
    """
    mode = profile.tls or ("disable" if _is_local(profile) else "require")
    try:
        return _connect(profile, secret, clock, mode)
    except HelmError:
        raise
    except WantsClearPassword:
        if profile.tls is None and mode == "disable" and not profile.socket:
            return connect(profile._replace(tls="require"), secret, clock)
        wanted = "require" if _is_local(profile) else "verify-full"
        raise _unavailable(profile, f"wants the password itself; use --tls {wanted}") from None
    except Exception as error:  # what is no MySQL server may trip the connector anywhere
        raise _explained(profile, error) from None


def reset(connection: MySQLConnection) -> None:
    """Has the server forget all that was done on the connection; its character set is to be set anew."""
    # The connector's own method then asks twice more, for what is set with the clocks of the next call.
    inner = cast(Any, connection)
    inner._handle_ok(inner._send_cmd(ServerCmd.RESET_CONNECTION))


def kill(profile: Database, secret: str | None, query: int | None, took: float) -> None:
    """End what the connection of this id is running, if the server answers soon.

    `took` is how many seconds its own sign-in took: this one may take as long and half as long again.
    """
    if query is None:
        return
    with suppress(HelmError, Error, Late, Lost, TooBig):
        within = min(max(KILLS_WITHIN, 1.5 * took), _KILLS_WITHIN_AT_MOST)
        connection, wire = connect(profile, secret, Deadline(monotonic() + within))
        try:
            connection.cmd_query(f"KILL QUERY {int(query)}")
            connection.close()
        finally:
            wire.close_connection()


def _connect(profile: Database, secret: str | None, clock: Deadline, mode: str) -> tuple[MySQLConnection, Wire]:
    host = profile.host or "localhost"
    tls = None if mode == "disable" or profile.socket else _context(profile, mode)
    proved = mode == "verify-full" or _is_local(profile)
    wire = Wire(host, profile.port or PORTS["mysql"], profile.socket, tls, clock, proved=proved)
    begun = monotonic()
    connection = MySQLConnection()
    cast(Any, connection)._get_connection = lambda: wire
    cast(Any, connection)._post_connection = lambda: None  # else two questions, each there and back
    try:
        connection.connect(
            host=host,
            port=wire.port,
            user=profile.user or "",
            password=secret or "",
            database=profile.database or "",
            charset="utf8mb4",
            collation=_COLLATION,
            client_flags=_FLAGS,
            allow_local_infile=False,
            autocommit=True,
            consume_results=False,
            ssl_disabled=tls is None,
            raw=True,
        )
    except BaseException:
        wire.close_connection()
        raise
    wire.took = monotonic() - begun
    return connection, wire


def _is_local(profile: Database) -> bool:
    return profile.socket is not None or trust.loopback(profile.host or "")


def _context(profile: Database, mode: str) -> "ssl.SSLContext":
    """TLS 1.2 or newer. "require" with a CA checks the certificate, "verify-full" its name too."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = mode == "verify-full"
    if profile.tls_ca is None and mode == "require":
        context.verify_mode = ssl.CERT_NONE
        return context
    authorities = profile.tls_ca or trust.authorities()
    if authorities is None:
        raise HelmError("unavailable", "this machine has no file of trusted authorities; name one with --tls-ca")
    if profile.tls_ca is not None:
        trust.check(profile.name, profile.tls_ca)
    try:
        context.load_verify_locations(authorities)
    except (OSError, ValueError):
        raise HelmError(
            "unavailable", f"the CA file of the profile {profile.name} cannot be read as PEM certificates"
        ) from None
    return context


def _explained(profile: Database, error: Exception) -> HelmError:
    if isinstance(error, Late):
        return _unavailable(profile, "did not answer in time")
    if isinstance(error, Lost | TooBig):
        return _unavailable(profile, "ended the connection before the sign-in; it may not be a MySQL server")
    if isinstance(error, Error):
        return _refused(profile, error)
    if isinstance(error, OSError | UnicodeError):
        return _unavailable(profile, _reason(error))
    return _unavailable(profile, "did not answer as a MySQL server does; check the host and the port")


def _refused(profile: Database, error: Error) -> HelmError:
    if error.errno in _SIGN_IN:
        return _unavailable(profile, "refused the sign-in; check the user and the password")
    if error.errno in _NO_DATABASE:
        return _unavailable(profile, "has no such database, or the user may not use it; check its name")
    if error.errno == 1040:
        return _unavailable(profile, "has no connection left; try again later")
    if error.errno == 1129:
        return _unavailable(profile, "blocks this machine after too many failed connections; ask its administrator")
    number = f" (error {error.errno})" if error.errno and error.errno > 0 else ""
    return _unavailable(profile, f"did not let helm in{number}")


def _reason(error: OSError | UnicodeError) -> str:
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, socket.gaierror | UnicodeError):
        return "has a host name that cannot be resolved; check the name"
    if isinstance(error, ConnectionRefusedError):
        return "is not there: the connection was refused; check the host and the port"
    if isinstance(error, FileNotFoundError):
        return "is not there: its Unix socket does not exist"
    if type(error).__module__ == "ssl":
        verify = getattr(error, "verify_message", "")
        return f"could not be trusted: {_clause(verify)}" if verify else "did not agree on TLS; check --tls"
    return "cannot be reached; check the host and the port"


def _clause(text: str) -> str:
    # It may go on with the host: "Hostname mismatch, certificate is not valid for 'db.example.org'."
    return text.partition(",")[0].lower().rstrip(".")


def _unavailable(profile: Database, what: str) -> HelmError:
    return HelmError("unavailable", f"the database server of the profile {profile.name} {what}")
