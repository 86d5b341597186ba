"""Where a secret of the user is kept: in the keychain or in the file, as recorded, and never in one for the other."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Place
from helm_cli.store import credentials_file, keychain
from helm_cli.store.patience import Patience

VARIABLE: Final = "HELM_CLI_CREDENTIALS"
# A field of a profile, or the value of a plugin's setting, with the plugin's id and its workspace in the middle.
ACCOUNT: Final = re.compile(
    r"[a-z]+/[a-z0-9][a-z0-9._-]{0,63}/[a-z]+(-[a-z]+)*|plugin/[a-z0-9][a-z0-9.-]{0,127}/[a-z][a-z0-9_]{0,63}"
)

# Seconds that a keychain has to answer: to a program, and to a person whom it may ask to unlock it (design, section 3).
PROGRAM: Final = 5.0
PERSON: Final = 60.0

Notice = Callable[[str], None]


def silent(_: str) -> None:
    """A notice for callers that have nobody to tell."""


def choose(home: Path, notice: Notice, *, terminal: bool = False) -> Place:
    """The store for a secret about to be entered, by HELM_CLI_CREDENTIALS (auto, keychain or file; unset is auto).

    `auto` takes the keychain if it could be written now (with a `terminal` it may ask the person to unlock it), else
    the file, after a notice that says so and why. Raises HelmError("usage") for any other value.
    """
    match os.environ.get(VARIABLE) or "auto":
        case "keychain":
            return "keychain"
        case "file":
            return "file"
        case "auto":
            reason = keychain.trouble(_patience(notice, terminal))
            if reason is None:
                return "keychain"
            notice(f"{reason}, so the secret goes to {home / credentials_file.NAME} (mode 0600)")
            return "file"
    raise HelmError("usage", f"{VARIABLE} is none of auto, keychain and file; set it to one of them or unset it")


def put(
    home: Path, account: str, secret: str, place: Place, *, terminal: bool = False, notice: Notice = silent
) -> None:
    """Keeps a secret (any text, also an empty one) under its account, `<group>/<name>/<field>`, in place of the former.

    A copy in the other store is left for the caller to delete, once the profile no longer names that store.
    Raises HelmError: "usage" (a lone surrogate, which no store keeps), "unavailable" (keychain), "state" (file).
    """
    _check(account)
    if _has_surrogate(secret):
        raise HelmError("usage", "the secret is not valid Unicode text, so no store can keep it; enter it again")
    if place == "keychain":
        keychain.put(account, secret, _patience(notice, terminal))
    else:
        credentials_file.put(home, account, secret, notice)


def find(home: Path, account: str, place: Place, *, terminal: bool = False, notice: Notice = silent) -> str | None:
    """The secret of an account, None where this store has none.

    Answers within 5 s, with a `terminal` within 60 s after a notice. Raises HelmError: "unavailable" (the keychain is
    locked, absent or silent), "state" (the file is broken).
    """
    _check(account)
    if place == "keychain":
        return keychain.get(account, _patience(notice, terminal))
    return credentials_file.get(home, account, notice)


def delete(home: Path, account: str, place: Place, *, terminal: bool = False, notice: Notice = silent) -> bool:
    """Whether there was a secret to delete. Raises HelmError: "unavailable" (keychain), "state" (file)."""
    _check(account)
    if place == "keychain":
        return keychain.delete(account, _patience(notice, terminal))
    return credentials_file.delete(home, account, notice)


def _patience(notice: Notice, terminal: bool) -> Patience:
    return Patience(PERSON if terminal else PROGRAM, terminal, notice)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _check(account: str) -> None:
    if not ACCOUNT.fullmatch(account):
        raise HelmError("internal", "an account of the credential store is not written <group>/<profile>/<field>")
