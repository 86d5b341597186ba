"""A secret is kept where its profile says and for its target; a store that is in trouble is told and loses nothing."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import secrets
from helm_cli.broker.stores import Stores
from helm_cli.model.profile import Brain, Root, Service, Target
from helm_cli.store import targets
from tests.rig.failing import failing

CAL: Final = Service("cal", "https://api.example.com", credential="file")
SECRET: Final = "canary-d0c7"
BROKEN: Final = (
    "HOME/credentials.json is damaged (it is not the JSON object that helm writes), so no secret is read from it or"
    " written to it; move it away and enter the secrets again"
)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def stores(home: Path, told: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home, notice=told.append)) as opened:
        yield opened


@pytest.mark.parametrize(
    "target", [CAL._replace(credential=None), Root("workspace", "/w"), Brain("/w", "read-only", "/h")]
)
def test_what_has_no_secret_needs_no_store(stores: Stores, target: Target) -> None:
    assert secrets.read(stores, target) is None
    assert not stores.home.exists()


@pytest.mark.contract("C18")
def test_a_secret_was_entered_for_the_target_that_it_has(stores: Stores) -> None:
    assert not secrets.entered(stores, CAL)
    secrets.write(stores, CAL, SECRET)
    assert secrets.entered(stores, CAL) and secrets.read(stores, CAL) == SECRET
    assert not secrets.entered(stores, CAL._replace(base_url="https://other.example.com"))
    assert not secrets.entered(stores, CAL._replace(credential=None))


def test_a_profile_that_names_no_store_keeps_no_secret(stores: Stores) -> None:
    with failing("internal", "cal records no credential store", SECRET):
        secrets.write(stores, CAL._replace(credential=None), SECRET)
    assert not stores.home.exists()


@pytest.mark.parametrize("former", [None, "another secret"])
def test_where_the_store_takes_nothing_what_was_there_still_counts(stores: Stores, former: str | None) -> None:
    moved = CAL._replace(base_url="https://other.example.com")
    if former is not None:
        secrets.write(stores, CAL, former)
    stores.home.mkdir(mode=0o700, exist_ok=True)
    (stores.home / "credentials.lock").unlink(missing_ok=True)
    (stores.home / "credentials.lock").mkdir()
    told = f"{stores.home}/credentials.lock cannot be used: a folder stands where a file should be; move it away"
    with failing("state", told, SECRET):
        secrets.write(stores, moved, SECRET)
    assert not secrets.entered(stores, moved)
    assert targets.target(stores.db, CAL.account) == (former and CAL.secret_target_digest())


def test_a_file_that_cannot_be_written_still_has_what_is_to_go(stores: Stores, told: list[str]) -> None:
    secrets.write(stores, CAL, SECRET)
    (stores.home / "credentials.json").write_text("{")
    broken = BROKEN.replace("HOME", str(stores.home))
    with failing("state", broken, SECRET):
        secrets.remove(stores, CAL)
    assert (secrets.entered(stores, CAL), told) == (True, [])
    # Of one that is in the other store by now, that is no reason to stop.
    secrets.drop(stores, CAL.account, "file", moved=True)
    assert told == [f"the secret service/cal/token is still in the file: {broken}"]
    (stores.home / "credentials.json").write_text(json.dumps({CAL.account: "x:y z", "db/a/password": "x:y z"}))
    secrets.remove(stores, CAL)
    assert json.loads((stores.home / "credentials.json").read_text()) == {"db/a/password": "x:y z"}
    assert not secrets.entered(stores, CAL)


def test_a_keychain_that_is_not_there_holds_no_removal_up(stores: Stores, told: list[str]) -> None:
    secrets.remove(stores, CAL._replace(credential="keychain"))
    assert told == [
        "the secret service/cal/token is still in the keychain: no keychain can be reached: there is no session bus;"
        " make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file"
    ]
