"""What a service profile can be, added by helm or written by hand."""

import stat
from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from helm_cli.store import profiles
from helm_cli.store.groups import GROUPS

BASE = "https://api.example.com"
TOKEN = Service("github", "https://api.github.com", credential="keychain")
KEY = Service("key", f"{BASE}/v2", header="X-Api-Key", format="raw", credential="file")
SIGN_IN = Service(
    "cal",
    BASE,
    client_id="my-client",
    redirect_port=9000,
    authorize_url="https://auth.example.com/authorize?access_type=offline",
    token_url="https://auth.example.com/token",
    credential="file",
)


def by_hand(home: Path, text: str) -> Path:
    path = home / "profiles" / "service" / "s.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.contract("C16", "C17", "C18")
@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (TOKEN, 'base_url = "https://api.github.com"\ncredential = "keychain"\n'),
        (
            KEY,
            'base_url = "https://api.example.com/v2"\nheader = "X-Api-Key"\nformat = "raw"\ncredential = "file"\n',
        ),
        (Service("open", "http://localhost:9090"), 'base_url = "http://localhost:9090"\n'),
        (Service("cal", BASE, client_id="c"), f'base_url = "{BASE}"\nclient_id = "c"\n'),
        (
            SIGN_IN,
            f'base_url = "{BASE}"\nclient_id = "my-client"\nredirect_port = 9000\n'
            'authorize_url = "https://auth.example.com/authorize?access_type=offline"\n'
            'token_url = "https://auth.example.com/token"\ncredential = "file"\n',
        ),
    ],
    ids=["token", "key", "open", "public", "sign-in"],
)
def test_a_service_is_one_private_file_that_says_what_is_not_usual(home: Path, profile: Service, text: str) -> None:
    assert profiles.create(home, profile)
    path = home / "profiles" / "service" / f"{profile.name}.toml"
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert profiles.load(home, "service", profile.name) == profile


URLS = ("authorize_url", "token_url")


@pytest.mark.parametrize(
    ("profile", "wrong"),
    [
        (TOKEN._replace(base_url="http://localhost.evil.test"), "base_url must begin with https://"),
        (TOKEN._replace(base_url=f"{BASE}/"), "base_url must be written plainly"),
        (TOKEN._replace(base_url="https://API.example.com"), "base_url must be written plainly"),
        (TOKEN._replace(base_url=f"{BASE}:443"), "base_url must be written plainly"),
        *(
            (TOKEN._replace(header=header), "header must be the name of one header: letters, digits, - and _")
            for header in ("", "X Api", "X:Y", "X-Api-Key\r\nHost", "ключ", "-x", "x" + "\n", "a,b")
        ),
        *(
            (TOKEN._replace(header=header), "header names one that helm or the connection itself sets; take another")
            for header in (
                *("Host", "content-length", "Content-Type", "Transfer-Encoding", "Connection", "cookie", "TE"),
                *("Proxy-Authorization", "Upgrade", "accept", "User-Agent", "X-Forwarded-For", "expect"),
            )
        ),
        (TOKEN._replace(redirect_port=9000), "redirect_port goes with client_id, which means OAuth2"),
        (TOKEN._replace(authorize_url=BASE, token_url=BASE), "authorize_url goes with client_id, which means OAuth2"),
        (TOKEN._replace(token_url=BASE), "token_url goes with client_id, which means OAuth2"),
        (SIGN_IN._replace(client_id=""), "client_id must be printable ASCII"),
        (SIGN_IN._replace(client_id="a b"), "client_id must be printable ASCII"),
        (SIGN_IN._replace(client_id="a\n"), "client_id must be printable ASCII"),
        (SIGN_IN._replace(header="X-Api-Key"), "with client_id, which means OAuth2, the token is always sent as"),
        (SIGN_IN._replace(format="raw"), "with client_id, which means OAuth2, the token is always sent as"),
        (SIGN_IN._replace(redirect_port=0), "redirect_port must be from 1 to 65535"),
        (SIGN_IN._replace(redirect_port=65536), "redirect_port must be from 1 to 65535"),
        (SIGN_IN._replace(token_url=None), "authorize_url and token_url go together; give both or neither"),
        (SIGN_IN._replace(authorize_url=None), "authorize_url and token_url go together; give both or neither"),
        (SIGN_IN._replace(authorize_url="http://evil.test/a"), "authorize_url must begin with https://"),
        (SIGN_IN._replace(authorize_url="https://u:canary@a.test/"), "authorize_url must not contain credentials"),
        (SIGN_IN._replace(token_url="https://a.test/t?x=1"), "token_url must not contain a query"),
        (SIGN_IN._replace(token_url="https://a.test/t#x"), "token_url must not contain a fragment"),
    ],
)
def test_what_a_service_cannot_be_is_told_without_its_values(home: Path, profile: Service, wrong: str) -> None:
    told = GROUPS["service"].fault(profile)
    assert told is not None and told.startswith(wrong)
    for create in (profiles.create, profiles.replace):
        with pytest.raises(HelmError) as caught:
            create(home, profile)
        assert (caught.value.code, caught.value.message) == (
            "usage",
            f"the profile {profile.name} is not possible: {told}",
        )
    assert "evil" not in told and "canary" not in told
    assert not home.exists()


