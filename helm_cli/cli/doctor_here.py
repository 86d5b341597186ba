"""What can be wrong around this process: which program is run, what its terminal can do, and the agent beside it."""

import locale
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Final, Literal

from helm_cli import __version__
from helm_cli.agent import control, place
from helm_cli.broker.health import failed
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check
from helm_cli.view.streams import NARROWEST, Streams, why_absent

TIOCSTI: Final = Path("/proc/sys/dev/tty/legacy_tiocsti")
_TESTED: Final = ("linux", "darwin")
# What pip writes as the program, and enough of it.
_OURS: Final = b"helm_cli"
_BEGINNING: Final = 1024

Kind = Literal["this", "another", "foreign"]


def installation() -> Iterator[Check]:
    """The version, what runs it, and whether `helm` in PATH is it."""
    python = ".".join(map(str, sys.version_info[:3]))
    system = os.uname()
    told = f"helm {__version__}, Python {python} on {system.sysname} {system.machine}"
    if sys.platform in _TESTED:
        yield Check("helm", "version", "ok", told)
    else:
        yield Check("helm", "version", "warning", f"{told}, where helm was never tried", "use Linux or macOS")
    yield _program()


def terminal(streams: Streams) -> Iterator[Check]:
    """Whether a person can be asked here, and how what is shown looks."""
    absent = why_absent(streams)
    if absent is None:
        yield Check("terminal", "person", "ok", "a person can be asked here")
        yield from keys(TIOCSTI)
    elif _has_terminal():
        told = f"nobody can be asked here, for {absent}; writes and approvals wait for helm confirm"
        yield Check("terminal", "person", "warning", told, _mended(absent))
    else:
        told = f"nobody can be asked here, for {absent}; writes and approvals wait for helm confirm in a terminal"
        yield Check("terminal", "person", "ok", told)
    if streams.out_terminal:
        yield _display(streams)
    coding = locale.getencoding().lower().replace("-", "")
    if coding == "utf8":
        yield Check("terminal", "text", "ok", "the locale is UTF-8")
    else:
        told = f"the locale is {locale.getencoding()}, and helm writes UTF-8"
        yield Check("terminal", "text", "warning", told, "export LC_ALL=C.UTF-8")


def keys(setting: Path) -> Iterator[Check]:
    """Whether another program of this terminal can type into it; `setting` is where Linux says so."""
    try:
        on = setting.read_text(encoding="ascii").strip() == "1"
    except (OSError, ValueError):
        return  # Another system, or a kernel that does not say.
    if on:
        told = "another program of this terminal can press keys in it, and so answer for you (TIOCSTI)"
        yield Check("terminal", "keys", "warning", told, "sudo sysctl dev.tty.legacy_tiocsti=0")


def agent(home: Path) -> Iterator[Check]:
    """Whether the background agent of this home runs, and is of use here."""
    there = place.of(home)
    try:
        found = control.status(home)
    except HelmError as error:
        yield failed("agent", "agent", error, "unreachable")
        return
    if found is None:
        yield _without(there)
        return
    told = f"process {found['pid']} runs, idle for {round(found['idle_seconds'])} s"
    if found["helm"] != __version__:
        yield Check("agent", "agent", "warning", f"{told}, of another version of helm", "helm agent start")
    elif found["differing"]:
        names = ", ".join(found["differing"])
        again = "helm agent stop && helm agent start"
        yield Check("agent", "agent", "warning", f"{told}, but was started with another {names}", again)
    else:
        yield Check("agent", "agent", "ok", told)


def _program() -> Check:
    own = os.path.dirname(sys.executable)
    found = shutil.which("helm")
    if found is None:
        told = "there is no helm in PATH, so scripts and MCP clients do not find it by that name"
        return Check("helm", "program", "warning", told, f'export PATH={quote(own)}:"$PATH"')
    kind = _kind(found)
    if kind == "this":
        return Check("helm", "program", "ok", f"helm in PATH is this one, {found}")
    if kind == "another":
        told = f"helm in PATH is another installation of this program, {found}"
        return Check("helm", "program", "warning", told, f"{quote(found)} --version")
    other = shutil.which("helm-cli")
    known = "helm-cli" if other is not None and _kind(other) == "this" else quote(os.path.join(own, "helm-cli"))
    told = f"helm in PATH is another program, {found} (the Kubernetes tool has this name); call this one helm-cli"
    return Check("helm", "program", "warning", told, f"{known} doctor")


def _kind(found: str) -> Kind:
    """Whose program that is: of this very installation, of another of the same program, or something else."""
    if os.path.dirname(os.path.realpath(found)) == os.path.realpath(os.path.dirname(sys.executable)):
        return "this"
    try:
        # Whatever stands there, looking at it ends.
        descriptor = os.open(found, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            beginning = os.read(descriptor, _BEGINNING)
        finally:
            os.close(descriptor)
    except OSError:
        return "foreign"
    if _OURS not in beginning:
        return "foreign"
    return "this" if beginning.startswith(b"#!" + os.fsencode(sys.executable) + b"\n") else "another"


def _display(streams: Streams) -> Check:
    colored = "with colours" if streams.color else "without colours"
    wide = os.get_terminal_size(streams.out.fileno()).columns or streams.width
    if wide < NARROWEST:
        told = f"it is {wide} columns wide, and what helm shows is made for {NARROWEST} and more"
        return Check("terminal", "display", "warning", told, "make the window wider")
    return Check("terminal", "display", "ok", f"{streams.width} columns, {colored}")


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _mended(absent: str) -> str:
    if absent.startswith("HELM_CLI_NO_INPUT"):
        return "unset HELM_CLI_NO_INPUT"
    return "export TERM=xterm-256color" if absent.startswith("TERM") else "helm confirm --list"


def _without(there: place.Place) -> Check:
    if not os.path.lexists(there.socket):
        return Check("agent", "agent", "ok", "none runs; calls work the same without it")
    if place.trusted(there):
        told = "none runs; the socket of one that was killed is left, which the next one takes away"
        return Check("agent", "agent", "warning", told, "helm agent start")
    told = f"what stands at {there.socket} is not yours alone, so no agent is used"
    return Check(
        "agent", "agent", "warning", told, f"ls -ld {quote(str(there.socket.parent))} {quote(str(there.socket))}"
    )
