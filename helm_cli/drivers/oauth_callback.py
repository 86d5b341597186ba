"""How the redirect at the end of a sign-in reaches helm: at a loopback port that nobody else can block, or pasted.

One loop looks after every connection and the pasted text at once, without a thread: what is idle, slow or forged costs
the sign-in nothing, and Ctrl-C ends it at any moment.
"""

import os
import re
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hmac import compare_digest
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from helm_cli.drivers import oauth_page
from helm_cli.drivers.oauth_page import Page
from helm_cli.drivers.oauth_pasted import Pasted
from helm_cli.model.errors import HelmError

HOST: Final = "127.0.0.1"
PATH: Final = "/oauth/callback"

# A browser sends the cookies of everything that ever ran on this host, so a head may be long.
MOST_BYTES: Final = 64 * 1024
MOST_PARAMETERS: Final = 32
MOST_CALLERS: Final = 64
SECONDS_A_CALLER: Final = 10.0
SECONDS_TO_LEAVE: Final = 1.0

_REQUEST: Final = re.compile(rb"GET (/[!-~]*) HTTP/1\.[01]")
_HEADER: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# RFC 6749, appendix A.11 and A.7.
_CODE: Final = re.compile(r"[ -~]{1,16384}")
_ERROR: Final = re.compile(r"[ !#-\[\]-~]{1,100}")


class Callback(NamedTuple):
    """What the provider sent back: a code, or an error with its description; `issuer` is RFC 9207's `iss`."""

    code: str | None
    error: str | None
    description: str | None
    issuer: str | None


@dataclass(eq=False)
class Caller:
    """One connection: what it said so far, until when it is listened to, and whether it has its answer."""

    connection: socket.socket
    until: float
    said: bytearray = field(default_factory=bytearray)
    answered: bool = False


def redirect_uri(port: int) -> str:
    """Where the provider sends the browser back to (contract, OAuth2)."""
    return f"http://{HOST}:{port}{PATH}"


def read(query: str, state: str) -> Callback | None:
    """What a redirect with this query says; None where it is not that of the sign-in with this state.

    Nor where a parameter is repeated, or it has both a code and an error, or neither.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except ValueError:
        return None
    found = dict(pairs)
    if len(found) != len(pairs) or not compare_digest(found.get("state", "").encode(), state.encode()):
        return None
    code, error = found.get("code"), found.get("error")
    if (code is None) == (error is None):
        return None
    if not (_CODE.fullmatch(code) if code is not None else _ERROR.fullmatch(error or "")):
        return None
    return Callback(code, error, found.get("error_description"), found.get("iss"))


class Listener:
    """What waits for the redirect of one sign-in. `strange` counts the callbacks that were not its own."""

    def __init__(self, server: socket.socket, state: str) -> None:
        self.strange = 0
        self._server = server
        self._state = state
        self._port: int = server.getsockname()[1]
        self._callers: list[Caller] = []
        self._found: Callback | None = None
        self._bringer: Caller | None = None
        self._selector = selectors.SelectSelector()
        self._selector.register(server, selectors.EVENT_READ, self._accept)

    def wait(self, seconds: float, pasted: Pasted | None = None) -> Callback | None:
        """The first redirect with the right state, from a browser or pasted; None where none came in so many seconds.

        The browser that brought it is kept waiting until `conclude`.
        """
        until = time.monotonic() + seconds
        if pasted is not None:
            self._selector.register(pasted.fd, selectors.EVENT_READ, partial(self._take, pasted))
        while self._found is None and (now := time.monotonic()) < until:
            for caller in [caller for caller in self._callers if caller.until <= now]:
                self._drop(caller)
            soonest = min([until, *(caller.until for caller in self._callers)])
            for key, _ in self._selector.select(soonest - now):
                # What an earlier turn of this round dropped is no longer there.
                if self._found is None and self._selector.get_map().get(key.fd) is key:
                    key.data()
        return self._found

    def conclude(self, page: Page) -> None:
        """Show the browser that brought the redirect how the sign-in ended; nothing where it was pasted."""
        bringer, self._bringer = self._bringer, None
        if bringer is not None:
            self._answer(bringer, page)
            self._drop(bringer)

    def close(self) -> None:
        self.conclude(oauth_page.FAILED)
        for caller in [*self._callers]:
            self._drop(caller)
        self._selector.close()
        self._server.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._server.accept()
        except OSError:
            return
        connection.setblocking(False)
        if len(self._callers) >= MOST_CALLERS:
            self._drop(self._callers[0])
        caller = Caller(connection, time.monotonic() + SECONDS_A_CALLER)
        self._callers.append(caller)
        self._selector.register(connection, selectors.EVENT_READ, partial(self._hear, caller))

    def _hear(self, caller: Caller) -> None:
        try:
            data = caller.connection.recv(MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self._drop(caller)
        if caller.answered:
            return None
        caller.said += data
        if b"\r\n\r\n" not in caller.said and len(caller.said) <= MOST_BYTES:
            return None
        query = _callback_query(bytes(caller.said), self._port)
        self._found = read(query, self._state) if query is not None else None
        if self._found is not None:
            self._bringer = caller
            return None
        self.strange += query is not None
        return self._answer(caller, oauth_page.STRANGE)

    def _answer(self, caller: Caller, page: Page) -> None:
        caller.answered, caller.until = True, time.monotonic() + SECONDS_TO_LEAVE
        # The whole of it fits into the buffer of a new connection. What the caller still says is read and dropped, for
        # closing before would take the answer back.
        with suppress(OSError):
            caller.connection.send(oauth_page.response(page))
            caller.connection.shutdown(socket.SHUT_WR)

    def _drop(self, caller: Caller) -> None:
        self._callers.remove(caller)
        self._selector.unregister(caller.connection)
        caller.connection.close()

    def _take(self, pasted: Pasted) -> None:
        for line in pasted.lines():
            address, _, query = line.partition("#")[0].partition("?")
            self._found = read(query, self._state) if address == redirect_uri(self._port) else None
            if self._found is not None:
                return
            pasted.wrong()
        if pasted.ended:
            self._selector.unregister(pasted.fd)


@contextmanager
def listening(port: int, state: str, otherwise: str) -> Iterator[Listener]:
    """A listener on this port of 127.0.0.1 and no other; everything it opened is closed after the block.

    Raises HelmError "unavailable": the port cannot be had; `otherwise` is what to do then, as the end of a sentence.
    """
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # Else a port is taken for minutes after the last sign-in; one that somebody listens on stays refused.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, port))
        server.listen(socket.SOMAXCONN)
        server.setblocking(False)
    except OSError as error:
        server.close()
        reason = "is only for root" if isinstance(error, PermissionError) else "is in use"
        raise HelmError("unavailable", f"the port {port}, to which a sign-in returns, {reason}; {otherwise}") from None
    listener = Listener(server, state)
    try:
        yield listener
    finally:
        listener.close()


def _callback_query(said: bytes, port: int) -> str | None:
    """The query of what is a request for the callback's page by the very address of it; None for all else."""
    head, whole, _ = said.partition(b"\r\n\r\n")
    first, *rest = head.split(b"\r\n")
    request = _REQUEST.fullmatch(first)
    headers = [(name, value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in rest)]
    if not whole or request is None or not all(_HEADER.fullmatch(name) for name, _ in headers):
        return None
    # The name of another host that leads here is how a page on the web would look at the answer.
    ours = HOST if port == 80 else f"{HOST}:{port}"
    if [value for name, value in headers if name.lower() == b"host"] != [ours.encode()]:
        return None
    path, _, query = request[1].decode("ascii").partition("?")
    return query if path == PATH else None
