"""`helm service` as a program: profiles added once, changed, listed and removed; secrets only in the store."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.program import Finished, Helm, environment
from tests.rig.kept import holding, kept
from tests.rig.keyring_session import KeyringSession

SECRET = "canary-51c0"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
BASE = "https://api.example.com"
OAUTH2 = ("--base-url", BASE, "--oauth2", "--client-id", "my-client")
AGAIN = "enter its secret again with: helm service edit github --ask-token (or --token-stdin)"
CHANGED = "helm: changed the service profile github"
NEXT = (
    "review an extension that declares this sign-in (helm plugin review FOLDER), then sign in with:"
    " helm oauth connect cal\n"
)


def add(helm: Helm, *words: str, stdin: str = "") -> Finished:
    return helm("service", "add", *words, env=FILE, stdin=stdin)


def edit(helm: Helm, *words: str, stdin: str = "") -> Finished:
    return helm("service", "edit", *words, env=FILE, stdin=stdin)


def github(helm: Helm, *words: str, token: str = SECRET) -> Finished:
    return add(helm, "github", "--base-url", "https://api.github.com", "--token-stdin", *words, stdin=token)


def shown(helm: Helm, name: str) -> Any:
    return helm("service", "show", name, "-o", "json").json


@pytest.mark.contract("C16", "C17", "C18")
def test_each_way_to_sign_in_is_added_listed_and_shown(helm: Helm, home: Path) -> None:
    assert github(helm).err == "helm: added the service profile github, its token in the file\n"
    ended = add(helm, "key", "--base-url", BASE, "--header", "X-Api-Key", "--token-stdin", stdin="k")
    assert ended.err == "helm: added the service profile key, its token in the file, sent as X-Api-Key: TOKEN\n"
    words = ("--header", "X-Auth", "--format", "bearer", "--token-stdin")
    ended = add(helm, "auth", "--base-url", BASE, *words, stdin="k")
    assert ended.err == "helm: added the service profile auth, its token in the file, sent as X-Auth: Bearer TOKEN\n"
    ended = add(helm, "raw", "--base-url", BASE, "--format", "raw", "--token-stdin", stdin="Basic dXNlcjpw")
    assert ended.err == "helm: added the service profile raw, its token in the file, sent as Authorization: TOKEN\n"
    ended = add(helm, "open", "--base-url", "HTTP://LocalHost:9090/api/", "--no-token")
    assert ended.err == "helm: added the service profile open, without a token\n"
    ended = add(helm, "cal", *OAUTH2, "--client-secret-stdin", "--redirect-port", "9000", stdin=f"{SECRET}\n")
    assert ended.err == (
        "helm: added the service profile cal, its client secret in the file\n"
        "helm: register the redirect URI http://127.0.0.1:9000/oauth/callback with the OAuth client;"
        f" {NEXT}"
    )
    assert helm("service", "list").out == (
        f"auth\ttoken\t{BASE}\tfile\n"
        f"cal\toauth2\t{BASE}\tfile\n"
        "github\ttoken\thttps://api.github.com\tfile\n"
        f"key\ttoken\t{BASE}\tfile\n"
        "open\tnone\thttp://localhost:9090/api\t\n"
        f"raw\ttoken\t{BASE}\tfile\n"
    )
    assert helm("service", "list", "-o", "json").json[4] == {
        "name": "open",
        "sign_in": "none",
        "base_url": "http://localhost:9090/api",
        "credential": None,
    }
    assert shown(helm, "github") == {
        "name": "github",
        "base_url": "https://api.github.com",
        "sign_in": "token",
        "header": "Authorization",
        "format": "bearer",
        "credential": "file",
    }
    assert {"header": "X-Api-Key", "format": "raw"}.items() <= shown(helm, "key").items()
    assert {"header": "X-Auth", "format": "bearer"}.items() <= shown(helm, "auth").items()
    assert shown(helm, "open") == {"name": "open", "base_url": "http://localhost:9090/api", "sign_in": "none"}
    assert helm("service", "show", "cal").out == (
        "name          cal\n"
        f"base_url      {BASE}\n"
        "sign_in       oauth2\n"
        "client_id     my-client\n"
        "redirect_uri  http://127.0.0.1:9000/oauth/callback\n"
        "credential    file\n"
    )
    assert kept(home) == {
        "service/auth/token": "k",
        "service/cal/client-secret": SECRET,
        "service/github/token": SECRET,
        "service/key/token": "k",
        "service/raw/token": "Basic dXNlcjpw",
    }


def test_the_redirect_uri_has_the_port_of_the_settings(helm: Helm, home: Path) -> None:
    ended = add(helm, "cal", *OAUTH2)
    assert ended.err == (
        "helm: added the service profile cal, a public client\n"
        "helm: register the redirect URI http://127.0.0.1:8914/oauth/callback with the OAuth client;"
        f" {NEXT}"
    )
    (home / "config.toml").write_text("[oauth]\nport = 8915\n")
    assert shown(helm, "cal") == {
        "name": "cal",
        "base_url": BASE,
        "sign_in": "oauth2",
        "client_id": "my-client",
        "redirect_uri": "http://127.0.0.1:8915/oauth/callback",
    }
    (home / "config.toml").write_text("[oauth]\nport = 0\n")
    assert (add(helm, "other", *OAUTH2).status, (home / "profiles/service/other.toml").exists()) == (1, False)


@pytest.mark.contract("C11", "C14")
def test_without_a_keychain_a_secret_is_in_one_private_file_and_nowhere_else(helm: Helm, home: Path) -> None:
    words = ("--base-url", "https://api.github.com", "--token-stdin")
    ended = helm("service", "add", "github", *words, stdin=SECRET)
    assert ended.status == 0
    assert "credentials.json" in ended.err.splitlines()[0]
    assert stat.S_IMODE((home / "credentials.json").stat().st_mode) == 0o600
    assert add(helm, "cal", *OAUTH2, "--client-secret-stdin", stdin=SECRET).status == 0
    assert holding(home, SECRET) == ["credentials.json"]
    asked: tuple[tuple[str, ...], ...] = (
        ("service", "show", "github"),
        ("service", "list", "-o", "json"),
        ("service", "show", "cal", "-o", "json"),
        ("service", "edit", "github", "--base-url", BASE),
        ("service", "test", "github"),
        ("service", "test", "cal"),
        ("history", "--all"),
    )
    for line in asked:
        told = helm(*line, env=FILE)
        assert SECRET not in told.out + told.err
    assert list(Path.cwd().iterdir()) == []
    for name in ("github", "cal"):
        assert helm("service", "remove", name).err == f"helm: removed the service profile {name}\n"
    assert holding(home, SECRET) == []
    assert helm("service", "list").out == ""


@pytest.mark.contract("C10")
def test_with_a_keychain_a_secret_is_there_and_nowhere_else(helm: Helm, home: Path, keyring: KeyringSession) -> None:
    words = ("--base-url", BASE, "--token-stdin")
    ended = helm("service", "add", "github", *words, stdin=f"{SECRET}\n")
    assert (ended.status, ended.err) == (0, "helm: added the service profile github, its token in the keychain\n")
    assert helm("service", "add", "cal", *OAUTH2, "--client-secret-stdin", stdin=SECRET).status == 0
    found = {account: value.partition(" ")[2] for account, value in keyring.secrets().items()}
    assert found == {"service/github/token": SECRET, "service/cal/client-secret": SECRET}
    assert not (home / "credentials.json").exists()
    assert holding(home, SECRET) == []
    assert helm("service", "edit", "cal", "--client-secret-stdin", stdin="").status == 0
    assert list(keyring.secrets()) == ["service/github/token"]
    assert "credential" not in shown(helm, "cal")
    assert helm("service", "remove", "github").status == 0
    assert keyring.secrets() == {}


def test_a_secret_never_stands_in_the_arguments_or_the_environment_of_a_process(helm: Helm, home: Path) -> None:
    """Looked at while helm waits for the credential file, with the token already read."""
    home.mkdir(mode=0o700)
    with locked(home):
        process = started("github", token=SECRET)
        appears(home / "profiles" / "service" / "github.toml")
        of = Path(f"/proc/{process.pid}")
        for told in (of / "cmdline", of / "environ"):
            assert SECRET.encode() not in told.read_bytes()
    assert process.wait(30) == 0
    assert kept(home) == {"service/github/token": SECRET}


def test_killed_before_its_secret_is_kept_a_profile_asks_for_it_again(helm: Helm, home: Path) -> None:
    home.mkdir(mode=0o700)
    with locked(home):
        process = started("github", token=SECRET)
        appears(home / "profiles" / "service" / "github.toml")
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    ended = helm("service", "test", "github", env=FILE)
    assert (ended.status, ended.err) == (4, f"helm: the secret of github is not in this home yet; {AGAIN}\n")
    assert edit(helm, "github", "--token-stdin", stdin=SECRET).err == "helm: changed the service profile github\n"
    assert kept(home) == {"service/github/token": SECRET}
    assert "enter its secret again" not in helm("service", "test", "github", env=FILE).err


def test_interrupted_before_its_secret_is_kept_nothing_is_added(helm: Helm, home: Path) -> None:
    home.mkdir(mode=0o700)
    with locked(home):
        process = started("github", token=SECRET)
        appears(home / "profiles" / "service" / "github.toml")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert (list((home / "profiles" / "service").iterdir()), kept(home)) == ([], {})


def test_of_twenty_adds_of_one_name_one_wins_with_its_own_token(helm: Helm, home: Path) -> None:
    running = [started("github", token=f"{SECRET}-{number}", base=f"{BASE}/{number}") for number in range(20)]
    statuses = [process.wait(60) for process in running]
    assert sorted(statuses) == [0] + [15] * 19
    winner = statuses.index(0)
    assert shown(helm, "github")["base_url"] == f"{BASE}/{winner}"
    assert kept(home) == {"service/github/token": f"{SECRET}-{winner}"}


def test_a_second_add_is_refused_and_force_replaces(helm: Helm, home: Path) -> None:
    github(helm)
    for words in (("--token-stdin",), ("--no-token",)):
        again = add(helm, "github", "--base-url", BASE, *words, stdin="other")
        assert (again.status, again.err) == (
            15,
            "helm: the service profile github exists; change it with edit or replace it with --force\n",
        )
    assert kept(home) == {"service/github/token": SECRET}
    assert add(helm, "github", *OAUTH2, "--client-secret-stdin", "--force", stdin="client").status == 0
    assert kept(home) == {"service/github/client-secret": "client"}
    assert github(helm, "--force").status == 0
    assert kept(home) == {"service/github/token": SECRET}
    for _ in range(2):
        assert add(helm, "github", "--base-url", BASE, "--no-token", "--force").status == 0
        assert kept(home) == {}
    assert shown(helm, "github") == {"name": "github", "base_url": BASE, "sign_in": "none"}


def test_an_edit_keeps_comments_and_what_was_not_given(helm: Helm, home: Path) -> None:
    github(helm)
    file = home / "profiles" / "service" / "github.toml"
    file.write_text("# mine\n" + file.read_text())
    ended = edit(helm, "github", "--header", "X-Token", "--format", "raw")
    assert ended.err == "helm: changed the service profile github, sent as X-Token: TOKEN\n"
    assert file.read_text() == (
        '# mine\nbase_url = "https://api.github.com"\ncredential = "file"\nheader = "X-Token"\nformat = "raw"\n'
    )
    assert edit(helm, "github", "--header", "Authorization", "--format", "bearer").status == 0
    assert file.read_text() == '# mine\nbase_url = "https://api.github.com"\ncredential = "file"\n'
    assert kept(home) == {"service/github/token": SECRET}
    assert edit(helm, "github", "--no-token").err == f"{CHANGED}; it has no token any more\n"
    assert (file.read_text(), kept(home)) == ('# mine\nbase_url = "https://api.github.com"\n', {})
    assert edit(helm, "github", "--token-stdin", stdin=SECRET).status == 0
    assert kept(home) == {"service/github/token": SECRET}
    assert edit(helm, "nope", "--no-token").err == (
        "helm: there is no service profile nope; add it with: helm service add nope\n"
    )


def test_a_secret_is_not_used_for_another_target(helm: Helm, home: Path) -> None:
    """By edit, by hand, and by what another home kept under the same name."""
    github(helm)
    ended = edit(helm, "github", "--base-url", "https://evil.test")
    told = f"helm: the target of github changed; before you use it, {AGAIN}\n"
    assert ended.err == f"{told}helm: changed the service profile github\n"
    for _ in range(2):
        ended = helm("service", "test", "github", env=FILE)
        assert (ended.status, ended.out, ended.err) == (4, "", f"helm: the target of github changed; {AGAIN}\n")
        file = home / "profiles" / "service" / "github.toml"
        file.write_text(file.read_text().replace("evil.test", "evil2.test"))
    file.write_text('base_url = "https://api.github.com"\ncredential = "file"\n')
    other = {account: "0" * 64 + " " + secret for account, secret in kept(home).items()}
    (home / "credentials.json").write_text(json.dumps(other))
    told = "helm: what credentials.json has as the secret of github was entered in another home of helm's; "
    assert helm("service", "test", "github", env=FILE).err == f"{told}{AGAIN}\n"


def test_a_client_secret_is_for_its_client_and_its_token_url(helm: Helm, home: Path) -> None:
    add(helm, "cal", *OAUTH2, "--client-secret-stdin", stdin=SECRET)
    urls = ("--authorize-url", f"{BASE}/a", "--token-url", f"{BASE}/t")
    for words in (("--client-id", "other"), urls):
        ended = edit(helm, "cal", *words)
        assert ended.err == (
            "helm: the target of cal changed; before you use it, enter its secret again with: helm service edit cal"
            " --ask-client-secret (or --client-secret-stdin)\n"
            "helm: changed the service profile cal\n"
            f"helm: a sign-in is for the former target; {NEXT}"
        )
    ended = edit(helm, "cal", "--redirect-port", "9001", "--client-secret-stdin", stdin="new")
    assert (ended.err, kept(home)) == (
        "helm: changed the service profile cal\n",
        {"service/cal/client-secret": "new"},
    )
    assert shown(helm, "cal") == {
        "name": "cal",
        "base_url": BASE,
        "sign_in": "oauth2",
        "client_id": "other",
        "redirect_uri": "http://127.0.0.1:9001/oauth/callback",
        "authorize_url": f"{BASE}/a",
        "token_url": f"{BASE}/t",
        "credential": "file",
    }


@pytest.mark.parametrize(
    "text", ["base_url = \n", f'base_url = "{BASE}"\nheaders = "h"\n', 'base_url = "http://x.test"\n']
)
def test_a_broken_file_is_told_hides_nothing_and_can_be_replaced(helm: Helm, home: Path, text: str) -> None:
    github(helm)
    add(helm, "open", "--base-url", BASE, "--no-token")
    file = home / "profiles" / "service" / "github.toml"
    file.write_text(text)
    ended = edit(helm, "github", "--base-url", BASE)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"helm: {file} cannot be used: ")
    assert ended.err.endswith("; correct the file, or replace it whole with: helm service add github --force\n")
    listed = helm("service", "list")
    assert (listed.status, listed.out) == (0, f"github\tbroken\t\t\nopen\tnone\t{BASE}\t\n")
    assert listed.err.startswith(f"helm: {file} cannot be used: ")
    assert github(helm, "--force").status == 0
    file.write_text(text)
    assert helm("service", "remove", "github").status == 0
    assert [row["name"] for row in helm("service", "list", "-o", "json").json] == ["open"]
    assert helm("service", "remove", "github").status == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("service ls", "there is no command ls; did you mean list? (see helm service --help)"),
        ("service rm github", "there is no command rm; did you mean remove? (see helm service --help)"),
        ("service create github", "there is no command create; did you mean add? (see helm service --help)"),
        ("service get github", "there is no command get; did you mean show? (see helm service --help)"),
        ("service shwo github", "there is no command shwo; did you mean show? (see helm service --help)"),
        ("services", "there is no command services; did you mean service? (see helm --help)"),
        ("login github", "there is no command login; did you mean oauth connect? (see helm --help)"),
        ("service list -o yaml", "-o takes auto or json"),
        (
            "service add github --url x",
            "there is no option --url; did you mean --base-url? (see helm service add --help)",
        ),
        (
            f"service add github --token={SECRET}",
            "there is no option --token; did you mean --token-stdin? (see helm service add --help)",
        ),
    ],
)
def test_unknown_words_are_answered_with_what_was_meant(helm: Helm, words: str, message: str) -> None:
    ended = helm(*words.split())
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {message}\n")


def started(name: str, *, token: str, base: str = BASE) -> "subprocess.Popen[bytes]":
    """`helm service add`, which goes on by itself."""
    command = (sys.executable, "-m", "helm_cli", "service", "add", name, "--base-url", base, "--token-stdin")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(FILE))
    assert process.stdin is not None
    process.stdin.write(token.encode())
    process.stdin.close()
    return process


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """The credential file held by another process, so that nothing can be kept in it while the block runs."""
    with open(home / "credentials.lock", "w") as file:
        os.fchmod(file.fileno(), 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def appears(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path.name}"
        time.sleep(0.005)
