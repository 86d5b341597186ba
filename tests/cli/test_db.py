"""`helm db` as a program: profiles added once, changed, listed and removed; passwords only in the credential store."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import Finished, Helm, environment
from tests.rig.keyring_session import KeyringSession
from tests.rig.terminal import CTRL_C, ENTER, at_terminal

SECRET = "canary-8f1d"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
SERVER = ("--host", "db.test", "--database", "shop", "--user", "me")
AGAIN = "enter its secret again with: helm db edit shop --ask-password (or --password-stdin)"


def add(helm: Helm, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Finished:
    return helm("db", "add", *words, stdin=stdin, env=env if env is not None else FILE)


@pytest.mark.contract("C15")
def test_the_three_engines_are_added_and_listed(helm: Helm, home: Path, tmp_path: Path) -> None:
    assert add(helm, "local-app", "--engine", "sqlite", "--path", "app.db").err == (
        "helm: added the sqlite profile local-app\n"
        f"helm: there is no file {Path.cwd() / 'app.db'} yet; helm never creates it\n"
    )
    assert add(helm, "shop", "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET + "\n").err == (
        "helm: added the postgres profile shop, its password in the file\n"
    )
    assert add(helm, "old", "--engine", "mysql", *SERVER, "--port", "3307").status == 0
    assert helm("db", "list").out == (
        "local-app\tsqlite\t" + str(Path.cwd() / "app.db") + "\t\t\t\n"
        "old\tmysql\tdb.test:3307/shop\tme\trequire\t\n"
        "shop\tpostgres\tdb.test:5432/shop\tme\trequire\tfile\n"
    )
    assert [row["name"] for row in helm("db", "list", "-o", "json").json] == ["local-app", "old", "shop"]
    assert helm("db", "show", "shop", "-o", "json").json == {
        "name": "shop",
        "engine": "postgres",
        "host": "db.test",
        "port": 5432,
        "database": "shop",
        "user": "me",
        "tls": "require",
        "credential": "file",
    }


@pytest.mark.contract("C11", "C14")
def test_without_a_keychain_the_password_is_in_one_private_file_and_nowhere_else(helm: Helm, home: Path) -> None:
    ended = helm("db", "add", "shop", "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET)
    assert ended.status == 0
    assert "credentials.json" in ended.err.splitlines()[0]
    assert stat.S_IMODE((home / "credentials.json").stat().st_mode) == 0o600
    holding = [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holding == [home / "credentials.json"]
    for words in (("db", "show", "shop"), ("db", "list"), ("db", "show", "shop", "-o", "json"), ("history", "--all")):
        told = helm(*words)
        assert SECRET not in told.out + told.err
    assert list(Path.cwd().iterdir()) == []
    assert helm("db", "remove", "shop").status == 0
    assert [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []


@pytest.mark.contract("C10")
def test_with_a_keychain_the_password_is_there_and_nowhere_else(
    helm: Helm, home: Path, keyring: KeyringSession
) -> None:
    ended = helm(
        "db", "add", "shop", "--engine", "mysql", *SERVER, "--password-stdin", stdin=SECRET, env=keyring.environment
    )
    assert (ended.status, ended.err) == (0, "helm: added the mysql profile shop, its password in the keychain\n")
    assert [value.endswith(SECRET) for value in keyring.secrets().values()] == [True]
    assert not (home / "credentials.json").exists()
    assert [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
    assert helm("db", "remove", "shop", env=keyring.environment).status == 0
    assert keyring.secrets() == {}


def test_a_second_add_is_refused_and_force_replaces(helm: Helm, home: Path) -> None:
    add(helm, "shop", "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET)
    again = add(helm, "shop", "--engine", "sqlite", "--path", "x.db")
    assert (again.status, "exists" in again.err) == (15, True)
    for _ in range(2):
        assert add(helm, "shop", "--engine", "sqlite", "--path", "x.db", "--force").status == 0
    assert helm("db", "show", "shop", "-o", "json").json["engine"] == "sqlite"
    assert SECRET not in (home / "credentials.json").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "sqlite", "--path", "x"), "NAME is missing"),
        (("shop",), "--engine is missing"),
        (("shop", "--engine", "oracle"), "--engine takes sqlite, postgres or mysql"),
        (("shop", "--engine", "sqlite"), "--path is missing"),
        (("shop", "--engine", "postgres", "--host", "h"), "--database is missing"),
        (("shop", "--engine", "sqlite", "--path", "x", "--host", "h"), "--host does not go with the engine sqlite"),
        (("shop", "--engine", "mysql", *SERVER, "--path", "x"), "--path does not go with the engine mysql"),
        (("shop", "--engine", "sqlite", "--path", "x", "--password-stdin"), "a SQLite file has no password"),
        (("../evil", "--engine", "sqlite", "--path", "x"), "cannot be the name of a profile"),
        (("shop", "--engine", "mysql", *SERVER, "--password-stdin"), "the password on standard input is empty"),
    ],
)
def test_without_a_terminal_what_is_missing_or_wrong_is_named(
    helm: Helm, home: Path, words: tuple[str, ...], message: str
) -> None:
    ended = add(helm, *words)
    assert (ended.status, message in ended.err) == (2, True)
    assert not (home / "profiles" / "db").exists() or list((home / "profiles" / "db").iterdir()) == []


def test_an_edit_keeps_comments_and_what_was_not_given(helm: Helm, home: Path) -> None:
    add(helm, "shop", "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET)
    file = home / "profiles" / "db" / "shop.toml"
    file.write_text("# the shop's own server\n" + file.read_text())
    ended = helm("db", "edit", "shop", "--database", "shop2", env=FILE)
    assert (ended.status, ended.err) == (0, "helm: changed the postgres profile shop\n")
    assert file.read_text() == (
        '# the shop\'s own server\nengine = "postgres"\nhost = "db.test"\nport = 5432\n'
        'database = "shop2"\nuser = "me"\ncredential = "file"\n'
    )
    assert helm("db", "edit", "shop", env=FILE).status == 2
    assert helm("db", "edit", "nope", "--host", "x", env=FILE).status == 4


def test_a_secret_is_not_used_for_another_target(helm: Helm, home: Path) -> None:
    """By edit, by hand, and by what another home kept under the same name."""
    add(helm, "shop", "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET)
    ended = helm("db", "edit", "shop", "--host", "evil.test", env=FILE)
    assert ended.err.splitlines()[0] == f"helm: the target of shop changed; before you use it, {AGAIN}"
    assert_not_used(helm("db", "test", "shop", env=FILE))
    assert helm("db", "edit", "shop", "--host", "db.test", env=FILE).status == 0
    file = home / "profiles" / "db" / "shop.toml"
    file.write_text(file.read_text().replace("db.test", "evil.test"))
    assert_not_used(helm("db", "test", "shop", env=FILE))
    file.write_text(file.read_text().replace("evil.test", "db.test"))
    credentials = json.loads((home / "credentials.json").read_text())
    other = dict.fromkeys(credentials, "0" * 64 + " " + SECRET)
    (home / "credentials.json").write_text(json.dumps(other))
    told = "what credentials.json has as the secret of shop was entered in another home of helm's"
    assert_not_used(helm("db", "test", "shop", env=FILE), told)


def assert_not_used(ended: Finished, why: str = "the target of shop changed") -> None:
    assert (ended.status, ended.err) == (4, f"helm: {why}; {AGAIN}\n")


def test_a_profile_is_tried(helm: Helm, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "app.db") as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    add(helm, "local-app", "--engine", "sqlite", "--path", str(tmp_path / "app.db"))
    answer = f"SQLite {sqlite3.sqlite_version}, 1 table"
    assert helm("db", "test", "local-app").out == f"local-app: {answer}\n"
    told = helm("db", "test", "local-app", "-o", "json")
    assert (told.status, told.json) == (0, {"name": "local-app", "ok": True, "answer": answer, "error": None})
    (tmp_path / "app.db").unlink()
    ended = helm("db", "test", "local-app")
    assert (ended.status, ended.out) == (10, "")
    told = helm("db", "test", "local-app", "-o", "json")
    assert (told.status, told.json["ok"], told.json["error"]["code"]) == (10, False, "unavailable")
    assert told.err == ended.err == f"helm: {told.json['error']['message']}\n"


def test_twenty_adds_at_once_lose_no_profile_and_no_password(helm: Helm, home: Path) -> None:
    running = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "helm_cli", "db", "add", f"shop-{number}"),
                *("--engine", "postgres", *SERVER, "--password-stdin"),
            ],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(FILE),
        )
        for number in range(20)
    ]
    for number, process in enumerate(running):
        _, err = process.communicate(f"{SECRET}{number}".encode(), timeout=60)
        assert (process.returncode, err) == (
            0,
            f"helm: added the postgres profile shop-{number}, its password in the file\n".encode(),
        )
    assert len(helm("db", "list", "-o", "json").json) == 20
    kept = json.loads((home / "credentials.json").read_text())
    assert {name: value.rpartition(" ")[2] for name, value in kept.items()} == {
        f"db/shop-{number}/password": f"{SECRET}{number}" for number in range(20)
    }


def test_a_person_is_asked_for_what_is_missing(home: Path) -> None:
    command = (sys.executable, "-m", "helm_cli", "db", "add", "local-app")
    with at_terminal(*command) as screen:
        screen.wait_for("Engine")
        screen.send(ENTER)
        screen.wait_for("SQLite file")
        screen.send(b"app.db", ENTER)
        assert screen.status() == 0
    assert (home / "profiles" / "db" / "local-app.toml").read_text() == (
        f'engine = "sqlite"\npath = "{os.getcwd()}/app.db"\n'
    )


def test_a_wizard_that_is_cancelled_leaves_no_trace(home: Path) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "db", "add", "local-app") as screen:
        screen.wait_for("Engine")
        screen.send(CTRL_C)
        assert screen.status() == 6
    assert not (home / "profiles").exists()


def test_a_password_is_typed_unseen(home: Path) -> None:
    words = ("db", "add", "shop", "--engine", "postgres", *SERVER)
    with at_terminal(sys.executable, "-m", "helm_cli", *words, env=FILE) as screen:
        screen.wait_for("Password of shop")
        screen.send(SECRET.encode(), ENTER)
        assert screen.status() == 0
        assert SECRET.encode() not in screen.raw
    assert SECRET in (home / "credentials.json").read_text()


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize(
    ("words", "question"),
    [(("add", "app"), "Engine"), (("add", "shop", "--engine", "postgres", *SERVER), "Password of")],
)
def test_a_signal_gives_the_terminal_back(home: Path, ends: int, words: tuple[str, ...], question: str) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "db", *words) as screen:
        before = screen.attributes()
        screen.wait_for(question)
        screen.process.send_signal(ends)
        assert screen.status() == 128 + ends
        assert screen.attributes() == before
        # Bracketed paste is off.
        assert screen.raw.rfind(b"\x1b[?2004l") > screen.raw.rfind(b"\x1b[?2004h")
    assert not (home / "profiles").exists()


@pytest.mark.parametrize("host", ["postgres://u:canary@h/d", "a,b", "a b", "u@h", "h/d", "h\nx", "\x1b[31m"])
def test_a_host_is_one_host(helm: Helm, home: Path, host: str) -> None:
    ended = add(helm, "shop", "--engine", "postgres", "--host", host, "--database", "d", "--user", "u")
    assert (ended.status, ended.err) == (
        2,
        "helm: the profile shop is not possible: host must be the name or the address of one host, not a URL\n",
    )
    assert not (home / "profiles" / "db" / "shop.toml").exists()
