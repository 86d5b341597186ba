"""Two homes of one user, which share a keychain and its names: neither uses or takes away what the other keeps."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from helm_cli.broker import profiles, secrets, signin
from helm_cli.broker.stores import Stores
from helm_cli.model.profile import Database, Server, Service
from helm_cli.store import home as homes
from helm_cli.store import signins, targets
from tests.broker.killed_signin import CONNECTED, NEW, NOW, OLD
from tests.rig.failing import failing
from tests.rig.keyring_session import KeyringSession

TOKEN: Final = Service("x", "https://api.example.com")
# Of every group; which record each is, its group says.
PROFILES: Final[dict[str, tuple[Any, str]]] = {
    "token": (TOKEN, "helm service edit x --ask-token (or --token-stdin)"),
    "client secret": (
        Service("x", "https://api.example.com", client_id="id"),
        "helm service edit x --ask-client-secret (or --client-secret-stdin)",
    ),
    "db": (
        Database("x", "postgres", host="h", port=1, database="d", user="u"),
        "helm db edit x --ask-password (or --password-stdin)",
    ),
    "mcp": (Server("x", ("srv",), token_env="T"), "helm mcp edit x --ask-token (or --token-stdin)"),
}
CAL: Final = Service("cal", "https://api.example.com", client_id="id")
FOREIGN: Final = "what the keychain has as the secret of x was entered in another home of helm's"
GONE: Final = "the tokens of cal are gone from the keychain; connect it again with: helm oauth connect cal"


class Home(NamedTuple):
    """The stores of one of the homes, and what was told there."""

    stores: Stores
    told: list[str]


@contextmanager
def opened(home: Path) -> Iterator[Home]:
    told: list[str] = []
    with closing(Stores(home, notice=told.append, clock=lambda: NOW)) as stores:
        yield Home(stores, told)


@pytest.fixture
def one(tmp_path: Path, keyring: KeyringSession) -> Iterator[Home]:
    with opened(tmp_path / "one") as home:
        yield home


@pytest.fixture
def two(tmp_path: Path, keyring: KeyringSession) -> Iterator[Home]:
    with opened(tmp_path / "two") as home:
        yield home


def had(account: str) -> str:
    return f"the keychain had {account} of another home of helm's; it is replaced, and must be entered again there"


def stays(account: str) -> str:
    return f"{account} in the keychain is of another home of helm's, so it stays there"


@pytest.mark.contract("C18", "C61")
@pytest.mark.parametrize("name", PROFILES)
def test_a_secret_is_for_the_home_that_it_was_entered_in(
    one: Home, two: Home, keyring: KeyringSession, name: str
) -> None:
    profile, command = PROFILES[name]
    mine = profiles.add(one.stores, profile, "secret-of-one", force=False)
    other = profiles.add(two.stores, profile, "secret-of-two", force=False)
    assert (one.told, two.told) == ([], [had(profile.account)])
    assert secrets.read(two.stores, other) == "secret-of-two"
    with failing(
        "not_configured", f"{FOREIGN}; enter its secret again with: {command}", "secret-of-one", "secret-of-two"
    ):
        secrets.read(one.stores, mine)
    # To take it away there takes nothing away here.
    profiles.remove(one.stores, profile.group, "x")
    assert one.told == [stays(profile.account)]
    assert secrets.read(two.stores, other) == "secret-of-two"
    profiles.remove(two.stores, profile.group, "x")
    assert (two.told, keyring.secrets()) == ([had(profile.account)], {})


def test_a_home_that_says_it_has_a_secret_does_not_get_that_of_another(one: Home, two: Home) -> None:
    """Its own files say that it was entered for this very target, in this very store."""
    profiles.add(one.stores, TOKEN, "secret-of-one", force=False)
    liar = profiles.add(two.stores, TOKEN, None, force=False)._replace(credential="keychain")
    targets.remember(two.stores.db, liar.account, liar.secret_target_digest())
    with failing("not_configured", f"{FOREIGN}; enter its secret again with: {PROFILES['token'][1]}", "secret-of-one"):
        secrets.read(two.stores, liar)


@pytest.mark.contract("C60", "C63")
def test_a_sign_in_is_for_the_home_that_it_was_made_in(one: Home, two: Home, keyring: KeyringSession) -> None:
    services = [profiles.add(home.stores, CAL, None, force=False) for home in (one, two)]
    signin.keep(one.stores, services[0], OLD, CONNECTED)
    signin.keep(two.stores, services[1], NEW, CONNECTED)
    assert two.told == [had("service/cal/refresh-token"), had("service/cal/access-token")]
    assert signin.token(two.stores, services[1]) == NEW.access_token
    for _ in range(2):
        with failing("not_authorized", GONE, OLD.access_token, NEW.access_token):
            signin.token(one.stores, services[0])
    assert signin.drop(one.stores, services[0])
    assert one.told == [stays("service/cal/refresh-token"), stays("service/cal/access-token")]
    assert signin.token(two.stores, services[1]) == NEW.access_token
    assert signin.drop(two.stores, services[1])
    assert keyring.secrets() == {}


@pytest.mark.contract("C60")
def test_tokens_are_those_of_the_sign_in_that_is_recorded(one: Home) -> None:
    """A record that is put back, as from a copy of the state, does not get the tokens of a later sign-in."""
    service = profiles.add(one.stores, CAL, None, force=False)
    signin.keep(one.stores, service, OLD, CONNECTED)
    before = signins.find(one.stores.db, "cal")
    assert before is not None
    signin.keep(one.stores, service, NEW, CONNECTED)
    after = signins.find(one.stores.db, "cal")
    assert after is not None and after.ids != before.ids
    signins.save(one.stores.db, before)
    with failing("not_authorized", GONE, NEW.access_token):
        signin.token(one.stores, service)
    signins.save(one.stores.db, after)
    assert signin.token(one.stores, service) == NEW.access_token


def test_what_is_lost_is_told_with_the_way_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with opened(tmp_path / "home") as home:
        profile = profiles.add(home.stores, TOKEN, "t", force=False)
        homes.write_private(tmp_path / "home" / "credentials.json", b"{}")
        told = (
            "the secret of x is gone from credentials.json; enter its secret again with: helm service edit x"
            " --ask-token (or --token-stdin)"
        )
        with failing("not_configured", told):
            secrets.read(home.stores, profile)


def test_a_sign_in_that_cannot_be_read_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with opened(tmp_path / "home") as home:
        service = profiles.add(home.stores, CAL, None, force=False)
        signin.keep(home.stores, service, OLD, CONNECTED)
        home.stores.db.execute("UPDATE signins SET place = 'nowhere'")
        told = "state.db holds a sign-in to cal that cannot be read; take it away with: helm oauth disconnect cal"
        for act in (signin.token, signin.current):
            with failing("state", told, OLD.access_token):
                act(home.stores, service)
        signin.drop(home.stores, service)
        assert home.told == [
            "the sign-in to cal could not be read; its tokens, if any, are left and serve no call",
        ]
        assert signins.find(home.stores.db, "cal") is None
        signin.keep(home.stores, service, NEW, CONNECTED)
        assert signin.token(home.stores, service) == NEW.access_token
