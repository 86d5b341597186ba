"""The checks of profiles try each for real: servers that answer, refuse, hang or are gone, sign-ins, and a keychain."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import profiles, signin
from helm_cli.broker.signin import Connected
from helm_cli.broker.stores import Stores
from helm_cli.drivers.oauth_token import Grant
from helm_cli.model.profile import Database, Profile, Server, Service
from tests import example
from tests.rig import doctor, mcp_calls, signing
from tests.rig.doctor import SECRET
from tests.rig.http_server import Peer, Received, answering, serving
from tests.rig.keyring_session import KeyringSession
from tests.rig.prompter import prompter

HOUR: Final = 3600.0
CLOSED: Final = "http://127.0.0.1:1"
HANGING: Final = 3


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    """Those of a home without a profile, in a folder of its own."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(tmp_path / "place" / "home")) as opened:
        yield opened


def add(stores: Stores, *added: tuple[Profile, str | None]) -> None:
    for profile, secret in added:
        doctor.add(stores, profile, secret)


def about(stores: Stores, *, offline: bool = False, seconds: float | None = None) -> list[str]:
    """The lines about profiles; nothing tells where they go to."""
    found = doctor.told(doctor.asked(stores.home, None, offline=offline, seconds=seconds), stores.home)
    lines = [line.replace(": profiles: ", ": ") for line in found if ": profiles: " in line]
    assert not any("127.0.0.1" in line for line in lines)
    return lines


class Scripted:
    """Answers as the path says; `together` once all those that hang were there at the same time."""

    def __init__(self) -> None:
        self.together = False
        self._all = threading.Barrier(HANGING)

    def __call__(self, peer: Peer, request: Received) -> None:
        if request.target == "/hangs":
            with suppress(threading.BrokenBarrierError):
                self._all.wait(timeout=10)
                self.together = True
            peer.hold()
        else:
            status = "401 Unauthorized" if request.target == "/401" else "200 OK"
            answering(status=status)(peer, request)


def test_each_profile_is_tried_beside_the_others(stores: Stores, tmp_path: Path) -> None:
    example.database(tmp_path / "app.db")
    script = Scripted()
    with serving(script) as server:
        add(
            stores,
            (Database("lite", "sqlite", path=str(tmp_path / "app.db")), None),
            (Database("no-file", "sqlite", path=str(tmp_path / "nothing.db")), None),
            (Service("answers", f"{server.url}/api"), SECRET),
            (Service("refuses", f"{server.url}/401"), SECRET),
            *((Service(f"hangs-{number}", f"{server.url}/hangs"), SECRET) for number in range(HANGING)),
            (Service("closed", CLOSED), None),
        )
        lines = about(stores, seconds=0.5)
    named = {line.split(": ")[1]: line for line in lines}
    assert list(named) == [
        *("db/lite", "db/no-file"),
        *("service/answers", "service/closed", "service/hangs-0", "service/hangs-1", "service/hangs-2"),
        "service/refuses",
    ]
    assert named["db/lite"] == f"ok: db/lite: SQLite {sqlite3.sqlite_version}, 1 table"
    assert named["service/answers"] == "ok: service/answers: the service answered 200 OK"
    for name, why in {
        "db/no-file": "does not exist",
        "service/closed": "",
        "service/hangs-0": "0.5 s",
        "service/hangs-2": "0.5 s",
        "service/refuses": "401 Unauthorized",
    }.items():
        group, _, profile = name.partition("/")
        assert named[name].startswith(f"not reachable: {name}: "), named[name]
        assert why in named[name], named[name]
        assert named[name].endswith(f" (next: helm {group} show {profile})")
    assert sorted(request.header("Authorization") for request in server.received) == [[f"Bearer {SECRET}"]] * 5
    assert script.together


