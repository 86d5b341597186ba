"""`helm config`: profiles go to another home without their secrets, which a person or a job enters there."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.program import Finished, Helm
from tests.rig import importing
from tests.rig.importing import profiles, told
from tests.rig.terminal import CTRL_C, DOWN, ENTER

PASSWORD, TOKEN, SECRET, OTHER = "canary pass 'word", "canary-22bb", "canary-33cc", "canary-44dd"
SECRETS: Final = {
    "db/shop": PASSWORD,
    "mcp/files": OTHER,
    "service/cal": SECRET,
    "service/github": TOKEN,
}
EXPORT: Final = """\
# What helm keeps in a home, without the secrets. On another machine: helm config import FILE
# A profile with `secret` is asked for it there; one with client_id signs in there: helm oauth connect NAME
version = 1

[settings.limits]
calls_per_minute = 30

[db.local-app]
engine = "sqlite"
path = "{here}/app.db"

[db.shop]
engine = "postgres"
host = "localhost"
port = 1
database = "shop"
user = "me"
secret = "password"

[service.cal]
base_url = "https://cal.test"
client_id = "my-client"
secret = "client-secret"

[service.github]
base_url = "https://api.github.com"
secret = "token"

[mcp.files]
command = ["true", "a b"]
token_env = "TOKEN"
secret = "token"

[mcp.linear]
url = "https://mcp.test/mcp"
"""
SHOP: Final = """\
version = 1
[db.shop]
engine = "postgres"
host = "localhost"
port = 1
database = "shop"
user = "me"
secret = "password"
"""
EDIT: Final = "helm db edit shop --ask-password (or --password-stdin)"


@pytest.fixture(autouse=True)
def file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")


def filled(helm: Helm, home: Path) -> None:
    """The home of the first machine."""
    where = ["--host", "localhost", "--port", "1", "--database", "shop", "--user", "me"]
    cal = ["--base-url", "https://cal.test", "--oauth2", "--client-id", "my-client", "--client-secret-stdin"]
    for words, secret in (
        (["db", "add", "local-app", "--engine", "sqlite", "--path", "app.db"], ""),
        (["db", "add", "shop", "--engine", "postgres", *where, "--password-stdin"], PASSWORD),
        (["service", "add", "github", "--base-url", "https://api.github.com", "--token-stdin"], TOKEN),
        (["service", "add", "cal", *cal], SECRET),
        (["mcp", "add", "files", "--token-env", "TOKEN", "--token-stdin", "--", "true", "a b"], OTHER),
        (["mcp", "add", "linear", "--url", "https://mcp.test/mcp"], ""),
    ):
        ended = helm(*words, stdin=secret)
        assert ended.status == 0, ended
    (home / "config.toml").write_text("# mine\n[limits]\ncalls_per_minute = 30\n")


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of another machine, which helm runs in from now on."""
    monkeypatch.setenv("HELM_CLI_HOME", str(tmp_path / "other"))
    return tmp_path / "other"


def exported(text: str = SHOP) -> None:
    Path("helm.toml").write_text(text)


def kept(home: Path) -> dict[str, str]:
    path = home / "credentials.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    return {account.rpartition("/")[0]: value.partition(" ")[2] for account, value in found.items()}


def everything(home: Path) -> dict[str, dict[str, str]]:
    return {group: profiles(home, group) for group in ("db", "service", "mcp")}


