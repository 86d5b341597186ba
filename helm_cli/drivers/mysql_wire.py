"""What goes over a connection to MySQL, byte by byte: in time, in pieces that fit, and no password in clear."""

import select
import socket
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final

from helm_cli.drivers import mysql_columns
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.mysql_columns import Columns
from helm_cli.model.errors import HelmError

if TYPE_CHECKING:
    import ssl

# How soon a wait notices that its work was stopped, in seconds.
_TICK: Final = 0.05
_CHUNK: Final = 64 * 1024
_HEADER: Final = 4
_GREATEST: Final = 0xFFFFFF
# A request for TLS is this long (the client/server protocol, Protocol::SSLRequest); it holds no name and no secret.
_REQUEST_FOR_TLS: Final = 32
_OFFERS_TLS: Final = 0x800
# What is no row (a greeting, an error, the description of a column) is never longer.
_MOST_WORDS: Final = 64 * 1024
# All of an answer but its rows: the descriptions of 4,096 columns, each with what it costs to keep it.
_MOST_OF_AN_ANSWER: Final = 8 * 1024 * 1024
_COSTS: Final = 256
_NONCE: Final = 20
_MORE_RESULTS: Final = 0x08

# In clear only those that answer a challenge; the others send the password itself.
_IN_CLEAR: Final = ("mysql_native_password", "caching_sha2_password")
_IN_PRIVATE: Final = (*_IN_CLEAR, "sha256_password", "mysql_clear_password")


class Late(Exception):
    """The time of the work was over while it waited for the server."""


class Lost(Exception):
    """The connection ended while it was in use."""


class TooBig(Exception):
    """The server began to send one row of more bytes than may be read."""


class WantsClearPassword(Exception):
    """The server asked for the password itself on a connection that others could read, or did not prove itself."""


