"""Where `helm db import` looks, what it makes of a file by name or content, and which files it does not trust."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.cli import db_sources
from helm_cli.cli.db_sources import Held
from helm_cli.grammar.database_url import Parts
from helm_cli.model.errors import HelmError
from tests.rig.importing import told

SERVICE: Final = "[a]\nhost=db.test\ndbname=d\nuser=me\n"
PASSWORD: Final = "db.test:5432:d:me:canary"


def put(path: Path, text: str | bytes, mode: int = 0o600) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return str(path)


def parts(held: Held) -> list[Parts]:
    return [one.parts for one in held.found if one.parts is not None]


def refused(source: str) -> str:
    with pytest.raises(HelmError) as raised:
        db_sources.named(source)
    assert raised.value.code == "usage"
    return raised.value.message


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (".pg_service.conf", SERVICE, "a"),
        ("pg_service.conf.bak", SERVICE, "a"),
        ("services", f"\n# x\n{SERVICE}", "a"),
        (".pgpass", PASSWORD, "line 1"),
        ("pgpass.conf", PASSWORD, "line 1"),
        ("passwords", f"# x\n{PASSWORD}", "line 2"),
        ("my.cnf", "[client]\nhost=db.test\ndatabase=d\n", "[client]"),
        ("client.cnf", "[client]\nhost=db.test\ndatabase=d\n", "[client]"),
        ("options", "; x\n[client-a]\nhost=db.test\n", "[client-a]"),
        ("more", "!include x\n[mysql]\nhost=db.test\n", "[client]"),
        (".env", "DATABASE_URL=sqlite:///d.db", "DATABASE_URL"),
        (".env.local", "X=postgres://me@h/d", "X"),
        ("prod.env", "X=postgres://me@h/d", "X"),
        ("settings", "export A_URL=postgres://me@h/d", "A_URL"),
    ],
)
def test_a_file_is_known_by_its_name_or_its_content(tmp_path: Path, name: str, text: str, found: str) -> None:
    (held,) = db_sources.named(put(tmp_path / name, text))
    assert [one.origin for one in held.found] == [found]


@pytest.mark.parametrize("text", ["", "hello", "canary: x\ny: z", "#only"])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "other", text)
    told = "is none that helm knows; name a .env file, or a file such as pg_service.conf, .pgpass or .my.cnf"
    assert refused(path) == f"{path} {told}"


@pytest.mark.parametrize("source", ["pgpass", "pg-service", "my.cnf"])
def test_a_usual_place_that_was_named_must_be_there(source: str) -> None:
    assert "cannot be read (no such file or directory); name a" in refused(source)


def test_a_variable_that_was_named_must_hold_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "the variable DATABASE_URL is not set or empty; it should hold a connection URL"
    assert refused("env") == told
    monkeypatch.setenv("DATABASE_URL", "")
    assert refused("env") == told


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "."):
        told = "is not a regular file; name the file of another program's itself"
        assert refused(f"{tmp_path}/{name}") == f"{tmp_path}/{name} {told}"
    assert refused(put(tmp_path / ".env", b"\xff")) == f"{tmp_path}/.env is not UTF-8; name a .env file"
    assert refused(put(tmp_path / ".env", b"\0")) == f"{tmp_path}/.env is no text; name a .env file"
    assert refused(put(tmp_path / ".env", b"x" * (1024 * 1024 + 1))) == (
        f"{tmp_path}/.env is over 1 MiB; name a .env file"
    )
    assert refused("a\0b") == "a\0b cannot be read (no path); name a file of another program's"
    assert refused("~/.mylogin.cnf") == "~/.mylogin.cnf is obfuscated and not read; add what it holds by hand"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_password_file_that_libpq_ignores_is_ignored(home: Path, mode: int) -> None:
    put(home.parent / ".pgpass", PASSWORD, mode)
    put(home.parent / ".pg_service.conf", SERVICE)
    told = (
        "others can read ~/.pgpass or change it, so libpq ignores it, and so does helm; close it: chmod 600 ~/.pgpass"
    )
    assert refused("pgpass") == told
    held, ignored = db_sources.everything()
    assert held == Held("~/.pg_service.conf", held.found, (told,)) and ignored == Held("~/.pgpass", remarks=(told,))
    assert [one.password for one in parts(held)] == [None]


def test_a_line_before_goes_first_as_libpq_has_it(tmp_path: Path) -> None:
    (held,) = db_sources.named(put(tmp_path / ".pgpass", "h:5432:*:u:FIRST\nh:5432:d:u:SECOND\n"))
    assert [(one.database, one.password) for one in parts(held)] == [(None, "FIRST"), ("d", "FIRST")]
    assert held.found[1].notes == ("libpq takes the password of line 1 for it, which comes first, and so does helm",)
    assert [entry.line for entry in held.entries] == [1, 2]


def test_libpqs_variables_count_for_each_of_its_places(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home.parent / ".pg_service.conf", SERVICE)
    put(home.parent / ".pgpass", "db.test:*:d:me:canary\n")
    for name, value in {
        "DATABASE_URL": "postgres://me@db.test/d",
        "PGSSLMODE": "verify-full",
        "PGPORT": "6432",
    }.items():
        monkeypatch.setenv(name, value)
    (home.parent / ".postgresql").mkdir()
    root = put(home.parent / ".postgresql" / "root.crt", "")
    found = [one for held in db_sources.everything() for one in held.found]
    assert [one.parts and (one.parts.port, one.parts.tls, one.parts.tls_ca) for one in found] == [
        (6432, "verify-full", root)
    ] * 3
    # The service has its password from the line that is for any port.
    assert [one.parts and one.parts.password for one in found] == [None, "canary", "canary"]
    assert found[0].notes == (
        "its port is that of PGPORT, as libpq has it",
        "its sslmode is that of PGSSLMODE, as libpq has it",
    )


@pytest.mark.parametrize("folder", ["{}", "~"])
@pytest.mark.parametrize("name", [".env; touch PWNED", "$(touch PWNED).env", "a'b.env", "-R.env", "a b.env"])
def test_a_command_to_paste_is_one_about_the_file(home: Path, tmp_path: Path, folder: str, name: str) -> None:
    there = tmp_path if folder == "{}" else home.parent
    path = put(there / name, "A_URL=mysql://me:canary@h/d", 0o644)
    named = f"{folder.format(there)}/{name}" if not name.startswith("-") or folder == "~" else name
    os.chdir(there)
    (held,) = db_sources.named(named)
    (remark,) = held.remarks
    command = remark.partition("close it: ")[2]
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr, (there / "PWNED").exists()) == (0, "", False), command
    assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", [".pgpass; touch PWNED", "my.cnf; touch PWNED.cnf"])
def test_so_is_that_of_a_file_that_is_not_read(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, "[client]\nhost=h\n" if "my" in name else PASSWORD, 0o666)
    os.chdir(tmp_path)
    with pytest.raises(HelmError) as raised:
        (db_sources._options if "my" in name else db_sources._passwords)(path)
    command = raised.value.message.partition("close it: ")[2]
    subprocess.run(["/bin/sh", "-c", command], check=True, timeout=20)
    assert (os.stat(path).st_mode & 0o077 & 0o002, [*map(str, tmp_path.iterdir())]) == (0, [path])


def test_a_group_that_makes_no_name_leaves_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path / "my.cnf", "[client-???]\nhost=a\nuser=me\n[client-b]\nhost=b.test\nuser=me\ndatabase=d\n")
    ended = told(capsys, "db", "import", path)
    assert (ended.status, ended.out) == (
        7,
        f"{path} holds 2 databases\n"
        "  [client-???]\n"
        "      not taken over: no name of a profile can be made from its name\n"
        "  b ([client-b])\n"
        "      mysql b.test:3306/d, user me, TLS require\n"
        "      without a password\n",
    )


@pytest.mark.parametrize(
    "url",
    ["mysql://user%3Acanary@h/db", "mysql://me@h/db?canary", "mysql://me%3Acanary%40h/db", "mysql://me:1/canary%40h"],
)
def test_a_password_in_an_odd_place_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    ended = told(capsys, "db", "import", "env")
    assert ended.status == 0 and "not taken over: its URL cannot be used: " in ended.out
    assert "canary" not in ended.out + ended.err


@pytest.mark.parametrize("mode", [0o602, 0o666])
def test_an_option_file_that_mysql_ignores_is_ignored(home: Path, mode: int) -> None:
    put(home.parent / ".my.cnf", "[client]\nhost=db.test\n", mode)
    told = "everybody can change ~/.my.cnf, so MySQL's clients ignore it, and so does helm; close it: chmod o-w ~/.my"
    assert refused("my.cnf") == f"{told}.cnf"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".pg_service.conf", f"{SERVICE}password=canary"),
        (".env", "A=postgres://me:canary@h/d"),
        (".my.cnf", "[client]\nhost=h\npassword=canary"),
    ],
)
def test_a_password_that_others_can_read_is_warned_of(tmp_path: Path, name: str, text: str) -> None:
    path = put(tmp_path / name, text, 0o640)
    (held,) = db_sources.named(path)
    warned = f"others on this machine can read {path} and the passwords in it; close it: chmod 600 {path}"
    assert held.remarks == (warned,)
    assert db_sources.named(put(tmp_path / name, text))[0].remarks == ()
    assert (
        db_sources.named(put(tmp_path / name, text.replace(":canary", "").replace("=canary", ""), 0o644))[0].remarks
        == ()
    )


def test_libpqs_variables_say_where_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service's own passfile goes first, then PGPASSFILE."""
    own = put(tmp_path / "own", "*:*:*:*:of-own")
    services = put(tmp_path / "s", f"{SERVICE}[b]\nhost=h\ndbname=d\nuser=me\npassfile={own}\n")
    put(tmp_path / "pg_service.conf", "[c]\nhost=h\ndbname=d\nuser=me\npassword=of-file\n", 0o600)
    monkeypatch.setenv("PGSERVICEFILE", services)
    monkeypatch.setenv("PGSYSCONFDIR", str(tmp_path))
    monkeypatch.setenv("PGPASSFILE", put(tmp_path / "p", "*:*:*:*:of-variable"))
    mine, system = db_sources.named("pg-service")
    assert [one.password for one in parts(mine)] == ["of-variable", "of-own"]
    assert [one.notes for one in mine.found] == [
        (f"its password is that of {tmp_path}/p",),
        (f"its password is that of {own}",),
    ]
    assert [one.password for one in parts(system)] == ["of-file"]
    assert [held.label for held in db_sources.everything()] == [
        services,
        f"{tmp_path}/pg_service.conf",
        f"{tmp_path}/p",
    ]
    assert [held.label for held in db_sources.named("pgpass")] == [f"{tmp_path}/p"]


