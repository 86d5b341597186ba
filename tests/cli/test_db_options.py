"""`helm db add` and `edit` beyond a host: TLS, sockets, connection URLs, and the way out of a broken file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.program import Finished, Helm
from tests.rig.terminal import ENTER, at_terminal

SECRET = "canary-2b7e"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
SERVER = ("--host", "db.test", "--database", "shop", "--user", "me")


def add(helm: Helm, *words: str, url: str | None = None, stdin: str = "") -> Finished:
    return helm("db", "add", "shop", *words, env={**FILE, "DB_URL": url}, stdin=stdin)


def edit(helm: Helm, *words: str, url: str | None = None, stdin: str = "") -> Finished:
    return helm("db", "edit", "shop", *words, env={**FILE, "DB_URL": url}, stdin=stdin)


def profile(helm: Helm) -> Any:
    return helm("db", "show", "shop", "-o", "json").json


def password(home: Path) -> str | None:
    file = home / "credentials.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    return str(kept["db/shop/password"]).rpartition(" ")[2] if "db/shop/password" in kept else None


@pytest.mark.contract("C15")
def test_tls_and_its_authority_are_kept_and_shown(helm: Helm, tmp_path: Path) -> None:
    ca = str(tmp_path / "ca.pem")
    assert add(helm, "--engine", "mysql", *SERVER, "--tls", "verify-full", "--tls-ca", ca).status == 0
    assert profile(helm) == {
        "name": "shop",
        "engine": "mysql",
        "host": "db.test",
        "port": 3306,
        "database": "shop",
        "user": "me",
        "tls": "verify-full",
        "tls_ca": ca,
    }
    assert helm("db", "list").out == "shop\tmysql\tdb.test:3306/shop\tme\tverify-full\t\n"
    assert edit(helm, "--tls", "disable").status == 0
    assert {"tls": "disable", "tls_ca": None}.items() <= {"tls_ca": None, **profile(helm)}.items()


@pytest.mark.parametrize(("engine", "port"), [("postgres", {"port": 5432}), ("mysql", {})])
def test_a_socket_takes_the_place_of_a_host(helm: Helm, engine: str, port: dict[str, int]) -> None:
    ended = add(helm, "--engine", engine, "--socket", "run", "--database", "d", "--user", "me")
    assert ended.err == f"helm: added the {engine} profile shop\n"
    whole = {"name": "shop", "engine": engine, "database": "d", "user": "me"}
    assert profile(helm) == {**whole, "socket": f"{Path.cwd()}/run", **port}
    assert helm("db", "list").out == f"shop\t{engine}\t{Path.cwd()}/run:d\tme\t\t\n"
    assert edit(helm, "--host", "db.test", "--tls", "require").status == 0
    assert profile(helm) == {
        **whole,
        "host": "db.test",
        "port": 5432 if engine == "postgres" else 3306,
        "tls": "require",
    }
    assert edit(helm, "--socket", "/run/s").status == 0
    assert profile(helm) == {**whole, "socket": "/run/s", **port}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--host", "h", "--socket", "/s"), "--host and --socket exclude each other; give one of them"),
        (("--socket", "/s", "--tls", "require"), "TLS does not go with --socket: what a Unix socket carries stays on"),
        (("--host", "h", "--tls", "maybe"), "--tls takes disable, require or verify-full"),
        (("--host", "h", "--tls-ca", "/ca"), "--tls-ca goes with --tls require or --tls verify-full"),
        (("--host", "h", "--tls", "disable", "--tls-ca", "/ca"), "--tls-ca goes with --tls require or --tls verify-"),
        (("--socket", ""), "--socket is empty; give it a value, or leave it out"),
        (("--host", ""), "--host is empty; give it a value, or leave it out"),
        (("--host", "h", "--tls", ""), "--tls is empty; give it a value, or leave it out"),
        (("--host", "h", "--tls-ca", ""), "--tls-ca is empty; give it a value, or leave it out"),
    ],
)
def test_options_that_do_not_go_together(helm: Helm, home: Path, words: tuple[str, ...], told: str) -> None:
    ended = add(helm, "--engine", "postgres", "--database", "d", "--user", "me", *words)
    assert (ended.status, ended.out) == (2, "")
    assert told in ended.err
    assert not (home / "profiles").exists()


@pytest.mark.parametrize("words", [("--socket", "/s"), ("--tls", "require"), ("--tls-ca", "/ca")])
def test_a_file_has_no_server(helm: Helm, words: tuple[str, str]) -> None:
    ended = add(helm, "--engine", "sqlite", "--path", "x.db", *words)
    assert (ended.status, ended.err) == (
        2,
        f"helm: {words[0]} does not go with the engine sqlite; leave it out\n",
    )


def test_a_url_fills_a_profile_and_its_password_goes_to_the_store(helm: Helm, home: Path) -> None:
    url = f"postgres://me:{SECRET}%40@db.test:6000/shop?sslmode=require"
    ended = add(helm, "--from-env", "DB_URL", url=url)
    assert ended.err.splitlines()[-1] == "helm: added the postgres profile shop, its password in the file"
    assert profile(helm) == {
        "name": "shop",
        "engine": "postgres",
        "host": "db.test",
        "port": 6000,
        "database": "shop",
        "user": "me",
        "tls": "require",
        "credential": "file",
    }
    assert password(home) == SECRET + "@"
    holding = [path.name for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holding == ["credentials.json"]


def test_options_complete_a_url_and_may_repeat_it(helm: Helm, home: Path) -> None:
    words = ("--engine", "mysql", "--host", "h", "--user", "me", "--database", "d", "--password-stdin")
    ended = add(helm, "--from-env", "DB_URL", *words, url="mariadb://h:3307", stdin=SECRET)
    assert ended.status == 0, ended
    assert (profile(helm)["port"], password(home)) == (3307, SECRET)


@pytest.mark.parametrize(
    ("words", "url", "told"),
    [
        ((), None, "the variable DB_URL is not set or empty; it should hold a connection URL"),
        ((), "", "the variable DB_URL is not set or empty; it should hold a connection URL"),
        ((), f"ftp://u:{SECRET}@h", "the URL in DB_URL cannot be used: its scheme is none of postgres, postgresql,"),
        (("--host", "i"), f"postgres://u:{SECRET}@h/d", "--host contradicts the URL in DB_URL; give one of them"),
        (("--port", "1"), f"postgres://u:{SECRET}@h:2/d", "--port contradicts the URL in DB_URL; give one of them"),
        (("--engine", "mysql"), f"postgres://u:{SECRET}@h/d", "--engine contradicts the URL in DB_URL"),
        (("--user", "v"), f"postgres://u:{SECRET}@h/d", "--user contradicts the URL in DB_URL"),
        (("--socket", "/s"), f"postgres://u:{SECRET}@h/d", "--socket contradicts the URL in DB_URL"),
        (("--host", "h"), f"postgres://u:{SECRET}@/d?host=/s", "--host contradicts the URL in DB_URL"),
        (("--tls", "require"), f"postgres://u:{SECRET}@h/d?sslmode=disable", "--tls contradicts the URL in DB_URL"),
        (("--password-stdin",), f"postgres://u:{SECRET}@h/d", "the URL in DB_URL holds a password; leave --password-"),
        ((), f"postgres://u:{SECRET}@h", "--database is missing"),
        (("--path", "x"), f"postgres://u:{SECRET}@h/d", "--path does not go with the engine postgres"),
        (("--user", "me"), "sqlite:///app.db", "--user does not go with the engine sqlite"),
    ],
)
def test_a_url_that_does_not_fit_is_told_without_a_word_of_it(
    helm: Helm, home: Path, words: tuple[str, ...], url: str | None, told: str
) -> None:
    ended = add(helm, "--from-env", "DB_URL", *words, url=url)
    assert (ended.status, ended.out) == (2, "")
    assert told in ended.err
    assert SECRET not in ended.err
    assert "://" not in ended.err
    assert not (home / "profiles").exists()


def test_a_sqlite_url_is_relative_with_three_slashes_and_absolute_with_four(helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "app.db").touch()
    assert add(helm, "--from-env", "DB_URL", url="sqlite:///new.db").status == 0
    assert profile(helm)["path"] == f"{Path.cwd()}/new.db"
    assert edit(helm, "--from-env", "DB_URL", url=f"sqlite:///{tmp_path}/app.db").status == 0
    assert profile(helm)["path"] == f"{tmp_path}/app.db"
    ended = edit(helm, "--from-env", "DB_URL", url=f"sqlite://{tmp_path}/app.db")
    assert (ended.status, ended.err) == (
        2,
        "helm: the URL in DB_URL names a file relative to this folder, and there is none; an absolute path has four"
        " slashes, as in sqlite:////srv/app.db\n",
    )


def test_an_edit_by_url_brings_its_password(helm: Helm, home: Path) -> None:
    add(helm, "--engine", "postgres", *SERVER, "--password-stdin", stdin="old")
    ended = edit(helm, "--from-env", "DB_URL", url=f"postgres://you:{SECRET}@other.test/shop")
    assert (ended.status, ended.err) == (0, "helm: changed the postgres profile shop\n")
    assert (profile(helm)["host"], profile(helm)["user"], password(home)) == ("other.test", "you", SECRET)
    ended = edit(helm, "--from-env", "DB_URL", url="mysql://you@other.test/shop")
    assert (ended.status, ended.err) == (
        2,
        "helm: shop is a postgres profile, and the URL is of mysql; add another\n",
    )


def test_an_edit_at_a_terminal_asks_for_the_password_of_a_new_target(helm: Helm, home: Path) -> None:
    add(helm, "--engine", "postgres", *SERVER, "--password-stdin", stdin="old")
    for words in (("--host", "other.test"), ("--ask-password",)):
        with at_terminal(sys.executable, "-m", "helm_cli", "db", "edit", "shop", *words, env=FILE) as screen:
            screen.wait_for("Password of shop")
            screen.send(f"{SECRET}{words[0]}".encode(), ENTER)
            assert screen.status() == 0
            assert SECRET.encode() not in screen.raw
        assert password(home) == f"{SECRET}{words[0]}"
    ended = edit(helm, "--ask-password")
    assert (ended.status, ended.err) == (2, "helm: --ask-password needs a terminal; give --password-stdin\n")


@pytest.mark.parametrize("text", ["engine = \n", 'engine = "postgres"\nhots = "h"\n', b"\xff\xfe"])
def test_a_broken_file_is_told_hides_nothing_and_can_be_replaced(helm: Helm, home: Path, text: str | bytes) -> None:
    add(helm, "--engine", "postgres", *SERVER, "--password-stdin", stdin=SECRET)
    helm("db", "add", "local-app", "--engine", "sqlite", "--path", "app.db")
    file = home / "profiles" / "db" / "shop.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    ended = edit(helm, "--host", "other.test")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"helm: {file} cannot be used: ")
    assert ended.err.endswith("; correct the file, or replace it whole with: helm db add shop --force\n")
    listed = helm("db", "list")
    assert (listed.status, listed.out) == (
        0,
        f"local-app\tsqlite\t{Path.cwd()}/app.db\t\t\t\nshop\tbroken\t\t\t\t\n",
    )
    assert f"helm: {file} cannot be used: " in listed.err
    assert add(helm, "--engine", "mysql", *SERVER, "--force").status == 0
    assert profile(helm)["engine"] == "mysql"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    assert helm("db", "remove", "shop").status == 0
    assert helm("db", "list", "-o", "json").json[0]["name"] == "local-app"
    assert helm("db", "remove", "shop").status == 4
