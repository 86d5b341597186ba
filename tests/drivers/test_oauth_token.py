"""The token endpoint, hostile in every way that one was found to be: what is taken from it, and what is told of it."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from helm_cli.drivers import oauth_token
from helm_cli.drivers.oauth_token import LIMITS, Client, Grant
from tests.rig.connecting import free_port
from tests.rig.failing import failing
from tests.rig.token_endpoint import ACCESS, ANSWERS, REFRESH, Endpoint, endpoint

NOW: Final = 1_800_000_000.0
ASKED: Final = ("a", "b", "c")
SECRET: Final = "hostile-client-secret/+"
SENT: Final = "hostile-sent-token"
CODE: Final = "hostile-code"
VERIFIER: Final = "hostile-verifier"
REDIRECT: Final = "http://127.0.0.1:8914/oauth/callback"

AB: Final = ("a", "b")
NO_JSON: Final = "is not the JSON object that a token comes in"
TYPE: Final = "has a token of another type than bearer"
NO_ACCESS: Final = "has no access token that could be sent"
NO_REFRESH: Final = "has a refresh token that could not be sent"
NO_SCOPES: Final = "has scopes that are no text"
UNKNOWN: Final = "the service refuses to give a token (an error that helm does not know)"
ENDED: Final = "the service does not take the refresh token any more (invalid_grant); sign in once more"
NOT_TAKEN: Final = "the service does not take the code of this sign-in (invalid_grant); sign in once more"


def _grant(scopes: tuple[str, ...] = AB, life: float | None = 3600.0, *, refresh: str | None = REFRESH) -> Grant:
    return Grant(ACCESS, refresh, scopes, None if life is None else NOW + life, life)


# What is granted.
GRANTED: Final[dict[str, Grant]] = {
    "good": _grant(),
    "no-expires": _grant(life=None),
    "expires-text": _grant(),
    "expires-null": _grant(life=None),
    "expires-zero": _grant(life=0.0),
    "expires-negative": _grant(life=0.0),
    "expires-words": _grant(life=None),
    "expires-true": _grant(life=None),
    "expires-half": _grant(life=90.5),
    "expires-huge": _grant(life=1e9),
    "no-scope": _grant(ASKED),
    "scope-null": _grant(ASKED),
    "scope-fewer": _grant(("a",)),
    "scope-none": _grant(()),
    "scope-more": _grant(("a", "admin", "b")),
    "scope-reordered": _grant(),
    "scope-comma": _grant(),
    "scope-list": _grant(),
    "type-lower": _grant(),
    "no-refresh": _grant(refresh=None),
    "refresh-null": _grant(refresh=None),
    "refresh-empty": _grant(refresh=None),
    "wrong-type": _grant(),
    "bom": _grant(),
}
# What is not, and why: the end of a sentence about the answer, or a whole one.
UNUSABLE: Final[dict[str, str]] = {
    "scope-number": NO_SCOPES,
    "scope-numbers": NO_SCOPES,
    "type-missing": TYPE,
    "type-mac": TYPE,
    "type-dpop": TYPE,
    "no-access": NO_ACCESS,
    "access-empty": NO_ACCESS,
    "access-lines": NO_ACCESS,
    "access-space": NO_ACCESS,
    "access-unicode": NO_ACCESS,
    "access-number": NO_ACCESS,
    "refresh-lines": NO_REFRESH,
    "refresh-number": NO_REFRESH,
    "invalid-grant-500": "has the status 500",
    "invalid-grant-429": "has the status 429",
    "form": NO_JSON,
    "html-200": NO_JSON,
    "html-502": "has the status 502",
    "array": NO_JSON,
    "empty": NO_JSON,
    "twice": NO_JSON,
    "latin": NO_JSON,
    "created": "has the status 201",
    "too-many": "has the status 429",
    "broken": "has the status 500",
    "elsewhere": "redirects elsewhere, where helm does not follow",
    "large": "is larger than 64 KiB",
    "bomb": "is larger than 64 KiB",
}
REFUSED: Final[dict[str, tuple[str, str]]] = {
    "error-200": ("not_authorized", ENDED),
    "error-both": ("unavailable", UNKNOWN),
    "invalid-grant": ("not_authorized", ENDED),
    "invalid-grant-401": ("not_authorized", ENDED),
    "invalid-client": (
        "unavailable",
        "the service refuses to give a token (invalid_client); enter its client id and secret again",
    ),
    "invalid-scope": ("unavailable", "the service refuses to give a token (invalid_scope)"),
    "error-unknown": ("unavailable", UNKNOWN),
    "error-object": ("unavailable", UNKNOWN),
}


@pytest.fixture(scope="module")
def hostile() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


def _client(url: str, secret: str = SECRET) -> Client:
    return Client(url, "the-client", secret)


def _renew(url: str, seconds: float = 10.0) -> Grant:
    limits = LIMITS._replace(seconds=seconds)
    return oauth_token.renew(_client(url), SENT, asked=ASKED, now=NOW, limits=limits)


def test_every_answer_of_the_hostile_endpoint_has_its_outcome() -> None:
    assert GRANTED.keys() | UNUSABLE.keys() | REFUSED.keys() == ANSWERS.keys()


@pytest.mark.parametrize("path", GRANTED)
def test_what_can_be_trusted_is_granted(hostile: Endpoint, path: str) -> None:
    assert _renew(hostile.url(path)) == GRANTED[path]
    redeemed = oauth_token.redeem(_client(hostile.url(path)), CODE, VERIFIER, REDIRECT, asked=ASKED, now=NOW)
    assert redeemed == GRANTED[path]


@pytest.mark.contract("C60")
@pytest.mark.parametrize("path", UNUSABLE)
def test_nothing_is_taken_from_an_answer_that_is_not_sound(hostile: Endpoint, path: str) -> None:
    told = f"the answer of the token endpoint {UNUSABLE[path]}, so no token was taken from it"
    before = len(hostile.forms)
    with failing("unavailable", told, SECRET, SENT, ACCESS, REFRESH, hostile.url("")):
        _renew(hostile.url(path))
    # Asked once, and a redirect not followed.
    assert [form["path"] for form in hostile.forms[before:]] == [path]


@pytest.mark.contract("C64")
@pytest.mark.parametrize("path", REFUSED)
def test_a_refusal_is_told_by_its_name_alone(hostile: Endpoint, path: str) -> None:
    with failing(*REFUSED[path], SECRET, SENT, REFRESH, hostile.url("")):
        _renew(hostile.url(path))
    code, told = REFUSED[path]
    with failing(code, told.replace(ENDED, NOT_TAKEN), SECRET, CODE, VERIFIER, REFRESH, hostile.url("")):
        oauth_token.redeem(_client(hostile.url(path)), CODE, VERIFIER, REDIRECT, asked=ASKED, now=NOW)


@pytest.mark.parametrize("path", ["silent", "trickle"])
def test_an_endpoint_that_does_not_get_done_is_left(hostile: Endpoint, path: str) -> None:
    began = time.monotonic()
    told = "the token endpoint was asked in vain: the service took longer than 0.3 s; try again"
    with failing("unavailable", told, SECRET, SENT, hostile.url("")):
        _renew(hostile.url(path), seconds=0.3)
    assert time.monotonic() - began < 3


def test_an_answer_that_breaks_off_is_none(hostile: Endpoint) -> None:
    told = "the token endpoint was asked in vain: the answer of the service broke off, or is not HTTP; try again"
    with failing("unavailable", told, SECRET, SENT):
        _renew(hostile.url("cut"))


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    told = "the token endpoint was asked in vain: nothing answers at the port of the service; try again"
    with failing("unavailable", told, SECRET, SENT):
        _renew(f"http://127.0.0.1:{free_port()}/token")


@pytest.mark.contract("C55", "C61")
def test_a_code_is_redeemed_with_its_verifier_and_the_secret_in_the_body(hostile: Endpoint) -> None:
    oauth_token.redeem(_client(hostile.url("good")), CODE, VERIFIER, REDIRECT, asked=ASKED, now=NOW)
    form = hostile.forms[-1]
    assert {name: value for name, value in form.items() if not name.startswith("header ")} == {
        "path": "good",
        "grant_type": "authorization_code",
        "code": CODE,
        "code_verifier": VERIFIER,
        "redirect_uri": REDIRECT,
        "client_id": "the-client",
        "client_secret": SECRET,
    }
    assert form["header accept"] == "application/json"
    assert form["header content-type"] == "application/x-www-form-urlencoded"
    assert "header authorization" not in form


@pytest.mark.contract("C61")
def test_a_public_client_sends_no_secret_and_a_renewal_no_scope(hostile: Endpoint) -> None:
    oauth_token.renew(_client(hostile.url("good"), secret=""), SENT, asked=ASKED, now=NOW)
    form = hostile.forms[-1]
    assert {name: value for name, value in form.items() if not name.startswith("header ")} == {
        "path": "good",
        "grant_type": "refresh_token",
        "refresh_token": SENT,
        "client_id": "the-client",
    }


def test_a_scope_with_a_comma_is_one_where_it_was_asked_for(hostile: Endpoint) -> None:
    client = _client(hostile.url("scope-comma"))
    assert oauth_token.renew(client, SENT, asked=("a,b",), now=NOW).scopes == ("a,b",)


def test_offline_access_is_granted_where_a_refresh_token_came(hostile: Endpoint) -> None:
    asked = ("a", "b", "offline_access")
    with_one = oauth_token.renew(_client(hostile.url("good")), SENT, asked=asked, now=NOW)
    assert with_one.scopes == ("a", "b", "offline_access")
    without = oauth_token.renew(_client(hostile.url("no-refresh")), SENT, asked=asked, now=NOW)
    assert without.scopes == ("a", "b")
    never_asked = oauth_token.renew(_client(hostile.url("good")), SENT, asked=("a", "b"), now=NOW)
    assert never_asked.scopes == ("a", "b")


def test_what_holds_secrets_does_not_show_them(hostile: Endpoint) -> None:
    shown = repr((_client(hostile.url("good")), _renew(hostile.url("good"))))
    assert shown == f"(Client(id='the-client'), Grant(scopes=('a', 'b'), expires={NOW + 3600}, life=3600.0))"
