"""The file that holds secrets where there is no keychain: its form, its mode, and what makes it untrustworthy.

It is one JSON object, account -> secret, in `credentials.json` of the home folder.
"""

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from helm_cli.model import jsontext
from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes

NAME: Final = "credentials.json"
LOCK: Final = "credentials.lock"
LOCK_SECONDS: Final = 10.0
LOOSE: Final = 0o077

Notice = Callable[[str], None]


def put(home: Path, account: str, secret: str, notice: Notice) -> None:
    """Replaces the secret of an account. Raises HelmError("state"), as `get` and `delete`; then nothing has changed."""
    homes.prepare(home)
    with homes.locked(home / LOCK, LOCK_SECONDS):
        _write(home, {**_read(home, notice), account: secret})


def get(home: Path, account: str, notice: Notice) -> str | None:
    """The secret of an account, None if the file has none or is missing."""
    return _read(home, notice).get(account)


def delete(home: Path, account: str, notice: Notice) -> bool:
    """Whether there was a secret to delete."""
    # Without this look a home would come into being where there is nothing to delete.
    if account not in _read(home, notice):
        return False
    with homes.locked(home / LOCK, LOCK_SECONDS):
        secrets = _read(home, notice)
        _write(home, {other: secret for other, secret in secrets.items() if other != account})
    return account in secrets


def _write(home: Path, secrets: dict[str, str]) -> None:
    homes.write_private(home / NAME, json.dumps(secrets, indent=1, sort_keys=True).encode("ascii") + b"\n")


def _read(home: Path, notice: Notice) -> dict[str, str]:
    path = home / NAME
    with homes.told(path):
        try:
            # Not through a link, and not held up by a FIFO.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return {}
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise _untrusted(path, "is a symbolic link") from None
        try:
            inspect(path, descriptor, notice)
            with open(descriptor, "rb", closefd=False) as file:
                text = file.read()
        finally:
            os.close(descriptor)
    return _parsed(path, text)


def inspect(path: Path, descriptor: int, notice: Notice) -> None:
    """Refuses a file that helm cannot have made, and closes to others one that is open to them."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _untrusted(path, "is not a regular file")
    if status.st_uid != os.geteuid():
        raise _untrusted(path, "belongs to another user")
    mode = stat.S_IMODE(status.st_mode)
    if mode & LOOSE:
        os.fchmod(descriptor, 0o600)
        notice(f"{path} was open to other users (mode {mode:04o}) and is closed to them now (mode 0600)")


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
