"""The agent's own loop: who is connected, which calls run, and when it is time to end."""

import os
import selectors
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from time import monotonic, sleep, time
from typing import Any, Final

from helm_cli import __version__
from helm_cli.agent import calls, place, surroundings, upkeep, wire
from helm_cli.agent.line import VERSION
from helm_cli.agent.peer import Peer
from helm_cli.agent.place import Place
from helm_cli.agent.wire import Gone, Message
from helm_cli.broker.stores import Stores
from helm_cli.drivers import interrupts
from helm_cli.model.errors import HelmError

MOST_PEERS: Final = 128
# As many as a batch runs side by side at the most. Who is one too many makes its call itself.
MOST_CALLS: Final = 64
# How long a connection may be silent that nothing runs for.
QUIET_SECONDS: Final = 10.0
# How long calls under way may take to end by themselves when the agent shall, and then to be interrupted.
ENDING_SECONDS: Final = 10.0
_INTERRUPTED_SECONDS: Final = 3.0

_NO_MORE_SECONDS: Final = 0.05
_TICK: Final = 1.0
# Nobody waits for an agent that has nothing to do.
_IDLE_TICK: Final = 5.0


class Agent:
    """The agent of one home, for one thread but for what calls do. `say` takes a line for its log."""

    def __init__(self, stores: Stores, there: Place, say: Callable[[str], None], minute: float) -> None:
        self._stores = stores
        self._there = there
        self._say = say
        self._peers: set[Peer] = set()
        self._pool = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="call")
        self._selector = selectors.DefaultSelector()
        woken, self._wakes = os.pipe()
        for descriptor in (woken, self._wakes):
            os.set_blocking(descriptor, False)
        self._selector.register(woken, selectors.EVENT_READ)
        self._lock = Lock()
        self._running = 0
        self._calls = 0
        self._begun = time()
        self._last = monotonic()
        self._next_tick = 0.0
        self._ending: float | None = None
        self._ended_by = ""
        self._upkeep = upkeep.Upkeep(stores, say, minute)
        always = surroundings.summary(self._upkeep.parts["always"])
        self._greeting = wire.packed({"helm": VERSION, "pid": os.getpid(), "always": always})
        self._listening = _listening(there)
        self._stamp = place.stamp(there)
        self._selector.register(self._listening, selectors.EVENT_READ)

    def run(self) -> None:
        """Answers until it is told to end, nothing was called for as long as configured, or its socket is gone."""
        self._mind_signals()
        while not self._over():
            for key, _ in self._selector.select(_TICK if self._peers or self._ending else _IDLE_TICK):
                self._hear(key)
            self._tick()
        self._say(f"ended: {self._ended_by}")

    def end(self, reason: str) -> None:
        """From now on nobody is taken in; what runs may end by itself, for so long."""
        if self._ending is not None:
            return
        self._ending, self._ended_by = monotonic(), reason
        self._selector.unregister(self._listening)
        self._listening.close()
        if place.stamp(self._there) == self._stamp:
            with suppress(OSError):
                os.unlink(self._there.socket)

    def _mind_signals(self) -> None:
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: self.end(f"signal {number}"))
        # What ends a session is no business of one that belongs to none.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _hear(self, key: selectors.SelectorKey) -> None:
        if isinstance(key.fileobj, int):
            with suppress(BlockingIOError):
                os.read(key.fileobj, 512)
        elif key.fileobj is self._listening:
            self._take_in()
        elif key.data in self._peers:
            self._listen(key.data)

    def _take_in(self) -> None:
        try:
            line, _ = self._listening.accept()
        except OSError:
            sleep(_NO_MORE_SECONDS)  # gone again, or no more descriptors: in a moment there may be
            return
        if not wire.own(line):
            line.close()
            return
        if len(self._peers) >= MOST_PEERS:
            self._make_room()
        line.setblocking(False)
        try:
            line.send(self._greeting)
        except OSError:
            line.close()
            return
        peer = Peer(line)
        self._peers.add(peer)
        self._selector.register(line, selectors.EVENT_READ, peer)

    def _make_room(self) -> None:
        quiet = [peer for peer in self._peers if peer.interrupt is None]
        self._drop(min(quiet or self._peers, key=lambda peer: peer.since))

    def _listen(self, peer: Peer) -> None:
        try:
            message = peer.heard()
            if message is not None:
                self._act(peer, message)
        except Gone:
            self._drop(peer)

    def _act(self, peer: Peer, message: Message) -> None:
        what = message.get("what")
        peer.since = monotonic()
        if what == "call":
            self._call(peer, message)
        elif what == "status":
            peer.answer(self._status())
        elif what == "end":
            self.end("asked to")
        else:
            raise Gone

    def _call(self, peer: Peer, message: Message) -> None:
        with self._lock:
            taken = self._running < MOST_CALLS and self._ending is None
            self._running += taken
        if not taken:
            peer.answer(calls.ELSEWHERE)
            return
        interrupt = peer.begin()
        self._pool.submit(self._make, peer, message, interrupt)

    def _make(self, peer: Peer, message: Message, interrupt: interrupts.Interrupt) -> None:
        """One call, in a thread of its own. Whatever it ends with, its end is counted."""
        try:
            with interrupts.obeyed(interrupt):
                made = calls.made(self._stores.home, message, peer.notice)
            self._calls += made.reply is not calls.ELSEWHERE
            if made.service is not None:
                self._upkeep.warm(made.service)
            peer.answer(made.reply)
        except (KeyboardInterrupt, ValueError):
            peer.hang_up()
        except BaseException as error:
            self._say(f"a fault in a call: {calls.where(error)}")
            peer.answer(calls.fault(error))
        finally:
            with self._lock:
                self._running -= 1
                self._last = monotonic()
            if self._ending is not None:
                with suppress(BlockingIOError):
                    os.write(self._wakes, b"!")

    def _drop(self, peer: Peer) -> None:
        self._peers.discard(peer)
        self._selector.unregister(peer.line)
        peer.close()

    def _tick(self) -> None:
        now = monotonic()
        if self._ending is None and now < self._next_tick:
            return
        self._next_tick = now + _TICK
        for peer in list(self._peers):
            self._look_at(peer, now)
        if self._ending is not None:
            return
        self._upkeep.look(now, self._pool)
        if place.stamp(self._there) != self._stamp:
            self.end("its socket is gone")
        elif not self._running and self._upkeep.idle(now - self._last):
            self.end("nothing was called for a while")

    def _look_at(self, peer: Peer, now: float) -> None:
        ending = self._ending
        if peer.interrupt is None:
            if ending is not None or now - peer.since > QUIET_SECONDS:
                self._drop(peer)
        elif ending is not None and now - ending > ENDING_SECONDS:
            self._drop(peer)
        else:
            peer.alive()

    def _over(self) -> bool:
        if self._ending is None:
            return False
        return not self._running or monotonic() - self._ending > ENDING_SECONDS + _INTERRUPTED_SECONDS

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "helm": __version__,
            "since": self._begun,
            "idle_seconds": 0 if self._running else round(monotonic() - self._last),
            "calls": self._calls,
            "running": self._running,
            "kept": upkeep.kept_ones(),
            **self._upkeep.parts,
        }


def _listening(there: Place) -> socket.socket:
    """The socket that the agent is reached at, private from its first moment. Raises HelmError "state"."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    umask = os.umask(0o177)
    try:
        line.bind(str(there.socket))
        line.listen(MOST_PEERS)
    except OSError as error:
        line.close()
        reason = (error.strerror or str(error)).lower()
        raise HelmError("state", f"{there.socket} cannot be listened at: {reason}") from None
    finally:
        os.umask(umask)
    line.setblocking(False)
    return line
