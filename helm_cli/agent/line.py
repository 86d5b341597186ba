"""How a process of the same user reaches the agent: over a socket that both ends have looked at."""

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from helm_cli import __version__
from helm_cli.agent import place, wire
from helm_cli.agent.wire import Gone, Message
from helm_cli.store.schema import STEPS

# An agent of any other version is replaced: it would read the state in its own way.
VERSION: Final = f"{__version__}/{len(STEPS)}"

# How long an agent may take to say who it is, and how long it may be silent while it works: it says every second
# that it still does.
GREETS_WITHIN: Final = 1.0
SILENT_FOR: Final = 6.0


class Line:
    """A connection to the agent; `greeting` is what it said of itself: `helm` (version), `pid`, `always`."""

    def __init__(self, line: socket.socket, reader: wire.Reader, greeting: Message) -> None:
        self._line = line
        self._reader = reader
        self.greeting = greeting

    def close(self) -> None:
        self._line.close()

    def untouched(self) -> bool:
        """Whether nothing came since the last answer; an agent that ended has closed its end."""
        waiting = select.poll()
        waiting.register(self._line, select.POLLIN)
        return self._reader.empty() and not waiting.poll(0)

    def ask(self, message: bytes, heard: Callable[[Message], bool], silent: float = SILENT_FOR) -> None:
        """Sends a frame, and gives each answer to `heard`, until that says that it was the last one. Raises Gone."""
        wire.send(self._line, message, silent)
        while not heard(wire.receive(self._line, self._reader, silent)):
            pass


def reach(home: Path) -> Line | None:
    """The agent of this home, greeted; None where there is none. Raises Gone where one is there that does not answer.

    Nothing was told to it yet.
    """
    there = place.of(home)
    if not place.trusted(there):
        return None
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Without it, a queue that is full would be waited for without end.
        line.settimeout(GREETS_WITHIN)
        line.connect(str(there.socket))
        if not wire.own(line):
            line.close()
            return None
        line.setblocking(False)
    except TimeoutError:
        line.close()
        raise Gone from None
    except OSError:
        line.close()
        return None
    return _greeted(line)


def _greeted(line: socket.socket) -> Line:
    reader = wire.Reader(wire.MOST_ANSWERED)
    try:
        greeting = wire.receive(line, reader, GREETS_WITHIN)
    except BaseException:
        with suppress(OSError):
            line.close()
        raise
    return Line(line, reader, greeting)
