"""What can be wrong with the credential stores, and with what is kept in them; no secret is shown, none unlocked."""

import os
from collections.abc import Iterator
from contextlib import suppress
from shlex import quote
from typing import Final, NamedTuple

from helm_cli.broker.health import Subject, failed
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check
from helm_cli.model.profile import Place, Profile
from helm_cli.store import credentials, credentials_file, keychain, profiles, signins
from helm_cli.store.groups import GROUPS
from helm_cli.store.patience import Absent, Patience, Trouble

AREA: Final = "secrets"
_CHOICES: Final = ("auto", "keychain", "file")


class Vault(NamedTuple):
    """Both stores as they are now. `asked` says whether the keychain was asked, `silent` why it serves no secret.

    `file` is what credentials.json holds, None where there is none; `damaged` why it cannot be told. `needed` are the
    accounts whose secrets are recorded to be in the keychain.
    """

    asked: bool
    silent: Trouble | None
    file: credentials_file.Looked | None
    damaged: HelmError | None
    needed: tuple[str, ...]

    @property
    def loose(self) -> bool:
        """Whether other users can read the file: whoever read from it would close it, and so change it."""
        return self.file is not None and bool(self.file.mode & credentials_file.LOOSE)


def vault(subject: Subject) -> Vault:
    """The stores of this home. The keychain is asked where a secret is, or would go, there; it has 5 s to answer."""
    needed = tuple(_needed(subject))
    silent, asked = None, _choice() != "file" or bool(needed)
    if asked:
        silent = keychain.looked(Patience(credentials.PROGRAM, False, credentials.silent))
    try:
        return Vault(asked, silent, credentials_file.looked(subject.stores.home), None, needed)
    except HelmError as error:
        return Vault(asked, silent, None, error, needed)


def checks(subject: Subject, found: Vault) -> Iterator[Check]:
    """All about the stores, and what nobody needs in them."""
    yield _chosen(found)
    if found.asked:
        yield from _keychain(found)
    path = subject.stores.home / credentials_file.NAME
    if found.damaged is not None:
        yield failed(AREA, credentials_file.NAME, found.damaged)
    elif found.loose and found.file is not None:
        told = f"{path} is open to other users (mode {found.file.mode:04o})"
        yield Check(AREA, credentials_file.NAME, "warning", told, f"chmod 600 {quote(str(path))}")
    elif found.file is not None:
        number = len(found.file.accounts)
        told = f"{number} {'secret' if number == 1 else 'secrets'}, closed to other users"
        yield Check(AREA, credentials_file.NAME, "ok", told)
    for account in _ownerless(subject, found):
        told = f"{account} is the secret of a profile that does not exist"
        yield Check(AREA, credentials_file.NAME, "warning", told, f"take the line of {account} out of {path}")


def _choice() -> str:
    return os.environ.get(credentials.VARIABLE) or "auto"


def _chosen(found: Vault) -> Check:
    name, choice = "store", _choice()
    if choice not in _CHOICES:
        told = f"{credentials.VARIABLE} is none of auto, keychain and file, so no secret can be entered"
        return Check(AREA, name, "warning", told, f"unset {credentials.VARIABLE}")
    if choice == "file":
        return Check(AREA, name, "ok", f"new secrets go to credentials.json ({credentials.VARIABLE} is file)")
    if choice == "auto" and found.silent is not None:
        return Check(AREA, name, "ok", f"new secrets go to credentials.json, for {found.silent.reason}")
    return Check(AREA, name, "ok", "new secrets go to the keychain")


def _keychain(found: Vault) -> Iterator[Check]:
    if found.silent is None:
        yield Check(AREA, "keychain", "ok", "it answers")
    elif found.needed or _choice() == "keychain" or not isinstance(found.silent, Absent):
        number = len(found.needed)
        needs = f"; {number} {'secret is' if number == 1 else 'secrets are'} in it" if number else ""
        yield Check(AREA, "keychain", "unreachable", f"{found.silent.reason}{needs}", found.silent.step)


def _needed(subject: Subject) -> Iterator[str]:
    for profile in _sound(subject):
        if profile.credential == "keychain":
            yield profile.account
    if subject.trouble is None:
        for service, place in _signed_in(subject):
            if place == "keychain":
                yield f"service/{service}/access-token"


def _signed_in(subject: Subject) -> list[tuple[str, Place]]:
    # That one of them is damaged stands in the line of its profile.
    with suppress(HelmError):
        return [(found.service, found.place) for found in signins.listed(subject.stores.db)]
    return []


def _sound(subject: Subject) -> Iterator[Profile]:
    for group, name in _named(subject):
        # That one of them is broken stands in its own line.
        with suppress(HelmError):
            yield profiles.load(subject.stores.home, group, name)


def _named(subject: Subject) -> Iterator[tuple[str, str]]:
    for group in GROUPS:
        # Likewise.
        with suppress(HelmError):
            yield from ((group, name) for name in profiles.names(subject.stores.home, group))


def _ownerless(subject: Subject, found: Vault) -> Iterator[str]:
    """The accounts in the file of profiles that do not exist."""
    with suppress(HelmError):
        owners = {(group, name) for group in GROUPS for name in profiles.names(subject.stores.home, group)}
        for account in found.file.accounts if found.file is not None else ():
            group, name, *_ = account.split("/")
            if group in GROUPS and (group, name) not in owners:
                yield account
