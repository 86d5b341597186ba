"""Which way a request takes to its host: directly or by the environment's proxy, and whom it trusts there."""

import os
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

from helm_cli.drivers import trust
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.http_library import httpx
from helm_cli.model.errors import HelmError

# How long an idle connection may be kept, in seconds. One that its server closed before is noticed, or asked again.
_IDLE_SECONDS: Final = 60.0
# What may say which proxy an https request takes; helm asks no http service through one.
_PROXIES: Final = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_AUTHORITIES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Late(Exception):
    """The time was over before the request was sent; nothing of it was."""


class Line:
    """At most one open connection to one host, closed by whoever opened it.

    `connected` is whether the last request opened a new connection, `answered` whether a head of an answer came.
    `proxy` is what says which proxy it takes, None where it takes none.
    """

    def __init__(self, transport: "httpx.HTTPTransport", proxy: str | None) -> None:
        self.proxy = proxy
        self.connected = False
        self.answered = False
        self._transport = transport
        self._sockets: list[socket.socket] = []

    def send(self, request: "httpx.Request", clock: Deadline) -> "httpx.Response":
        """The answer to a request, its body still to be read. Raises Late, and what httpx raises."""
        self.connected = self.answered = False

        def watch(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                self._connected(info["return_value"], clock)
            elif event == "http11.receive_response_headers.complete":
                self.answered = True
            elif event == "http11.send_request_headers.started":
                # A proxy is asked to connect before; that is no part of the request.
                connecting = info["request"].method == b"CONNECT"
                if clock.over() if connecting else not clock.begin_commit():
                    raise Late

        seconds = clock.remaining()
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        request.extensions = {"timeout": timeouts, "trace": watch}
        clock.interrupt = self.interrupt
        return self._transport.handle_request(request)

    def interrupt(self) -> None:
        """Ends whatever waits for the other side, from another thread."""
        for opened in self._sockets:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def clean(self) -> bool:
        """Whether nothing waits that the server said unasked: httpx would take it for the next answer."""
        transport: Any = self._transport
        try:
            opened = [connection._connection._h11_state for connection in transport._pool.connections]
            return not any(state.trailing_data[0] for state in opened)
        except AttributeError:
            # Nothing public tells of it. Where the inside of httpx has become another, no connection is kept.
            return False

    def hang_up(self) -> None:
        """Closes the connection that was kept: the next request opens a new one."""
        self._transport.close()
        self._forget()

    def close(self) -> None:
        self.hang_up()

    def _connected(self, stream: Any, clock: Deadline) -> None:
        # TLS takes the socket itself away from whoever holds it; a second name for it can still shut it down.
        self._forget()
        self._sockets.append(stream.get_extra_info("socket").dup())
        self.connected = True
        if clock.over():
            stream.close()
            raise Late

    def _forget(self) -> None:
        while self._sockets:
            self._sockets.pop().close()


def open_line(url: str) -> Line:
    """A line to the host of this URL, not yet connected. HelmError "unavailable", naming the variable at fault."""
    where = httpx.URL(url)
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_IDLE_SECONDS)
    # Nothing but the two things looked up here is taken from the environment.
    verify = _trusted() if where.scheme == "https" else False
    proxy = _proxy(where)
    named = None if proxy is None else _named(_PROXIES) or "the proxy setting of the system"
    try:
        via = None if proxy is None else httpx.Proxy(proxy if "://" in proxy else f"http://{proxy}")
        return Line(httpx.HTTPTransport(verify=verify, trust_env=False, limits=limits, proxy=via), named)
    except (ValueError, httpx.InvalidURL, ImportError):
        told = f"{named} is no proxy that helm can use; write it as http://HOST:PORT or unset it"
        raise HelmError("unavailable", told) from None


def _proxy(where: "httpx.URL") -> str | None:
    """The proxy for this URL; none for this machine itself, whose calls never leave it (design, section 8)."""
    if where.scheme != "https" or trust.loopback(where.host):
        return None
    proxies = getproxies()
    found = proxies.get("https") or proxies.get("all")
    # With the port, because exceptions may name one.
    return found if found and not proxy_bypass(f"{where.host}:{where.port or 443}") else None


def _trusted() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except (OSError, ValueError):  # an ssl.SSLError is an OSError
        named = _named(_AUTHORITIES) or "the list of authorities of the package certifi"
        raise HelmError("unavailable", f"{named} cannot be read as certificates; correct it or unset it") from None


def _named(variables: tuple[str, ...]) -> str | None:
    return next((name for name in variables if os.environ.get(name)), None)
