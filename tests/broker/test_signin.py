"""A sign-in as it is kept and used where nothing has to be renewed: where its secrets are, and whom they are for."""

import fcntl
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import profiles, signin, tokens
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.profile import Service
from helm_cli.store import home as homes
from helm_cli.store import profiles as files
from helm_cli.store import signins
from tests.broker import killed_signin
from tests.broker.killed_signin import CONNECTED, NEW, NOW, OLD, SERVICE
from tests.rig import signing
from tests.rig.failing import failing
from tests.rig.keyring_session import KeyringSession
from tests.rig.meanwhile import just_before

AGAIN: Final = "connect it again with: helm oauth connect cal"
NOT_CONNECTED: Final = "cal is not connected; connect it with: helm oauth connect cal"
CHANGED: Final = f"the target of cal changed since its sign-in; {AGAIN}"
SECRETS: Final = ("a client secret", "old-access-token", "old-refresh-token")
EXPIRED: Final = f"the sign-in to cal expired; {AGAIN}"


class Clock:
    """The seconds since the epoch, as the test has them."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stores(home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    """A fresh home whose secrets are in the file."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home, clock=clock)) as opened:
        yield opened


@pytest.fixture
def service(stores: Stores) -> Service:
    return profiles.add(stores, SERVICE, "a client secret", force=False)


def _keep(stores: Stores, service: Service, grant: Grant = OLD, connected: Connected = CONNECTED) -> None:
    signin.keep(stores, service, grant, connected)


