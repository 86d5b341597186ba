"""How few bytes libpq gets at a time: helm reads the server's socket itself and hands them on."""

import os
import select
import socket
from contextlib import suppress
from typing import Final

# What libpq is handed at once. It makes room for the whole of a message however long the server says it is, but
# only what came is memory in use.
_AT_ONCE: Final = 65536


class Line:
    """What stands between libpq, which has one end of a pair of sockets, and the server's own socket.

    `received` is how many bytes came from the server: of TLS where there is TLS.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor  # libpq's, whose number stays
        self.received = 0
        self._unsent = b""  # of libpq's, for the server
        self._held = b""  # of the server's, for libpq
        self._ended = False
        self._server = socket.socket(fileno=os.dup(descriptor))
        self._near, far = socket.socketpair()
        os.dup2(far.fileno(), descriptor, inheritable=False)
        far.close()
        self._same = os.fstat(descriptor).st_ino
        for end in (self._server, self._near):
            end.setblocking(False)
        os.set_blocking(descriptor, False)

    def is_of(self, descriptor: int) -> bool:
        """Whether this is still libpq's socket."""
        return descriptor == self.descriptor and os.fstat(descriptor).st_ino == self._same

    def silent(self) -> bool:
        """Whether nothing waits to be read from the server."""
        return not _ready({self._server.fileno(): select.POLLIN}, 0)

    def step(self, seconds: float) -> bool:
        """Passes on what is there, in both directions; waits up to `seconds` for that. Whether libpq has to read."""
        self._send()
        self._hand_on()
        wanted = {self.descriptor: select.POLLIN, self._near.fileno(): 0 if self._unsent else select.POLLIN}
        if not self._ended:
            wanted[self._server.fileno()] = select.POLLIN | (select.POLLOUT if self._unsent else 0)
        ready = _ready(wanted, seconds)
        if self.descriptor not in ready and self._server.fileno() in ready:
            self._receive()
            ready.append(self.descriptor)
        self._send()
        return self.descriptor in ready

    def close(self) -> None:
        """After libpq closed its end: its farewell still goes out."""
        with suppress(OSError):
            self._send()
        self._near.close()
        self._server.close()

    def _send(self) -> None:
        try:
            while data := self._unsent or self._near.recv(_AT_ONCE):
                self._unsent = data
                self._unsent = data[self._server.send(data) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""  # the server went away; what it still said is there to be read

    def _receive(self) -> None:
        try:
            data = self._server.recv(_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.received += len(data)
        if not data:
            self._ended = True
            self._near.shutdown(socket.SHUT_WR)
        self._held = data
        self._hand_on()

    def _hand_on(self) -> None:
        with suppress(BlockingIOError):  # there is room again once libpq has read
            while self._held:
                self._held = self._held[self._near.send(self._held) :]


def _ready(wanted: dict[int, int], seconds: float) -> list[int]:
    poll = select.poll()
    for descriptor, events in wanted.items():
        poll.register(descriptor, events)
    return [descriptor for descriptor, _ in poll.poll(max(1, int(seconds * 1000)) if seconds else 0)]
