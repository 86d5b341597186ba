"""How an MCP server's command is started: in which surroundings, with which pipes, and how helm lets go of it."""

import fcntl
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import SAFE_VARIABLES

# A guardian's own numbers for the pipes; helm's are moved above them, so that none is lost while they are set.
_ABOVE: Final = 10
_GUARDIAN: Final = str(Path(__file__).with_name("mcp_guardian.py"))

_lock: Final = Lock()
_let_go: Final[list[int]] = []


class Child:
    """A server that was started, by helm's ends of its pipes; it and its whole group end when `let_go` was called.

    They end too when helm does, however it ends: a guardian between them sees to that (`mcp_guardian`). `reports` is
    what the guardian says. `begun` is when it was started, in seconds of `monotonic`.
    """

    __slots__ = ("_held", "begun", "errors", "guardian", "input", "orders", "output", "reports")

    def __init__(self, guardian: int, orders: int, reports: int, input: int, output: int, errors: int) -> None:
        self.guardian = guardian
        self.orders = orders
        self.reports = reports
        self.input = input
        self.output = output
        self.errors = errors
        self.begun = monotonic()
        self._held = True

    def let_go(self, *, polite: bool) -> None:
        """Has the guardian end it, and waits for nothing; `polite` gives it the time to leave by itself.

        The pipes to the server stay open until `close`. May be called again, from any thread.
        """
        from helm_cli.drivers.mcp_guardian import POLITE

        with _lock:
            if not self._held:
                return
            self._held = False
            if polite:
                with suppress(OSError):  # it ended already
                    os.write(self.orders, POLITE)
            os.close(self.orders)
            _let_go.append(self.guardian)

    def close(self) -> None:
        """Closes helm's ends of the other pipes. Once, by whoever reads them."""
        for descriptor in (self.input, self.output, self.errors, self.reports):
            os.close(descriptor)


def environment(more: Mapping[str, str]) -> dict[bytes, bytes]:
    """The safe variables, those of them that are set, and `more`."""
    found = {name: os.environ[name] for name in SAFE_VARIABLES if name in os.environ}
    # An exported function of a shell is code.
    safe = {name: value for name, value in found.items() if not value.startswith("()")}
    return {os.fsencode(name): os.fsencode(value) for name, value in {**safe, **more}.items()}


def start(command: Sequence[str], more: Mapping[str, str], folder: str, held: int | None = None) -> Child:
    """Starts a command in a folder, as the leader of a session and process group of its own, and does not wait for it.

    Its environment is the safe one and `more`. `held` is a descriptor that its guardian, and not the command, holds
    open too, until the command's whole group has ended. Raises HelmError "unavailable" where the system has no more
    processes or files; that the command itself cannot be started, the guardian reports.
    """
    _reap()
    opened: list[int] = []
    try:
        ends = [_pipe(opened) for _ in range(5)]
        given = [ends[0][0], ends[1][1], ends[2][0], ends[3][1], ends[4][1]]
        # Where there is none, its number is not to be one of whoever started helm.
        low = os.open(os.devnull, os.O_RDONLY) if held is None else os.dup(held)
        try:
            given.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _ABOVE))
        finally:
            os.close(low)
        opened.append(given[-1])
        guardian = _spawn(given)
    except OSError as error:
        for descriptor in opened:
            os.close(descriptor)
        reason = (error.strerror or "error").lower()
        raise HelmError("unavailable", f"no process can be started for the MCP server: {reason}") from None
    for descriptor in given:
        os.close(descriptor)
    child = Child(guardian, ends[0][1], ends[1][0], ends[2][1], ends[3][0], ends[4][0])
    words = [os.fsencode(word) for word in (folder, str(len(command)), *command)]
    words += [name + b"=" + value for name, value in environment(more).items()]
    text = b"\0".join(words)
    with suppress(BrokenPipeError):  # a guardian that is gone reports nothing
        _write(child.orders, b"%d\n" % len(text) + text)
    return child


def _spawn(given: Sequence[int]) -> int:
    """A new process and not a copy of helm, which would hold helm's files, locks and connections."""
    actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_DUP2, descriptor, number) for descriptor, number in zip(given, (0, 1, 3, 4, 5, 6), strict=True)
    ]
    actions.append((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0))
    options = [sys.executable, "-I", "-S", "-B", _GUARDIAN]
    return os.posix_spawn(sys.executable, options, environment({}), file_actions=actions)


def _pipe(opened: list[int]) -> tuple[int, int]:
    ends = []
    for low in os.pipe():
        try:
            ends.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _ABOVE))
        finally:
            os.close(low)
        opened.append(ends[-1])
    return ends[0], ends[1]


def _write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]


def _reap() -> None:
    """Takes note of guardians that are done, so that none stays as a zombie in a helm that runs on."""
    with _lock:
        for guardian in list(_let_go):
            with suppress(ChildProcessError):  # a helm whose children nobody waits for
                if os.waitpid(guardian, os.WNOHANG) == (0, 0):
                    continue
            _let_go.remove(guardian)