@pytest.mark.contract("C60")
def test_tokens_and_client_secret_are_items_of_their_own_in_the_store_alone(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    found = json.loads((stores.home / "credentials.json").read_text())
    assert {account: value.partition(" ")[2] for account, value in found.items()} == {
        "service/cal/client-secret": "a client secret",
        "service/cal/access-token": OLD.access_token,
        "service/cal/refresh-token": OLD.refresh_token,
    }
    for path in stores.home.rglob("*"):
        if path.is_file() and path.name != "credentials.json":
            data = path.read_bytes()
            assert not any(secret.encode() in data for secret in SECRETS), path
    row = signins.find(stores.db, "cal")
    assert row is not None and len(row.ids) == 1
    assert row._replace(ids=()) == signins.Signin(
        "cal", "id", *CONNECTED[:2], ("a", "b"), ("a", "b", "c"), "iss", "file", NOW, NOW + 3600, 3600.0, True
    )
    assert signin.token(stores, service) == OLD.access_token


@pytest.mark.contract("C10", "C60")
def test_a_keychain_has_the_tokens_where_there_is_one(home: Path, clock: Clock, keyring: KeyringSession) -> None:
    with closing(Stores(home, clock=clock)) as stores:
        service = profiles.add(stores, SERVICE, "a client secret", force=False)
        _keep(stores, service)
        assert {account: value.partition(" ")[2] for account, value in keyring.secrets().items()} == {
            "service/cal/client-secret": "a client secret",
            "service/cal/access-token": OLD.access_token,
            "service/cal/refresh-token": OLD.refresh_token,
        }
        assert not (home / "credentials.json").exists()
        assert signin.token(stores, service) == OLD.access_token
        assert signin.drop(stores, service)
        assert [*keyring.secrets()] == ["service/cal/client-secret"]


@pytest.mark.contract("C59")
@pytest.mark.parametrize("before", [None, OLD], ids=["first", "again"])
def test_a_grant_of_more_than_was_declared_is_not_kept(stores: Stores, service: Service, before: Grant | None) -> None:
    if before is not None:
        _keep(stores, service, before)
    held = (stores.home / "credentials.json").read_bytes()
    row = signins.find(stores.db, "cal")
    told = (
        "the service granted scopes that no enabled extension declares (admin, openid), so the sign-in to cal was not"
        " kept; take them from the OAuth client, or declare them"
    )
    with failing("refused", told, NEW.access_token, str(NEW.refresh_token)):
        _keep(stores, service, NEW._replace(scopes=("a", "admin", "b", "openid")))
    assert (stores.home / "credentials.json").read_bytes() == held
    assert signins.find(stores.db, "cal") == row


@pytest.mark.contract("C59", "C60")
def test_what_was_granted_too_much_is_told_briefly_and_without_a_token(stores: Stores, service: Service) -> None:
    strange = (f"{NEW.access_token}/x", f"{NEW.refresh_token}", "s" * 60_000, *(f"t{number}" for number in range(5)))
    told = (
        f"the service granted scopes that no enabled extension declares (***/x, ***, {'s' * 40}…, t0, t1 and 3 more),"
        " so the sign-in to cal was not kept; take them from the OAuth client, or declare them"
    )
    with failing("refused", told, NEW.access_token, str(NEW.refresh_token)):
        _keep(stores, service, NEW._replace(scopes=strange))


def test_fewer_scopes_are_kept_as_they_were_granted(stores: Stores, service: Service) -> None:
    _keep(stores, service, OLD._replace(scopes=()))
    assert signin.current(stores, service).scopes == ()


def test_a_new_sign_in_takes_the_place_of_the_former(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    _keep(stores, service, NEW._replace(refresh_token=None))
    assert signin.token(stores, service) == NEW.access_token
    # A refresh token of somebody who signed in before would bring that one back.
    assert signing.kept(stores.home, "refresh-token") == ""
    found = signins.find(stores.db, "cal")
    assert found is not None and not found.refreshable


def test_a_new_sign_in_after_one_that_ended_serves(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    signins.end(stores.db, "cal", "it was over")
    with failing("not_authorized", f"the sign-in to cal ended: it was over; {AGAIN}"):
        signin.token(stores, service)
    _keep(stores, service, NEW)
    assert signin.token(stores, service) == NEW.access_token


def test_tokens_move_with_a_new_sign_in_and_leave_nothing_behind(
    home: Path, clock: Clock, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home, clock=clock)) as stores:
        service = profiles.add(stores, SERVICE, None, force=False)
        _keep(stores, service)
        monkeypatch.setenv("HELM_CLI_CREDENTIALS", "keychain")
        _keep(stores, service, NEW)
        assert json.loads((home / "credentials.json").read_text()) == {}
        assert {value.partition(" ")[2] for value in keyring.secrets().values()} == {*NEW[:2]}
        assert signin.token(stores, service) == NEW.access_token
        monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
        _keep(stores, service, OLD._replace(refresh_token=None))
        assert keyring.secrets() == {}
        assert signin.token(stores, service) == OLD.access_token


def test_a_store_that_takes_nothing_leaves_the_former_sign_in(
    stores: Stores, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    _keep(stores, service)
    row = signins.find(stores.db, "cal")
    (stores.home / "credentials.lock").unlink()
    (stores.home / "credentials.lock").mkdir()
    told = f"{stores.home}/credentials.lock cannot be used: a folder stands where a file should be; move it away"
    with failing("state", told, NEW.access_token, str(NEW.refresh_token)):
        _keep(stores, service, NEW)
    assert signins.find(stores.db, "cal") == row
    assert signin.token(stores, service) == OLD.access_token


def test_a_first_sign_in_that_no_store_takes_is_none(stores: Stores, service: Service) -> None:
    (stores.home / "credentials.lock").unlink()
    (stores.home / "credentials.lock").mkdir()
    told = f"{stores.home}/credentials.lock cannot be used: a folder stands where a file should be; move it away"
    with failing("state", told, NEW.access_token, str(NEW.refresh_token)):
        _keep(stores, service, NEW)
    assert signins.find(stores.db, "cal") is None


def test_a_look_at_the_token_renews_none(stores: Stores, service: Service, clock: Clock) -> None:
    _keep(stores, service)
    assert signin.unrenewed(stores, service) == OLD.access_token
    clock.now = NOW + 3599
    assert signin.unrenewed(stores, service) is None


def test_one_that_somebody_else_takes_away_meanwhile_is_gone_too(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    with just_before(fcntl.flock, lambda: signins.forget(stores.db, "cal")):
        assert not signin.drop(stores, service)
    assert [*json.loads((stores.home / "credentials.json").read_text())] == ["service/cal/client-secret"]


@pytest.mark.contract("C65")
def test_before_the_first_sign_in_nothing_is_authorized(stores: Stores, service: Service) -> None:
    with failing("not_authorized", NOT_CONNECTED, "a client secret"):
        signin.token(stores, service)


def test_what_was_disconnected_is_gone(stores: Stores, service: Service) -> None:
    assert not signin.drop(stores, service)
    _keep(stores, service)
    assert signin.drop(stores, service)
    assert not signin.drop(stores, service)
    assert [*json.loads((stores.home / "credentials.json").read_text())] == ["service/cal/client-secret"]
    with failing("not_authorized", NOT_CONNECTED):
        signin.token(stores, service)


def test_a_profile_that_is_removed_takes_its_sign_in_along(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    profiles.remove(stores, "service", "cal")
    assert json.loads((stores.home / "credentials.json").read_text()) == {}
    assert signins.listed(stores.db) == []


@pytest.mark.parametrize(
    "change",
    [{"base_url": "https://other.example.com"}, {"client_id": "other"}],
    ids=["base URL", "client id"],
)
def test_tokens_go_nowhere_but_where_they_were_given_for(
    stores: Stores, service: Service, change: dict[str, str]
) -> None:
    _keep(stores, service)
    moved = service._replace(**change)  # type: ignore[arg-type]  # texts, all of them
    files.replace(stores.home, moved)
    with failing("not_configured", CHANGED, OLD.access_token):
        signin.token(stores, moved)
    # Also not where somebody edits state.db to say that all is well: the store says whom each token is for.
    with closing(sqlite3.connect(stores.home / "state.db")) as db, db:
        row = signins.find(stores.db, "cal")
        assert row is not None
        target = tokens._item(moved, row, "access-token").target
        db.execute("UPDATE targets SET digest = ? WHERE account LIKE '%access-token'", (target,))
        db.execute("UPDATE signins SET client_id = ?", (moved.client_id,))
    with failing("not_authorized", f"the tokens of cal are gone from the file; {AGAIN}", OLD.access_token):
        signin.token(stores, moved)


def test_tokens_that_are_gone_from_the_store_are_told(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    homes.write_private(stores.home / "credentials.json", b"{}")
    with failing("not_authorized", f"the tokens of cal are gone from the file; {AGAIN}"):
        signin.token(stores, service)


def test_a_store_that_is_in_trouble_is_no_end_of_a_sign_in(stores: Stores, service: Service) -> None:
    _keep(stores, service)
    homes.write_private(stores.home / "credentials.json", b"{")
    told = (
        f"{stores.home}/credentials.json is damaged (it is not the JSON object that helm writes), so no secret is read"
        " from it or written to it; move it away and enter the secrets again"
    )
    with failing("state", told):
        signin.token(stores, service)


SECRET_AGAIN: Final = (
    "the token URL of cal changed; enter its secret again with: helm service edit cal --ask-client-secret"
    " (or --client-secret-stdin)"
)


@pytest.mark.contract("C61")
def test_a_client_secret_goes_to_the_token_url_of_its_first_sign_in_alone(stores: Stores, service: Service) -> None:
    elsewhere = "https://evil.example.com/token"
    # Nobody has signed in: the user reads the URL in the review, and it is the first.
    assert tokens.client_secret(stores, service, elsewhere) == "a client secret"
    _keep(stores, service)
    assert tokens.client_secret(stores, service, CONNECTED.token_url) == "a client secret"
    with failing("not_configured", SECRET_AGAIN, "a client secret"):
        tokens.client_secret(stores, service, elsewhere)
    # To disconnect changes nothing of it; to enter it again does.
    signin.drop(stores, service)
    with failing("not_configured", SECRET_AGAIN, "a client secret"):
        tokens.client_secret(stores, service, elsewhere)
    service = profiles.change(stores, service, service, "a client secret")
    assert tokens.client_secret(stores, service, elsewhere) == "a client secret"


def test_a_client_secret_entered_for_another_target_is_not_used(stores: Stores, service: Service) -> None:
    moved = service._replace(base_url="https://other.example.com")
    files.replace(stores.home, moved)
    told = SECRET_AGAIN.replace("token URL", "target")
    with failing("not_configured", told, "a client secret"):
        tokens.client_secret(stores, moved, CONNECTED.token_url)


def test_a_public_client_has_no_secret_to_keep_from_anybody(stores: Stores) -> None:
    public = profiles.add(stores, SERVICE, None, force=False)
    _keep(stores, public)
    assert tokens.client_secret(stores, public, "https://other.example.com/token") == ""


@pytest.mark.contract("C63")
@pytest.mark.parametrize(
    ("life", "left", "due"),
    [
        (3600.0, 3600.0, False),
        (3600.0, 60.0, False),
        (3600.0, 59.9, True),
        (240.0, 60.0, False),
        (240.0, 59.9, True),
        (100.0, 25.0, False),
        (100.0, 24.9, True),
        (0.0, 0.0, True),
        (3600.0, -1.0, True),
        (3600.0, 3660.0, False),  # the clock went back a little
        (3600.0, 3660.1, True),  # and too much to be trusted
        (3600.0, 1e9, True),
    ],
)
def test_a_token_is_renewed_in_time_and_not_before(
    stores: Stores, service: Service, clock: Clock, life: float, left: float, due: bool
) -> None:
    _keep(stores, service, OLD._replace(expires=NOW + life, life=life))
    clock.now = NOW + life - left
    assert signin._due(signin.current(stores, service), clock()) is due


@pytest.mark.contract("C63")
@pytest.mark.parametrize("left", [3600.0, 3660.0, 59.0, 0.1])
def test_a_token_that_cannot_be_renewed_is_used_to_its_end(
    stores: Stores, service: Service, clock: Clock, left: float
) -> None:
    _keep(stores, service, OLD._replace(refresh_token=None))
    clock.now = NOW + 3600 - left
    assert signin.token(stores, service) == OLD.access_token


@pytest.mark.contract("C64")
@pytest.mark.parametrize("left", [0.0, -1.0, 3660.1, 1e9])
def test_a_token_that_cannot_be_renewed_is_not_used_longer(
    stores: Stores, service: Service, clock: Clock, left: float
) -> None:
    _keep(stores, service, OLD._replace(refresh_token=None))
    clock.now = NOW + 3600 - left
    with failing("not_authorized", EXPIRED, OLD.access_token):
        signin.token(stores, service)


def test_a_token_whose_end_is_not_known_is_used_until_it_is_doubted(
    stores: Stores, service: Service, clock: Clock
) -> None:
    _keep(stores, service, OLD._replace(expires=None, life=None))
    clock.now = NOW + 1e9
    assert signin.token(stores, service) == OLD.access_token
    signin.doubt(stores, service)
    assert signin._due(signin.current(stores, service), clock())


def test_a_token_that_is_new_is_not_doubted_and_none_that_cannot_be_renewed(
    stores: Stores, service: Service, clock: Clock
) -> None:
    _keep(stores, service)
    before = signins.find(stores.db, "cal")
    clock.now = NOW + 60
    signin.doubt(stores, service)
    assert signins.find(stores.db, "cal") == before
    clock.now = NOW + 61
    signin.doubt(stores, service)
    assert signin._due(signin.current(stores, service), clock())
    _keep(stores, service, OLD._replace(refresh_token=None, expires=None, life=None))
    signin.doubt(stores, service)
    assert signin.token(stores, service) == OLD.access_token


def test_killed_while_it_is_kept_the_old_sign_in_or_the_new_one_serves(home: Path) -> None:
    seen = killed_signin.killed(home, "both")
    assert {"old", "new", "between"} == set(seen)
    assert seen[-1] == "new"


def test_killed_while_a_sign_in_without_renewal_is_kept_the_old_or_the_new_one_serves(home: Path) -> None:
    assert {"old", "new", "between"} == set(killed_signin.killed(home, "terse"))
