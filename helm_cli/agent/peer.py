"""One connection to the agent, as the agent sees it: what came in of it, and whose call runs for it."""

import socket
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Final

from helm_cli.agent import wire
from helm_cli.agent.wire import Gone, Message
from helm_cli.drivers.interrupts import Interrupt

# How long an end may take to read what it asked for.
_READS_WITHIN: Final = 5.0
_PART: Final = 65536


class Peer:
    """A connection. The loop reads from it; the thread of its call, and between calls the loop, write to it.

    `interrupt` ends the call that runs for it, None where none does. `since` is when it last was asked for something
    or answered, in seconds of `monotonic`.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.since = monotonic()
        self.interrupt: Interrupt | None = None
        self._reader = wire.Reader(wire.MOST_ASKED)
        self._sending = Lock()

    def heard(self) -> Message | None:
        """The next whole message, None where it did not come yet. Raises Gone for an end that left or misbehaves."""
        try:
            part = self.line.recv(_PART)
        except BlockingIOError:
            return None
        except OSError:
            raise Gone from None
        # Nobody has anything to say while its call runs.
        if not part or self.interrupt is not None:
            raise Gone
        self._reader.feed(part)
        message = self._reader.take()
        if message is not None and not self._reader.empty():
            raise Gone
        return message

    def begin(self) -> Interrupt:
        self.interrupt = Interrupt()
        return self.interrupt

    def answer(self, message: Message) -> None:
        """The last answer to what it asked; after it, it may ask again."""
        frame = wire.packed(message)
        with self._sending:
            self.interrupt = None
            self.since = monotonic()
            self._send(frame)

    def notice(self, text: str) -> None:
        with self._sending:
            self._send(wire.packed({"notice": text}))

    def alive(self) -> None:
        """Says that its call still runs, unless something is being said to it anyway."""
        if not self._sending.acquire(blocking=False):
            return
        try:
            if self.interrupt is not None:
                frame = wire.packed({"alive": True})
                with suppress(BlockingIOError):
                    if self.line.send(frame) != len(frame):
                        self.hang_up()
        except OSError:
            self.hang_up()
        finally:
            self._sending.release()

    def hang_up(self) -> None:
        """Ends it in both directions, which the loop hears."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """For the loop alone. What runs for it is interrupted."""
        interrupt = self.interrupt
        self.hang_up()
        self.line.close()
        if interrupt is not None:
            interrupt.set()

    def _send(self, frame: bytes) -> None:
        try:
            wire.send(self.line, frame, _READS_WITHIN)
        except Gone:
            self.hang_up()