def test_libpqs_own_file_of_authorities_counts(home: Path) -> None:
    put(home.parent / ".pg_service.conf", f"{SERVICE}sslmode=verify-ca\n")
    (home.parent / ".postgresql").mkdir()
    root = put(home.parent / ".postgresql" / "root.crt", "")
    (one,) = parts(*db_sources.named("pg-service"))
    assert (one.tls, one.tls_ca) == ("require", root)


@pytest.mark.parametrize(
    ("url", "made"),
    [
        ("sqlite:///sub/a.db", {"name": "a", "path": "{}/sub/a.db"}),
        ("sqlite:////srv/a.db", {"name": "a", "path": "/srv/a.db"}),
        ("mysql://me@db.test", {"name": "db.test", "database": None}),
        ("postgres:///d", {"fault": "its URL names no host"}),
        ("postgres://db.test/d", {"fault": "its URL names no user"}),
        (
            "postgres://me:canary@h/d?x=y",
            {"fault": "its URL cannot be used: helm has no setting for its option x; take"},
        ),
        (
            "redis://x",
            {"fault": "its URL cannot be used: its scheme is none of postgres, postgresql, mysql, mariadb and"},
        ),
        (
            "sqlite:///etc/passwd",
            {"fault": "its file is relative and not there; an absolute path has four slashes, as"},
        ),
        ("postgres://me@h/???", {"fault": "its URL cannot be used: "}),
        ("postgres://me@h/%C3%A4", {"fault": "no name of a profile can be made from it"}),
    ],
)
def test_a_url_of_an_env_file(tmp_path: Path, url: str, made: dict[str, Any]) -> None:
    """A relative file is that of the folder of the .env file."""
    (found,) = db_sources.variables(put(tmp_path / ".env", f"DATABASE_URL='{url}'")).found
    assert "canary" not in repr(found)
    assert found.fault.startswith(made.pop("fault", "")) and bool(found.fault) == (not made)
    whole = {"name": found.name, **(found.parts._asdict() if found.parts else {})}
    wanted = {name: value and value.format(tmp_path.resolve()) for name, value in made.items()}
    assert {name: whole[name] for name in wanted} == wanted


