"""How an agent is started, looked at, replaced and ended from outside."""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from helm_cli.agent import line, log, place, surroundings, wire
from helm_cli.agent.line import Line
from helm_cli.agent.wire import Gone, Message
from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes
from helm_cli.store import running

# How long a new agent may take until it can be reached, and one that shall end until it did: its calls may finish.
STARTS_WITHIN: Final = 10.0
ENDS_WITHIN: Final = 20.0
_KILLED_WITHIN: Final = 5.0
_PAUSE: Final = 0.02
_PART: Final = 65536

# -I: what PYTHON* variables and the current folder could put in the way of helm's own modules.
_STARTED: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from helm_cli.agent.process import main; main(sys.argv[2])"
)


class Started(NamedTuple):
    """The agent that runs now; `new` where it did not before."""

    pid: int
    new: bool


def start(home: Path) -> Started:
    """See to it that an agent of this version runs for this home. Of any number of starts at once one starts it.

    Raises HelmError "unavailable" where it does not begin, "state" where its place cannot be had.
    """
    there = place.of(home)
    place.prepare(there)
    found = _greeting(home)
    if found is not None and found.get("helm") == line.VERSION:
        return Started(int(found["pid"]), False)
    if found is not None:
        _signal(there, signal.SIGTERM)
    told = _told(_spawn(home, there))
    if told not in ("ready", "another"):
        raise _failed(told, there)
    ends = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < ends:
        found = _greeting(home)
        if found is not None and found.get("helm") == line.VERSION:
            return Started(int(found["pid"]), told == "ready")
        time.sleep(_PAUSE)
    raise _failed("", there) if told == "ready" else _silent(there)


def replace(home: Path) -> None:
    """Have an agent of another version end, and one of this version follow it; nothing is waited for."""
    there = place.of(home)
    with suppress(HelmError, OSError):
        if _signal(there, signal.SIGTERM):
            os.close(_spawn(home, there))


def status(home: Path) -> Message | None:
    """What the agent of this home says of itself; None where none runs. HelmError "unavailable" for a silent one.

    `pid`, `helm` (version), `since` (seconds since 1970), `idle_seconds`, `calls`, `running` (calls), `kept` (`what`,
    `seconds`, `calls`, `busy`), and `differing`: the names of surroundings that are not the same here and there.
    """
    try:
        agent = line.reach(home)
        if agent is None:
            if holder(place.of(home)) is not None:
                raise Gone
            return None
        try:
            found = _one(agent, {"what": "status"})
        finally:
            agent.close()
        differing = surroundings.differing(surroundings.always(home), found.pop("always"))
        differing += surroundings.differing(surroundings.starting(), found.pop("starting"))
        return {**found, "differing": differing}
    except (Gone, KeyError):
        there = place.of(home)
        if holder(there) is None:
            return None
        raise _silent(there) from None


def stop(home: Path) -> int | None:
    """Have the agent of this home end, with its children, and wait for that; its process, None where none ran.

    Calls under way may finish for some seconds. One that does not end is killed. Raises HelmError "unavailable" where
    it cannot be.
    """
    there = place.of(home)
    mark = _mark(there)
    pid = running.here(mark)
    if pid is None:
        return None
    asked = False
    with suppress(Gone):
        agent = line.reach(home)
        if agent is not None:
            asked = True
            with suppress(Gone):
                agent.ask(wire.packed({"what": "end"}), lambda _: True, ENDS_WITHIN)
            agent.close()
    if not asked:
        _signal(there, signal.SIGTERM)
    if not _gone(mark, ENDS_WITHIN if asked else _KILLED_WITHIN):
        _signal(there, signal.SIGKILL)
        if not _gone(mark, _KILLED_WITHIN):
            raise HelmError("unavailable", f"the background agent (process {pid}) cannot be ended; end it by hand")
    return pid


def holder(there: place.Place) -> int | None:
    """The process that holds the agent's lock; None where none does, or none that can be seen from here."""
    return running.here(_mark(there))


def _mark(there: place.Place) -> str:
    """What the holder of the lock wrote into it; "" where nobody holds it."""
    import fcntl

    try:
        descriptor = os.open(there.lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 512, 0).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)
    return ""


def _gone(mark: str, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while running.here(mark) is not None:
        if time.monotonic() > ends:
            return False
        time.sleep(_PAUSE)
    return True


def _signal(there: place.Place, number: int) -> bool:
    pid = holder(there)
    if pid is None:
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        return True
    return False


def _greeting(home: Path) -> Message | None:
    """What the agent says of itself, None where none can be reached. Raises HelmError for a silent one."""
    try:
        agent = line.reach(home)
    except Gone:
        raise _silent(place.of(home)) from None
    if agent is None:
        return None
    agent.close()
    return agent.greeting


def _one(agent: Line, message: Message) -> Message:
    answers: list[Message] = []

    def heard(answer: Message) -> bool:
        answers.append(answer)
        return True

    agent.ask(wire.packed(message), heard)
    return answers[0]


def _spawn(home: Path, there: place.Place) -> int:
    """A new process that becomes the agent; what to read of it until it is one, or says why it is not."""
    path = json.dumps(_path())
    options = ["-I", *(["-B"] if sys.dont_write_bytecode else [])]
    with homes.told(there.log):
        place.prepare(there)
        errors = log.opened(there.log)
    told, telling = os.pipe()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *options, "-c", _STARTED, path, str(home)],
            surroundings.environment(home),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, errors, 2),
                (os.POSIX_SPAWN_DUP2, telling, 1),
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            ],
        )
        # It leaves at once a copy of itself that is nobody's child.
        os.waitpid(pid, 0)
    except OSError as error:
        os.close(told)
        raise HelmError("unavailable", f"no agent can be started: {(error.strerror or 'error').lower()}") from None
    finally:
        os.close(telling)
        os.close(errors)
    return told


def _path() -> list[str]:
    """Where the agent finds modules: where this process does, but for the folder that it happens to be in."""
    own, here = str(Path(__file__).parents[2]), os.path.realpath(os.getcwd())
    return [entry for entry in sys.path if entry == own or (entry and os.path.realpath(entry) != here)]


def _told(descriptor: int) -> str:
    """What a new agent says. It takes a while where a former one still has to end."""
    text = b""
    try:
        while part := os.read(descriptor, _PART):
            text += part
    finally:
        os.close(descriptor)
    return text.decode("utf-8", "replace")


def _silent(there: place.Place) -> HelmError:
    pid = holder(there)
    which = "what stands at the background agent's socket" if pid is None else f"the background agent (process {pid})"
    return HelmError("unavailable", f"{which} does not answer here; end it with: helm agent stop")


def _failed(told: str, there: place.Place) -> HelmError:
    with suppress(ValueError, KeyError, TypeError):
        error: dict[str, Any] = json.loads(told)
        return HelmError(error["code"], error["message"])
    return HelmError("unavailable", f"the background agent did not begin; see {there.log}")