@dataclass(slots=True)
class Wire:
    """A connection as `mysql.connector` uses it (`network.MySQLSocket`), to a host and port or a Unix socket.

    Nothing is waited for beyond `clock`, or beyond the moment `until` where an answer is needed after all. A packet
    of more than `most` bytes is not read, and while no `rows` are awaited none of more than 64 KiB. With `tls` nothing
    but the request for it goes out in clear; the password itself only to a peer that is `proved`. `version` is how
    the server greeted, `took` how many seconds the sign-in took.

    Raises Late, Lost, TooBig, WantsClearPassword; HelmError "unavailable" where no connection comes about.
    """

    server_host: str
    port: int
    unix: str | None
    tls: "ssl.SSLContext | None"
    clock: Deadline
    proved: bool = False
    most: int = _MOST_WORDS
    rows: bool = False
    took: float = 0.0
    until: float = 0.0
    sock: socket.socket | None = None
    address: str = ""
    version: str = ""
    _number: int = -1
    _private: bool = False
    _greeted: bool = False
    _signed_in: bool = False
    _answered: bool = False
    _spent: int = 0
    _columns: Columns | None = None
    _buffer: bytearray = field(default_factory=bytearray)

    def open_connection(self) -> None:
        if self.unix is not None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self._left())
            self.sock.connect(self.unix)
            self._private = True
            return
        self.sock = socket.create_connection((self.server_host, self.port), self._left())
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def set_connection_timeout(self, _: object) -> None:
        """The clock alone says how long anything may take."""

    def build_ssl_context(self, **_: object) -> "ssl.SSLContext | None":
        return self.tls

    def switch_to_ssl(self, context: "ssl.SSLContext", host: str) -> None:
        if self._buffer:
            raise HelmError("unavailable", "the database server sent more than its greeting before TLS began")
        sock = self._open()
        sock.settimeout(self._left())
        self.sock = context.wrap_socket(sock, server_hostname=host)
        self._private = True

    def send(self, payload: bytes, packet_number: int | None = None, *_: object, **__: object) -> None:
        if self.tls and not self._private and len(payload) != _REQUEST_FOR_TLS:
            raise _no_tls()
        self._number = self._number + 1 if packet_number is None else packet_number
        self._spent = 0
        if self._columns is not None:
            payload = self._with_columns(self._columns, payload)
        framed = bytearray()
        for start in range(0, len(payload) + 1, _GREATEST):
            part = payload[start : start + _GREATEST]
            framed += len(part).to_bytes(3, "little") + bytes([self._number % 256]) + part
            self._number += 1
        self._number -= 1
        sock = self._open()
        try:
            sock.settimeout(self._left())
            sock.sendall(framed)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Lost from None

    def recv(self, *_: object, **__: object) -> bytearray:
        """The next packet, its header of four bytes included."""
        self._left()
        header = self._read(_HEADER)
        length = int.from_bytes(header[:3], "little")
        self._spend(length)
        packet = self._read(_HEADER + length)
        del self._buffer[: len(packet)]
        self._number = packet[3]
        if not self._signed_in:
            self._guard(bytes(packet[_HEADER:]))
        elif self._columns is not None:
            packet[_HEADER:] = self._columns.taken(bytes(packet[_HEADER:]))
        return packet

    def skip(self) -> bool:
        """Reads past the rows that are left without keeping them; whether the server then waits for a command."""
        whole = True  # else the packet goes on with the one before it
        while True:
            length = int.from_bytes(self._read(_HEADER)[:3], "little")
            head = bytes(self._read(_HEADER + min(length, _HEADER + 1))[_HEADER:])
            left = _HEADER + length
            while left:
                part = min(left, _CHUNK)
                self._read(part)
                del self._buffer[:part]
                left -= part
            if whole and head[:1] == b"\xff":
                return True
            if whole and head[:1] == b"\xfe" and length < 9:
                return not head[3] & _MORE_RESULTS
            whole = length < _GREATEST

    def quiet(self) -> bool:
        """Whether it is open and the server has said nothing since its last answer, its farewell included."""
        if self.sock is None or self.sock.fileno() < 0 or self._buffer:
            return False
        return not select.select([self.sock], [], [], 0)[0]

    def close_connection(self) -> None:
        if self.sock is not None:
            self.sock.close()

    shutdown = close_connection

    def _read(self, size: int) -> bytearray:
        """The first `size` bytes that have not been taken yet. What came stays there when it raises Late."""
        sock = self._open()
        while len(self._buffer) < size:
            try:
                sock.settimeout(min(_TICK, self._left()))
                part = sock.recv(max(_CHUNK, size - len(self._buffer)))
            except TimeoutError:
                continue
            except OSError:
                raise Lost from None
            if not part:
                raise Lost
            self._buffer += part
        return self._buffer[:size]

    def _spend(self, length: int) -> None:
        if length > (self.most if self.rows else _MOST_WORDS):
            raise TooBig
        self._spent += 0 if self.rows else length + _COSTS
        if self._spent > _MOST_OF_AN_ANSWER:
            raise TooBig

    def _left(self) -> float:
        left = max(self.clock.remaining(), self.until - monotonic())
        if left <= 0:
            raise Late
        return left

    def _with_columns(self, columns: Columns, payload: bytes) -> bytes:
        if self._signed_in:
            columns.asked(payload[0])
        elif not self._answered:
            self._answered = len(payload) != _REQUEST_FOR_TLS
            return mysql_columns.asking(payload)
        return payload

    def _open(self) -> socket.socket:
        if self.sock is None:
            raise Lost
        return self.sock

    def _guard(self, payload: bytes) -> None:
        """Before the sign-in is over: no answer that would tell the password to whoever listens."""
        kind = payload[:1]
        if not self._greeted:
            self._greeted = True
            version, _, rest = payload[1:].partition(b"\0")
            self.version = version.decode("utf-8", "replace")
            if kind != b"\xff":
                self._columns = Columns() if mysql_columns.offered(rest) else None
                if self.tls and not int.from_bytes(rest[13:15], "little") & _OFFERS_TLS:
                    raise _no_tls()
                self._check_method(payload.rstrip(b"\0").rpartition(b"\0")[2], greeting=True)
        elif kind == b"\xfe":
            name, _, challenge = payload[1:].partition(b"\0")
            self._check_method(name)
            # The connector takes a challenge of one byte for the demand of the password.
            if len(challenge) < _NONCE and name.decode("ascii", "replace") in _IN_CLEAR:
                raise Lost
        elif kind == b"\2":
            raise HelmError("unavailable", "the database server asks for a second factor, which helm cannot give")
        elif payload[:2] == b"\1\4" and not (self._private and self.proved):
            raise WantsClearPassword
        self._signed_in = kind == b"\0"

    def _check_method(self, name: bytes, *, greeting: bool = False) -> None:
        method = name.decode("ascii", "replace")
        if method in _IN_CLEAR:
            return
        if method in _IN_PRIVATE and self.proved and (self._private or (greeting and self.tls)):
            return
        if method in _IN_PRIVATE:
            raise WantsClearPassword
        raise HelmError("unavailable", "the database server asks for a way to sign in that helm does not have")


def _no_tls() -> HelmError:
    return HelmError("unavailable", "the database server does not offer TLS, which the profile requires")
