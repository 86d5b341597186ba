"""What passes between helm and its agent: JSON objects in frames of bounded size, between processes of one user."""

import json
import os
import select
import socket
import struct
import sys
from time import monotonic
from typing import Any, Final

from helm_cli.model.jsontext import Json, dump

Message = dict[str, Any]

# A call's arguments are at most a few hundred KiB where the contract bounds them; a larger call is made without it.
MOST_ASKED: Final = 4 * 1024 * 1024
# An answer's data are at most 2 MiB of text, in which JSON may write each byte as six.
MOST_ANSWERED: Final = 32 * 1024 * 1024
_HEAD: Final = 4
_PART: Final = 65536

# macOS: <sys/un.h> and <sys/ucred.h>; `struct xucred` begins with a version and the user.
_SOL_LOCAL: Final = 0
_LOCAL_PEERCRED: Final = 1
_XUCRED: Final = 76


class Gone(Exception):
    """The other end closed, was silent for too long, or said what is no frame."""


def packed(message: dict[str, Json]) -> bytes:
    """The frame of a message: the length of its JSON, then that."""
    text = dump(message).encode("utf-8", "surrogatepass")
    return len(text).to_bytes(_HEAD, "big") + text


class Reader:
    """The frames in the bytes that come in; of one that is longer than `most` bytes nothing is kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = bytearray()

    def feed(self, part: bytes) -> None:
        self._bytes += part

    def take(self) -> Message | None:
        """The next whole frame's object, None where it did not come yet. Raises Gone for what is none."""
        if len(self._bytes) < _HEAD:
            return None
        ends = _HEAD + int.from_bytes(self._bytes[:_HEAD], "big")
        if ends > _HEAD + self._most:
            raise Gone
        if len(self._bytes) < ends:
            return None
        text = self._bytes[_HEAD:ends]
        del self._bytes[:ends]
        try:
            message = json.loads(text.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            raise Gone from None
        if not isinstance(message, dict):
            raise Gone
        return message

    def empty(self) -> bool:
        return not self._bytes


def receive(line: socket.socket, reader: Reader, seconds: float) -> Message:
    """The next message, for which each piece may take so long. Raises Gone."""
    while (message := reader.take()) is None:
        try:
            part = line.recv(_PART) if _ready(line, select.POLLIN, seconds) else b""
        except OSError:
            raise Gone from None
        if not part:
            raise Gone
        reader.feed(part)
    return message


def send(line: socket.socket, data: bytes, seconds: float) -> None:
    """Sends it whole to an end that takes it in time. Raises Gone."""
    ends = monotonic() + seconds
    view = memoryview(data)
    while view:
        try:
            if not _ready(line, select.POLLOUT, ends - monotonic()):
                raise Gone
            view = view[line.send(view) :]
        except BlockingIOError:
            continue
        except OSError:
            raise Gone from None


def user(line: socket.socket) -> int | None:
    """The user of the process at the other end, as the kernel knows it; None where it does not say."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            found = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", found)[1])
        if sys.platform == "darwin":
            return int(struct.unpack_from("II", line.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED))[1])
        return _peereid(line)
    except (OSError, struct.error):
        return None


def own(line: socket.socket) -> bool:
    """Whether the process at the other end is of this process's user."""
    return user(line) == os.geteuid()


def _peereid(line: socket.socket) -> int | None:
    """As the BSDs tell it (getpeereid(3))."""
    import ctypes

    effective, group = ctypes.c_uint32(), ctypes.c_uint32()
    try:
        failed = ctypes.CDLL(None).getpeereid(line.fileno(), ctypes.byref(effective), ctypes.byref(group))
    except AttributeError:
        return None
    return None if failed else effective.value


def _ready(line: socket.socket, event: int, seconds: float) -> bool:
    if line.fileno() < 0:
        return False
    waiting = select.poll()
    waiting.register(line, event)
    return bool(waiting.poll(max(0.0, seconds) * 1000))
