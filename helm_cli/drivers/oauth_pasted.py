"""How the text that a person pastes, or a program pipes in, is read line by line while something else is waited for."""

import os
from collections.abc import Callable, Iterator
from typing import Final

MOST_BYTES: Final = 64 * 1024
MOST_WRONG: Final = 10

# What a terminal puts around a paste, where the program before helm had asked for it.
_BRACKETS: Final = (b"\x1b[200~", b"\x1b[201~")
_ERASE: Final = b"\x7f\x08"
_KILL: Final = 0x15


class Pasted:
    """Lines from the descriptor `fd`; its end ends nothing. `say` takes a sentence for the person.

    At most 64 KiB a line, and after 10 lines that were not what is waited for no more are read.
    """

    def __init__(self, fd: int, say: Callable[[str], None]) -> None:
        self.fd = fd
        self.ended = False
        self._say = say
        self._begun = b""
        self._wrong = 0

    def lines(self) -> Iterator[str]:
        """The lines that can be read now without waiting; `ended` tells afterwards whether more can come."""
        try:
            data = os.read(self.fd, MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = self.ended or not data
        *whole, self._begun = (self._begun + data).split(b"\n")
        if self.ended or len(self._begun) > MOST_BYTES:
            whole, self._begun = [*whole, self._begun], b""
        for line in whole:
            if self._wrong < MOST_WRONG and (text := _typed(line)):
                yield text

    def wrong(self) -> None:
        """Tell that a line was not what is waited for."""
        self._wrong += 1
        self._say("that is not the address at which this sign-in ended; paste the whole of it, as the browser shows it")
        if self._wrong == MOST_WRONG:
            self.ended = True
            self._say("no more is read from standard input; finish the sign-in in the browser")


def _typed(line: bytes) -> str:
    """A line as it was meant: a terminal that does not edit lines itself leaves the erasing to the reader."""
    for bracket in _BRACKETS:
        line = line.replace(bracket, b"")
    kept = bytearray()
    for byte in line:
        if byte in _ERASE:
            del kept[-1:]
        elif byte == _KILL:
            kept.clear()
        else:
            kept.append(byte)
    return kept.decode("utf-8", "replace").strip(" \t\r\"'<>")
