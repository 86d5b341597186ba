"""The keychain as it is met: open, locked, gone, frozen, asking a person; and that nothing of it hangs a call."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
import secretstorage

from helm_cli.store import credentials, keychain, secret_service
from helm_cli.store.patience import HangUp, Patience, Trouble, within
from tests.rig.failing import failing
from tests.rig.keyring_session import PASSWORD, KeyringSession, bare_session
from tests.rig.prompter import Manner, prompter

ACCOUNT: Final = "db/local-app/password"
SECRET: Final = "correct-horse-battery"
NEW: Final = "another-horse"
LOCKED: Final = "the keychain is locked; unlock it and try again"
STEP: Final = "make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file"


def unexpected(line: str) -> None:
    raise AssertionError(f"an unexpected notice: {line}")


def acts(home: Path) -> list[Callable[[], object]]:
    """Everything that a program without a terminal may do with a secret kept in the keychain."""
    return [
        lambda: credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected),
        lambda: credentials.put(home, ACCOUNT, NEW, "keychain"),
        lambda: credentials.delete(home, ACCOUNT, "keychain"),
    ]


@pytest.fixture(autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """No thread outlives the conversation it was started for."""
    yield
    for thread in threading.enumerate():
        if thread.name == "keychain":
            thread.join(5)
            assert not thread.is_alive()


def test_a_locked_keychain_says_so_at_once_and_asks_nobody(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    # The file may hold what once was the secret. It is not looked at.
    credentials.put(home, ACCOUNT, "stale", "file")
    keyring.lock()
    began = time.monotonic()
    with prompter(keyring.address, "open") as person:
        for act in acts(home):
            with failing("unavailable", LOCKED, SECRET, NEW):
                act()
        assert not person.asked.is_set()
    assert time.monotonic() - began < 5


def test_with_a_locked_keychain_a_new_secret_goes_to_the_file(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    keyring.lock()
    told: list[str] = []
    assert credentials.choose(home, told.append) == "file"
    assert told == [f"the keychain is locked, so the secret goes to {home}/credentials.json (mode 0600)"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (None, "there is no session bus"),
        ("unix:path=/nonexistent/bus", "the session bus is gone"),
        ("tcp:host=127.0.0.1,port=1", "the address of the session bus is none that helm can use"),
        ("", "the address of the session bus is none that helm can use"),
        ("nonsense", "the address of the session bus is none that helm can use"),
    ],
)
@pytest.mark.contract("C11")
def test_a_bus_that_is_not_there(home: Path, monkeypatch: pytest.MonkeyPatch, address: str | None, reason: str) -> None:
    if address is not None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    for act in acts(home):
        with failing("unavailable", f"no keychain can be reached: {reason}; {STEP}", NEW):
            act()
    told: list[str] = []
    assert credentials.choose(home, told.append) == "file"
    assert told == [f"no keychain can be reached: {reason}, so the secret goes to {home}/credentials.json (mode 0600)"]


def test_a_bus_that_never_says_a_word(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "bus"))
        mute.listen()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/bus")
        began = time.monotonic()
        with failing("unavailable", f"no keychain can be reached: the session bus does not answer; {STEP}"):
            credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("starts", "reason"),
    [
        (None, "the session has no Secret Service"),
        ("/bin/false", "the Secret Service of the session does not start"),
        ("/nonexistent/keyring", "the Secret Service of the session does not start"),
    ],
)
def test_a_session_without_a_secret_service(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: str | None, reason: str
) -> None:
    with bare_session(tmp_path, starts) as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with failing("unavailable", f"no keychain can be reached: {reason}; {STEP}"):
            credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected)


def test_a_keyring_that_was_never_made(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus starts a keyring nobody has signed in to; only a person may be asked for the password of a new one."""
    with bare_session(tmp_path, "/usr/bin/gnome-keyring-daemon --start --foreground --components=secrets") as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with prompter(address, "answered", PASSWORD) as person:
            for act in acts(home):
                with failing("unavailable", f"the keychain has no default keyring yet; {STEP}", NEW):
                    act()
            assert not person.asked.is_set()

            assert credentials.choose(home, unexpected, terminal=True) == "keychain"
            assert person.asked.is_set()
        credentials.put(home, ACCOUNT, SECRET, "keychain")
        assert KeyringSession(address, 0).secrets() == {ACCOUNT: SECRET}


def test_a_keychain_that_is_locked_in_between(keyring: KeyringSession) -> None:
    session = secret_service.Session("helm", unlock=False, hang_up=lambda _: None)
    with pytest.raises(Trouble) as caught, secret_service.opened(session) as collection:
        keyring.lock()
        collection.create_item("label", {"service": "helm", "username": ACCOUNT}, SECRET.encode())
    assert f"{caught.value.reason}; {caught.value.step}" == LOCKED


def test_a_frozen_keychain_ends_within_five_seconds(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    os.kill(keyring.daemon, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with failing("unavailable", f"the keychain did not answer within 5 seconds; {STEP}"):
            credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected)
        assert 4.9 < time.monotonic() - began < 7
    finally:
        os.kill(keyring.daemon, signal.SIGCONT)
    assert credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected) == SECRET


