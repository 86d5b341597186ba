"""An HTTP server of bare sockets: it records every byte it gets, and answers as well or as badly as a test wants."""

import gzip
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

# How long a server that misbehaves waits between two bytes, in seconds.
DRIP: Final = 0.02


class Received(NamedTuple):
    """One request as it came: the first line's parts, the headers as they were written, the body's bytes."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Peer(NamedTuple):
    """The client of one connection, to whom a script writes; `over` is set when the server is stopped."""

    socket: socket.socket
    over: threading.Event

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def drip(self, data: bytes, size: int = 1) -> None:
        """A few bytes at a time."""
        for at in range(0, len(data), size):
            self.send(data[at : at + size])
            if self.over.wait(DRIP):
                return

    def hold(self) -> None:
        """Says nothing more until the server is stopped."""
        self.over.wait()

    def close(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


# What is done about a request. The connection stays open afterwards, unless the script closed it.
Script = Callable[[Peer, Received], None]


class Server:
    """`received` are all requests in the order in which they were whole, `connections` how many were opened."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.received: list[Received] = []
        self.connections = 0
        self.garbage = b""
        self._over = threading.Event()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._tls = tls
        self._start(self._accept)

    def stop(self) -> None:
        self._over.set()
        # Closing alone would not wake the thread that accepts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        for thread in self._threads:
            thread.join()

    def hang_up(self) -> None:
        """Closes every connection, as a server does that restarts."""
        with self._lock:
            for opened in self._open:
                with suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                opened, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.add(opened)
            self._start(self._serve, opened)

    def _serve(self, opened: socket.socket) -> None:
        with opened, suppress(OSError):
            if self._tls is None:
                self._converse(opened)
            else:
                with self._tls.wrap_socket(opened, server_side=True) as encrypted:
                    self._converse(encrypted)
        with self._lock:
            self._open.discard(opened)

    def _converse(self, opened: socket.socket) -> None:
        peer = Peer(opened, self._over)
        with opened.makefile("rb") as stream:
            while (request := self._read(stream)) is not None:
                with self._lock:
                    self.received.append(request)
                self.script(peer, request)

    def _read(self, stream: Any) -> Received | None:
        first = stream.readline()
        parts = first.decode("latin-1").split()
        if len(parts) != 3:
            self.garbage += first
            return None
        headers = []
        while (line := stream.readline().decode("latin-1").rstrip("\r\n")) != "":
            name, _, value = line.partition(":")
            headers.append((name, value.strip()))
        length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
        return Received(parts[0], parts[1], tuple(headers), stream.read(length))


@contextmanager
def serving(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server on a free loopback port, stopped after the block."""
    server = Server(script, tls)
    try:
        yield server
    finally:
        server.stop()


def response(body: bytes = b"", status: str = "200 OK", headers: Mapping[str, str] | None = None) -> bytes:
    """A whole answer, with Content-Length unless `headers` say otherwise."""
    length = {} if headers and "Transfer-Encoding" in headers else {"Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in {**length, **(headers or {})}.items())]
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def answering(body: bytes = b"{}", status: str = "200 OK", headers: Mapping[str, str] | None = None) -> Script:
    """The same answer to every request."""
    data = response(body, status, headers)
    return lambda peer, request: peer.send(data)


def sending(data: bytes) -> Script:
    """These very bytes, and then the end."""

    def script(peer: Peer, request: Received) -> None:
        peer.send(data)
        peer.close()

    return script


def echoing(peer: Peer, request: Received) -> None:
    """Answers with what it got, but not with the token: that belongs to no answer of an honest service."""
    told = {"method": request.method, "target": request.target, "body": request.body.decode()}
    peer.send(response(json.dumps(told).encode()))


def packed(data: bytes) -> bytes:
    """The data as gzip, the same bytes whenever that is done."""
    return gzip.compress(data, mtime=0)


def chunk(data: bytes) -> bytes:
    """One chunk of a body in Transfer-Encoding: chunked; an empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def authority(folder: Path, names: str) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS for these names ("DNS:localhost,IP:127.0.0.1"), and the file of the authority that vouches."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
    naming = ["-subj", "/CN=tests", "-addext", f"subjectAltName={names}", "-days", "2", "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", *new, *naming], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


def tunnelling(port: int) -> Script:
    """A proxy that connects every CONNECT to this port of this machine."""

    def tunnel(peer: Peer, request: Received) -> None:
        with socket.create_connection(("127.0.0.1", port)) as inner:
            peer.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=_carry, args=(inner, peer.socket), daemon=True)
            back.start()
            _carry(peer.socket, inner)
            back.join()

    return tunnel


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
