"""`helm db import`: shown first, chosen by a person, passwords moved and never seen, sources left alone."""

from pathlib import Path
from typing import Final

import pytest

from tests.program import Helm
from tests.rig.importing import FILE, at, at_own, leaks, profiles, told, untouched
from tests.rig.kept import kept
from tests.rig.mariadb import PASSWORD as MARIADB_PASSWORD
from tests.rig.mariadb import USER, MariaDb
from tests.rig.postgres import OWNER, PASSWORD, Postgres
from tests.rig.terminal import CTRL_C, DOWN, ENTER

URL: Final = "postgresql://me:canary-1@db.test/orders"
SERVICES: Final = """\
# A comment.
[shop]
host=db.test
dbname=shop
user=me
sslmode=prefer
connect_timeout=3

[\x1b[2JEvil]
host=/run/pg
dbname=evil
user=me

[ldapped]
ldap://x
"""
PASSWORDS: Final = """\
db.test:*:shop:me:canary\\:2
db.test:5432:shop:me:unused
db9.test:5432:*:me:canary-3
*:*:*:*:canary-4
"""
OPTIONS: Final = """\
[client]
user=me
password="canary#5"
host=my.test
[client-prod]
host = prod.test
database=shop
ssl-mode=VERIFY_IDENTITY
"""
SHOWN: Final = """\
DATABASE_URL holds 1 database
  orders (DATABASE_URL)
      postgres db.test:5432/orders, user me, TLS require
      with its password, which goes to the credential store
~/.pg_service.conf holds 3 databases
  shop
      postgres db.test:5432/shop, user me, TLS require
      with its password, which goes to the credential store
      connect_timeout is left out: helm has no such setting
      its sslmode prefer may go without TLS; helm is stricter and requires it off this machine
      its password is that of ~/.pgpass
  2jevil (\\u{1b}[2JEvil)
      postgres /run/pg:evil, user me, by a Unix socket
      with its password, which goes to the credential store
      its password is that of ~/.pgpass
  ldapped
      not taken over: line 15 would have it looked up in LDAP, which helm does not do
~/.pgpass holds 4 databases
  shop (line 1)
      not taken over: it is the same as shop of ~/.pg_service.conf, above
  shop (line 2)
      not taken over: it is the same as shop of ~/.pg_service.conf, above
  db9.test (line 3)
      postgres db9.test:5432/?, user me, TLS require
      with its password, which goes to the credential store
      its database is not said there: you are asked for it
  line 4
      not taken over: it is for any host (*), and a profile has one
~/.my.cnf holds 2 databases
  others on this machine can read ~/.my.cnf and the passwords in it; close it: chmod 600 ~/.my.cnf
  my.test ([client])
      mysql my.test:3306/?, user me, TLS require
      with its password, which goes to the credential store
      its database is not said there: you are asked for it
  prod ([client-prod])
      mysql prod.test:3306/shop, user me, TLS verify-full
      with its password, which goes to the credential store
~/.mylogin.cnf
  ~/.mylogin.cnf is obfuscated and not read; add what it holds by hand
"""


