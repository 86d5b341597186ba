"""The keychains of systems other than this one: which are allowed, and how helm asks them."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import ClassVar, Final

import pytest
from keyring.backend import KeyringBackend

from helm_cli.store import keychain
from helm_cli.store.patience import Patience
from tests.rig.failing import failing

ACCOUNT: Final = "db/local-app/password"
SECRET: Final = "correct-horse-battery"
STEP: Final = "make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file"


def unexpected(line: str) -> None:
    raise AssertionError(f"an unexpected notice: {line}")


PATIENCE: Final = Patience(5.0, person=False, notice=unexpected)


class Remembering(KeyringBackend):
    """A backend as those of macOS, Windows and KDE are: whole, but in this process."""

    priority = 1.0
    held: ClassVar[dict[tuple[str, str], str]] = {}
    keeps: ClassVar[Callable[[str], str]] = str

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = type(self).keeps(password)

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


class NotHere:
    """A backend of another system."""

    viable = False


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[str, str], str]]:
    """What the second of two further keychains holds, on a system whose Secret Service is absent."""
    monkeypatch.setitem(keychain.BACKENDS, sys.platform, ((__name__, "NotHere"), (__name__, "Remembering")))
    yield Remembering.held
    Remembering.held.clear()


def test_the_first_keychain_that_is_there_is_asked(chain: dict[tuple[str, str], str]) -> None:
    assert keychain.trouble(PATIENCE) is None
    keychain.put(ACCOUNT, SECRET, PATIENCE)
    assert chain == {("helm", ACCOUNT): SECRET}
    assert (keychain.get(ACCOUNT, PATIENCE), keychain.get("db/b/password", PATIENCE)) == (SECRET, None)
    assert (keychain.delete(ACCOUNT, PATIENCE), keychain.delete(ACCOUNT, PATIENCE)) == (True, False)
    assert chain == {}


def test_a_secret_that_comes_back_changed_was_not_kept(
    chain: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Remembering, "keeps", str.strip)
    with failing("unavailable", f"the keychain did not keep the secret as it was given; {STEP}", SECRET):
        keychain.put(ACCOUNT, SECRET + "\n", PATIENCE)


def test_a_secret_longer_than_the_system_keeps_is_told(
    chain: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(keychain.MOST_BYTES, sys.platform, keychain.MOST_BYTES["win32"])
    keychain.put(ACCOUNT, "x" * 1280, PATIENCE)
    told = f"the secret is longer than the 2560 bytes that the keychain of this system keeps; {STEP}"
    with failing("unavailable", told, "x" * 50):
        keychain.put(ACCOUNT, "x" * 1281, PATIENCE)
    assert chain == {("helm", ACCOUNT): "x" * 1280}


def test_a_system_without_any_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "plan9")
    with failing("unavailable", f"helm knows no keychain of this system; {STEP}"):
        keychain.get(ACCOUNT, PATIENCE)


def test_the_environment_changes_no_backend(chain: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYRING_PROPERTY_HELD", "of the environment")
    keychain.put(ACCOUNT, SECRET, PATIENCE)
    assert chain == {("helm", ACCOUNT): SECRET}


@pytest.mark.parametrize(("module", "name"), [named for names in keychain.BACKENDS.values() for named in names])
def test_the_library_has_every_backend_that_is_allowed(module: str, name: str) -> None:
    backend = getattr(import_module(module), name)
    assert issubclass(backend, KeyringBackend)
    assert {"get_password", "set_password", "delete_password"} <= vars(backend).keys()
