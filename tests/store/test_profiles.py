"""Profiles: one TOML file each, edited by helm and by hand."""

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from helm_cli.store import profiles, tomltext

APP = Database("app", "sqlite", path="/data/app.db")
SERVER = Database(
    "shop",
    "postgres",
    host="db.example.test",
    port=5432,
    database="shop",
    user="reader",
    tls="verify-full",
    tls_ca="/ca.pem",
    credential="keychain",
)


def by_hand(home: Path, text: str | bytes, name: str = "app") -> Path:
    path = home / "profiles" / "db" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.contract("C15")
@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (APP, 'engine = "sqlite"\npath = "/data/app.db"\n'),
        (
            SERVER,
            'engine = "postgres"\nhost = "db.example.test"\nport = 5432\ndatabase = "shop"\nuser = "reader"\n'
            'tls = "verify-full"\ntls_ca = "/ca.pem"\ncredential = "keychain"\n',
        ),
        (
            Database("my", "mysql", socket="/run/mysqld.sock", database="d", user='o"b\\c'),
            'engine = "mysql"\nsocket = "/run/mysqld.sock"\ndatabase = "d"\nuser = "o\\"b\\\\c"\n',
        ),
    ],
    ids=["sqlite", "postgres", "mysql"],
)
def test_a_profile_is_one_private_file_without_a_secret(home: Path, profile: Database, text: str) -> None:
    assert profiles.create(home, profile)
    path = home / "profiles" / "db" / f"{profile.name}.toml"
    assert path.read_text() == text == profiles.render(profile)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE((home / "profiles").stat().st_mode) == 0o700
    assert profiles.load(home, "db", profile.name) == profile
    assert profiles.names(home, "db") == [profile.name]


def test_a_name_that_is_taken_is_not_taken_again(home: Path) -> None:
    assert not profiles.exists(home, "db", "app")
    assert profiles.create(home, APP)
    assert profiles.exists(home, "db", "app")
    assert not profiles.create(home, SERVER._replace(name="app"))
    assert profiles.load(home, "db", "app") == APP


def test_a_removed_profile_is_gone(home: Path) -> None:
    assert not profiles.remove(home, "db", "app")
    by_hand(home, "broken")
    assert profiles.remove(home, "db", "app")
    assert profiles.names(home, "db") == []


@pytest.mark.contract("C20")
def test_no_profile_is_not_configured(home: Path) -> None:
    assert profiles.names(home, "db") == []
    with pytest.raises(HelmError) as caught:
        profiles.load(home, "db", "app")
    assert (caught.value.code, caught.value.message) == (
        "not_configured",
        "there is no database profile app; add it with: helm db add app",
    )


def test_only_names_of_profiles_are_listed(home: Path) -> None:
    for name in ("b", "a.b-c_1", "UPPER", ".hidden", "a b", "x" * 65):
        by_hand(home, "", name)
    (home / "profiles" / "db" / "notes.txt").write_text("")
    assert profiles.names(home, "db") == ["a.b-c_1", "b"]


@pytest.mark.parametrize("name", ["", "A", ".a", "-a", "a/b", "a b", "a\n", "ä", "a" * 65, "../a"])
def test_what_cannot_be_a_name_is_a_usage_error(home: Path, name: str) -> None:
    attempts = (
        lambda: profiles.check_name(name),
        lambda: profiles.create(home, APP._replace(name=name)),
        lambda: profiles.load(home, "db", name),
        lambda: profiles.exists(home, "db", name),
        lambda: profiles.remove(home, "db", name),
    )
    for attempt in attempts:
        with pytest.raises(HelmError) as caught:
            attempt()
        assert (caught.value.code, caught.value.message) == (
            "usage",
            f"{name!r} cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore,"
            " the first a letter or digit",
        )
    assert not home.exists()


@pytest.mark.parametrize(
    "text",
    [
        "# mine\r\nengine = 'sqlite'   # by hand\r\n\r\npath='/data/app.db'\r\n",
        '\ufeffpath = """/data/app.db"""\n"engine" = "sqlite"',
        'engine = "sql\\u0069te"\npath = "/data/app.db"\n\n',
    ],
)
def test_what_is_written_by_hand_is_understood(home: Path, text: str) -> None:
    by_hand(home, text)
    assert profiles.load(home, "db", "app") == APP


