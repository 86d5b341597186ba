"""A server that signs in the way MySQL 8 does, and notes all that it was told: for where only MySQL differs."""

import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from socket import create_connection, create_server, socket
from threading import Thread
from time import sleep
from typing import Final

NONCE: Final = b"abcdefghijklmnopqrst"
# LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, SSL, TRANSACTIONS, SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS,
# PLUGIN_AUTH, PLUGIN_AUTH_LENENC_CLIENT_DATA
FLAGS: Final = 0x1 | 0x8 | 0x200 | 0x800 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x80000 | 0x200000
TLS: Final = 0x800
OK: Final = b"\x00\x00\x00\x02\x00\x00\x00"
# The status of an open transaction.
OPEN: Final = b"\x00\x01\x00\x03\x00\x00\x00"
CUT: Final = b""
FULL: Final = b"\x01\x04"
FAST: Final = b"\x01\x03"


@dataclass
class Mysql8:
    """How it behaves. `sign_in` are the packets it answers a sign-in with, each after the client's next word.

    `answers` maps the beginning of a statement to the packets of its answer (none: it is silent; CUT: it hangs up); to
    any other it says OK. `greeted` counts connections; `in_clear` and `in_tls` are all packets that came; `statements`
    each COM_QUERY.
    """

    port: int = 0
    greeted: int = 0
    version: str = "8.0.36"
    method: str = "caching_sha2_password"
    sign_in: tuple[bytes, ...] = (FULL, OK)
    certificate: tuple[Path, Path] | None = None
    answers: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    in_clear: list[bytes] = field(default_factory=list)
    in_tls: list[bytes] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    def greeting(self) -> bytes:
        flags = FLAGS if self.certificate else FLAGS & ~TLS
        return (
            b"\x0a" + self.version.encode() + b"\0" + struct.pack("<I", 7) + NONCE[:8] + b"\0"
            + struct.pack("<H", flags & 0xFFFF) + b"\xff\x02\x00" + struct.pack("<H", flags >> 16) + b"\x15"
            + b"\0" * 10 + NONCE[8:] + b"\0" + self.method.encode() + b"\0"
        )  # fmt: skip

    def serve(self, peer: socket) -> None:
        """One connection, from the greeting on."""
        self.greeted += 1
        send(peer, 0, self.greeting())
        number, packet = receive(peer)
        self.in_clear.append(packet)
        if not self.certificate or len(packet) != 32:
            self._converse(peer, number, self.in_clear)
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate)
        with context.wrap_socket(peer, server_side=True) as private:
            number, packet = receive(private)
            self.in_tls.append(packet)
            self._converse(private, number, self.in_tls)

    def _converse(self, peer: socket, number: int, heard: list[bytes]) -> None:
        for index, answer in enumerate(self.sign_in):
            send(peer, number + 1, answer)
            number += 1
            if answer != FAST and index + 1 < len(self.sign_in):
                number, packet = receive(peer)
                heard.append(packet)
        while True:
            _, packet = receive(peer)
            heard.append(packet)
            if packet[:1] == b"\x03":
                self.statements.append(packet[1:].decode())
            for number, answer in enumerate(self._answer(packet), 1):
                if answer == CUT:
                    return
                send(peer, number, answer)

    def _answer(self, packet: bytes) -> tuple[bytes, ...]:
        if packet[:1] in (b"\x01", b"\x19"):  # COM_QUIT, COM_STMT_CLOSE
            return ()
        text = packet[1:].decode()
        return next((answer for begin, answer in self.answers.items() if text.startswith(begin)), (OK,))


def error(number: int, text: str) -> bytes:
    """An error as the server sends it."""
    return b"\xff" + number.to_bytes(2, "little") + b"#HY000" + text.encode()


def send(peer: socket, number: int, payload: bytes) -> None:
    peer.sendall(len(payload).to_bytes(3, "little") + bytes([number % 256]) + payload)


def receive(peer: socket) -> tuple[int, bytes]:
    header = _exactly(peer, 4)
    return header[3], _exactly(peer, int.from_bytes(header[:3], "little"))


def _exactly(peer: socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


@contextmanager
def far(port: int, seconds: float) -> Iterator[int]:
    """A port at which the server at `port` of the loopback is so far away that each word takes `seconds` to arrive."""
    threads: list[Thread] = []
    with create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    threads.append(Thread(target=_carry, args=(near, port, seconds), daemon=True))
                    threads[-1].start()

        threads.append(Thread(target=accept, daemon=True))
        threads[0].start()
        yield int(listener.getsockname()[1])
        listener.shutdown(2)
        for thread in threads:
            thread.join(5)


def _carry(near: socket, port: int, seconds: float) -> None:
    with near, suppress(OSError):
        sleep(2 * seconds)  # the handshake of TCP
        with create_connection(("127.0.0.1", port)) as there:
            while True:
                for source in select([near, there], [], [])[0]:
                    words = source.recv(65536)
                    if not words:
                        return
                    sleep(seconds)
                    (there if source is near else near).sendall(words)


@contextmanager
def mysql8(server: Mysql8) -> Iterator[Mysql8]:
    """The server on a free port of the loopback while the block runs."""
    listener = create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]

    def accept() -> None:
        with suppress(OSError):
            while True:
                peer, _ = listener.accept()
                Thread(target=one, args=(peer,), daemon=True).start()

    def one(peer: socket) -> None:
        with peer, suppress(OSError):
            peer.settimeout(20)
            server.serve(peer)

    thread = Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(2)
        listener.close()
        thread.join(5)
