"""`helm doctor` tries each profile for real: servers that answer, refuse, hang or are gone, or never say a word."""

import os
import signal
import socket
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker.stores import Stores
from helm_cli.model.profile import Database, Profile, Server, Service
from tests import example
from tests.program import Helm, begun, run
from tests.rig import doctor, mcp_calls
from tests.rig.doctor import SECRET, SURROUNDINGS, Clinic
from tests.rig.http_server import Peer, Received, answering, serving

CLOSED: Final = "http://127.0.0.1:1"


@pytest.fixture
def clinic(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """A home without a profile, and the folder that MCP servers are started in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, value in {**SURROUNDINGS, "HELM_CLI_HOME": str(tmp_path / "place" / "home")}.items():
        monkeypatch.setenv(name, value)
    return Clinic(helm, tmp_path / "place" / "home", tmp_path / "here")


def add(clinic: Clinic, *added: tuple[Profile, str | None]) -> None:
    with closing(Stores(clinic.home)) as stores:
        for profile, secret in added:
            doctor.add(stores, profile, secret)


def about(clinic: Clinic, *words: str, **env: str | None) -> tuple[int, list[str]]:
    """The exit status, and the lines about profiles; nothing tells where they go to."""
    done = clinic.run(*words, env=env)
    lines = [line for line in done.out.splitlines() if ": profiles: " in line]
    assert not any("127.0.0.1" in line for line in lines)
    return done.status, [line.replace(": profiles: ", ": ") for line in lines]


HANGING: Final = 3


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


def test_each_profile_is_tried_beside_the_others(clinic: Clinic, tmp_path: Path) -> None:
    example.database(tmp_path / "app.db")
    log = tmp_path / "silent.log"
    script = Scripted()
    with serving(script) as server:
        add(
            clinic,
            (Database("lite", "sqlite", path=str(tmp_path / "app.db")), None),
            (Database("no-file", "sqlite", path=str(tmp_path / "nothing.db")), None),
            (Database("pg", "postgres", host="127.0.0.1", port=1, database="d", user="u"), SECRET),
            (Database("my", "mysql", host="127.0.0.1", port=1, database="d", user="u"), SECRET),
            (Service("answers", f"{server.url}/api"), SECRET),
            (Service("refuses", f"{server.url}/401"), SECRET),
            *((Service(f"hangs-{number}", f"{server.url}/hangs"), SECRET) for number in range(HANGING)),
            (Service("closed", CLOSED), None),
            (Server("silent", mcp_calls.command("silent", log)), None),
            (Server("gone", ("/nonexistent/server",)), None),
        )
        status, lines = about(clinic, "--timeout", "2")
    named = {line.split(": ")[1]: line for line in lines}
    assert list(named) == [
        *("db/lite", "db/my", "db/no-file", "db/pg"),
        *("service/answers", "service/closed", "service/hangs-0", "service/hangs-1", "service/hangs-2"),
        *("service/refuses", "mcp/gone", "mcp/silent"),
    ]
    assert named["db/lite"].startswith("ok: db/lite: SQLite ")
    assert named["service/answers"] == "ok: service/answers: the service answered 200 OK"
    for name, why in {
        "db/no-file": "does not exist",
        "db/pg": "nothing answers at the profile's host and port",
        "db/my": "",
        "service/closed": "",
        "service/hangs-0": "2 s",
        "service/hangs-2": "2 s",
        "service/refuses": "401 Unauthorized",
        "mcp/gone": "its command was not found",
        "mcp/silent": "was not ready within 2 s",
    }.items():
        group, _, profile = name.partition("/")
        assert named[name].startswith(f"not reachable: {name}: "), named[name]
        assert why in named[name], named[name]
        assert named[name].endswith(f" (next: helm {group} show {profile})")
    assert status == 10
    assert sorted(request.header("Authorization") for request in server.received) == [[f"Bearer {SECRET}"]] * 5
    assert script.together
    assert all(mcp_calls.gone(group) for group in mcp_calls.groups(log))


def test_where_all_answer_all_is_well(clinic: Clinic, tmp_path: Path) -> None:
    example.database(tmp_path / "app.db")
    log = tmp_path / "server.log"
    with serving(answering()) as server:
        add(
            clinic,
            (Database("lite", "sqlite", path=str(tmp_path / "app.db")), None),
            (Service("s", server.url), SECRET),
            (Server("m", mcp_calls.command("plain", log), token_env="SERVER_TOKEN"), SECRET),
        )
        assert about(clinic) == (
            0,
            [
                f"ok: db/lite: SQLite {sqlite3.sqlite_version}, 1 table",
                "ok: service/s: the service answered 200 OK",
                "ok: mcp/m: misbehaving 1.0, protocol 2025-11-25, 35 tools",
            ],
        )
    assert all(mcp_calls.gone(group) for group in mcp_calls.groups(log))


def test_what_never_ends_holds_nobody(clinic: Clinic, tmp_path: Path) -> None:
    """A CA file, a journal beside a database and a program that are FIFOs, and servers that say no word."""
    example.database(tmp_path / "app.db")
    for name in ("ca", "app.db-journal", "helm"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "helm").chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        place = {"host": "127.0.0.1", "port": mute.getsockname()[1], "database": "d", "user": "u", "tls": "require"}
        add(
            clinic,
            (Database("lite", "sqlite", path=str(tmp_path / "app.db")), None),
            (Database("my", "mysql", **place, tls_ca=str(tmp_path / "ca")), SECRET),
            (Database("pg", "postgres", **place, tls_ca=str(tmp_path / "ca")), SECRET),
            (Database("mute", "postgres", **place), SECRET),
        )
        begun_at = time.monotonic()
        status, lines = about(clinic, "--timeout", "1", PATH=f"{tmp_path}:{os.environ['PATH']}")
        assert time.monotonic() - begun_at < 15
    named = {line.split(": ")[1]: line for line in lines}
    assert [*named] == ["db/lite", "db/mute", "db/my", "db/pg"] and status == 10
    assert all(line.startswith("not reachable: ") for line in lines)
    for name in ("db/my", "db/pg"):
        assert "is not a regular file; name another with --tls-ca" in named[name]


def test_many_profiles_share_one_copy_of_a_large_state(clinic: Clinic) -> None:
    add(clinic, *((Service(f"s{number}", CLOSED), SECRET) for number in range(9)))
    with closing(Stores(clinic.home)) as stores:
        stores.db.execute("CREATE TABLE large AS SELECT zeroblob(40 * 1024 * 1024)")
    measured = "import sys; from helm_cli.__main__ import main; from tests.rig.memory import peak"
    measured += "; status = main(['doctor', '--offline']); print(peak(), file=sys.stderr); sys.exit(status)"
    ended = run([sys.executable, "-c", measured])
    assert ended.status == 0
    # In KiB: the program itself, the state twice, and not nine times.
    assert int(ended.err.splitlines()[-1]) < 200 * 1024


def test_what_is_broken_wins_over_what_is_not_reachable(clinic: Clinic) -> None:
    add(clinic, (Service("closed", CLOSED), None))
    assert about(clinic)[0] == 10
    (clinic.home / "profiles" / "db").mkdir(mode=0o700)
    (clinic.home / "profiles" / "db" / "none.toml").write_text("=")
    assert about(clinic)[0] == 1


def test_a_keychain_that_never_says_a_word_is_given_up(clinic: Clinic, tmp_path: Path) -> None:
    add(clinic, (Service("s", CLOSED, credential="keychain"), None))
    (clinic.home / "profiles/service/s.toml").write_text(f'base_url = "{CLOSED}"\ncredential = "keychain"\n')
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "bus"))
        mute.listen()
        began = time.monotonic()
        found = clinic.look(env={"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus"})
    assert time.monotonic() - began < 8
    reason = "no keychain can be reached: the session bus does not answer"
    step = "(next: make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file)"
    assert found == (
        10,
        [
            f"not reachable: secrets: keychain: {reason}; 1 secret is in it {step}",
            f"not reachable: profiles: service/s: its secret is in the keychain, and {reason} {step}",
        ],
        "2 problems: keychain, service/s",
    )


def test_an_interrupt_ends_it_at_once_and_all_that_it_started(clinic: Clinic, tmp_path: Path) -> None:
    log = tmp_path / "silent.log"
    add(clinic, (Server("silent", mcp_calls.command("silent", log)), None))
    with begun("doctor") as process:
        ends = time.monotonic() + 20
        while not mcp_calls.groups(log):
            assert time.monotonic() < ends
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        out, err = process.communicate()
    assert (out, err) == ("", "")
    assert all(mcp_calls.gone(group) for group in mcp_calls.groups(log))
