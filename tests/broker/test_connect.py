"""Signing in, all of it real but the page on which a person says yes: what is asked, redeemed, kept and refused."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest

from helm_cli.broker import connect, profiles, signin, standing
from helm_cli.broker.scopes import Wanted
from helm_cli.broker.standing import Standing
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import signins
from helm_cli.store.signins import Signin
from tests.rig.calendar import SERVICE, approve, oauth2, write
from tests.rig.connecting import browse, free_port
from tests.rig.failing import failing
from tests.rig.token_endpoint import ACCESS, ANSWERS, REFRESH, Answer, Endpoint, endpoint

SECRET: Final = "the client secret +/&="
SECONDS: Final = 20.0
AUTHORIZE: Final = "https://id.example/auth?access_type=offline"
CODE: Final = "the code/+&="
OURS: Final = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
NOW: Final = 1_800_000_000.0


class Person:
    """Who says yes at the provider: a redirect comes back with these parameters besides the state that was sent.

    `address` is where helm sent them, `page` what their browser showed at the end. `before` happens meanwhile.
    """

    def __init__(self, back: Mapping[str, str] | None = None, before: Callable[[], object] = lambda: None) -> None:
        self.address = ""
        self._back = back or {"code": CODE}
        self._before = before
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[httpx.Response] | None = None

    def go(self, address: str, returns: str) -> None:
        self.address = address
        self._before()
        url = f"{returns}?{urlencode({'state': self.sent['state'], **self._back})}"
        self._answer = self._pool.submit(browse, url)

    @property
    def sent(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.address).query))

    @property
    def page(self) -> str:
        assert self._answer is not None
        with self._pool:
            return self._answer.result(SECONDS).text


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    return Stores(tmp_path / "home", clock=lambda: NOW)


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path / "here"), "named")


@pytest.fixture
def service(stores: Stores) -> Service:
    profile = Service(SERVICE, "https://api.example", client_id="me&co", redirect_port=free_port())
    return profiles.add(stores, profile, SECRET, force=False)


def declare(stores: Stores, here: Workspace, token_url: str, *scopes: str) -> None:
    approve(stores, write(Path(here.path) / "agenda", oauth2(*scopes, authorize=AUTHORIZE, token=token_url)))


def kept(stores: Stores) -> dict[str, str]:
    """What the credential store holds: account -> secret, without what it is bound to."""
    held: dict[str, str] = json.loads((stores.home / "credentials.json").read_text())
    return {account: secret.partition(" ")[2] for account, secret in held.items()}


@pytest.mark.contract("C53", "C54", "C55", "C60", "C61")
def test_a_sign_in_asks_redeems_and_keeps(stores: Stores, here: Workspace, service: Service, served: Endpoint) -> None:
    declare(stores, here, served.url("good"), "b", "a")
    person = Person({"code": CODE, "iss": "https://id.example"})
    served.forms.clear()
    found = connect.connect(stores, here, service, SECONDS, person.go)
    returns = f"http://127.0.0.1:{service.redirect_port}/oauth/callback"
    assert "You are signed in" in person.page
    assert person.address.startswith(
        "https://id.example/auth?access_type=offline&response_type=code&client_id=me%26co&"
    )
    assert {name: person.sent[name] for name in OURS if name not in ("state", "code_challenge")} == {
        "response_type": "code",
        "client_id": "me&co",
        "redirect_uri": returns,
        "scope": "b a",
        "code_challenge_method": "S256",
    }
    (form,) = ({name: value for name, value in form.items() if " " not in name} for form in served.forms)
    verifier = form.pop("code_verifier")
    assert form == {
        "path": "good",
        "grant_type": "authorization_code",
        "code": CODE,
        "redirect_uri": returns,
        "client_id": "me&co",
        "client_secret": SECRET,
    }
    assert "header authorization" not in served.forms[0]
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert person.sent["code_challenge"] == challenge
    assert found == signins.find(stores.db, SERVICE)
    assert found == Signin(
        service=SERVICE,
        client_id="me&co",
        authorize_url=AUTHORIZE,
        token_url=served.url("good"),
        scopes=("a", "b"),
        asked=("a", "b"),
        issuer="https://id.example",
        place="file",
        signed_in_at=NOW,
        expires=NOW + 3600,
        life=3600.0,
        refreshable=True,
        ids=found.ids,
    )
    assert kept(stores) == {
        "service/calendar/client-secret": SECRET,
        "service/calendar/access-token": ACCESS,
        "service/calendar/refresh-token": REFRESH,
    }


@pytest.mark.contract("C61")
def test_a_public_client_sends_no_secret(stores: Stores, here: Workspace, served: Endpoint) -> None:
    profile = Service(SERVICE, "https://api.example", client_id="public", redirect_port=free_port())
    public = profiles.add(stores, profile, None, force=False)
    declare(stores, here, served.url("good"), "a", "b")
    served.forms.clear()
    connect.connect(stores, here, public, SECONDS, Person().go)
    assert "client_secret" not in served.forms[0]


def test_no_two_sign_ins_share_what_proves_them(service: Service) -> None:
    begun = [connect.begin(service, Wanted(AUTHORIZE, "https://id.example/token", ("a",)), 1) for _ in range(50)]
    assert len({attempt.state for attempt in begun} | {attempt.verifier for attempt in begun}) == 100
    assert all(len(attempt.state) >= 43 and 43 <= len(attempt.verifier) <= 128 for attempt in begun)
    assert not any(attempt.verifier in attempt.address for attempt in begun)


@pytest.mark.contract("C51", "C53")
@pytest.mark.parametrize(
    ("declared", "query"),
    [
        ("https://id.example/auth", "scope=a%20b&state=s"),
        ("https://id.example/auth?", "scope=a%20b&state=s"),
        ("https://id.example/auth?access_type=offline&x=%2F&y", "access_type=offline&x=%2F&y&scope=a%20b&state=s"),
        ("https://id.example/auth?scope=admin&access_type=offline", "access_type=offline&scope=a%20b&state=s"),
        ("https://id.example/auth?st%61te=1&s%63ope&prompt=consent&state=2", "prompt=consent&scope=a%20b&state=s"),
        ("https://id.example/auth?a=1;scope=admin;b=2", "a=1;b=2&scope=a%20b&state=s"),
        ("https://id.example/auth?request=jwt&request_uri=urn:x&a=1", "a=1&scope=a%20b&state=s"),
        ("https://id.example/auth?Scope=admin&redirect_uris=x", "Scope=admin&redirect_uris=x&scope=a%20b&state=s"),
    ],
)
def test_nothing_declared_takes_the_place_of_what_helm_sets(declared: str, query: str) -> None:
    assert connect.address(declared, {"scope": "a b", "state": "s"}) == f"https://id.example/auth?{query}"


def test_no_scope_is_sent_where_none_is_declared() -> None:
    assert connect.address("https://id.example/auth", {"scope": "", "state": "s"}) == "https://id.example/auth?state=s"


@pytest.mark.contract("C56")
def test_a_wrong_state_redeems_nothing(stores: Stores, here: Workspace, service: Service, served: Endpoint) -> None:
    declare(stores, here, served.url("good"), "a", "b")
    served.forms.clear()
    person = Person({"state": "another", "code": CODE})
    told = (
        "nobody finished the sign-in to calendar within 2 s, so nothing was kept; what came back belonged to another "
        "sign-in: go to the address shown last"
    )
    with failing("timeout", told):
        connect.connect(stores, here, service, 2.0, person.go)
    assert "This page belongs to another sign&#8209;in" in person.page
    assert served.forms == []
    assert signins.find(stores.db, SERVICE) is None


def test_a_wait_without_end_has_one(stores: Stores, here: Workspace, service: Service) -> None:
    declare(stores, here, "https://id.example/token", "a")
    told = (
        "nobody finished the sign-in to calendar within 0.2 s, so nothing was kept; if the browser showed an error, "
        "see that the redirect URI is registered there"
    )
    with failing("timeout", told):
        connect.connect(stores, here, service, 0.2, lambda *_: None)


@pytest.mark.parametrize(
    ("back", "code", "reason"),
    [
        ({"error": "access_denied"}, "not_authorized", "access_denied"),
        ({"error": "access_denied", "error_description": "no \x1b[2J"}, "not_authorized", "access_denied: no \x1b[2J"),
        ({"error": "invalid_scope", "error_description": "x" * 500}, "not_authorized", f"invalid_scope: {'x' * 185}…"),
        ({"error": "temporarily_unavailable"}, "unavailable", "temporarily_unavailable"),
        ({"error": "server_error"}, "unavailable", "server_error"),
    ],
)
def test_a_refusal_of_the_service_is_told(
    stores: Stores, here: Workspace, service: Service, served: Endpoint, back: dict[str, str], code: str, reason: str
) -> None:
    declare(stores, here, served.url("good"), "a", "b")
    served.forms.clear()
    person = Person(back)
    with failing(code, f"calendar did not sign you in ({reason}); the former sign-in, if any, stays", SECRET):
        connect.connect(stores, here, service, SECONDS, person.go)
    assert "You were not signed in" in person.page
    assert (served.forms, signins.find(stores.db, SERVICE)) == ([], None)


@pytest.mark.contract("C59")
def test_a_grant_of_more_than_was_asked_leaves_the_former_as_it_was(
    stores: Stores, here: Workspace, service: Service, served: Endpoint
) -> None:
    answers = [ANSWERS["good"], ANSWERS["scope-more"], Answer(200, ANSWERS["good"].body.replace(b"hostile", b"newer"))]
    declare(stores, here, served.answer("changing", lambda: answers.pop(0)), "a", "b")
    former = connect.connect(stores, here, service, SECONDS, Person().go)
    held = (stores.home / "credentials.json").read_bytes()
    person = Person()
    with pytest.raises(HelmError) as refused:
        connect.connect(stores, here, service, SECONDS, person.go)
    assert (refused.value.code, "(admin)" in refused.value.message) == ("refused", True)
    assert "You are not signed in yet" in person.page
    assert signins.find(stores.db, SERVICE) == former
    assert (stores.home / "credentials.json").read_bytes() == held
    connect.connect(stores, here, service, SECONDS, Person().go)
    assert kept(stores)["service/calendar/access-token"] == "newer-access-token"


def test_a_grant_of_less_is_kept_and_what_is_missing_is_told(
    stores: Stores, here: Workspace, service: Service, served: Endpoint
) -> None:
    assert standing.standing(stores, here, service) == Standing(SERVICE, "not connected", {})
    declare(stores, here, served.url("scope-fewer"), "a", "b")
    assert standing.standing(stores, here, service) == Standing(SERVICE, "not connected", {"agenda": ["a", "b"]})
    connect.connect(stores, here, service, SECONDS, Person().go)
    assert standing.standing(stores, here, service) == Standing(
        SERVICE, "signed in", {"agenda": ["b"]}, None, ("a",), NOW, NOW + 3600, True, "file"
    )
    signins.end(stores.db, SERVICE, "the service ended it")
    ended = standing.standing(stores, here, service)
    assert (ended.state, "the service ended it" in (ended.reason or "")) == ("expired", True)


@pytest.mark.parametrize("later", ["https://evil.example", None])
def test_another_issuer_than_the_first_is_refused(
    stores: Stores, here: Workspace, service: Service, served: Endpoint, later: str | None
) -> None:
    declare(stores, here, served.url("good"), "a", "b")
    former = connect.connect(stores, here, service, SECONDS, Person({"code": CODE, "iss": "https://id.example"}).go)
    served.forms.clear()
    person = Person({"code": CODE, **({"iss": later} if later else {})})
    told = (
        "another issuer than before answered the sign-in to calendar, so nothing was kept; if it is meant to change, "
        "run helm oauth disconnect calendar first"
    )
    with failing("refused", told):
        connect.connect(stores, here, service, SECONDS, person.go)
    assert "You are not signed in yet" in person.page
    assert (served.forms, signins.find(stores.db, SERVICE)) == ([], former)
    assert signin.drop(stores, service)
    connect.connect(stores, here, service, SECONDS, Person({"code": CODE, "iss": "https://new.example"}).go)


@pytest.mark.parametrize(
    ("path", "code"),
    [("invalid-grant", "not_authorized"), ("invalid-client", "unavailable"), ("html-502", "unavailable")],
)
def test_a_code_that_is_not_redeemed_keeps_nothing(
    stores: Stores, here: Workspace, service: Service, served: Endpoint, path: str, code: str
) -> None:
    declare(stores, here, served.url(path), "a", "b")
    person = Person()
    with pytest.raises(HelmError) as failed:
        connect.connect(stores, here, service, SECONDS, person.go)
    assert failed.value.code == code
    assert not any(secret in failed.value.message for secret in (SECRET, REFRESH, CODE, served.url(path)))
    assert "You are not signed in yet" in person.page
    assert signins.find(stores.db, SERVICE) is None
    assert kept(stores) == {"service/calendar/client-secret": SECRET}


def test_a_profile_that_changed_meanwhile_keeps_nothing(
    stores: Stores, here: Workspace, service: Service, served: Endpoint
) -> None:
    declare(stores, here, served.url("good"), "a", "b")
    other = service._replace(base_url="https://other.example")
    person = Person(before=lambda: profiles.change(stores, service, other, None))
    told = "the profile calendar changed meanwhile, so nothing was kept; sign in once more"
    with failing("conflict", told):
        connect.connect(stores, here, service, SECONDS, person.go)
    assert "You are not signed in yet" in person.page
    assert signins.find(stores.db, SERVICE) is None


def test_a_secret_that_cannot_be_used_is_known_before_anybody_signs_in(
    stores: Stores, here: Workspace, service: Service, served: Endpoint
) -> None:
    declare(stores, here, served.url("good"), "a", "b")
    moved = profiles.change(stores, service, service._replace(base_url="https://other.example"), None)
    person = Person()
    with pytest.raises(HelmError) as failed:
        connect.connect(stores, here, moved, SECONDS, person.go)
    assert (failed.value.code, person.address) == ("not_configured", "")


def test_only_a_profile_that_signs_in_is_connected(stores: Stores, service: Service) -> None:
    profiles.add(stores, Service("plain", "https://api.example"), "a token", force=False)
    assert connect.profile(stores, SERVICE) == service
    with failing("refused", "plain is called with a token or without one, so there is nothing to sign in to"):
        connect.profile(stores, "plain")
    with failing("not_configured", "there is no service profile other; add it with: helm service add other"):
        connect.profile(stores, "other")
