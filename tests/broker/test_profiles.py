"""Profiles together with their secrets and sign-ins: none is left behind, and none is lost without need."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import profiles, secrets, signin
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import profiles as files
from helm_cli.store import signins
from tests.rig.failing import failing
from tests.rig.meanwhile import just_before

BASE = "https://cal.example.com"
SECRET = "canary-77e1"
CAL = Service("cal", BASE, client_id="my-client")
TOKEN = Service("cal", BASE)
GRANT = Grant("an access token", "a refresh token", ("calendar.read",), None, None)
CONNECTED = Connected("https://auth.example.com/authorize", "https://auth.example.com/token", ("calendar.read",))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def stores(home: Path, told: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    opened = Stores(home, notice=told.append)
    yield opened
    opened.close()


def kept(stores: Stores) -> dict[str, str]:
    file = stores.home / "credentials.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    return {account: value.partition(" ")[2] for account, value in found.items()}


def signed_in(stores: Stores, *, secret: str | None = "client") -> Service:
    recorded = profiles.add(stores, CAL, secret, force=False)
    signin.keep(stores, recorded, GRANT, CONNECTED)
    return recorded


WHOLE = {
    "service/cal/client-secret": "client",
    "service/cal/access-token": "an access token",
    "service/cal/refresh-token": "a refresh token",
}


def test_a_removed_service_leaves_no_sign_in(stores: Stores, told: list[str]) -> None:
    signed_in(stores)
    assert kept(stores) == WHOLE
    profiles.remove(stores, "service", "cal")
    assert (kept(stores), signins.find(stores.db, "cal"), files.names(stores.home, "service")) == ({}, None, [])
    assert told == []
    with pytest.raises(HelmError) as caught:
        profiles.remove(stores, "service", "cal")
    assert caught.value.code == "not_configured"


@pytest.mark.parametrize("text", ["client_id = 1\n", f'base_url = "{BASE}"\n'])
def test_nor_does_one_whose_file_is_broken_or_was_changed_by_hand(stores: Stores, text: str) -> None:
    signed_in(stores, secret=None)
    (stores.home / "profiles" / "service" / "cal.toml").write_text(text)
    profiles.remove(stores, "service", "cal")
    assert (kept(stores), signins.find(stores.db, "cal")) == ({}, None)


def test_an_add_that_is_repeated_signs_nobody_out(stores: Stores) -> None:
    signed_in(stores)
    for _ in range(2):
        profiles.add(stores, CAL._replace(redirect_port=9000), "client", force=True)
        assert kept(stores) == WHOLE
    assert signin.token(stores, files.load(stores.home, "service", "cal")) == "an access token"


@pytest.mark.parametrize("other", [TOKEN, CAL._replace(client_id="other"), CAL._replace(base_url=f"{BASE}/v2")])
def test_an_add_of_another_target_takes_the_sign_in_and_the_secret_away(stores: Stores, other: Service) -> None:
    signed_in(stores)
    recorded = profiles.add(stores, other, "new", force=True)
    assert (kept(stores), signins.find(stores.db, "cal")) == ({recorded.account: "new"}, None)
    assert secrets.read(stores, recorded) == "new"


def test_an_edit_keeps_the_sign_in_for_the_target_that_it_was_made_for(stores: Stores, told: list[str]) -> None:
    old = signed_in(stores)
    moved = profiles.change(stores, old, old._replace(base_url="https://evil.test"), None)
    assert told == [
        "the target of cal changed; before you use it, enter its secret again with: helm service edit cal"
        " --ask-client-secret (or --client-secret-stdin)"
    ]
    with pytest.raises(HelmError) as caught:
        signin.token(stores, moved)
    assert caught.value.code == "not_configured"
    assert signin.token(stores, profiles.change(stores, moved, old, None)) == "an access token"


def test_a_secret_goes_when_it_is_entered_as_none(stores: Stores) -> None:
    old = profiles.add(stores, TOKEN, "t", force=False)
    assert kept(stores) == {"service/cal/token": "t"}
    new = profiles.change(stores, old, old, "")
    assert (kept(stores), new.credential) == ({}, None)
    assert files.load(stores.home, "service", "cal") == TOKEN
    assert secrets.read(stores, new) is None


def test_what_cannot_be_kept_is_not_added(stores: Stores) -> None:
    stores.home.mkdir(mode=0o700)
    (stores.home / "credentials.json").write_text("not what helm writes")
    os.chmod(stores.home / "credentials.json", 0o600)
    with pytest.raises(HelmError) as caught:
        profiles.add(stores, TOKEN, "canary", force=False)
    assert (caught.value.code, "canary" in caught.value.message) == ("state", False)
    assert files.names(stores.home, "service") == []


def test_of_two_that_add_one_name_at_once_one_wins(stores: Stores) -> None:
    other = TOKEN._replace(base_url=f"{BASE}/other")
    told = "the service profile cal exists; change it with edit or replace it with --force"
    with failing("conflict", told, SECRET), just_before(os.link, lambda: files.create(stores.home, other)):
        profiles.add(stores, TOKEN, SECRET, force=False)
    assert (files.load(stores.home, "service", "cal"), kept(stores)) == (other, {})
    with failing("conflict", told):
        profiles.add_lacking(stores, TOKEN, force=False)
    assert files.load(stores.home, "service", "cal") == other


def test_what_is_to_be_replaced_need_not_be_there(stores: Stores, told: list[str]) -> None:
    assert profiles.add(stores, TOKEN, "t", force=True) == TOKEN._replace(credential="file")
    lacking = profiles.add_lacking(stores, TOKEN._replace(name="other"), force=True)
    assert (lacking.credential, kept(stores), told) == ("file", {"service/cal/token": "t"}, [])


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_link_that_leads_nowhere_is_no_trap(stores: Stores, told: list[str], how: str) -> None:
    path = stores.home / "profiles" / "service" / "cal.toml"
    path.parent.mkdir(parents=True)
    path.symlink_to("nowhere")
    if how == "removed":
        profiles.remove(stores, "service", "cal")
        assert not path.is_symlink()
    else:
        profiles.add(stores, TOKEN, None, force=True)
        assert (files.load(stores.home, "service", "cal"), path.is_symlink()) == (TOKEN, False)
    said = "the file of cal could not be understood; if it had a secret in a keychain, that is still there"
    assert told == [said]


def test_what_can_be_added_is_known_before_a_secret_is_asked_for(stores: Stores) -> None:
    profiles.check(stores, TOKEN, force=False)
    assert not (stores.home / "profiles").exists()
    profiles.add(stores, TOKEN, None, force=False)
    profiles.check(stores, TOKEN, force=True)
    for profile, force, code in (
        (TOKEN, False, "conflict"),
        (TOKEN._replace(name="../x"), True, "usage"),
        (TOKEN._replace(header="Host"), True, "usage"),
    ):
        with pytest.raises(HelmError) as caught:
            profiles.check(stores, profile, force=force)
        assert caught.value.code == code