def test_a_conversation_that_is_over_does_not_keep_a_later_one_from_being_ended(keyring: KeyringSession) -> None:
    def work(hang_up: HangUp) -> None:
        session = secret_service.Session(keychain.SERVICE, False, hang_up)
        secret_service.check(session)
        os.kill(keyring.daemon, signal.SIGSTOP)
        secret_service.check(session)

    try:
        outcome = within(Patience(1.0, person=False, notice=unexpected), work)
    finally:
        os.kill(keyring.daemon, signal.SIGCONT)
    assert isinstance(outcome, Trouble)
    assert outcome.reason == "the keychain did not answer within 1 seconds"


def test_a_person_has_sixty_seconds() -> None:
    assert (credentials.PROGRAM, credentials.PERSON) == (5.0, 60.0)


@pytest.mark.parametrize("manner", ["mute", "open"])
def test_a_dialog_that_nobody_answers_ends_within_the_limit(keyring: KeyringSession, manner: Manner) -> None:
    patience = Patience(5.0, person=False, notice=unexpected)
    keychain.put(ACCOUNT, SECRET, patience)
    keyring.lock()
    told: list[str] = []
    with prompter(keyring.address, manner) as person:
        began = time.monotonic()
        with failing("unavailable", f"the keychain did not answer within 1.5 seconds; {STEP}", SECRET):
            keychain.get(ACCOUNT, Patience(1.5, person=True, notice=told.append))
        assert 1.4 < time.monotonic() - began < 4
        assert person.asked.is_set()
    assert told == ["waiting for the keychain, at most 1.5 seconds"]


def test_a_dialog_that_the_person_closes_leaves_it_locked(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    keyring.lock()
    told: list[str] = []
    with prompter(keyring.address, "closed") as person:
        with failing("unavailable", LOCKED, SECRET):
            credentials.find(home, ACCOUNT, "keychain", terminal=True, notice=unexpected)
        assert person.asked.is_set()
        assert credentials.choose(home, told.append, terminal=True) == "file"
    assert told == [f"the keychain is locked, so the secret goes to {home}/credentials.json (mode 0600)"]


def test_a_dialog_that_the_person_answers_gives_the_secret(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    keyring.lock()
    with prompter(keyring.address, "answered", PASSWORD) as person:
        assert credentials.find(home, ACCOUNT, "keychain", terminal=True, notice=unexpected) == SECRET
        assert person.asked.is_set()


def test_the_process_ends_although_the_keychain_does_not_answer(home: Path, keyring: KeyringSession) -> None:
    script = (
        "from helm_cli.store import keychain\n"
        "from helm_cli.store.patience import Patience\n"
        "print(keychain.trouble(Patience(0.5, person=False, notice=print)))"
    )
    os.kill(keyring.daemon, signal.SIGSTOP)
    try:
        began = time.monotonic()
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
        assert time.monotonic() - began < 5
    finally:
        os.kill(keyring.daemon, signal.SIGCONT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        0,
        "the keychain did not answer within 0.5 seconds\n",
        "",
    )


def test_the_keyring_program_and_helm_find_each_others_items(home: Path, keyring: KeyringSession) -> None:
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    program = [sys.executable, "-m", "keyring"]
    got = subprocess.run([*program, "get", "helm", ACCOUNT], capture_output=True, text=True, timeout=20, check=True)
    assert got.stdout == f"{SECRET}\n"
    subprocess.run([*program, "set", "helm", ACCOUNT], input=NEW, text=True, timeout=20, check=True)
    assert credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected) == NEW
    assert keyring.secrets() == {ACCOUNT: NEW}


def test_what_another_program_put_under_an_account_is_replaced(home: Path, keyring: KeyringSession) -> None:
    with closing(secretstorage.dbus_init()) as connection:
        attributes = {"service": "helm", "username": ACCOUNT, "xdg:schema": "org.example.Other"}
        secretstorage.Collection(connection).create_item("other", attributes, b"stale")
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    assert keyring.secrets() == {ACCOUNT: SECRET}
    assert credentials.delete(home, ACCOUNT, "keychain") is True
    assert keyring.secrets() == {}


def test_an_item_that_is_no_text_is_unavailable(home: Path, keyring: KeyringSession) -> None:
    with closing(secretstorage.dbus_init()) as connection:
        attributes = {"service": "helm", "username": ACCOUNT}
        secretstorage.Collection(connection).create_item("other", attributes, b"correct-horse\xff")
    with failing("unavailable", f"the keychain failed (UnicodeDecodeError); {STEP}", "correct-horse"):
        credentials.find(home, ACCOUNT, "keychain", terminal=False, notice=unexpected)


def test_a_call_loads_only_the_store_that_it_needs(home: Path, keyring: KeyringSession) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from helm_cli.store import credentials\n"
        "for place in ('file', 'keychain'):\n"
        f"    credentials.find(Path({str(home)!r}), {ACCOUNT!r}, place, terminal=False, notice=print)\n"
        "    print(place, sorted({'keyring', 'secretstorage', 'jeepney', 'asyncio'} & sys.modules.keys()))\n"
    )
    credentials.put(home, ACCOUNT, SECRET, "keychain")
    credentials.put(home, ACCOUNT, SECRET, "file")
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert (ended.stdout, ended.stderr) == ("file []\nkeychain ['jeepney', 'secretstorage']\n", "")
