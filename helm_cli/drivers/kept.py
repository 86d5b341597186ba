"""Which open connections wait in this process for the next call, while somebody asked for them to be kept."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

from helm_cli.model.profile import Profile


class Closable(Protocol):
    """A connection whose `close` never waits for its server for long."""

    def close(self) -> None: ...


class Kept(NamedTuple):
    """What may be told of a connection: what it is, how many seconds ago it was opened, in how many calls it served.

    `label` holds no secret, host, URL or path. `busy` is whether a call has it now.
    """

    label: str
    seconds: float
    calls: int
    busy: bool


Connection = TypeVar("Connection", bound=Closable)

# Of one key; there are no more when no more calls run side by side.
MOST: Final = 16


class _Record:
    """When a connection was opened and last given back (`monotonic`), and how often it was taken."""

    __slots__ = ("calls", "given", "label", "opened")

    def __init__(self, label: str) -> None:
        self.label = label
        self.opened = monotonic()
        self.calls = 0
        self.given: float | None = None


_idle: dict[Hashable, list[Closable]] = {}
# Of all connections of a process that keeps some, for as long as they live.
_records: Final[WeakKeyDictionary[object, _Record]] = WeakKeyDictionary()
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
    key: Hashable,
    open_new: Callable[[], Connection],
    usable: Callable[[Connection], bool] = lambda connection: True,
    label: str = "",
) -> Connection:
    """A connection for this key that nobody else uses until it is given back: a kept one, or a new one.

    The key says whose it is: the profile's target, the secret, and the extension, of whose session nothing may
    reach another. A kept connection that is not `usable` is closed. The `label` is what `listed` tells of it.
    """
    while (kept := _pop(key)) is not None:
        connection: Connection = kept  # type: ignore[assignment]  # a key has connections of one kind
        if usable(connection):
            return _taken(connection, label)
        _close(connection)
    return _taken(open_new(), label)


def label(profile: Profile, extension: str) -> str:
    """What a connection to this profile for this extension is called: `db/local-app for tickets`."""
    return f"{profile.group}/{profile.name} for {extension}" if extension else f"{profile.group}/{profile.name}"


def give(key: Hashable, connection: Closable, *, anyway: bool = False) -> None:
    """Keeps a connection that was taken and cleaned of its session, or closes it where none is wanted.

    Whoever is in any doubt about a connection closes it instead. One that is kept `anyway`, its driver drops in time.
    """
    with _lock:
        waiting = _idle.setdefault(key, [])
        if (_holders or anyway) and len(waiting) < MOST:
            waiting.append(connection)
            _record(connection, "").given = monotonic()
            return
    _close(connection)


def close(connection: Closable) -> None:
    """Closes a connection that was taken, in place of giving it back; it is told of no more."""
    _close(connection)


def drop(key: Hashable) -> None:
    """Closes the connections that wait for this key."""
    while (connection := _pop(key)) is not None:
        _close(connection)


def listed() -> list[Kept]:
    """The connections that are open now, the oldest first."""
    now = monotonic()
    with _lock:
        records = sorted(_records.values(), key=lambda record: record.opened)
        return [Kept(record.label, now - record.opened, record.calls, record.given is None) for record in records]


def expire(seconds: float) -> None:
    """Closes the connections that have waited for longer than this."""
    before = monotonic() - seconds
    expired: list[Closable] = []
    with _lock:
        for key, waiting in list(_idle.items()):
            staying = [connection for connection in waiting if (_record(connection, "").given or before) > before]
            expired += [connection for connection in waiting if connection not in staying]
            if staying:
                _idle[key] = staying
            else:
                del _idle[key]
    for connection in expired:
        _close(connection)


def _pop(key: Hashable) -> Closable | None:
    with _lock:
        waiting = _idle.get(key)
        return waiting.pop() if waiting else None


def _taken(connection: Connection, label: str) -> Connection:
    if _holders:
        with _lock:
            record = _record(connection, label)
            record.calls += 1
            record.given = None
    return connection


def _record(connection: Closable, label: str) -> _Record:
    # Some drivers wrap what they took anew when they give it back.
    itself = connection[0] if isinstance(connection, tuple) else connection
    return _records.setdefault(itself, _Record(label))


def _close_all() -> None:
    with _lock:
        waiting = [connection for connections in _idle.values() for connection in connections]
        _idle.clear()
    for connection in waiting:
        _close(connection)


def _close(connection: Closable) -> None:
    with _lock:
        _records.pop(connection[0] if isinstance(connection, tuple) else connection, None)
    # However a broken connection says that it cannot be closed, there is nothing left to do with it.
    with suppress(Exception):
        connection.close()