def test_a_server_is_started_with_its_token_and_ended(stores: Stores, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    add(stores, (Server("m", mcp_calls.command("plain", log), token_env="SERVER_TOKEN"), SECRET))
    assert about(stores) == ["ok: mcp/m: misbehaving 1.0, protocol 2025-11-25, 35 tools"]
    assert all(mcp_calls.gone(group) for group in mcp_calls.groups(log))


def test_one_whose_command_is_gone_is_told(stores: Stores) -> None:
    add(stores, (Server("gone", ("/nonexistent/server",)), None))
    (line,) = about(stores)
    assert line.startswith("not reachable: mcp/gone: ") and "its command was not found" in line
    assert line.endswith(" (next: helm mcp show gone)")


def test_offline_nothing_is_contacted(stores: Stores, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with serving(answering()) as server:
        add(stores, (Service("s", server.url), SECRET), (Server("m", mcp_calls.command("plain", log)), None))
        assert about(stores, offline=True) == [
            "ok: service/s: sound, its secret in the file; not tried",
            "ok: mcp/m: sound; not tried",
        ]
    assert (server.connections, log.exists()) == (0, False)


class TestSignIns:
    """A profile that signs in by OAuth2 is tried with the token that it has; none is renewed."""

    def signed_in(self, stores: Stores, url: str, left: float) -> None:
        service = profiles.add(stores, Service("cal", url, client_id="id"), None, force=False)
        grant = Grant(SECRET, f"{SECRET}-refresh", ("a",), stores.clock() + left, HOUR)
        signin.keep(stores, service, grant, Connected(f"{url}/authorize", f"{url}/token", ("a",)))

    def test_before_the_first(self, stores: Stores) -> None:
        add(stores, (Service("cal", CLOSED, client_id="id"), None))
        told = "sound; not signed in to, for no enabled extension declares a sign-in to it"
        assert about(stores) == [f"ok: service/cal: {told}"]
        workspace = stores.home.parent.parent / "workspace"
        oauth2 = {"authorizeUrl": f"{CLOSED}/authorize", "tokenUrl": f"{CLOSED}/token", "scopes": ["a"]}
        doctor.approve(stores, workspace, signing.write(workspace, oauth2))
        told = "service/cal: cal is not connected (next: helm oauth connect cal)"
        assert about(stores) == [f"not reachable: {told}"]
        # What contacts nothing cannot tell what is reachable.
        assert about(stores, offline=True) == [f"warning: {told}"]

    def test_with_a_token_that_lives(self, stores: Stores) -> None:
        with serving(answering()) as server:
            self.signed_in(stores, server.url, HOUR)
            assert about(stores) == ["ok: service/cal: the service answered 200 OK"]
            assert about(stores, offline=True) == ["ok: service/cal: sound, signed in; not tried"]
            server.script = answering(status="401 Unauthorized")
            (line,) = about(stores)
        assert line.startswith("not reachable: service/cal: the service answered 401")
        assert [(request.method, request.header("Authorization")) for request in server.received] == [
            ("GET", [f"Bearer {SECRET}"])
        ] * 2

    def test_with_a_token_that_a_call_would_renew(self, stores: Stores) -> None:
        with serving(answering()) as server:
            self.signed_in(stores, server.url, 1.0)
            told = "signed in; not tried, for a call would renew its token first"
            assert about(stores) == [f"ok: service/cal: {told}"]
        assert server.connections == 0

    def test_whose_tokens_are_gone_or_open(self, stores: Stores) -> None:
        self.signed_in(stores, CLOSED, HOUR)
        (stores.home / "credentials.json").chmod(0o644)
        told = "not tried, for its secret is in credentials.json, which is open to other users"
        assert about(stores) == [f"warning: service/cal: {told} (next: see credentials.json above)"]
        (stores.home / "credentials.json").unlink()
        told = "the tokens of cal are gone from the file (next: helm oauth connect cal)"
        assert about(stores) == [f"not reachable: service/cal: {told}"]

    def test_that_cannot_be_read(self, stores: Stores) -> None:
        self.signed_in(stores, CLOSED, HOUR)
        stores.db.execute("UPDATE signins SET place = 'nowhere'")
        told = "state.db holds a sign-in to cal that cannot be read (next: helm oauth disconnect cal)"
        assert about(stores) == [f"broken: service/cal: {told}"]


@pytest.mark.contract("C11")
def test_a_keychain_is_asked_and_never_asks(
    stores: Stores, keyring: KeyringSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HELM_CLI_CREDENTIALS")
    with serving(answering()) as server:
        add(stores, (Service("s", server.url), SECRET))
        TestSignIns().signed_in(stores, server.url, HOUR)
        found = doctor.told(doctor.asked(stores.home, None, offline=True), stores.home)
        assert [line for line in found if ": secrets: " in line] == [
            "ok: secrets: store: new secrets go to the keychain",
            "ok: secrets: keychain: it answers",
        ]
        keyring.lock()
        with prompter(keyring.address, "open") as person:
            found = doctor.ill(doctor.asked(stores.home, None), stores.home)
            assert not person.asked.is_set()
        assert server.received == []
    reason = "the keychain is locked"
    assert found == [
        f"not reachable: secrets: keychain: {reason}; 2 secrets are in it (next: unlock it and try again)",
        *(
            f"not reachable: profiles: service/{name}: its secret is in the keychain, and {reason}"
            " (next: unlock it and try again)"
            for name in ("cal", "s")
        ),
    ]


def test_what_never_ends_holds_nobody(stores: Stores, tmp_path: Path) -> None:
    """A journal beside a database that is a FIFO is left alone by who reads the database."""
    example.database(tmp_path / "app.db")
    os.mkfifo(tmp_path / "app.db-journal")
    add(stores, (Database("lite", "sqlite", path=str(tmp_path / "app.db")), None))
    (line,) = about(stores, seconds=1.0)
    assert line.startswith("not reachable: db/lite: ")
