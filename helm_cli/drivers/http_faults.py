"""What each failure of an HTTP exchange is called, without a word of what the library says: that may hold the token."""

import socket
import ssl
from collections.abc import Iterator
from typing import Final

from helm_cli.drivers.http_library import httpx
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

# The first that fits. The cause is the operating system's own, where httpx gives a class for many.
_CAUSES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (
        ssl.SSLCertVerificationError,
        "the certificate of the service is not one that this machine trusts; check its base URL, or name the file"
        " of its authority in SSL_CERT_FILE",
    ),
    (ssl.SSLError, "the service does not speak TLS as helm does; check its base URL"),
    (socket.gaierror, "the host of the service was not found; check its base URL and the network"),
    (ConnectionRefusedError, "nothing answers at the port of the service; start it, or check its base URL"),
)
_FAILURES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (httpx.ConnectError, "the service could not be reached; check its base URL and the network"),
    (httpx.RemoteProtocolError, "the answer of the service broke off, or is not HTTP"),
    (httpx.NetworkError, "the connection to the service broke before its answer was whole"),
    (httpx.TransportError, "the service could not be asked"),
    (OSError, "the network failed while the service was asked"),
)

# A ValueError is what Python says of a host that cannot be encoded, such as that of a proxy.
KNOWN: Final = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)


def failed(error: BaseException, *, sent: bool) -> HelmError:
    """The error that a failure ends the exchange with; it says where the request may have been sent already."""
    return unavailable(_told(error), sent=sent)


def timed_out(seconds: float, *, sent: bool) -> HelmError:
    """The error of an exchange that did not end in time."""
    return HelmError("timeout", f"the service took longer than {seconds:g} s", _applied(sent=sent))


def unavailable(reason: str, *, sent: bool) -> HelmError:
    """The error of an exchange that broke off for this reason."""
    return HelmError("unavailable", reason, _applied(sent=sent))


def _told(error: BaseException) -> str:
    if isinstance(error, httpx.ConnectError):
        for cause in _causes(error):
            for kind, told in _CAUSES:
                if isinstance(cause, kind):
                    return told
    return next((told for kind, told in _FAILURES if isinstance(error, kind)), "the service could not be asked")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(8):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _applied(*, sent: bool) -> dict[str, Json]:
    return {"applied": "unknown"} if sent else {}
