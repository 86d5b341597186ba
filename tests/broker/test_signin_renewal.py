"""Tokens renewed against a real service that rotates them, and a hostile one: once, whole, and never lost."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import profiles, renewal, signin, tokens
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.profile import Service
from helm_cli.store import signins
from tests.program import Helm, environment
from tests.rig import oidc, signing
from tests.rig.failing import failing
from tests.rig.keyring_session import KeyringSession
from tests.rig.oidc import Provider
from tests.rig.token_endpoint import ACCESS, ANSWERS, REFRESH, Answer, Endpoint, endpoint

CALL: Final = [sys.executable, "-m", "helm_cli", "call", "cal", "events"]
AGAIN: Final = "connect it again with: helm oauth connect cal"
OLD: Final = ("old-access-token", "old-refresh-token")
SECRET: Final = "a client secret"
SECRETS: Final = (*OLD, SECRET, ACCESS, REFRESH)
# `tests/proofs` has fifty at once.
ROUNDS: Final = 4


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    signing.without_a_rate(home)
    with closing(Stores(home)) as opened:
        yield opened


@pytest.fixture(scope="module")
def hostile() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with oidc.provider() as running:
        yield running


def _ready(helm: Helm, stores: Stores, provider: Provider, workspace: Path) -> Service:
    service = signing.sign_in(stores, provider)
    signing.approve(helm, workspace, provider.oauth2("calendar.read"))
    return service


def _signed_in(stores: Stores, token_url: str, left: float = 10.0, *, scopes: tuple[str, ...] = ("a", "b")) -> Service:
    """Signed in to the hostile service, with so many seconds of an hour left."""
    service = profiles.add(stores, Service("cal", "http://127.0.0.1:1/api", client_id="id"), SECRET, force=False)
    grant = Grant(*OLD, scopes, stores.clock() + left, 3600.0)
    signin.keep(stores, service, grant, Connected("http://127.0.0.1:1/auth", token_url, scopes))
    return service


def _calling(cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        CALL,
        cwd=cwd,
        env=environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _all_well(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b""), (out, err)
        assert out.startswith(b'{"ok":true,"status":200,"data":{"account":"ada"'), out


def _lock_is_free(stores: Stores, service: Service) -> None:
    """Waits for a renewal that works on after its call was killed."""
    with tokens.locked(stores, service, 20):
        return


@pytest.mark.contract("C62", "C63")
def test_eight_calls_at_once_renew_once_and_all_succeed(
    helm: Helm, stores: Stores, provider: Provider, tmp_path: Path
) -> None:
    _ready(helm, stores, provider, tmp_path)
    before = len(provider.renewals())
    for number in range(ROUNDS):
        signing.age(stores.home)
        _all_well([_calling(tmp_path) for _ in range(8)])
        assert provider.renewals()[before:] == [200] * (number + 1)
    assert [request for request in provider.seen() if request["header"] or request["scope"]] == []


@pytest.mark.contract("C10", "C63")
def test_eight_calls_at_once_renew_once_in_a_real_keychain(
    helm: Helm, home: Path, keyring: KeyringSession, provider: Provider, tmp_path: Path
) -> None:
    signing.without_a_rate(home)
    with closing(Stores(home)) as stores:
        _ready(helm, stores, provider, tmp_path)
        before = len(provider.renewals())
        for number in range(2):
            signing.age(home)
            _all_well([_calling(tmp_path) for _ in range(8)])
            assert provider.renewals()[before:] == [200] * (number + 1)
    assert {*keyring.secrets()} == {
        f"service/cal/{name}" for name in ("access-token", "client-secret", "refresh-token")
    }
    assert not (home / "credentials.json").exists()


@pytest.mark.contract("C63")
def test_a_call_killed_while_it_renews_loses_nothing(helm: Helm, stores: Stores, tmp_path: Path) -> None:
    """The service has taken the old refresh token, and holds its answer back, when helm is killed."""
    with oidc.provider(slow_ms=100) as provider:
        service = _ready(helm, stores, provider, tmp_path)
        for number in range(1, 7):
            signing.age(stores.home)
            process = _calling(tmp_path)
            give_up = time.monotonic() + 20
            while len(provider.renewals()) < number:
                assert time.monotonic() < give_up and process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
            assert process.communicate() == (b"", b"")
            _lock_is_free(stores, service)
            # Another renewal with the dead token would end the whole sign-in.
            assert helm("call", "cal", "events", cwd=tmp_path).json["ok"]
            assert provider.renewals() == [200] * number


@pytest.mark.contract("C64")
def test_a_sign_in_that_the_service_ended_is_told_and_kept_as_ended(
    helm: Helm, stores: Stores, provider: Provider, tmp_path: Path
) -> None:
    service = _ready(helm, stores, provider, tmp_path)
    # Somebody else used the refresh token: the service ends all that came of it.
    from helm_cli.drivers import oauth_token

    client = oauth_token.Client(provider.token_url, provider.client_id, provider.client_secret)
    oauth_token.renew(client, signing.kept(stores.home, "refresh-token"), asked=(), now=time.time())
    signing.age(stores.home)
    told = "the sign-in to cal ended: the service does not renew it any more (invalid_grant)"
    asked = len(provider.renewals())
    for _ in range(2):
        finished = helm("call", "cal", "events", cwd=tmp_path)
        assert finished.status == 5
        assert finished.json == {
            "ok": False,
            "data": None,
            "error": {"code": "not_authorized", "message": f"{told}; {AGAIN}"},
        }
    # The second call does not ask in vain.
    assert provider.renewals()[asked:] == [400]
    signin.keep(
        stores,
        service,
        signing.grant(provider),
        Connected(provider.authorize_url, provider.token_url, signing.ASKED),
    )
    assert helm("call", "cal", "events", cwd=tmp_path).json["ok"]


@pytest.mark.contract("C63")
def test_a_token_that_the_service_does_not_take_is_renewed_by_the_next_call(
    helm: Helm, stores: Stores, provider: Provider, tmp_path: Path
) -> None:
    service = _ready(helm, stores, provider, tmp_path)
    found = signins.find(stores.db, "cal")
    assert found is not None
    tokens.write(stores, service, found, "access-token", "a-token-that-is-not-known")
    signins.save(stores.db, found._replace(expires=None, life=None))
    before = len(provider.renewals())
    refused = helm("call", "cal", "events", cwd=tmp_path)
    assert refused.status == 12
    assert refused.json == {
        "ok": False,
        "status": 401,
        "data": {"error": "invalid_token"},
        "error": {
            "code": "http_error",
            "message": "the service answered 401 Unauthorized; check the sign-in or the token of cal; if a second call"
            f" is refused too, {AGAIN}",
        },
    }
    assert len(provider.renewals()) == before
    assert helm("call", "cal", "events", cwd=tmp_path).json["ok"]
    assert provider.renewals()[before:] == [200]


# What a renewal leaves in the store, by what the service answers; `tests/drivers/test_oauth_token.py` has all of them.
GOOD: Final = (ACCESS, REFRESH)
LASTING: Final[dict[str, tuple[tuple[str, str], tuple[str, ...], float | None]]] = {
    "good": (GOOD, ("a", "b"), 3600.0),
    "no-expires": (GOOD, ("a", "b"), None),
    "expires-zero": (GOOD, ("a", "b"), 0.0),
    "no-scope": (GOOD, ("a", "b"), 3600.0),
    "scope-fewer": (GOOD, ("a",), 3600.0),
    "no-refresh": ((ACCESS, OLD[1]), ("a", "b"), 3600.0),
}
OVER: Final = ("invalid-grant", "error-200")
MORE: Final = "scope-more"
PASSING: Final = ("html-502", "elsewhere", "invalid-client", "invalid-grant-500", "too-many", "access-lines", "form")


def _state(stores: Stores) -> tuple[Any, ...]:
    return (
        signins.find(stores.db, "cal"),
        signing.kept(stores.home, "access-token"),
        signing.kept(stores.home, "refresh-token"),
    )


@pytest.mark.parametrize("path", LASTING)
def test_what_the_service_grants_is_stored_and_used(stores: Stores, hostile: Endpoint, path: str) -> None:
    service = _signed_in(stores, hostile.url(path))
    assert signin.token(stores, service) == ACCESS
    row, *pair = _state(stores)
    stored, scopes, life = LASTING[path]
    assert tuple(pair) == stored
    assert (row.scopes, row.life, row.refreshable, row.ended) == (scopes, life, True, None)
    assert row.expires is None if life is None else abs(row.expires - time.time() - life) < 30


@pytest.mark.contract("C64")
@pytest.mark.parametrize("path", OVER)
@pytest.mark.parametrize("left", [-1.0, 10.0], ids=["ended", "ending"])
def test_an_end_is_an_end(stores: Stores, hostile: Endpoint, path: str, left: float) -> None:
    service = _signed_in(stores, hostile.url(path), left)
    told = f"the sign-in to cal ended: the service does not renew it any more (invalid_grant); {AGAIN}"
    for _ in range(2):
        with failing("not_authorized", told, *SECRETS):
            signin.token(stores, service)
    row = signins.find(stores.db, "cal")
    assert row is not None and row.ended == "the service does not renew it any more (invalid_grant)"


@pytest.mark.contract("C59")
def test_a_renewal_that_grants_more_than_was_declared_ends_the_sign_in(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url(MORE))
    told = f"the sign-in to cal ended: the service granted what no extension had declared (admin); {AGAIN}"
    with failing("not_authorized", told, *SECRETS):
        signin.token(stores, service)
    assert _state(stores)[1:] == OLD


@pytest.mark.parametrize("path", PASSING)
def test_a_service_in_trouble_changes_nothing(stores: Stores, hostile: Endpoint, path: str) -> None:
    service = _signed_in(stores, hostile.url(path))
    before = _state(stores)
    # There are ten seconds left.
    assert signin.token(stores, service) == OLD[0]
    assert _state(stores) == before
    signing.age(stores.home)
    before = _state(stores)
    with pytest.raises(Exception) as caught:
        signin.token(stores, service)
    assert getattr(caught.value, "code", None) == "unavailable"
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert _state(stores) == before


def test_offline_access_stays_granted_as_long_as_there_is_a_refresh_token(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("no-refresh"), scopes=("a", "b", "offline_access"))
    assert signin.token(stores, service) == ACCESS
    assert signin.current(stores, service).scopes == ("a", "b", "offline_access")


def test_an_answer_that_comes_late_is_kept_all_the_same(stores: Stores, hostile: Endpoint) -> None:
    waited = threading.Event()

    def late() -> Answer:
        waited.wait(20)
        return ANSWERS["good"]

    service = _signed_in(stores, hostile.answer("late", late), -1.0)
    with failing("unavailable", "the sign-in to cal was not renewed within 0.3 seconds; try again", *SECRETS):
        signin.token(stores, service, seconds=0.3)
    assert _state(stores)[1:] == OLD
    asked = len(hostile.forms)
    waited.set()
    # The next call waits for what was begun, and asks for nothing.
    assert signin.token(stores, service) == ACCESS
    assert len(hostile.forms) == asked


def test_a_renewal_of_somebody_else_is_not_waited_for_without_end(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("good"))
    with tokens.locked(stores, service, 0):
        assert signin.token(stores, service, seconds=0.1) == OLD[0]
        signing.age(stores.home)
        told = "another helm has been busy with the sign-in to cal for over 0.1 s; try again"
        with failing("unavailable", told, *SECRETS):
            signin.token(stores, service, seconds=0.1)
    assert signin.token(stores, service) == ACCESS


def test_a_store_that_takes_nothing_keeps_the_refresh_token_from_being_sent(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("good"), -1.0)
    (stores.home / "credentials.lock").unlink()
    (stores.home / "credentials.lock").mkdir()
    asked = len(hostile.forms)
    told = f"{stores.home}/credentials.lock cannot be used: a folder stands where a file should be; move it away"
    with failing("state", told, *SECRETS):
        signin.token(stores, service)
    assert len(hostile.forms) == asked
    (stores.home / "credentials.lock").rmdir()
    assert signin.token(stores, service) == ACCESS


@pytest.mark.contract("C61")
def test_a_client_secret_that_must_be_entered_again_is_not_sent(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("good"), -1.0)
    with closing(sqlite3.connect(stores.home / "state.db")) as db, db:
        db.execute("UPDATE targets SET digest = 'other' WHERE account LIKE '%/token-url'")
    asked = len(hostile.forms)
    told = (
        "the token URL of cal changed; enter its secret again with: helm service edit cal --ask-client-secret"
        " (or --client-secret-stdin)"
    )
    with failing("not_configured", told, *SECRETS):
        signin.token(stores, service)
    assert len(hostile.forms) == asked


def test_a_renewal_that_dies_is_told(stores: Stores, hostile: Endpoint) -> None:
    def deadly() -> Answer:
        for found in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if b"renewal" in (words := found.read_bytes()) and str(stores.home).encode() in words:
                    os.kill(int(found.parent.name), signal.SIGKILL)
        return ANSWERS["good"]

    service = _signed_in(stores, hostile.answer("deadly", deadly), -1.0)
    with failing("unavailable", "the renewal of the sign-in to cal broke off; try again", *SECRETS):
        signin.token(stores, service)


def test_a_sign_in_that_was_taken_away_is_not_renewed(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("good"), -1.0)
    signins.forget(stores.db, "cal")
    asked = len(hostile.forms)
    with tokens.locked(stores, service, 0) as held, failing("not_authorized", f"cal is not connected; {AGAIN}"):
        renewal.run(stores, service, held, 20.0)
    assert len(hostile.forms) == asked


def test_what_the_renewal_has_to_say_is_said_by_the_call(stores: Stores, hostile: Endpoint) -> None:
    service = _signed_in(stores, hostile.url("good"), -1.0)
    told: list[str] = []
    stores.notice = told.append
    path = stores.home / "credentials.json"
    path.chmod(0o644)
    assert signin.token(stores, service) == ACCESS
    assert told == [f"{path} was open to other users (mode 0644) and is closed to them now (mode 0600)"]


def test_a_renewal_that_cannot_be_started_is_told(
    stores: Stores, hostile: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade that took the interpreter away."""
    service = _signed_in(stores, hostile.url("good"))
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert signin.token(stores, service) == OLD[0]
    signing.age(stores.home)
    reason = "no process can be started for it: no such file or directory"
    with failing("unavailable", f"the sign-in to cal cannot be renewed: {reason}", *SECRETS):
        signin.token(stores, service)