SQLITE = 'engine = "sqlite"\n'
POSTGRES = 'engine = "postgres"\nhost = "h"\nport = 1\ndatabase = "d"\nuser = "u"\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (SQLITE + 'pth = "/a"', "the key pth is unknown (did you mean path?)"),
        (SQLITE + 'name = "x"', "the key name is unknown (known are engine, path, host, port, socket, database, user,"),
        (SQLITE + "[path]", "the value of path must be a text"),
        (SQLITE + "path = 1", "the value of path must be a text"),
        (SQLITE + 'path = "a.db"', "path must be absolute"),
        (SQLITE + 'path = ""', "path must be a text in UTF-8 that is not empty and holds no NUL"),
        (SQLITE + 'path = "/a\\u0000"', "path must be a text in UTF-8 that is not empty and holds no NUL"),
        (SQLITE, "the engine sqlite needs path"),
        (SQLITE + 'path = "/a"\nhost = "h"', "the engine sqlite takes no host"),
        ('path = "/a"', "the key engine is missing"),
        ("", "the key engine is missing"),
        ('engine = "oracle"', 'the value of engine must be "sqlite" or "postgres" or "mysql"'),
        ('engine = ["sqlite"]', 'the value of engine must be "sqlite" or "postgres" or "mysql"'),
        (POSTGRES + 'path = "/a"', "the engine postgres takes no path"),
        *(
            (POSTGRES.replace('"h"', f'"{host}"'), "host must be the name or the address of one host, not a URL")
            for host in ("postgres://h", "a,b", "u@h", "h/d", " h")
        ),
        (POSTGRES.replace("port = 1\n", ""), "the engine postgres needs port"),
        (POSTGRES.replace("port = 1", "port = 0"), "port must be from 1 to 65535"),
        (POSTGRES.replace("port = 1", "port = 65536"), "port must be from 1 to 65535"),
        (POSTGRES.replace("port = 1", "port = true"), "the value of port must be a whole number"),
        (POSTGRES.replace("port = 1", 'port = "1"'), "the value of port must be a whole number"),
        (POSTGRES + 'socket = "/s"', "it has both host and socket, of which only one can be used"),
        (POSTGRES.replace('host = "h"', 'socket = "s"'), "socket must be absolute"),
        (POSTGRES.replace('host = "h"', ""), "the engine postgres needs host (or socket)"),
        (POSTGRES + 'tls = "on"', 'the value of tls must be "disable" or "require" or "verify-full"'),
        (POSTGRES + 'tls_ca = "ca.pem"', "tls_ca must be absolute"),
        (POSTGRES + 'credential = "paper"', 'the value of credential must be "keychain" or "file"'),
        (POSTGRES + 'password = "hunter2"', "the key password is unknown (known are engine, path, host, port,"),
        (b"\xff", "it is not UTF-8"),
        ("engine", "it is no valid TOML: expected '=' after a key in a key/value pair (at end of document)"),
    ],
)
def test_what_cannot_be_understood_names_the_file_and_the_reason(home: Path, text: str | bytes, fault: str) -> None:
    path = by_hand(home, text)
    with pytest.raises(HelmError) as caught:
        profiles.load(home, "db", "app")
    assert caught.value.code == "state"
    assert caught.value.message.startswith(f"{path} cannot be used: {fault}")
    assert caught.value.message.endswith("; correct the file")
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize(
    ("profile", "fault"),
    [
        (APP._replace(path="a.db"), "path must be absolute"),
        (APP._replace(path=None), "the engine sqlite needs path"),
        (APP._replace(path="/a\udcff"), "path must be a text in UTF-8 that is not empty and holds no NUL"),
        (SERVER._replace(name="app", port=None), "the engine postgres needs port"),
    ],
)
def test_a_profile_that_could_not_be_loaded_is_not_written(home: Path, profile: Database, fault: str) -> None:
    for write in (profiles.create, profiles.replace):
        with pytest.raises(HelmError) as caught:
            write(home, profile)
        assert (caught.value.code, caught.value.message) == ("usage", f"the profile app is not possible: {fault}")
    assert not home.exists()


def test_a_replaced_profile_keeps_comments_order_and_what_did_not_change(home: Path) -> None:
    path = by_hand(
        home,
        "# The shop's own.\n\nuser = 'reader' # read only\nport   =   5_432\n"
        'engine = "postgres" # 15\nhost = "old.example.test" # moved soon\ndatabase = "shop"\n# end\n',
        "shop",
    )
    profiles.replace(home, SERVER)
    assert path.read_text() == (
        "# The shop's own.\n\nuser = 'reader' # read only\nport   =   5_432\n"
        'engine = "postgres" # 15\nhost = "db.example.test" # moved soon\ndatabase = "shop"\n# end\n'
        'tls = "verify-full"\ntls_ca = "/ca.pem"\ncredential = "keychain"\n'
    )
    assert profiles.load(home, "db", "shop") == SERVER
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_replaced_profile_may_change_its_engine(home: Path) -> None:
    path = by_hand(home, "\ufeff# top\n" + profiles.render(SERVER), "app")
    profiles.replace(home, APP)
    assert path.read_text() == '# top\nengine = "sqlite"\npath = "/data/app.db"\n'
    profiles.remove(home, "db", "app")
    profiles.replace(home, APP)
    assert path.read_text() == 'engine = "sqlite"\npath = "/data/app.db"\n'


def test_a_broken_profile_is_not_replaced(home: Path) -> None:
    path = by_hand(home, "engine")
    with pytest.raises(HelmError, match="it is no valid TOML"):
        profiles.replace(home, APP)
    assert path.read_text() == "engine"


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(texts, texts)
def test_every_text_comes_back_as_it_was(user: str, database: str) -> None:
    profile = SERVER._replace(user=user, database=database)
    found: dict[str, Any] = tomltext.table(profiles.render(profile).encode(), Path("/h"))
    assert Database("shop", **found) == profile