def test_a_value_that_would_be_filled_in_is_refused(tmp_path: Path) -> None:
    (found,) = db_sources.variables(put(tmp_path / ".env", 'A_URL="mysql://me:$CANARY@h/d"')).found
    assert (found.name, found.fault) == (
        "a",
        "it has a $ that other programs fill in and helm does not; put the whole value in single quotes",
    )


def test_what_a_file_includes_is_said_not_to_be_read(tmp_path: Path) -> None:
    (held,) = db_sources.named(put(tmp_path / "my.cnf", "!includedir /etc\n[client]\nhost=h\n"))
    assert held.remarks == ("what it includes (!include) is not read; name such a file itself",)


def test_a_broken_file_is_told_with_its_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named, it ends it; among the usual places the others are still offered."""
    put(home.parent / ".my.cnf", "canary")
    wrong = "~/.my.cnf cannot be used: line 1 stands before the first group, such as [client]"
    assert refused("my.cnf") == wrong
    put(home.parent / ".pgpass", PASSWORD)
    ended = told(capsys, "db", "import")
    assert ended.status == 7 and ended.out.endswith(f"~/.my.cnf\n  {wrong}\n")
    assert ended.out.startswith("~/.pgpass holds 1 database\n  d (line 1)\n      postgres db.test:5432/d, user me, TLS")


def test_where_nothing_is_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    ended = told(capsys, "db", "import")
    assert (ended.status, ended.out, ended.err) == (
        0,
        "",
        "helm: nothing was found: there is none of DATABASE_URL, pg_service.conf, .pgpass and .my.cnf here\n",
    )


def test_a_database_of_two_sources_is_offered_once_but_for_its_password(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me@db.test/d")
    put(home.parent / ".pgpass", f"{PASSWORD}\n{PASSWORD}")
    assert told(capsys, "db", "import").out == (
        "DATABASE_URL holds 1 database\n"
        "  d (DATABASE_URL)\n"
        "      postgres db.test:5432/d, user me, TLS require\n"
        "      without a password\n"
        "~/.pgpass holds 2 databases\n"
        "  d-2 (line 1)\n"
        "      postgres db.test:5432/d, user me, TLS require\n"
        "      with its password, which goes to the credential store\n"
        "  d (line 2)\n"
        "      not taken over: it is the same as line 1 of ~/.pgpass, above\n"
    )
