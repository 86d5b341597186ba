"""`helm service import`: gh's and .netrc's tokens shown first, chosen by a person, moved and never seen."""

import base64
import os
from pathlib import Path
from typing import Final

import pytest

from tests.program import Helm
from tests.rig.importing import FILE, at_own, leaks, profiles, told, untouched
from tests.rig.kept import kept
from tests.rig.terminal import ENTER

HOSTS: Final = """\
github.com:
    git_protocol: https
    users:
        me:
            oauth_token: gho_canary1
        bot:
            oauth_token: gho_canary2
    oauth_token: gho_canary1
    user: me
ghe.test:
    user: me
"""
MACHINES: Final = """\
# A comment.
machine api.heroku.test login me@x.test password canary-3 # and another
machine gitlab.test login oauth2 password canary-4
default login anonymous password canary-5
macdef init
machine inner.test login a password b

machine plain.test
"""
SHOWN: Final = """\
~/.config/gh/hosts.yml holds 3 services
  github (github.com, me)
      https://api.github.com
      with its token, which goes to the credential store; calls send it as Authorization: Bearer …
  github-bot (github.com, bot)
      https://api.github.com
      with its token, which goes to the credential store; calls send it as Authorization: Bearer …
  ghe.test (ghe.test, me)
      not taken over: gh keeps its token elsewhere, as in the keychain; take it with: gh auth token --hostname \
ghe.test | helm service add ghe.test --base-url https://ghe.test/api/v3 --token-stdin
~/.netrc holds 4 services
  api.heroku.test (machine api.heroku.test, login me@x.test)
      https://api.heroku.test
      with its token, which goes to the credential store; calls send it as Authorization: Basic …
      login and password are sent together, as HTTP Basic has it
  gitlab.test (machine gitlab.test, login oauth2)
      https://gitlab.test
      with its token, which goes to the credential store; calls send it as Authorization: Bearer …
      its password is sent as a bearer token: the login oauth2 says that it is one
  default
      not taken over: it is for any machine, and a profile has one base URL
  plain.test (machine plain.test)
      not taken over: it has no password
"""
BASIC: Final = f"Basic {base64.b64encode(b'me@x.test:canary-3').decode()}"