@pytest.mark.contract("C16")
def test_a_base_url_that_was_made_unsafe_by_hand_is_not_used(home: Path) -> None:
    for base in ("http://127.0.0.1@evil.test", "http://localhost.evil.test", "https://evil.test/", "file:///etc"):
        path = by_hand(home, f'base_url = "{base}"\n')
        with pytest.raises(HelmError) as caught:
            profiles.load(home, "service", "s")
        assert caught.value.code == "state"
        assert caught.value.message.startswith(f"{path} cannot be used: base_url must ")
        assert "evil" not in caught.value.message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('header = "X-Api-Key"\n', "the key base_url is missing"),
        (f'base_url = "{BASE}"\nformat = "basic"\n', "the value of format must be"),
        (f'base_url = "{BASE}"\nredirect_port = "9000"\nclient_id = "c"\n', "the value of redirect_port must be"),
        (f'base_url = "{BASE}"\ncredential = "memory"\n', "the value of credential must be"),
        (f'base_url = "{BASE}"\nbase_ulr = "x"\n', "base_ulr"),
        (f'base_url = "{BASE}"\ntoken = "canary"\n', "token"),
    ],
)
def test_a_file_of_a_service_is_read_strictly(home: Path, text: str, wrong: str) -> None:
    path = by_hand(home, text)
    with pytest.raises(HelmError) as caught:
        profiles.load(home, "service", "s")
    assert caught.value.code == "state"
    assert caught.value.message.startswith(f"{path} cannot be used: ")
    assert wrong in caught.value.message and "canary" not in caught.value.message


def test_how_a_service_signs_in() -> None:
    assert [profile.sign_in for profile in (TOKEN, KEY, TOKEN._replace(credential=None), SIGN_IN)] == [
        "token",
        "token",
        "none",
        "oauth2",
    ]
    assert (TOKEN.account, SIGN_IN.account) == ("service/github/token", "service/cal/client-secret")


def test_a_secret_is_for_the_place_that_it_is_sent_to() -> None:
    """A base URL, a client and a token URL are such a place; how the token is written into a header is not."""
    token, client = TOKEN.secret_target_digest(), SIGN_IN.secret_target_digest()
    assert TOKEN._replace(header="X-Api-Key", format="raw", credential="file").secret_target_digest() == token
    assert TOKEN._replace(base_url=BASE).secret_target_digest() != token
    assert SIGN_IN._replace(redirect_port=1).secret_target_digest() == client
    for other in (SIGN_IN._replace(client_id="x"), SIGN_IN._replace(token_url=f"{BASE}/t")):
        assert other.secret_target_digest() != client
    for changed in (TOKEN._replace(header="X-Api-Key"), TOKEN._replace(format="raw"), TOKEN._replace(base_url=BASE)):
        assert changed.target_digest() != TOKEN.target_digest()
    assert TOKEN._replace(credential="file").target_digest() == TOKEN.target_digest()