def test_a_renewal_that_fails_of_itself_says_so_and_asks_nobody(
    stores: Stores, hostile: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with an installation that is broken: what it imports first is what this process would."""
    service = _signed_in(stores, hostile.url("good"), -1.0)
    (tmp_path / "httpx.py").write_text(f"raise ZeroDivisionError({SECRET!r})")
    monkeypatch.syspath_prepend(tmp_path)
    asked = len(hostile.forms)
    with failing("internal", "the renewal of the sign-in to cal failed (ZeroDivisionError)", *SECRETS):
        signin.token(stores, service)
    assert len(hostile.forms) == asked
    assert _state(stores)[1:] == OLD


def test_a_folder_that_somebody_filled_is_not_imported_from(
    stores: Stores, hostile: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder of a call may be anybody's."""
    service = _signed_in(stores, hostile.url("good"), -1.0)
    for name in ("json", "signal", "helm_cli", "subprocess"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert signin.token(stores, service) == ACCESS
    assert not (tmp_path / "imported").exists()


@pytest.mark.contract("C60")
def test_no_secret_is_anywhere_but_in_the_store(helm: Helm, stores: Stores, hostile: Endpoint, tmp_path: Path) -> None:
    """While a renewal runs, in what all processes were started with; after it, in all files and all that was said."""
    seen: list[bytes] = []

    def looking() -> Answer:
        for found in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                with suppress(OSError):
                    seen.append((found / name).read_bytes())
        return ANSWERS["good"]

    url = hostile.answer("looking", looking)
    _signed_in(stores, url, -1.0)
    signing.approve(helm, tmp_path, {"authorizeUrl": "http://127.0.0.1:1/auth", "tokenUrl": url, "scopes": ["a"]})
    finished = helm("call", "cal", "events", cwd=tmp_path)
    assert finished.status == 10, finished
    assert any(b"renewal" in words and str(stores.home).encode() in words for words in seen)
    files = [path for folder in (stores.home, tmp_path) for path in folder.rglob("*") if path.is_file()]
    told = [path.read_bytes() for path in files if path.name != "credentials.json"]
    for output in (*seen, *told, finished.out.encode(), finished.err.encode()):
        assert not any(secret.encode() in output for secret in SECRETS)
    assert signing.kept(stores.home, "access-token") == ACCESS