def put(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def places(home: Path) -> list[Path]:
    return [put(home.parent / ".config" / "gh" / "hosts.yml", HOSTS), put(home.parent / ".netrc", MACHINES)]


def test_without_a_person_it_is_shown_and_nothing_taken(
    home: Path, places: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = untouched(*places)
    ended = told(capsys, "service", "import")
    assert (ended.status, ended.out, ended.err) == (
        7,
        SHOWN,
        "helm: taking services over needs a person at the terminal, who chooses; run it in one, or use helm service"
        " add\n",
    )
    assert (profiles(home, "service"), kept(home), leaks(home, "canary", ended.out, ended.err)) == ({}, {}, [])
    assert (leaks(home, BASIC[6:], ended.out), untouched(*places)) == ([], before)


def test_a_person_takes_them_over_once(home: Path, places: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    before = untouched(*places)
    with at_own("service", "import") as screen:
        screen.wait_for("Take over")
        assert b"canary" not in Path(f"/proc/{screen.process.pid}/cmdline").read_bytes()
        screen.send(ENTER)
        assert screen.status() == 0
        raw = screen.raw
    assert profiles(home, "service") == {
        "api.heroku.test": 'base_url = "https://api.heroku.test"\nformat = "raw"\ncredential = "file"\n',
        "github": 'base_url = "https://api.github.com"\ncredential = "file"\n',
        "github-bot": 'base_url = "https://api.github.com"\ncredential = "file"\n',
        "gitlab.test": 'base_url = "https://gitlab.test"\ncredential = "file"\n',
    }
    assert kept(home) == {
        "service/github/token": "gho_canary1",
        "service/github-bot/token": "gho_canary2",
        "service/api.heroku.test/token": BASIC,
        "service/gitlab.test/token": "canary-4",
    }
    assert leaks(home, "canary", raw) == leaks(home, BASIC[6:], raw) == []
    assert (
        b"added the service profile api.heroku.test, its token in the file, sent as Authorization: Basic TOKEN" in raw
    )
    assert b"helm: try each with: helm service test github" in raw
    assert untouched(*places) == before

    again = told(capsys, "service", "import")
    assert again.out.count("not taken over: it is already there; --force takes it over anew\n") == 4
    assert (again.status, again.err) == (0, "helm: nothing of gh's hosts.yml and .netrc is to be taken over\n")


def test_a_name_in_the_way_is_said(helm: Helm, places: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    helm("service", "add", "github", "--base-url", "https://api.github.com", "--no-token", env=FILE)
    ended = told(capsys, "service", "import", "gh")
    assert "  github (github.com, me)\n      not taken over: there is a profile github already; --force" in ended.out
    out = told(capsys, "service", "import", "gh", "--force").out
    assert "  github (github.com, me)\n      replaces another: secret\n" in out and "not taken over: there" not in out


def test_no_login_that_may_be_a_key_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stripe, plain = "sk_live_" + "canary1A" * 3, "ca0a1b2c3d4e5f" * 3
    put(
        home.parent / ".netrc",
        f"machine a.test login {stripe}\nmachine b.test login {plain}\n"
        f"machine user:{plain}@c.test login me password p\n"
        f"machine https://d.test/?token={plain} login me password p\nmachine e.test login {plain} password X\n",
    )
    ended = told(capsys, "service", "import", "netrc")
    assert [line for line in ended.out.splitlines() if line.startswith("  ") and line[2] != " "] == [
        "  a.test (machine a.test)",
        "  b.test (machine b.test)",
        "  entry 3",
        "  entry 4",
        "  e.test (machine e.test)",
    ]
    assert (stripe in ended.out + ended.err, plain in ended.out + ended.err) == (False, False)
    with at_own("service", "import", "netrc") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 0
        raw = screen.raw
    assert leaks(home, stripe, raw) == leaks(home, plain, raw) == []
    pairs = kept(home)
    assert pairs["service/b.test/token"] == f"Basic {base64.b64encode(f'{plain}:'.encode()).decode()}"
    assert pairs["service/e.test/token"] == f"Basic {base64.b64encode(f'{plain}:X'.encode()).decode()}"
    assert pairs["service/a.test/token"] in (stripe, f"Basic {base64.b64encode(f'{stripe}:'.encode()).decode()}")


def test_where_the_files_are_can_be_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = "github.com:\n  oauth_token: t\n"
    put(tmp_path / "xdg" / "gh" / "hosts.yml", entry)
    put(tmp_path / "own" / "hosts.yml", entry)
    put(tmp_path / "machines", "machine a.test password t")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert told(capsys, "service", "import", "gh").out.startswith(f"{tmp_path}/xdg/gh/hosts.yml holds 1 service\n")
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("NETRC", str(tmp_path / "machines"))
    out = told(capsys, "service", "import").out
    assert [line for line in out.splitlines() if " holds " in line] == [
        f"{tmp_path}/own/hosts.yml holds 1 service",
        f"{tmp_path}/machines holds 1 service",
    ]
    assert told(capsys, "service", "import", f"{tmp_path}/own/hosts.yml").out.startswith(f"{tmp_path}/own/hosts.yml")
    assert told(capsys, "service", "import", f"{tmp_path}/machines").out.startswith(f"{tmp_path}/machines holds")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_netrc_that_others_can_read_is_not_read(home: Path, mode: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Named, it ends it; among the usual places the other is still offered."""
    put(home.parent / ".netrc", "machine a.test login me password canary", mode)
    wrong = "~/.netrc is not read, as ftp would not read it: others can read it; close it: chmod 600 ~/.netrc"
    ended = told(capsys, "service", "import", "netrc")
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {wrong}\n")
    ended = told(capsys, "service", "import")
    assert (ended.status, ended.out) == (0, f"~/.netrc\n  {wrong}\n")


def test_a_netrc_of_somebody_elses_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("/etc/passwd")
    if os.geteuid() == 0:
        path = put(tmp_path / "netrc", "machine a.test login me password canary")
        os.chown(path, 65534, -1)
    wrong = "it is not yours; copy what is yours into one of your own"
    ended = told(capsys, "service", "import", str(path))
    assert ended.err == f"helm: {path} is not read, as ftp would not read it: {wrong}\n"


def test_tokens_of_gh_that_others_can_read_are_warned_of(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home.parent / ".config" / "gh" / "hosts.yml", HOSTS, 0o644)
    ended = told(capsys, "service", "import", "gh")
    name = "~/.config/gh/hosts.yml"
    assert ended.out.splitlines()[1] == (
        f"  others on this machine can read {name} and the tokens in it; close it: chmod 600 {name}"
    )


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("hosts.yml", "github.com:\n  oauth_token: [canary", "see line 2"),
        ("hosts.yml", "a: 1\na: canary\n", "see line 2"),
        ("hosts.yml", "a: &x {oauth_token: canary}\nb: *x\n", "see line 1"),
        ("hosts.yml", "canary", "it is no list of hosts as gh keeps it"),
        ("netrc", "machine a.test\ncanary", "line 2 has a word that is none of machine, default, login, password,"),
    ],
)
def test_a_broken_file_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, wrong: str
) -> None:
    path = put(tmp_path / name, text)
    ended = told(capsys, "service", "import", str(path))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"helm: {path} cannot be used: {wrong}") and "canary" not in ended.err


def test_where_nothing_is_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    ended = told(capsys, "service", "import")
    assert (ended.status, ended.out, ended.err) == (
        0,
        "",
        "helm: nothing was found: there is none of gh's hosts.yml and .netrc here\n",
    )
    assert told(capsys, "service", "import", "gh").status == told(capsys, "service", "import", "netrc").status == 2
