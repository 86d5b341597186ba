"""How the lines of a batch are read as they come, and when it is known that the next may be long in coming."""

import os
import select
from io import FileIO
from typing import Final

from helm_cli.model.errors import HelmError

# A line holds one call; its arguments are at most a few hundred KiB (contract, Files).
MOST_BYTES: Final = 4 * 1024 * 1024
_PART: Final = 65536


class Lines:
    """The lines of an open file, of which at most about 4 MiB are held.

    The file is read by its descriptor, for what waits in another's buffer could not be told from what is still to come.
    """

    def __init__(self, file: FileIO) -> None:
        self._descriptor = file.fileno()
        self._held = bytearray()
        self._ended = False
        self._over = False
        self._waiting = select.poll()
        self._waiting.register(self._descriptor, select.POLLIN)

    def whole(self) -> bool:
        """Whether `take` has a line, or knows that it has none any more."""
        return self._ended or b"\n" in self._held or len(self._held) > MOST_BYTES

    def late(self) -> bool:
        """Whether `more` would wait for who writes the file."""
        return not self._waiting.poll(0)

    def more(self) -> None:
        """Reads on. Raises HelmError "usage" where that is not possible."""
        try:
            part = os.read(self._descriptor, _PART)
        except OSError as error:
            raise HelmError("usage", f"the batch cannot be read: {(error.strerror or str(error)).lower()}") from None
        self._ended = not part
        if self._over:
            # Of a line that is too long the rest is of no use.
            _, end, part = part.partition(b"\n")
            self._over = not end
        self._held += part

    def take(self) -> bytes | None:
        """The next line, with its end, once it is `whole`: empty after the last one, None for one over 4 MiB."""
        at = self._held.find(b"\n") + 1
        self._over = not at and len(self._held) > MOST_BYTES
        line = bytes(self._held[: at or None])
        del self._held[: at or None]
        return line if len(line) <= MOST_BYTES else None
