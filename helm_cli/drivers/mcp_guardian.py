"""How a server is kept on a leash: a process of its own starts it, and ends its whole group when helm lets go.

It is run as a script, not imported: each server waits for it, so it needs nothing but a few modules of Python itself.
"""

import os
import select
import signal
import sys
import time

# What helm says on its end of the leash before it closes it, so that the server may leave by itself.
POLITE = b"c"

_ORDERS, _REPORTS = 0, 1
_STDIO = (3, 4, 5)
# What helm gives it to hold open, and to keep from the server.
_HELD = 6
# Where the system does not list what is open.
_MOST_DESCRIPTORS = 4096
# The SDK's own patience: after the end of its input, and after SIGTERM.
_LEAVING_SECONDS = 2.0
_DYING_SECONDS = 1.0
_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1


def guard() -> None:
    """Starts the program that helm names, tells what becomes of it, and ends it; returns when its group is gone.

    On `_ORDERS` comes `<length>\\n` and as many bytes: the folder, the number of words, the words, and the variables of
    its environment, all separated by NUL. Reports are lines: `started PID`, `failed folder|command ERRNO`, and
    `ended STATUS`.
    """
    os.setsid()
    _keep(_HELD)
    _let_go_of_others()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
    words = _read()
    if words is None:
        return
    folder, count, rest = words[0], int(words[1]), words[2:]
    variables = dict(pair.split(b"=", 1) for pair in rest[count:])
    leader = os.fork()
    if leader == 0:
        _become(folder, rest[:count], variables)
    for descriptor in _STDIO:
        os.close(descriptor)
    _report(b"started %d" % leader)
    polite = _watch(leader, woken)
    _end(leader, polite)


def _keep(descriptor: int) -> None:
    """Keeps a descriptor from programs that are started, where there is one."""
    try:
        os.set_inheritable(descriptor, False)
    except OSError:
        return


def _let_go_of_others() -> None:
    """Closes what whoever started helm left open: a lock or a pipe of theirs is not to live as long as a server."""
    try:
        others = [int(name) for name in os.listdir("/dev/fd") if name.isdecimal()]
    except OSError:
        others = list(range(_MOST_DESCRIPTORS))
    for descriptor in others:
        if descriptor > _HELD:
            try:
                os.close(descriptor)
            except OSError:
                continue


def _read() -> list[bytes] | None:
    """The words of the program to start, None where helm ended before it said them all."""
    text = b""
    while b"\n" not in text or len(text) < int(text.partition(b"\n")[0]) + text.index(b"\n") + 1:
        part = os.read(_ORDERS, 65536)
        if not part:
            return None
        text += part
    return text.partition(b"\n")[2].split(b"\0")


def _become(folder: bytes, command: list[bytes], variables: dict[bytes, bytes]) -> None:
    """Turns this copy into the program: the leader of a session and group of its own, away from the terminal."""
    guardian = os.getppid()
    reports = os.dup(_REPORTS)
    step = b"folder"
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        # Python ignores these two, and what is ignored stays so in a program that is started.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        _die_with(guardian)
        for descriptor, given in enumerate(_STDIO):
            os.dup2(given, descriptor)
        for given in _STDIO:
            os.close(given)
        os.chdir(folder)
        step = b"command"
        os.execvpe(command[0], command, variables)
    except OSError as error:
        os.write(reports, b"failed %s %d\n" % (step, error.errno or 0))
    finally:
        os._exit(127)


def _die_with(guardian: int) -> None:
    """Where the kernel can, the server is killed with its guardian, should somebody kill that."""
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        except (ImportError, AttributeError, OSError):
            return
        if os.getppid() != guardian:
            os._exit(127)


def _watch(leader: int, woken: int) -> bool:
    """Returns when the server ended or helm let go; whether it may leave by itself."""
    waiting = select.poll()
    waiting.register(_ORDERS, select.POLLIN)
    waiting.register(woken, select.POLLIN)
    polite = False
    while not _ended(leader):
        for descriptor, _ in waiting.poll():
            said = os.read(descriptor, 512)
            if descriptor == _ORDERS:
                polite = polite or POLITE in said
                if not said:
                    return polite
            elif any(number != signal.SIGCHLD for number in said):
                return False
    return False


def _end(leader: int, polite: bool) -> None:
    """Ends what is left of the group. The leader stays unreaped until then, so that no other has its number."""
    if polite:
        _wait(leader, _LEAVING_SECONDS)
    _kill(leader, signal.SIGTERM)
    _wait(leader, _DYING_SECONDS)
    _kill(leader, signal.SIGKILL)
    try:
        _report(b"ended %d" % os.waitpid(leader, 0)[1])
    except ChildProcessError:
        return


def _wait(leader: int, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while not _ended(leader) and time.monotonic() < ends:
        time.sleep(_POLL_SECONDS)


def _ended(leader: int) -> bool:
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    try:
        return os.waitpid(leader, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _kill(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        return


def _report(line: bytes) -> None:
    try:
        os.write(_REPORTS, line + b"\n")
    except OSError:
        return


if __name__ == "__main__":
    guard()
