"""How the agent's process begins and ends: detached, alone for its home, and with all that it started."""

import fcntl
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from helm_cli import __version__
from helm_cli.agent import calls, line, log, place
from helm_cli.agent.place import Place
from helm_cli.agent.server import Agent
from helm_cli.agent.wire import Gone
from helm_cli.broker.stores import Stores
from helm_cli.drivers import kept
from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes
from helm_cli.store import running

# What it says on standard output to whoever started it, before it closes that.
READY: Final = "ready"
ANOTHER: Final = "another"

# Longer than a former agent may take to end, with the calls that it still makes.
_FOLLOWS_WITHIN: Final = 20.0
_PAUSE: Final = 0.02
# Connections and children that are closed; who takes longer is left to find out by itself.
_CLOSING_SECONDS: Final = 5.0
_MINUTE: Final = 60.0
# Where the system does not list what is open.
_MOST_DESCRIPTORS: Final = 4096


def main(home: str, minute: float = _MINUTE) -> NoReturn:
    """Be the agent of this home, until it is time to end. Standard output is the pipe of whoever started it."""
    _detach()
    _let_go_of_others()
    there = place.of(Path(home))
    say = partial(log.say, there.log)
    try:
        place.prepare(there)
        with _alone(Path(home), there):
            place.clear(there)
            agent = Agent(Stores(Path(home)), there, say, minute)
            _settle(say)
            _report(READY)
            say(f"began, helm {__version__}")
            _work(agent)
    except _Another:
        _report(ANOTHER)
    except HelmError as error:
        _report(jsontext.dump({"code": error.code, "message": error.message}))
    except BaseException as error:
        say(f"a fault: {calls.where(error)}")
        os._exit(1)
    os._exit(0)


class _Another(Exception):
    """Another agent waits already to follow the one that runs, or runs and does not end."""


@contextmanager
def _alone(home: Path, there: Place) -> Iterator[None]:
    """Holds the agent's lock with a line in it that says which process that is; only the process's end lets go of it.

    One that is about to end is waited for, by one that shall follow it and no more.
    """
    with homes.told(there.lock):
        turn, lock = _open(there.next), _open(there.lock)
        if not _locked(turn):
            raise _Another
        ends = time.monotonic() + _FOLLOWS_WITHIN
        while not _locked(lock):
            if time.monotonic() > ends or _serves(home):
                raise _Another
            time.sleep(_PAUSE)
        os.close(turn)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{running.mark()}\n".encode(), 0)
    yield


def _serves(home: Path) -> bool:
    """Whether the agent that holds the lock is one like this, and stays."""
    with suppress(Gone):
        agent = line.reach(home)
        if agent is not None:
            agent.close()
            return agent.greeting.get("helm") == line.VERSION
    return False


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, homes.FILE)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _detach() -> None:
    """Away from the session, the terminal and the folder of whoever started it, and no child of it any more."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if soft:
        # The picture of its memory would hold secrets.
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _let_go_of_others() -> None:
    """Closes what whoever started it left open: a lock or a pipe of theirs is not to live as long as it does."""
    try:
        open_ones = [int(name) for name in os.listdir("/dev/fd") if name.isdecimal()]
    except OSError:
        open_ones = list(range(_MOST_DESCRIPTORS))
    for descriptor in open_ones:
        if descriptor > 2:
            with suppress(OSError):
                os.close(descriptor)


def _settle(say: Callable[[str], None]) -> None:
    sys.unraisablehook = lambda found: say(f"a fault in passing: {found.exc_type.__name__}")
    threading.excepthook = lambda found: say(f"a fault in a thread: {found.exc_type.__name__}")


def _report(text: str) -> None:
    """Tells whoever started it, and from then on has no standard stream that leads anywhere."""
    with suppress(OSError):
        os.write(1, text.encode("utf-8", "replace"))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    os.close(null)


def _work(agent: Agent) -> NoReturn:
    with kept.open_ones():
        agent.run()
        closing = threading.Thread(target=kept.expire, args=(-1.0,), daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        os._exit(0)
