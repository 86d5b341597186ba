"""What a call on a service that signs in by OAuth2 needs, and what is told where that is missing: nothing is sent."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import profiles, signin
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.profile import Service
from helm_cli.store import profiles as files
from helm_cli.store import signins
from tests.program import Helm
from tests.rig import signing

# Nobody listens there: whatever is sent is `unavailable`.
BASE: Final = "http://127.0.0.1:9/api"
AUTHORIZE: Final = "https://auth.example.com/authorize"
TOKEN: Final = "https://auth.example.com/token"
OAUTH2: Final = {"authorizeUrl": AUTHORIZE, "tokenUrl": TOKEN, "scopes": ["a", "b"]}
AGAIN: Final = "connect it again with: helm oauth connect cal"


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home)) as opened:
        yield opened


@pytest.fixture
def service(stores: Stores) -> Service:
    return profiles.add(stores, Service("cal", BASE, client_id="id"), None, force=False)


def _sign_in(stores: Stores, service: Service, scopes: tuple[str, ...] = ("a", "b"), *, lasts: float = 3600.0) -> None:
    grant = Grant("an-access-token", None, scopes, stores.clock() + lasts, 3600.0)
    signin.keep(stores, service, grant, Connected(AUTHORIZE, TOKEN, ("a", "b", "c")))


def _told(helm: Helm, workspace: Path, oauth2: dict[str, Any] | None) -> tuple[str, str]:
    """The code and the message of a read, which a write and a dry run are told too."""
    signing.approve(helm, workspace, oauth2)
    told = [
        helm("call", "cal", *words, cwd=workspace).json["error"]
        for words in (["events"], ["events", "--dry-run"], ["cancel", "--arg", "id=1"])
    ]
    assert told[0] == told[1] == told[2]
    return told[0]["code"], told[0]["message"]


def test_a_call_that_has_all_it_needs_is_sent(helm: Helm, stores: Stores, service: Service, tmp_path: Path) -> None:
    _sign_in(stores, service)
    signing.approve(helm, tmp_path, OAUTH2)
    assert helm("call", "cal", "events", cwd=tmp_path).status == 10
    assert helm("call", "cal", "events", "--dry-run", cwd=tmp_path).status == 0
    assert helm("call", "cal", "cancel", "--arg", "id=1", cwd=tmp_path).status == 7


@pytest.mark.contract("C65")
def test_before_the_first_sign_in_it_is_not_authorized(helm: Helm, service: Service, tmp_path: Path) -> None:
    assert _told(helm, tmp_path, OAUTH2) == (
        "not_authorized",
        "cal is not connected; connect it with: helm oauth connect cal",
    )


@pytest.mark.contract("C64")
def test_after_it_ended_it_is_not_authorized_and_says_why(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path
) -> None:
    _sign_in(stores, service)
    signins.end(stores.db, "cal", "the service does not renew it any more (invalid_grant)")
    assert _told(helm, tmp_path, OAUTH2) == (
        "not_authorized",
        f"the sign-in to cal ended: the service does not renew it any more (invalid_grant); {AGAIN}",
    )


@pytest.mark.contract("C64")
def test_after_it_expired_it_is_not_authorized(helm: Helm, stores: Stores, service: Service, tmp_path: Path) -> None:
    _sign_in(stores, service, lasts=-1.0)
    assert _told(helm, tmp_path, OAUTH2) == ("not_authorized", f"the sign-in to cal expired; {AGAIN}")


@pytest.mark.contract("C66")
def test_a_connection_without_oauth2_does_not_use_a_sign_in(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path
) -> None:
    _sign_in(stores, service)
    assert _told(helm, tmp_path, None) == (
        "refused",
        "cal declares no oauth2, so the sign-in to cal is not used for it; declare oauth2 in the extension, or use a"
        " service profile with a token",
    )


@pytest.mark.contract("C66")
def test_a_connection_with_oauth2_does_not_use_a_token(helm: Helm, stores: Stores, tmp_path: Path) -> None:
    profiles.add(stores, Service("cal", BASE), "a-token", force=False)
    assert _told(helm, tmp_path, OAUTH2) == (
        "refused",
        "cal declares oauth2, but the service profile cal does not sign in by OAuth2; replace it with: helm service add"
        " cal --oauth2 --force",
    )


@pytest.mark.contract("C66")
def test_another_token_url_than_that_of_the_sign_in_is_refused(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path
) -> None:
    _sign_in(stores, service)
    assert _told(helm, tmp_path, {**OAUTH2, "tokenUrl": f"{TOKEN}/"}) == (
        "refused",
        f"cal declares another token URL than the one that cal signed in with; if that is right, {AGAIN}",
    )


def test_another_authorize_url_is_none_of_a_calls_business(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path
) -> None:
    """The contract asks for the token URL alone; a change of either needs a new approval."""
    _sign_in(stores, service)
    signing.approve(helm, tmp_path, {**OAUTH2, "authorizeUrl": f"{AUTHORIZE}?prompt=consent"})
    assert helm("call", "cal", "events", cwd=tmp_path).status == 10


@pytest.mark.contract("C67")
def test_a_declared_scope_that_was_not_granted_is_named(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path
) -> None:
    _sign_in(stores, service, ("b",))
    assert _told(helm, tmp_path, {**OAUTH2, "scopes": ["c", "b", "a"]}) == (
        "refused",
        f"the sign-in to cal was not granted what cal declares (c, a); {AGAIN}",
    )


@pytest.mark.contract("C68")
@pytest.mark.parametrize(
    "change",
    [
        {"authorizeUrl": "https://other.example.com/authorize"},
        {"tokenUrl": "https://other.example.com/token"},
        {"scopes": ["a"]},
        {"scopes": ["a", "b", "c"]},
    ],
    ids=["authorizeUrl", "tokenUrl", "fewer scopes", "more scopes"],
)
def test_what_changed_since_it_was_approved_is_refused(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path, change: dict[str, Any]
) -> None:
    _sign_in(stores, service)
    signing.approve(helm, tmp_path, OAUTH2)
    signing.write(tmp_path, {**OAUTH2, **change})
    finished = helm("call", "cal", "events", cwd=tmp_path)
    assert finished.status == 3
    assert finished.json["error"] == {
        "code": "refused",
        "message": f"calendar changed since it was approved for {tmp_path}, or its folder is gone; run helm plugin"
        f" review {tmp_path}/calendar",
    }


@pytest.mark.parametrize(
    "change", [{"base_url": "http://127.0.0.1:9/other"}, {"client_id": "other"}], ids=["base URL", "client id"]
)
def test_a_profile_that_changed_since_its_sign_in_is_told(
    helm: Helm, stores: Stores, service: Service, tmp_path: Path, change: dict[str, Any]
) -> None:
    _sign_in(stores, service)
    files.replace(stores.home, service._replace(**change))
    assert _told(helm, tmp_path, OAUTH2) == (
        "not_configured",
        f"the target of cal changed since its sign-in; {AGAIN}",
    )
