"""What a store of secrets promises, proved of the keychain and of the file alike; and which of the two is chosen."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Place
from helm_cli.store import credentials
from tests.rig.failing import failing
from tests.rig.keyring_session import KeyringSession

ACCOUNT: Final = "db/local-app/password"
OTHER: Final = "db/local-app.2/password"
SECRET: Final = "correct-horse-battery"

NO_TEXT: Final = "before\udc80after"

SECRETS: Final = {
    "plain": SECRET,
    "empty": "",
    "newlines": "a\nb\r\n\n",
    "nul": "a\0b\0",
    "spaces": "  \t ",
    "non-ascii": "pässwörd \u2028 \U0001f511 e\u0301",
    "json": '"}\\u0000{"',
    "control": "\x1b[31m\x7f\u202e",
    "1 MiB": "0123456789abcdef" * 65536,
}

PUT: Final = """
import sys
from pathlib import Path
from helm_cli.store import credentials
home, place, number = sys.argv[1:]
credentials.put(Path(home), f"db/app-{number}/password", f"secret {number}", place)
"""


def unexpected(line: str) -> None:
    raise AssertionError(f"an unexpected notice: {line}")


def get(home: Path, account: str, place: Place) -> str | None:
    return credentials.find(home, account, place, terminal=False, notice=unexpected)


@pytest.fixture(params=["keychain", "file"])
def place(request: pytest.FixtureRequest, keyring: KeyringSession) -> Place:
    """Each store in turn, with an unlocked keychain beside both."""
    chosen: Place = request.param
    return chosen


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_comes_back_as_it_was(home: Path, place: Place, secret: str) -> None:
    credentials.put(home, ACCOUNT, secret, place)
    assert get(home, ACCOUNT, place) == secret


def test_a_secret_is_replaced_and_deleted_alone(home: Path, place: Place) -> None:
    credentials.put(home, ACCOUNT, "first", place)
    credentials.put(home, OTHER, "another", place)
    credentials.put(home, ACCOUNT, "second", place)
    assert (get(home, ACCOUNT, place), get(home, OTHER, place)) == ("second", "another")

    assert credentials.delete(home, ACCOUNT, place) is True
    assert credentials.delete(home, ACCOUNT, place) is False
    assert get(home, OTHER, place) == "another"
    assert get(home, ACCOUNT, place) is None


def test_a_secret_never_stored_is_none(home: Path, place: Place) -> None:
    assert get(home, "service/cal/refresh-token", place) is None
    assert credentials.delete(home, ACCOUNT, place) is False
    assert not home.exists()


def test_one_store_never_answers_for_the_other(home: Path, place: Place) -> None:
    elsewhere: Place = "file" if place == "keychain" else "keychain"
    credentials.put(home, ACCOUNT, SECRET, elsewhere)
    assert get(home, ACCOUNT, place) is None
    assert credentials.delete(home, ACCOUNT, place) is False
    assert get(home, ACCOUNT, elsewhere) == SECRET


def test_what_is_no_text_is_refused(home: Path, place: Place, keyring: KeyringSession) -> None:
    told = "the secret is not valid Unicode text, so no store can keep it; enter it again"
    with failing("usage", told, "before", "after"):
        credentials.put(home, ACCOUNT, NO_TEXT, place)
    assert keyring.secrets() == {}
    assert not home.exists()


@pytest.mark.parametrize("account", ["", "db/x", "db/../password", "db/x/y/z", "db/X/password", "db/a\0b/password"])
def test_an_account_is_written_in_three_parts(home: Path, place: Place, account: str) -> None:
    told = "an account of the credential store is not written <group>/<profile>/<field>"
    with failing("internal", told, SECRET):
        credentials.put(home, account, SECRET, place)
    with failing("internal", told, SECRET):
        get(home, account, place)


def test_twenty_processes_at_once_lose_no_secret(home: Path, place: Place) -> None:
    command = [sys.executable, "-c", PUT, str(home), place]
    processes = [subprocess.Popen([*command, str(number)]) for number in range(20)]
    assert [process.wait(60) for process in processes] == [0] * 20
    assert [get(home, f"db/app-{number}/password", place) for number in range(20)] == [
        f"secret {number}" for number in range(20)
    ]


@pytest.mark.contract("C10")
@pytest.mark.parametrize("value", [None, "", "auto", "keychain"])
def test_secrets_go_to_the_keychain(
    home: Path, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("HELM_CLI_CREDENTIALS", value)
    chosen = credentials.choose(home, unexpected)
    credentials.put(home, ACCOUNT, SECRET, chosen)
    assert chosen == "keychain"
    assert keyring.secrets() == {ACCOUNT: SECRET}
    assert not home.exists()


@pytest.mark.contract("C11")
def test_without_a_keychain_secrets_go_to_the_file_after_a_word(home: Path) -> None:
    told: list[str] = []
    chosen = credentials.choose(home, told.append)
    assert chosen == "file"
    reason = "no keychain can be reached: there is no session bus"
    assert told == [f"{reason}, so the secret goes to {home}/credentials.json (mode 0600)"]
    assert not home.exists()

    credentials.put(home, ACCOUNT, SECRET, chosen)
    path = home / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == f'{{\n "{ACCOUNT}": "{SECRET}"\n}}\n'


def test_the_file_can_be_chosen_beside_a_keychain(
    home: Path, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    chosen = credentials.choose(home, unexpected)
    credentials.put(home, ACCOUNT, SECRET, chosen)
    assert (chosen, keyring.secrets()) == ("file", {})


def test_a_keychain_asked_for_by_name_is_never_replaced_by_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "keychain")
    assert credentials.choose(home, unexpected) == "keychain"
    told = (
        "no keychain can be reached: there is no session bus; make it available and try again, "
        "or enter the secret again with HELM_CLI_CREDENTIALS=file"
    )
    with failing("unavailable", told, SECRET):
        credentials.put(home, ACCOUNT, SECRET, "keychain")
    assert not home.exists()


@pytest.mark.parametrize("value", ["Keychain", "none", " auto", "keyring"])
def test_any_other_choice_is_a_usage_error(home: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", value)
    told = "HELM_CLI_CREDENTIALS is none of auto, keychain and file; set it to one of them or unset it"
    with failing("usage", told):
        credentials.choose(home, unexpected)


DIVERSIONS: Final[dict[str, dict[str, str]]] = {
    "null backend": {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
    "failing backend": {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
    "plain-text backend": {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"},
    "unknown module": {"PYTHON_KEYRING_BACKEND": "no.such.Keyring"},
    "no backend": {"PYTHON_KEYRING_BACKEND": ""},
    "passing collection": {
        "KEYRING_PROPERTY_PREFERRED_COLLECTION": "/org/freedesktop/secrets/collection/session",
        "KEYRING_PROPERTY_SCHEME": "KeePassXC",
    },
}


@pytest.mark.contract("C10")
@pytest.mark.parametrize("variables", DIVERSIONS.values(), ids=DIVERSIONS)
def test_no_setting_of_the_keyring_library_diverts_a_secret(
    home: Path, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    configure("keyring.backends.null.Keyring")
    chosen = credentials.choose(home, unexpected)
    credentials.put(home, ACCOUNT, SECRET, chosen)
    assert (chosen, get(home, ACCOUNT, chosen)) == ("keychain", SECRET)
    assert keyring.secrets() == {ACCOUNT: SECRET}
    assert keyring.secrets_of("/org/freedesktop/secrets/aliases/default") == {ACCOUNT: SECRET}


@pytest.mark.parametrize("variables", DIVERSIONS.values(), ids=DIVERSIONS)
def test_no_setting_of_the_keyring_library_stands_in_for_a_keychain(
    home: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    configure("keyring.backends.null.Keyring")
    assert credentials.choose(home, lambda _: None) == "file"
    with pytest.raises(HelmError) as caught:
        credentials.put(home, ACCOUNT, SECRET, "keychain")
    assert caught.value.code == "unavailable"


def configure(backend: str) -> None:
    """A keyringrc.cfg of the user that names a backend, where the library looks for it."""
    folder = Path(os.environ["HOME"]) / ".config" / "python_keyring"
    folder.mkdir(parents=True)
    (folder / "keyringrc.cfg").write_text(f"[backend]\ndefault-keyring={backend}\n")