@pytest.fixture
def places(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """All usual places, with something in each."""
    monkeypatch.setenv("DATABASE_URL", URL)
    files = {".pg_service.conf": SERVICES, ".pgpass": PASSWORDS, ".my.cnf": OPTIONS, ".mylogin.cnf": "canary-6"}
    paths = []
    for name, text in files.items():
        paths.append(home.parent / name)
        paths[-1].write_text(text)
        paths[-1].chmod(0o644 if name == ".my.cnf" else 0o600)
    return paths


def test_without_a_person_it_is_shown_and_nothing_taken(
    home: Path, places: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = untouched(*places)
    ended = told(capsys, "db", "import")
    assert (ended.status, ended.out, ended.err) == (
        7,
        SHOWN,
        "helm: taking databases over needs a person at the terminal, who chooses; run it in one, or use helm db add\n",
    )
    assert (profiles(home, "db"), kept(home), leaks(home, "canary", ended.out, ended.err)) == ({}, {}, [])
    assert untouched(*places) == before


def test_a_person_takes_them_over_once(home: Path, places: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    before = untouched(*places)
    with at_own("db", "import") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        screen.wait_for("Database of db9.test")
        assert b"canary" not in Path(f"/proc/{screen.process.pid}/cmdline").read_bytes()
        screen.send(b"nine", ENTER)
        screen.wait_for("Database of my.test")
        assert profiles(home, "db") == {}
        screen.send(b"my", ENTER)
        assert screen.status() == 0
        raw = screen.raw
    assert profiles(home, "db") == {
        "2jevil": _toml("postgres", "db.test", 5432, "evil")
        .replace('host = "db.test"\n', "")
        .replace("5432\n", '5432\nsocket = "/run/pg"\n'),
        "db9.test": _toml("postgres", "db9.test", 5432, "nine"),
        "my.test": _toml("mysql", "my.test", 3306, "my"),
        "orders": _toml("postgres", "db.test", 5432, "orders"),
        "prod": _toml("mysql", "prod.test", 3306, "shop", 'tls = "verify-full"\n'),
        "shop": _toml("postgres", "db.test", 5432, "shop"),
    }
    assert kept(home) == {
        "db/orders/password": "canary-1",
        "db/shop/password": "canary:2",
        "db/2jevil/password": "canary-4",
        "db/db9.test/password": "canary-3",
        "db/my.test/password": "canary#5",
        "db/prod/password": "canary#5",
    }
    assert (leaks(home, "canary", raw), b"\x1b[2JEvil" in raw) == ([], False)
    assert b"helm: added the postgres profile shop, its password in the file" in raw
    assert b"helm: try each with: helm db test orders" in raw
    assert untouched(*places) == before

    again = told(capsys, "db", "import")
    assert again.out.count("not taken over: it is already there; --force takes it over anew\n") == 6
    assert (again.status, again.err) == (
        0,
        "helm: nothing of DATABASE_URL, pg_service.conf, .pgpass and .my.cnf is to be taken over\n",
    )


def _toml(engine: str, host: str, port: int, database: str, more: str = "") -> str:
    where = f'host = "{host}"\nport = {port}\ndatabase = "{database}"\nuser = "me"\n'
    return f'engine = "{engine}"\n{where}{more}credential = "file"\n'


@pytest.mark.parametrize("keys", [(CTRL_C,), (ENTER, CTRL_C)])
def test_a_cancel_at_any_question_adds_nothing(home: Path, keys: tuple[bytes, ...]) -> None:
    (home.parent / ".pgpass").write_text("db.test:5432:a:me:canary\ndb.test:5432:*:me:canary\n")
    (home.parent / ".pgpass").chmod(0o600)
    with at("db", "import", "pgpass") as screen:
        for question, key in zip(("Take over", "Database of db.test"), keys, strict=False):
            screen.wait_for(question)
            screen.send(key)
        assert screen.status() == 6
        assert b"nothing was changed" in screen.raw
    assert (profiles(home, "db"), kept(home)) == ({}, {})


def test_a_name_in_the_way_is_said_and_replaced_when_forced(
    helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    helm("db", "add", "orders", "--engine", "sqlite", "--path", "o.db")
    monkeypatch.setenv("DATABASE_URL", URL)
    ended = told(capsys, "db", "import", "env")
    assert ended.out == (
        "DATABASE_URL holds 1 database\n"
        "  orders (DATABASE_URL)\n"
        "      not taken over: there is a profile orders already; --force replaces it\n"
    )
    with at("db", "import", "env", "--force") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 6
        assert b"nothing was chosen; nothing was changed" in screen.raw
    assert "o.db" in profiles(home, "db")["orders"]
    with at("db", "import", "env", "--force") as screen:
        screen.wait_for("Take over")
        screen.send(b" ", ENTER)
        assert screen.status() == 0
        assert b"      replaces another: engine, path, host, port, database, user, secret\r\n" in screen.raw
        assert b"helm: replaced the postgres profile orders, its password in the file\r\n" in screen.raw
        assert b"helm: try it with: helm db test orders" in screen.raw
    assert profiles(home, "db") == {"orders": _toml("postgres", "db.test", 5432, "orders")}


def test_the_password_is_that_of_the_first_line_that_fits_the_answer(home: Path) -> None:
    """As libpq has it, for each database that the line for any one is not alone for."""
    text = "h.test:5432:d:me:canary-1\nh.test:5432:*:me:canary-2\nh.test:5432:e:me:canary-3\n"
    (home.parent / ".pgpass").write_text(text)
    (home.parent / ".pgpass").chmod(0o600)
    for answer, password in (("d", "canary-1"), ("x", "canary-2")):
        with at("db", "import", "pgpass", "--force") as screen:
            screen.wait_for("Take over")
            assert b"libpq takes the password of line 2 for it, which comes first, and so does helm" in screen.raw
            # Those of the second round are marked too, for nothing of them is another.
            screen.send(ENTER)
            screen.wait_for("Database of h.test")
            screen.send(answer.encode(), ENTER)
            assert screen.status() == 0
            told = b"helm: for d libpq takes the password of line 1, which comes first, and so does helm"
            assert (told in screen.raw) == (answer == "d")
        assert kept(home) == {"db/d/password": "canary-1", "db/h.test/password": password, "db/e/password": "canary-2"}


def test_what_was_changed_while_the_person_was_asked_stays_so(
    helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And which were taken before it, and which not, is told."""
    for name in ("A", "B", "C"):
        monkeypatch.setenv(f"{name}_URL", f"mysql://me:canary@db.test/{name.lower()}")
    helm("db", "add", "b", "--from-env", "U", env={"U": "mysql://me@db.test/old"})
    words = [word for name in ("A", "B", "C") for word in ("--from-env", f"{name}_URL")]
    with at("db", "import", *words, "--force") as screen:
        screen.wait_for("Take over")
        helm("db", "edit", "b", "--database", "mine")
        mine = profiles(home, "db")["b"]
        screen.send(b"a", ENTER)
        assert screen.status() == 15
        assert (
            b"helm: b was not taken over: its profile was changed while you were asked; look at it and start again;"
            b" taken over before it: a; not taken over either: c\r\n" in screen.raw
        )
    assert ([*profiles(home, "db")], profiles(home, "db")["b"]) == (["a", "b"], mine)
    assert kept(home) == {"db/a/password": "canary"}


def test_one_that_was_added_meanwhile_is_not_replaced(helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with --force either, for it was shown as new."""
    monkeypatch.setenv("A_URL", "mysql://me:canary@db.test/a")
    with at("db", "import", "--from-env", "A_URL", "--force") as screen:
        screen.wait_for("Take over")
        helm("db", "add", "a", "--engine", "sqlite", "--path", "/srv/a.db")
        screen.send(ENTER)
        assert screen.status() == 15
        assert b"helm: a was not taken over: the db profile a exists; " in screen.raw
        assert b"; taken over before it: nothing\r\n" in screen.raw
    assert profiles(home, "db") == {"a": 'engine = "sqlite"\npath = "/srv/a.db"\n'}
    assert kept(home) == {}


def test_only_what_replaces_another_is_not_marked(helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with another secret is, and a broken file is another."""
    for name in ("A", "B", "C"):
        monkeypatch.setenv(f"{name}_URL", f"mysql://me:canary@db.test/{name.lower()}")
    for name in ("a", "b"):
        host = "db.test" if name == "a" else "prod.test"
        url = f"mysql://me:old@{host}/{name}"
        assert helm("db", "add", name, "--from-env", "U", env={**FILE, "U": url}).status == 0
    (home / "profiles" / "db" / "c.toml").write_text("?")
    before = profiles(home, "db")
    words = [word for name in ("A", "B", "C") for word in ("--from-env", f"{name}_URL")]
    with at("db", "import", *words, "--force") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 0
        shown = [line.strip() for line in screen.raw.decode().splitlines() if "replaces" in line or "anew" in line]
        assert shown == [
            "it is already there, and is taken over anew",
            "replaces another: host",
            "replaces another: its file is broken",
        ]
        assert b"helm: replaced the mysql profile a, its password in the file\r\n" in screen.raw
    assert profiles(home, "db") == before
    assert kept(home) == {"db/a/password": "canary", "db/b/password": "old"}


def test_what_is_there_under_another_name_is_known(
    helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether it has a password counts too; a broken profile does not."""
    helm("db", "add", "mine", "--from-env", "U", env={**FILE, "U": URL})
    (home / "profiles" / "db" / "broken.toml").write_text("?")
    monkeypatch.setenv("DATABASE_URL", URL)
    ended = told(capsys, "db", "import", "env")
    assert (ended.status, "not taken over: it is already there, as mine\n" in ended.out) == (0, True)
    monkeypatch.setenv("DATABASE_URL", URL.replace(":canary-1", ""))
    assert told(capsys, "db", "import", "env").status == 7
    monkeypatch.setenv("DATABASE_URL", URL)
    assert told(capsys, "db", "import", "env", "--force").status == 7


def test_a_person_chooses(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_URL", "sqlite:///a.db")
    monkeypatch.setenv("B_URL", "mysql://me@db.test/b")
    with at("db", "import", "--from-env", "A_URL", "--from-env", "B_URL") as screen:
        screen.wait_for("Take over")
        screen.send(DOWN, b" ", ENTER)
        assert screen.status() == 0
        assert b"there is no file" in screen.raw
    assert profiles(home, "db") == {"a": f'engine = "sqlite"\npath = "{Path.cwd()}/a.db"\n'}


def test_what_was_taken_from_libpqs_files_connects(helm: Helm, home: Path, postgres: Postgres) -> None:
    service = f"[real]\nhost=127.0.0.1\nport={postgres.port}\ndbname=zq_main\nuser={OWNER}\nsslmode=require\n"
    (home.parent / ".pg_service.conf").write_text(service)
    word = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    (home.parent / ".pgpass").write_text(f"127.0.0.1:*:zq_main:{OWNER}:{word}\n")
    (home.parent / ".pgpass").chmod(0o600)
    with at("db", "import", "pg-service") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 0
    tried = helm("db", "test", "real", env=FILE)
    assert (tried.status, tried.out.startswith("real: ")) == (0, True), tried


def test_what_was_taken_from_an_option_file_connects(helm: Helm, home: Path, mariadb: MariaDb) -> None:
    word = MARIADB_PASSWORD.replace("\\", "\\\\")
    lines = [f"user={USER}", f"password = {word}", "database=app", f"port={mariadb.port}", "host=127.0.0.1"]
    (home.parent / ".my.cnf").write_text("\n".join(["[client-real]", *lines]))
    with at("db", "import", "my.cnf") as screen:
        screen.wait_for("Take over")
        screen.send(ENTER)
        assert screen.status() == 0
    assert kept(home) == {"db/real/password": MARIADB_PASSWORD}
    tried = helm("db", "test", "real", env=FILE)
    assert (tried.status, tried.out.startswith("real: ")) == (0, True), tried