def test_profiles_go_to_another_machine_and_their_secrets_do_not(
    helm: Helm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(helm, home)
    ended = helm("config", "export", "helm.toml")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == "helm: wrote 6 profiles to helm.toml; 4 of them need their secret there\n"
    text = Path("helm.toml").read_text()
    assert text == EXPORT.format(here=os.getcwd()) == helm("config", "export").out
    assert stat.S_IMODE(Path("helm.toml").stat().st_mode) == 0o600
    assert "canary" not in text and "credential" not in text

    other = tmp_path / "other"
    monkeypatch.setenv("HELM_CLI_HOME", str(other))
    taken = helm("config", "import", "helm.toml", "--all", "--secrets-stdin", stdin=json.dumps(SECRETS))
    assert taken.status == 0, taken
    assert taken.err.splitlines() == [
        "helm: added db/local-app",
        f"helm: there is no {os.getcwd()}/app.db on this machine; name another with: helm db edit local-app --path"
        " PATH",
        "helm: added db/shop, its password in the file",
        "helm: added service/cal, its client secret in the file",
        "helm: review an extension that declares this sign-in (helm plugin review FOLDER), then sign in with:"
        " helm oauth connect cal",
        "helm: added service/github, its token in the file",
        "helm: added mcp/files, its token in the file",
        "helm: added mcp/linear",
    ]
    assert everything(other) == everything(home)
    assert kept(other) == kept(home) == SECRETS
    assert (other / "credentials.json").read_bytes() != (home / "credentials.json").read_bytes()
    assert importing.leaks(other, "canary", taken.out, taken.err, ended.err) == []
    # Bound to this home: a call gets as far as the closed port.
    assert helm("db", "test", "shop").status == 10
    assert helm("config", "export").out == text.replace("[settings.limits]\ncalls_per_minute = 30\n\n", "")
    again = helm("config", "import", "helm.toml", "--all")
    assert (again.status, again.err) == (0, "helm: nothing of helm.toml is to be taken over\n")
    assert "  db/shop (is here already)\n" in again.out


def test_all_is_shown_before_anything_is_taken(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(EXPORT.format(here="/srv") + f'\n[[extensions]]\nid = "tickets"\ndigest = "sha256:{"0f" * 32}"\n')
    ended = told(capsys, "config", "import", "helm.toml")
    assert ended.status == 7
    assert ended.err == (
        "helm: taking profiles over needs a person at the terminal, who chooses; run it in one, or give --all\n"
    )
    assert everything(other) == {"db": {}, "service": {}, "mcp": {}}
    assert ended.out == (
        """\
helm.toml holds 6 profiles
  db/local-app (new)
      engine = "sqlite"
      path = "/srv/app.db"
  db/shop (new)
      engine = "postgres"
      host = "localhost"
      port = 1
      database = "shop"
      user = "me"
      its password is not in the export
  service/cal (new)
      base_url = "https://cal.test"
      client_id = "my-client"
      its client secret is not in the export
  service/github (new)
      base_url = "https://api.github.com"
      its token is not in the export
  mcp/files (new)
      command = ["true", "a b"]
      token_env = "TOKEN"
      its token is not in the export
  mcp/linear (new)
      url = "https://mcp.test/mcp"
"""
        f"  settings, for you to put into {other}/config.toml\n"
        "      [limits]\n"
        "      calls_per_minute = 30\n"
        "  extensions that are approved there; review each here: helm plugin review PATH\n"
        f"      tickets  sha256:{'0f' * 32}\n"
    )


def test_a_person_chooses_and_types_each_secret_unseen(other: Path) -> None:
    exported(EXPORT.format(here=os.getcwd()))
    with importing.at("config", "import", "helm.toml") as screen:
        screen.wait_for("Take over")
        # Off with the first, the SQLite file.
        screen.send(b" ", ENTER)
        screen.wait_for("Password of db/shop (empty to enter it later)")
        screen.send(PASSWORD.encode(), ENTER)
        screen.wait_for("Client secret of service/cal")
        screen.send(ENTER)
        screen.wait_for("Token of service/github")
        # Nothing is recorded while anything is still asked.
        assert everything(other) == {"db": {}, "service": {}, "mcp": {}}
        screen.send(TOKEN.encode(), ENTER)
        screen.wait_for("Token of mcp/files")
        screen.send(OTHER.encode(), ENTER)
        assert screen.status() == 0
        raw = screen.raw
    assert [*profiles(other, "db")] == ["shop"]
    assert kept(other) == {"db/shop": PASSWORD, "service/github": TOKEN, "mcp/files": OTHER}
    assert importing.leaks(other, "canary", raw) == []
    assert b"the client secret of service/cal is not here yet; enter it with: helm service edit cal" in raw


@pytest.mark.parametrize("answered", [0, 1, 2])
def test_a_person_who_leaves_changed_nothing(other: Path, answered: int) -> None:
    exported(f'{SHOP}[service.s]\nbase_url = "https://s.test"\nsecret = "token"\n')
    with importing.at("config", "import", "helm.toml") as screen:
        questions = ("Take over", "Password of", "Token of")
        for question, answer in zip(questions[:answered], (b"", b"x"), strict=False):
            screen.wait_for(question)
            screen.send(answer + ENTER)
        screen.wait_for(questions[answered])
        screen.send(CTRL_C)
        assert screen.status() == 6
    assert everything(other) == {"db": {}, "service": {}, "mcp": {}}
    assert kept(other) == {}


def test_what_an_export_says_cannot_act_on_the_terminal(other: Path) -> None:
    evil = '"\\u001b[2Jgone\\u202e"'
    exported(f'version = 1\n[mcp.x]\ncommand = ["true", {evil}]\n["\\u001b]0;x\\u0007"]\n')
    with importing.at("config", "import", "helm.toml") as screen:
        assert screen.status() == 2
        raw = screen.raw
    assert b"\x1b]0;x" not in raw and b"the key \\u{1b}]0;x\\u{7} is unknown" in raw
    exported(f'version = 1\n[mcp.x]\ncommand = ["true", {evil}]\n')
    with importing.at("config", "import", "helm.toml") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 0
        raw = screen.raw
    assert b"\x1b[2Jgone" not in raw and "\u202e".encode() not in raw
    with importing.at("config", "export") as screen:
        assert screen.status() == 0
        raw = screen.raw
    assert b"\x1b[2Jgone" not in raw and "\u202e".encode() not in raw and b"gone\\u{202e}" in raw


def test_every_fault_is_told_and_nothing_is_taken(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(f'{SHOP}[db.x]\nengine = "oracle"\n\n[service.y]\nbase_url = "ftp://y.test"\n[mcp."/"]\n')
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert (ended.status, ended.out) == (2, "")
    wrong = "must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)"
    named = "that cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore"
    assert ended.err.splitlines() == [
        'helm: helm.toml:9: db/x: the value of engine must be "sqlite" or "postgres" or "mysql"',
        f"helm: helm.toml:12: service/y: base_url {wrong}",
        f"helm: helm.toml:14: mcp//: {named}",
        "helm: helm.toml has 3 faults; nothing was taken over",
    ]
    assert everything(other) == {"db": {}, "service": {}, "mcp": {}}
    exported("version = 1\n" + "".join(f"[db.x{number}]\n" for number in range(30)))
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert len(ended.err.splitlines()) == 21
    assert ended.err.endswith("helm: helm.toml has 30 faults, of which 20 are told; nothing was taken over\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is no export of helm's: it has no line version = 1"),
        ("version = 7", "it is of version 7, and this helm knows 1; upgrade helm"),
        ("version = ", "it is no valid TOML: invalid value (at end of document)"),
    ],
)
def test_another_file_is_told(capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    exported(text)
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: helm.toml cannot be used: {message}\n")


def test_what_is_no_file_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "config", "import", "gone.toml").err == (
        "helm: gone.toml cannot be read (no such file or directory); name a file that helm config export wrote\n"
    )
    os.mkfifo("fifo")
    assert told(capsys, "config", "import", "fifo").status == 2
    Path("large.toml").write_bytes(b"#" * (1024 * 1024 + 1))
    assert "is over 1 MiB" in told(capsys, "config", "import", "large.toml").err


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        (SHOP, 0, "the export on standard input holds 1 profile"),
        (b"\xff", 2, "the export on standard input is not UTF-8"),
        (b"#" * (1024 * 1024 + 1), 2, "the export on standard input is over 1 MiB, which none is"),
        ("x", 2, "the export on standard input cannot be used: it is no valid TOML"),
    ],
    ids=["export", "bytes", "large", "text"],
)
def test_an_export_comes_through_a_pipe(helm: Helm, other: Path, given: str | bytes, status: int, message: str) -> None:
    ended = helm("config", "import", "-", "--all", stdin=given)
    assert ended.status == status and message in ended.out + ended.err
    assert [*profiles(other, "db")] == (["shop"] if status == 0 else [])


