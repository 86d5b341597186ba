"""The checks of helm's health on homes that are broken in every way: what they say, and that they change nothing."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from helm_cli.broker import health, health_home
from helm_cli.model.health import Check
from helm_cli.store.schema import STEPS
from tests.program import run
from tests.rig import doctor, team
from tests.rig.breakages import AGAIN, ASIDE, BREAKAGES, UNREAD, damaged, sql, text
from tests.rig.doctor import asked, ill, told
from tests.rig.meanwhile import just_before

NEWEST: Final = len(STEPS)
NO_KEYCHAIN: Final = "no keychain can be reached: there is no session bus"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which all is well, for copies."""
    place = tmp_path_factory.mktemp("sound")
    doctor.well(place)
    return place


@pytest.fixture
def home(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in which all is well."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    return doctor.copied(sound, tmp_path)


@pytest.fixture
def workspace(sound: Path) -> Path:
    return sound / "workspace"


def without_room(lines: list[str]) -> list[str]:
    """The lines but that which tells how much room there is, which must be one."""
    (room,) = (line for line in lines if re.fullmatch(r"ok: home: space: [0-9.]+ GiB are free", line))
    return [line for line in lines if line != room]


def test_where_all_is_well_each_thing_is_told(home: Path, workspace: Path) -> None:
    found = asked(home, workspace)
    assert without_room(told(found, home)) == [
        "ok: home: folder: HOME is yours alone (mode 0700)",
        "ok: home: files: 11 files, your own and closed to other users",
        "ok: home: config.toml: all is as usual",
        f"ok: state: state.db: sound (form {NEWEST})",
        "ok: secrets: store: new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)",
        "ok: secrets: credentials.json: 2 secrets, closed to other users",
        "ok: workspace: waiting: nothing waits for a person",
        f"ok: workspace: folder: {workspace} (named by --workspace)",
        "ok: workspace: tickets: approved and unchanged, 3 operations",
        "ok: profiles: db/local-app: sound; not tried",
        "ok: profiles: service/s: sound, its secret in the file; not tried",
        "ok: profiles: mcp/m: sound, its secret in the file; not tried",
    ]


def test_a_home_that_is_not_there_is_well_and_stays_away(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    home = tmp_path / "no" / "such" / "home"
    assert without_room(told(asked(home, workspace), home)) == [
        "ok: home: folder: HOME is made when it is first needed",
        "ok: home: config.toml: all is as usual",
        "ok: state: state.db: there is none yet; it is made when it is first needed",
        "ok: secrets: store: new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)",
        "ok: workspace: waiting: nothing waits for a person",
        f"ok: workspace: folder: {workspace} (named by --workspace)",
        "ok: workspace: extensions: none is approved here yet",
        "ok: profiles: profiles: there are none yet",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_home_is_told_and_left_as_it_is(home: Path, workspace: Path, name: str) -> None:
    act, lines = BREAKAGES[name]
    act(home)
    assert ill(asked(home, workspace), home) == [line.replace("PARENT", str(home.parent)) for line in lines]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("[limits]\ncalls_per_minute = 30\n", "1 setting is not as usual"),
        ("[limits]\ncalls_per_minute = 30\n[oauth]\nport = 9000\n", "2 settings are not as usual"),
        ("# nothing\n", "all is as usual"),
    ],
)
def test_how_many_settings_are_ones_own_is_told(home: Path, settings: str, line: str) -> None:
    text("config.toml", settings)(home)
    assert list(health_home.settings(home)) == [Check("home", "config.toml", "ok", line)]


def test_one_file_and_one_secret_are_told_as_one(home: Path, workspace: Path) -> None:
    (home / "profiles" / "mcp" / "m.toml").unlink()
    text("credentials.json", '{"service/s/token": "x:y z"}')(home)
    assert "ok: secrets: credentials.json: 1 secret, closed to other users" in told(asked(home, workspace), home)
    lonely = home.parent / "lonely"
    lonely.mkdir(mode=0o700)
    text("one", "")(lonely)
    assert list(health_home.files(lonely)) == [
        Check("home", "files", "ok", "1 file, your own and closed to other users")
    ]


def test_several_files_of_somebody_else_are_told_together(home: Path) -> None:
    for name in ("state.db", "config.toml"):
        text(name, "")(home)
        os.chown(home / name, team.DAEMON, -1)
    (line,) = health_home.files(home)
    assert line.message == "config.toml, state.db belong to another user"


def test_what_vanishes_while_it_is_looked_at_was_not_there(home: Path) -> None:
    text("gone", "", 0o644)(home)
    with just_before(os.lstat, lambda: (home / "gone").unlink(missing_ok=True)):
        (line,) = health_home.files(home)
    assert line.message == "11 files, your own and closed to other users"


def test_a_home_of_somebody_else_is_not_looked_into(home: Path, workspace: Path) -> None:
    os.chown(home, team.DAEMON, -1)
    line = "HOME belongs to another user, so helm keeps nothing in it"
    step = "export HELM_CLI_HOME=FOLDER, or do not use sudo"
    assert told(asked(home, workspace), home) == [f"broken: home: folder: {line} (next: {step})"]


def test_a_home_below_a_file_is_not_looked_into(home: Path) -> None:
    below = home / "state.db" / "below"
    line = f"{below} cannot be used: a file stands where a folder should be"
    step = "move it away or name another home in HELM_CLI_HOME"
    assert list(health_home.checks(below)) == [Check("home", "folder", "broken", line, step)]
    assert not health_home.is_own(below)


def test_a_home_below_a_link_to_nowhere_cannot_be_made(home: Path) -> None:
    (home / "link").symlink_to("nowhere")
    (line,) = health_home.checks(home / "link" / "home")
    message = f"{home}/link/home is not there and cannot be made: {home}/link is not writable for you"
    assert line == Check("home", "folder", "broken", message, "export HELM_CLI_HOME=FOLDER")


@pytest.fixture
def nobodys(sound: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of a user who is not root; a folder of pytest's own would let nobody else in."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    place = Path(tempfile.mkdtemp(prefix="helm-doctor-"))
    place.chmod(0o755)
    home = doctor.copied(sound, place)
    for path in (home, *home.rglob("*")):
        os.chown(path, team.NOBODY, team.NOBODY)
    yield home
    shutil.rmtree(place)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, which this process can take back."""
    os.setresuid(team.NOBODY, team.NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_what_may_not_be_written_is_told(nobodys: Path) -> None:
    nobodys.chmod(0o500)
    with as_nobody():
        (line,) = health_home.checks(nobodys)
    message = f"{nobodys} is not writable for you (mode 0500)"
    assert line == Check("home", "folder", "broken", message, f"chmod 700 {nobodys}")
    nobodys.chmod(0o700)
    (nobodys / "state.db").chmod(0o400)
    with as_nobody():
        found = [line for line in told(asked(nobodys, None), nobodys) if line.startswith("broken")]
    assert found == ["broken: state: state.db: it is not writable for you (next: chmod 600 HOME/state.db)"]


def test_a_home_that_cannot_be_made_is_told(nobodys: Path) -> None:
    home = nobodys.parent / "no" / "home"
    with as_nobody():
        (line,) = health_home.checks(home)
    message = f"{home} is not there and cannot be made: {nobodys.parent} is not writable for you"
    assert line == Check("home", "folder", "broken", message, "export HELM_CLI_HOME=FOLDER")


@pytest.mark.parametrize(
    ("choice", "lines"),
    [
        (
            "vault",
            [
                "warning: secrets: store: HELM_CLI_CREDENTIALS is none of auto, keychain and file, so no secret can be"
                " entered (next: unset HELM_CLI_CREDENTIALS)"
            ],
        ),
        (None, [f"ok: secrets: store: new secrets go to credentials.json, for {NO_KEYCHAIN}"]),
        (
            "keychain",
            [
                "ok: secrets: store: new secrets go to the keychain",
                f"not reachable: secrets: keychain: {NO_KEYCHAIN} (next: make it available and try again, or enter the"
                " secret again with HELM_CLI_CREDENTIALS=file)",
            ],
        ),
    ],
)
def test_what_the_environment_says_of_secrets_is_told(
    home: Path, workspace: Path, choice: str | None, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HELM_CLI_CREDENTIALS")
    if choice is not None:
        monkeypatch.setenv("HELM_CLI_CREDENTIALS", choice)
    found = [line for line in told(asked(home, workspace), home) if ": secrets: " in line]
    assert found == [*lines, "ok: secrets: credentials.json: 2 secrets, closed to other users"]


def test_a_secret_that_is_said_to_be_in_the_keychain_is_missed(home: Path, workspace: Path) -> None:
    text("profiles/service/s.toml", 'base_url = "http://127.0.0.1:1"\ncredential = "keychain"\n')(home)
    step = "(next: make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file)"
    assert ill(asked(home, workspace), home) == [
        f"not reachable: secrets: keychain: {NO_KEYCHAIN}; 1 secret is in it {step}",
        f"not reachable: profiles: service/s: its secret is in the keychain, and {NO_KEYCHAIN} {step}",
    ]


def test_a_state_whose_writer_was_killed_is_put_right_elsewhere(home: Path, workspace: Path) -> None:
    killed = """if True:
        import os, sqlite3, sys
        db = sqlite3.connect(sys.argv[1], isolation_level=None)
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM home")
        for number in range(2000):
            db.execute("INSERT INTO workspaces VALUES (?, 1.0, 'read-only')", (f"/{number}" * 50,))
        os._exit(0)
    """
    assert run([sys.executable, "-S", "-c", killed, str(home / "state.db")]).status == 0
    assert (home / "state.db-journal").stat().st_size > 0
    assert ill(asked(home, workspace), home) == []


def test_a_state_with_overwritten_pages_is_told(home: Path, workspace: Path) -> None:
    """In the words of SQLite, which are others in each version."""
    damaged(home)
    first, *others = ill(asked(home, workspace), home)
    assert first.startswith("broken: state: state.db: HOME/state.db is damaged (*** in database main *** ")
    assert first.endswith(f"): {AGAIN} {ASIDE}")
    assert others == UNREAD


def test_a_state_of_an_older_helm_is_read_and_left_so(home: Path, workspace: Path) -> None:
    for statement in ("DROP TABLE sent", f"PRAGMA user_version = {NEWEST - 1}"):
        sql(statement)(home)
    found = asked(home, workspace)
    assert ill(found, home) == []
    line = f"sound (form {NEWEST - 1}); the next call brings it up to form {NEWEST}"
    assert f"ok: state: state.db: {line}" in told(found, home)


def test_settings_that_cannot_be_read_leave_the_usual_ones(home: Path) -> None:
    text("config.toml", "[limits\n")(home)
    subject = health.subject(home)
    assert (subject.trouble, subject.stores.config.drafts_dir) == (None, str(home / "drafts"))
    subject.stores.close()
