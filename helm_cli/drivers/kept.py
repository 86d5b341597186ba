"""Which open connections wait in this process for the next call, while somebody asked for them to be kept."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final, Protocol, TypeVar


class Closable(Protocol):
    """A connection whose `close` never waits for its server for long."""

    def close(self) -> None: ...


Connection = TypeVar("Connection", bound=Closable)

# Of one key; there are no more when no more calls run side by side.
MOST: Final = 16

_idle: dict[Hashable, list[Closable]] = {}
_lock: Final = Lock()
_holders: list[object] = []


@contextmanager
def open_ones() -> Iterator[None]:
    """While the block runs, what is given is kept; a call outside of any such block opens and closes its own."""
    holder = object()
    _holders.append(holder)
    try:
        yield
    finally:
        _holders.remove(holder)
        if not _holders:
            _close_all()


def wanted() -> bool:
    """Whether a connection that is given now would be kept, so that it pays to clean it."""
    return bool(_holders)


def take(
    key: Hashable, open_new: Callable[[], Connection], usable: Callable[[Connection], bool] = lambda connection: True
) -> Connection:
    """A connection for this key that nobody else uses until it is given back: a kept one, or a new one.

    The key says whose it is: the profile's target, the secret, and the extension, of whose session nothing may
    reach another. A kept connection that is not `usable` is closed.
    """
    while (kept := _pop(key)) is not None:
        connection: Connection = kept  # type: ignore[assignment]  # a key has connections of one kind
        if usable(connection):
            return connection
        _close(connection)
    return open_new()


def give(key: Hashable, connection: Closable) -> None:
    """Keeps a connection that was taken and cleaned of its session, or closes it where none is wanted.

    Whoever is in any doubt about a connection closes it instead.
    """
    with _lock:
        waiting = _idle.setdefault(key, [])
        if _holders and len(waiting) < MOST:
            waiting.append(connection)
            return
    _close(connection)


def _pop(key: Hashable) -> Closable | None:
    with _lock:
        waiting = _idle.get(key)
        return waiting.pop() if waiting else None


def _close_all() -> None:
    with _lock:
        waiting = [connection for connections in _idle.values() for connection in connections]
        _idle.clear()
    for connection in waiting:
        _close(connection)


def _close(connection: Closable) -> None:
    # However a broken connection says that it cannot be closed, there is nothing left to do with it.
    with suppress(Exception):
        connection.close()