def test_another_profile_of_the_name_stays_until_force(
    helm: Helm, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported()
    assert helm("config", "import", "helm.toml", "--all", "--secrets-stdin", stdin='{"db/shop": "former"}').status == 0
    exported(SHOP.replace("localhost", "127.0.0.1"))
    before = everything(other)
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert (ended.status, ended.err) == (
        15,
        "helm: db/shop is another one here; nothing was taken over, --force replaces what is in the way\n",
    )
    assert "  db/shop (another is here: host; --force replaces it)\n" in ended.out
    assert everything(other) == before
    ended = told(capsys, "config", "import", "helm.toml", "--all", "--force")
    assert ended.status == 0
    assert "  db/shop (replaces another: host)\n" in ended.out
    assert ended.err.splitlines()[1:] == [
        "helm: replaced db/shop",
        f"helm: the password of db/shop is not here yet; enter it with: {EDIT}",
    ]
    # The former password is for the former host alone.
    assert told(capsys, "db", "test", "shop").status == 4
    assert told(capsys, "config", "import", "helm.toml").err.startswith("helm: taking profiles over needs a person")


def test_a_broken_file_and_settings_are_told(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(f'{SHOP}[settings]\ndrafts_dir = "~/drafts"\n[settings.limits]\ncalls_per_minute = 30\n')
    (other / "profiles" / "db").mkdir(parents=True, mode=0o700)
    (other / "profiles" / "db" / "shop.toml").write_text("x")
    (other / "config.toml").write_text("[limits]\ncalls_per_minute = 30\n")
    ended = told(capsys, "config", "import", "helm.toml")
    assert (ended.status, ended.err) == (0, "helm: nothing of helm.toml is to be taken over\n")
    assert ended.out == (
        "helm.toml holds 1 profile\n"
        "  db/shop (another is here: its file is broken; --force replaces it)\n"
        '      engine = "postgres"\n      host = "localhost"\n      port = 1\n      database = "shop"\n'
        '      user = "me"\n'
        "      its password is not in the export\n"
        f"  settings, for you to put into {other}/config.toml\n"
        '      drafts_dir = "~/drafts"\n'
    )
    assert told(capsys, "config", "import", "helm.toml", "--all", "--force").status == 0
    assert profiles(other, "db")["shop"].startswith('engine = "postgres"\n')


def test_no_secret_is_dropped_unsaid(helm: Helm, other: Path) -> None:
    exported()
    words = ("config", "import", "helm.toml", "--all", "--secrets-stdin")
    assert helm(*words, stdin='{"db/shop": "s3cret"}').status == 0
    # Once more as it was, there is nothing to do.
    again = helm(*words, stdin='{"db/shop": "s3cret"}')
    assert (again.status, again.err) == (0, "helm: nothing of helm.toml is to be taken over\n")
    another = helm(*words, stdin='{"db/shop": "canary"}')
    assert (another.status, another.err) == (
        15,
        "helm: the secrets name db/shop, which is here already with another secret or target; nothing was taken over,"
        " --force replaces it\n",
    )
    assert kept(other) == {"db/shop": "s3cret"}
    taken = helm(*words, "--force", stdin='{"db/shop": "canary"}')
    assert (taken.status, kept(other)) == (0, {"db/shop": "canary"})


def test_what_was_changed_while_the_person_was_asked_stays(helm: Helm, other: Path) -> None:
    exported()
    given = ("config", "import", "helm.toml", "--all", "--secrets-stdin")
    assert helm(*given, stdin='{"db/shop": "s3cret"}').status == 0
    with importing.at("config", "import", "helm.toml", "--force") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        screen.wait_for("Password of db/shop")
        changed = helm("db", "edit", "shop", "--database", "other")
        assert changed.status == 0, changed
        screen.send(OTHER.encode(), ENTER)
        assert screen.status() == 15
        raw = screen.raw
    assert b"db/shop was changed here meanwhile; look at it and import again" in raw.replace(b"\r\n", b" ")
    assert 'database = "other"' in profiles(other, "db")["shop"]
    assert kept(other) == {"db/shop": "s3cret"}


def test_settings_here_that_cannot_be_understood_are_told(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(f"{SHOP}[settings.limits]\ncalls_per_minute = 30\n")
    other.mkdir(mode=0o700)
    (other / "config.toml").write_text("limits = 3\n")
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    wrong = "limits must be a section, written [limits]; correct the file"
    assert (ended.status, ended.out, ended.err) == (1, "", f"helm: {other}/config.toml cannot be used: {wrong}\n")
    assert everything(other) == {"db": {}, "service": {}, "mcp": {}}


@pytest.mark.parametrize(
    "text",
    ["{0} = 1", "[settings]\n{0} = 1", "[settings.limits]\n{0} = 1", "[db.{0}]", "[{0}]\n[{0}]", "[db.shop]\n{0} = 1"],
)
def test_no_key_is_told_at_any_length(other: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    exported("version = 1\n" + text.format("k" * 100_000))
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert ended.status == 2 and "kkk" in ended.err
    assert max(len(line) for line in ended.err.splitlines()) < 400


def test_a_secret_that_was_left_out_is_entered_by_the_next_import(helm: Helm, other: Path) -> None:
    exported()
    ended = helm("config", "import", "helm.toml", "--all")
    assert ended.err.splitlines() == [
        "helm: added db/shop",
        f"helm: the password of db/shop is not here yet; enter it with: {EDIT}",
    ]
    unusable = helm("db", "test", "shop")
    assert (unusable.status, unusable.err) == (
        4,
        f"helm: the secret of shop is not in this home yet; enter its secret again with: {EDIT}\n",
    )
    again = helm("config", "import", "helm.toml", "--all")
    assert (again.status, again.err) == (
        0,
        f"helm: the password of db/shop is not here yet; enter it with: {EDIT}\n",
    )
    given = helm("config", "import", "helm.toml", "--all", "--secrets-stdin", stdin='{"db/shop": "s3cret"}')
    assert (given.status, given.err) == (0, "helm: kept db/shop, its password in the file\n")
    assert "  db/shop (is here already, but not its password)\n" in given.out
    assert kept(other) == {"db/shop": "s3cret"}
    renewed = helm("config", "import", "helm.toml", "--all", "--force", "--secrets-stdin", stdin='{"db/shop": "anew"}')
    assert (renewed.status, kept(other)) == (0, {"db/shop": "anew"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("canary", 'must be one JSON object of texts, such as {"db/shop": "…"}'),
        ('["canary"]', 'must be one JSON object of texts, such as {"db/shop": "…"}'),
        ('{"db/shop": 4}', 'must be one JSON object of texts, such as {"db/shop": "…"}'),
        ('{"db/shop": "\\ud800"}', 'must be one JSON object of texts, such as {"db/shop": "…"}'),
        ('{"canary": "a", "canary": "b"}', 'must be one JSON object of texts, such as {"db/shop": "…"}'),
        (
            '{"canary": "db/shop"}',
            "a key that is not written GROUP/NAME, which needs none in the export or is not in it",
        ),
        ('{"db/local": "canary"}', "name db/local, which needs none in the export or is not in it"),
        ('{"service/s": "canary canary"}', "the token must not contain a space; give the token alone"),
        ('{"service/s": "canary\\n"}', "the token must be one line of printable ASCII, without spaces at its ends"),
        (" " * (1024 * 1024 + 1), "the secrets on standard input are over 1 MiB"),
    ],
    ids=range(10),
)
def test_wrong_secrets_are_told_without_a_word_of_them(helm: Helm, other: Path, given: str, message: str) -> None:
    local = '[db.local]\nengine = "sqlite"\npath = "/x"\n'
    exported(f'{SHOP}{local}[service.s]\nbase_url = "https://s.test"\nsecret = "token"\n')
    ended = helm("config", "import", "helm.toml", "--all", "--secrets-stdin", stdin=given)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err and "canary" not in ended.err
    assert everything(other) == {"db": {}, "service": {}, "mcp": {}}


def test_both_cannot_come_on_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "config", "import", "-", "--secrets-stdin").err == (
        "helm: the export and the secrets cannot both come on standard input; name the file\n"
    )


def test_secrets_are_not_typed_where_they_would_be_seen(other: Path) -> None:
    exported()
    with importing.at("config", "import", "helm.toml", "--secrets-stdin") as screen:
        assert screen.status() == 2
        assert b"the secrets would stand on the screen as you type them; pipe them in" in screen.raw


def test_what_was_taken_before_a_failure_stays_and_is_named(
    helm: Helm, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.mkdir(mode=0o700)
    (other / "profiles").mkdir(mode=0o700)
    (other / "profiles" / "mcp").write_text("in the way")
    exported(f'{SHOP}[mcp.b]\nurl = "https://b.test"\n[mcp.a]\nurl = "https://a.test"\n')
    ended = told(capsys, "config", "import", "helm.toml", "--all")
    assert ended.status == 1 and "profiles/mcp" in ended.err
    (other / "profiles" / "mcp").unlink()
    (other / "profiles" / "mcp").mkdir(mode=0o700)
    blocked = {"HELM_CLI_CREDENTIALS": "nothing"}
    ended = helm("config", "import", "helm.toml", "--all", env=blocked)
    assert ended.status == 2
    wrong = "HELM_CLI_CREDENTIALS is none of auto, keychain and file; set it to one of them or unset it"
    assert ended.err == f"helm: db/shop was not taken over: {wrong}; taken over before it: nothing\n"
    exported(f'version = 1\n[db.a]\nengine = "sqlite"\npath = "/"\n{SHOP.partition(chr(10))[2]}')
    ended = helm("config", "import", "helm.toml", "--all", env=blocked)
    assert ended.err.endswith("; taken over before it: db/a\n")
    assert everything(other) == {"db": {"a": 'engine = "sqlite"\npath = "/"\n'}, "service": {}, "mcp": {}}


def test_an_export_overwrites_nothing(helm: Helm, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("helm.toml").write_text("mine")
    Path("helm.toml").chmod(0o644)
    Path("link.toml").symlink_to("helm.toml")
    for name in ("helm.toml", "link.toml"):
        ended = told(capsys, "config", "export", name)
        assert (ended.status, ended.err) == (
            15,
            f"helm: {name} is there already; name another file, or replace it with --force\n",
        )
    assert Path("helm.toml").read_text() == "mine"
    assert told(capsys, "config", "export", "link.toml", "--force").status == 0
    assert Path("link.toml").is_symlink() and Path("helm.toml").read_text().startswith("# What helm keeps")
    assert stat.S_IMODE(Path("helm.toml").stat().st_mode) == 0o600
    assert sorted(os.listdir()) == ["helm.toml", "link.toml"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone/helm.toml", "gone/helm.toml cannot be written (no such file or directory); name another file"),
        (".", ". is not a regular file; name one, or - for standard output"),
        ("fifo", "fifo is not a regular file; name one, or - for standard output"),
        ("/dev/null", "/dev/null is not a regular file; name one, or - for standard output"),
        ("", " is not a regular file; name one, or - for standard output"),
    ],
)
def test_where_no_file_can_be_nothing_is_written(capsys: pytest.CaptureFixture[str], name: str, reason: str) -> None:
    os.mkfifo("fifo")
    ended = told(capsys, "config", "export", name, "--force")
    assert (ended.status, ended.err) == (2, f"helm: {reason}\n")
    assert os.listdir() == ["fifo"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_files_of_others_beside_an_export_stay(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".notes.new").write_text("mine")
    assert told(capsys, "config", "export", "helm.toml").status == 0
    assert sorted(os.listdir()) == [".notes.new", "helm.toml"]


def test_what_looks_like_a_secret_is_not_exported(helm: Helm, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    helm("mcp", "add", "open", "--", "true", "--api-key=canary-11aa")
    helm("mcp", "add", "fine", "--", "true")
    ended = told(capsys, "config", "export", "helm.toml")
    assert (ended.status, ended.out) == (3, "")
    assert ended.err == (
        "helm: mcp/open holds what looks like a secret: --api-key\n"
        "helm: nothing was exported, for that would stand open in it; give a command its secret by --token-env and a"
        " URL by --token-stdin, or leave the profile out with --without mcp/open\n"
    )
    assert not Path("helm.toml").exists()
    ended = told(capsys, "config", "export", "--without", "mcp/open")
    assert ended.status == 0 and "[mcp.fine]" in ended.out and "open" not in ended.out.partition("version")[2]


def test_what_may_be_a_secret_is_told_and_exported(helm: Helm, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    added = helm("mcp", "add", "s", "--url", f"https://mcp.test/s/{'0f' * 20}/mcp")
    assert added.err.splitlines()[-1].startswith("helm: a long random word of the URL may be a secret, and stands open")
    ended = told(capsys, "config", "export")
    assert (ended.status, ended.err) == (
        0,
        "helm: mcp/s may hold a secret: a long random word of the URL; look at it before you hand it on\n",
    )
    assert told(capsys, "config", "import", "-", "--all").status == 2
    exported(ended.out)
    assert told(capsys, "config", "import", "helm.toml", "--all").status == 0


def test_a_secret_among_the_settings_is_not_exported(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text(f'drafts_dir = "/srv/ghp_{"a1" * 18}"\n')
    ended = told(capsys, "config", "export")
    assert (ended.status, ended.out, ended.err) == (
        3,
        "",
        "helm: nothing was exported, for drafts_dir in config.toml holds what looks like a secret; take it out\n",
    )


def test_quiet_says_only_what_is_still_to_be_done(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported()
    assert told(capsys, "config", "import", "helm.toml", "--all", "-q").err == (
        f"helm: the password of db/shop is not here yet; enter it with: {EDIT}\n"
    )


def test_of_many_imports_at_once_none_is_half_taken(helm: Helm, other: Path) -> None:
    """Each profile has the secret of one of them, or is told as taken by another."""
    exported()
    assert helm("config", "import", "helm.toml", "--all", "--secrets-stdin", stdin='{"db/shop": "0"}').status == 0
    ended = at_once(4)
    assert {one.status for one in ended} == {0}
    assert kept(other)["db/shop"] in {"1", "2", "3", "4"}
    assert helm("db", "test", "shop").status == 10


def at_once(number: int) -> list[Finished]:
    words = [sys.executable, "-m", "helm_cli", "config", "import", "helm.toml", "--all", "--force", "--secrets-stdin"]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = [subprocess.Popen(words, text=True, **pipes) for _ in range(number)]
    for at, process in enumerate(running, 1):
        assert process.stdin
        process.stdin.write(json.dumps({"db/shop": str(at)}))
        process.stdin.close()
        process.stdin = None
    return [Finished(process.wait(60), *process.communicate()) for process in running]


def test_down_keeps_the_rest(other: Path) -> None:
    exported('version = 1\n[mcp.a]\nurl = "https://a.test"\n[mcp.b]\nurl = "https://b.test"\n')
    with importing.at("config", "import", "helm.toml") as screen:
        screen.wait_for("Take over")
        screen.send(DOWN, b" ", ENTER)
        assert screen.status() == 0
    assert profiles(other, "mcp") == {"a": 'url = "https://a.test"\n'}
