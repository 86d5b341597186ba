"""Where the background agent of a home is reached, and that nobody else stands there."""

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes

# What macOS, the narrower of the systems, has room for in the address of a socket (sun_path), without its end.
MOST_BYTES: Final = 103


class Place(NamedTuple):
    """The files of one home's agent.

    `folder` is the home's own `run/`. `socket` stands in it, or in a folder of the run-time directory where its path
    would be too long for a socket. `lock` is held by the agent as long as it lives, `next` by the one that waits to
    follow it.
    """

    folder: Path
    socket: Path
    lock: Path
    next: Path
    log: Path


def of(home: Path) -> Place:
    """The place of this home's agent. Nothing is made or looked at there."""
    folder = home / "run"
    socket = folder / "agent.sock"
    if not _fits(socket):
        socket = _short(home) / "agent.sock"
    return Place(folder, socket, folder / "agent.lock", folder / "agent.next", folder / "agent.log")


def prepare(place: Place) -> None:
    """See to it that the folders are there, the user's own, and closed to everybody else, and that the socket can be.

    A socket that stands there is of an agent that ended, if the caller holds the lock; it is taken away. Raises
    HelmError "state" where the place cannot be had: a link, a folder of somebody else's, a file in the socket's place.
    """
    homes.prepare(place.folder.parent)
    for folder in dict.fromkeys((place.folder, place.socket.parent)):
        with homes.told(folder):
            _make(folder)


def clear(place: Place) -> None:
    """Take the socket of an agent that ended away, for whoever holds the lock. Raises HelmError "state"."""
    with homes.told(place.socket):
        try:
            found = os.lstat(place.socket)
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(found.st_mode):
            raise HelmError("state", f"{place.socket} is not a socket of helm's; move it away")
        os.unlink(place.socket)


def trusted(place: Place) -> bool:
    """Whether a socket stands there that only this user can have put there, and reach."""
    try:
        found = os.lstat(place.socket)
        return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid() and _own(place.socket.parent)
    except OSError:
        return False


def stamp(place: Place) -> tuple[int, int] | None:
    """Which socket stands there, None for none: whether it is still one's own."""
    try:
        found = os.lstat(place.socket)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _short(home: Path) -> Path:
    """A folder for this home in the first of the places for such that leaves room for it."""
    from hashlib import sha256

    name = f"helm-{os.geteuid()}-{sha256(os.fsencode(home)).hexdigest()[:16]}"
    given = [os.environ.get(variable, "") for variable in ("XDG_RUNTIME_DIR", "TMPDIR")]
    folders = [Path(folder, name) for folder in (*given, "/tmp") if os.path.isabs(folder) and os.path.isdir(folder)]
    return next((folder for folder in folders if _fits(folder / "agent.sock")), Path("/tmp", name))


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) <= MOST_BYTES


def _make(folder: Path) -> None:
    try:
        os.mkdir(folder, homes.FOLDER)
        # A umask of the user's own may have taken bits away.
        os.chmod(folder, homes.FOLDER)
    except FileExistsError:
        pass
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise HelmError("state", f"{folder} is not a folder, or a link to one; move it away")
    if found.st_uid != os.geteuid():
        raise HelmError("state", f"{folder} belongs to another user; move it away")
    if found.st_mode & 0o077:
        os.chmod(folder, homes.FOLDER)


def _own(folder: Path) -> bool:
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
