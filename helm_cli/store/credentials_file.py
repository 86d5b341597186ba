"""The file that holds secrets where there is no keychain: its form, its mode, and what makes it untrustworthy.

It is one JSON object, account -> secret, in `credentials.json` of the home folder.
"""

import errno
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes

NAME: Final = "credentials.json"
LOCK: Final = "credentials.lock"
LOCK_SECONDS: Final = 10.0
LOOSE: Final = 0o077

Notice = Callable[[str], None]


class _Read(NamedTuple):
    """What was found in the file, by account, and what that looked like from outside."""

    stamp: tuple[object, ...] | None
    found: dict[str, str | None]


# What was asked of the file as it stands: the calls of a batch mostly find it as it was.
_last: Final[list[_Read]] = []
# A file changed this shortly before it was looked at can change again within one tick of the file system's clock.
_SETTLED_NS: Final = 2_000_000_000


class Looked(NamedTuple):
    """Whose secrets are in the file, sorted, and the mode of the file."""

    accounts: tuple[str, ...]
    mode: int


def put(home: Path, account: str, secret: str, notice: Notice) -> None:
    """Replaces the secret of an account. Raises HelmError("state"), as `get` and `delete`; then nothing has changed."""
    homes.prepare(home)
    with homes.locked(home / LOCK, LOCK_SECONDS):
        _write(home, {**_read(home, notice), account: secret})


def get(home: Path, account: str, notice: Notice) -> str | None:
    """The secret of an account, None if the file has none or is missing."""
    stamp = _stamp(home / NAME)
    last = next((last for last in _last if last.stamp == stamp), _Read(stamp, {}))
    if account not in last.found:
        found = {**last.found, account: _read(home, notice).get(account)}
        # Only if it is the same after it was read: it was looked at by its name.
        _last[:] = [_Read(stamp, found)] if stamp is not None and stamp == _stamp(home / NAME) else []
        return found[account]
    return last.found[account]


def delete(home: Path, account: str, notice: Notice) -> bool:
    """Whether there was a secret to delete."""
    # Without this look a home would come into being where there is nothing to delete.
    if account not in _read(home, notice):
        return False
    with homes.locked(home / LOCK, LOCK_SECONDS):
        secrets = _read(home, notice)
        _write(home, {other: secret for other, secret in secrets.items() if other != account})
    return account in secrets


def looked(home: Path) -> Looked | None:
    """The file as it stands, of which nothing is changed; None where there is none. Raises HelmError("state")."""
    modes: list[int] = []
    secrets = _opened(home / NAME, lambda path, descriptor: modes.append(_mode(path, descriptor)))
    return None if secrets is None else Looked(tuple(sorted(secrets)), modes[0])


def _write(home: Path, secrets: dict[str, str]) -> None:
    homes.write_private(home / NAME, json.dumps(secrets, indent=1, sort_keys=True).encode("ascii") + b"\n")


def _read(home: Path, notice: Notice) -> dict[str, str]:
    return _opened(home / NAME, lambda path, descriptor: inspect(path, descriptor, notice)) or {}


def _stamp(path: Path) -> tuple[object, ...] | None:
    """What is another once the file is; None where that cannot be said, and where somebody has to be told of it."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if stat.S_IMODE(found.st_mode) & LOOSE or time.time_ns() - found.st_ctime_ns < _SETTLED_NS:
        return None
    kind = (found.st_mode, found.st_uid, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return (str(path), found.st_dev, found.st_ino, *kind)


def _opened(path: Path, look: Callable[[Path, int], object]) -> dict[str, str] | None:
    """The secrets in a file that `look` takes for trustworthy; None where there is no file."""
    with homes.told(path):
        try:
            # Not through a link, and not held up by a FIFO.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise _untrusted(path, "is a symbolic link") from None
        try:
            look(path, descriptor)
            with open(descriptor, "rb", closefd=False) as file:
                text = file.read()
        finally:
            os.close(descriptor)
    return _parsed(path, text)


def inspect(path: Path, descriptor: int, notice: Notice) -> None:
    """Refuses a file that helm cannot have made, and closes to others one that is open to them."""
    mode = _mode(path, descriptor)
    if mode & LOOSE:
        os.fchmod(descriptor, 0o600)
        notice(f"{path} was open to other users (mode {mode:04o}) and is closed to them now (mode 0600)")


def _mode(path: Path, descriptor: int) -> int:
    """The mode of a file that helm can have made."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _untrusted(path, "is not a regular file")
    if status.st_uid != os.geteuid():
        raise _untrusted(path, "belongs to another user")
    return stat.S_IMODE(status.st_mode)


def _parsed(path: Path, text: bytes) -> dict[str, str]:
    try:
        value = jsontext.parse(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        secrets = {account: secret for account, secret in value.items() if isinstance(secret, str)}
        if len(secrets) == len(value):
            return secrets
    # Not in the parser's words, which may quote the file and so a secret.
    raise _untrusted(path, "is damaged (it is not the JSON object that helm writes)")


def _untrusted(path: Path, why: str) -> HelmError:
    step = "move it away and enter the secrets again"
    return HelmError("state", f"{path} {why}, so no secret is read from it or written to it; {step}")
