"""Which keychain of the system may hold a secret of helm, and how to ask it without ever hanging.

Only the classes named here are loaded, by name: PYTHON_KEYRING_BACKEND, keyringrc.cfg and installed plugins choose
nothing, so no secret ends in a null or plain-text backend.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from helm_cli.model.errors import HelmError
from helm_cli.store.patience import Absent, HangUp, Patience, Trouble, within

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

SERVICE: Final = "helm"

# Platform -> backends of the keyring library, most fitting first; on Linux after the Secret Service.
BACKENDS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "linux": (("keyring.backends.kwallet", "DBusKeyring"), ("keyring.backends.libsecret", "Keyring")),
    "darwin": (("keyring.backends.macOS", "Keyring"),),
    "win32": (("keyring.backends.Windows", "WinVaultKeyring"),),
}
# The most bytes of UTF-16 that a platform keeps (CRED_MAX_CREDENTIAL_BLOB_SIZE).
MOST_BYTES: Final = {"win32": 2560}


class Keeper(NamedTuple):
    """One keychain of the system. Each function raises Trouble, Absent where there is no such keychain here."""

    check: Callable[[], None]
    put: Callable[[str, str], None]
    get: Callable[[str], str | None]
    delete: Callable[[str], bool]


def trouble(patience: Patience) -> str | None:
    """Why no secret could be put into the keychain now, as a clause; None when it could."""
    found = looked(patience)
    return found.reason if found is not None else None


def looked(patience: Patience) -> Trouble | None:
    """The same with what to do about it; Absent where there is no keychain here at all."""
    outcome = within(patience, lambda hang_up: _first(lambda keeper: keeper.check(), hang_up, patience))
    return outcome if isinstance(outcome, Trouble) else None


def put(account: str, secret: str, patience: Patience) -> None:
    """Replaces the secret of an account and reads it back. Raises HelmError("unavailable"), as `get` and `delete`."""
    _ask(partial(_put, account=account, secret=secret), patience)


def get(account: str, patience: Patience) -> str | None:
    """The secret of an account, None if the keychain answers that it has none."""
    return _ask(lambda keeper: keeper.get(account), patience)


def delete(account: str, patience: Patience) -> bool:
    """Whether there was a secret to delete."""
    return _ask(lambda keeper: keeper.delete(account), patience)


def _put(keeper: Keeper, account: str, secret: str) -> None:
    keeper.put(account, secret)
    if keeper.get(account) != secret:
        raise Trouble("the keychain did not keep the secret as it was given")


def _ask(act: Callable[[Keeper], T], patience: Patience) -> T:
    outcome = within(patience, lambda hang_up: _first(act, hang_up, patience))
    if isinstance(outcome, Trouble):
        # A new exception, because the context of the old one leads to the frames that hold the secret.
        raise HelmError("unavailable", f"{outcome.reason}; {outcome.step}")
    return outcome


def _first(act: Callable[[Keeper], T], hang_up: HangUp, patience: Patience) -> T:
    """What the first keychain that is there answers; the reason of the most fitting one if none is."""
    missing: list[Absent] = []
    for keeper in _keepers(hang_up, patience):
        try:
            return act(keeper)
        except Absent as absent:
            missing.append(absent)
    raise missing[0] if missing else Absent("helm knows no keychain of this system")


def _keepers(hang_up: HangUp, patience: Patience) -> Iterator[Keeper]:
    if sys.platform == "linux":
        from helm_cli.store import secret_service

        session = secret_service.Session(SERVICE, patience.person, hang_up)
        yield Keeper(
            check=partial(secret_service.check, session),
            put=partial(secret_service.put, session),
            get=partial(secret_service.get, session),
            delete=partial(secret_service.delete, session),
        )
    for module, name in BACKENDS.get(sys.platform, ()):
        backend: type[KeyringBackend] = getattr(import_module(module), name)
        if backend.viable:
            yield library(backend())


def library(backend: "KeyringBackend") -> Keeper:
    """A backend of the keyring library as a keeper, without the properties that the environment gave it."""
    for variable in os.environ:
        prefix, found, name = variable.partition("KEYRING_PROPERTY_")
        if found and not prefix:
            vars(backend).pop(name.lower(), None)
    return Keeper(
        check=lambda: None,
        put=partial(_library_put, backend),
        get=partial(_library_get, backend),
        delete=partial(_library_delete, backend),
    )


def _library_put(backend: "KeyringBackend", account: str, secret: str) -> None:
    most = MOST_BYTES.get(sys.platform)
    if most is not None and len(secret.encode("utf-16-le")) > most:
        raise Trouble(f"the secret is longer than the {most} bytes that the keychain of this system keeps")
    backend.set_password(SERVICE, account, secret)


def _library_get(backend: "KeyringBackend", account: str) -> str | None:
    return backend.get_password(SERVICE, account)


def _library_delete(backend: "KeyringBackend", account: str) -> bool:
    if backend.get_password(SERVICE, account) is None:
        return False
    backend.delete_password(SERVICE, account)
    return True
