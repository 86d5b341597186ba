"""How a TDT workspace has one server at a time, which calls take in turn, and which waits between two of them."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from helm_cli.drivers import Limits, interrupts, kept, mcp_child, tdt_lock
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Brain
from helm_cli.model.tool import Tool, tool

if TYPE_CHECKING:
    from helm_cli.drivers.mcp_session import Session

NAME: Final = "tdt"
# What the server may take to be ready.
START_SECONDS: Final = 30.0
# What other processes, which may be several, may take to let go of theirs.
_WAIT_SECONDS: Final = 60.0
# What the calls of this process before one may take.
_TURN_SECONDS: Final = 120.0
# How long a server waits for what usually follows, where nobody asked for connections to be kept.
LINGER_SECONDS: Final = 60.0
# How long a server is used without a look at who waits for it.
_SHARE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.1

_lock: Final = threading.Lock()
_turns: Final[dict[str, threading.Lock]] = {}


class Held:
    """A server that this process started, and nobody else while it lives. For one call at a time."""

    __slots__ = ("__weakref__", "_over", "_tools", "_watched", "session", "since", "target", "used")

    def __init__(self, target: Brain, session: "Session") -> None:
        self.target = target
        self.session = session
        self.since = self.used = monotonic()
        self._tools: dict[str, Tool] | None = None
        self._over = threading.Event()
        self._watched = False

    def tools(self, limits: Limits) -> dict[str, Tool]:
        """The server's own list, asked for once. HelmError "unavailable", "timeout", "tool_error"."""
        if self._tools is None:
            entries = self._pages(limits)
            found = [known for entry in entries if (known := tool(entry)) is not None]
            self._tools = {known.name: known for known in found}
        return self._tools

    def usable(self) -> bool:
        return not self._over.is_set() and self.session.usable()

    def close(self) -> None:
        self._over.set()
        self.session.close()

    def watch(self) -> None:
        """From now on, while no call has it, it ends when another process waits, or when nothing follows for long."""
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._stand_by, name="helm-tdt", daemon=True).start()

    def _stand_by(self) -> None:
        turn = _turn(self.target.folder)
        while not self._over.wait(_LOOK_SECONDS):
            lapsed = not kept.wanted() and monotonic() - self.used > LINGER_SECONDS
            if (lapsed or tdt_lock.awaited(self.target)) and turn.acquire(blocking=False):
                try:
                    kept.drop(_key(self.target))
                finally:
                    turn.release()

    def _pages(self, limits: Limits) -> list[Json]:
        try:
            return self.session.pages(limits.seconds)
        except Exception as error:
            from helm_cli.drivers import mcp_faults

            watch = self.session.watch
            raise mcp_faults.failed(NAME, "tools/list", "read", watch, error, limits) from None


@contextmanager
def holding(target: Brain, *, linger: bool = False) -> Iterator[Held]:
    """The workspace's server, for the block alone: the one that waits, else a new one.

    The server keeps nothing of who called it, so that it serves every extension. `linger` lets it wait for a while
    where nobody asked for connections to be kept. HelmError "not_configured" where there is no `tdt`, "unavailable"
    where it does not start, or another process does not let go of its own.
    """
    with _in_turn(target.folder):
        held = kept.take(
            _key(target),
            lambda: _started(target),
            lambda waiting: waiting.usable() and waiting.target == target,
            f"tdt ({target.profile})",
        )
        # What it said during the calls of others is theirs.
        held.session.watch.errors.clear()
        try:
            yield held
        finally:
            _put_back(held, linger=linger)


def _put_back(held: Held, *, linger: bool) -> None:
    held.used = monotonic()
    fair = held.used - held.since < _SHARE_SECONDS or not tdt_lock.awaited(held.target)
    if not (held.usable() and fair and (linger or kept.wanted())):
        kept.close(held)
        return
    kept.give(_key(held.target), held, anyway=linger)
    held.watch()


def _key(target: Brain) -> tuple[str, str]:
    return ("tdt", target.folder)


def _turn(folder: str) -> threading.Lock:
    with _lock:
        return _turns.setdefault(folder, threading.Lock())


@contextmanager
def _in_turn(folder: str) -> Iterator[None]:
    turn, ends = _turn(folder), monotonic() + _TURN_SECONDS
    while not turn.acquire(timeout=_LOOK_SECONDS):
        interrupts.check()
        if monotonic() >= ends:
            raise HelmError("unavailable", "too many calls wait for this workspace's TDT; call again later")
    try:
        yield
    finally:
        turn.release()


def _started(target: Brain) -> Held:
    command = _command(target)
    lock = tdt_lock.acquire(target, _WAIT_SECONDS)
    try:
        # The lock goes on to whoever guards the server, and ends with the last of its processes.
        child = mcp_child.start(command, {}, target.folder, lock)
    finally:
        os.close(lock)
    try:
        # It takes about as long as the server does to start, so that they do so side by side.
        from helm_cli.drivers import mcp_faults, mcp_session, mcp_stdio, mcp_watch
    except BaseException:
        child.let_go(polite=False)
        child.close()
        raise
    session = mcp_session.Session(NAME, lambda watch: mcp_stdio.streams(child, watch), mcp_watch.Watch(None), child)
    try:
        session.begin(max(0.0, child.begun + START_SECONDS - monotonic()))
    except Exception as error:
        session.close(polite=False)
        if isinstance(error, mcp_faults.Late):
            told = f"tdt was not ready within {START_SECONDS:g} s{session.watch.last_words()}; call again"
            raise HelmError("unavailable", told) from None
        raise mcp_faults.unstarted(NAME, session.watch, error, START_SECONDS) from None
    return Held(target, session)


def _command(target: Brain) -> tuple[str, ...]:
    # What a relative folder of PATH holds is the workspace's, not the user's.
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("tdt", path=os.pathsep.join(folders))
    if found is None:
        raise HelmError(
            "not_configured",
            "there is no program tdt on PATH; install it, for example with: pipx install 'thisdamnthing[mcp]'",
        )
    return (found, "--workspace", target.folder, "mcp", "serve", "--profile", target.profile)
