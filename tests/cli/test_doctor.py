"""`helm doctor` on homes that are broken in every way: what it says, what to do, and that it changes nothing."""

import json
import os
import shutil
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from helm_cli import __version__
from helm_cli.agent import place as places
from helm_cli.store.schema import STEPS
from tests.program import Helm, run
from tests.rig import agents, doctor, team
from tests.rig.doctor import SURROUNDINGS, Clinic
from tests.rig.terminal import at_terminal

NEWEST: Final = len(STEPS)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which all is well, for copies."""
    place = tmp_path_factory.mktemp("sound")
    doctor.well(place)
    return place


@pytest.fixture
def clinic(helm: Helm, sound: Path, tmp_path: Path) -> Clinic:
    return Clinic(helm, doctor.copied(sound, tmp_path), sound / "workspace")


def test_where_all_is_well_it_says_so(clinic: Clinic) -> None:
    done = clinic.run("--offline", "-o", "json")
    assert (done.status, done.err, done.json["ok"]) == (0, "", True)
    free = next(check.pop("message") for check in done.json["checks"] if check["name"] == "space")
    assert free.endswith(" GiB are free")
    system = os.uname()
    python = ".".join(map(str, sys.version_info[:3]))
    nobody = (
        "nobody can be asked here, for standard error is not a terminal; writes and approvals wait for helm confirm"
    )
    told = [
        ("helm", "version", f"helm {__version__}, Python {python} on {system.sysname} {system.machine}"),
        ("helm", "program", f"helm in PATH is this one, {Path(sys.executable).parent}/helm"),
        ("home", "folder", f"{clinic.home} is yours alone (mode 0700)"),
        ("home", "files", "11 files, your own and closed to other users"),
        ("home", "config.toml", "all is as usual"),
        ("home", "space", None),
        ("state", "state.db", f"sound (form {NEWEST})"),
        ("secrets", "store", "new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)"),
        ("secrets", "credentials.json", "2 secrets, closed to other users"),
        ("terminal", "person", f"{nobody} in a terminal"),
        ("terminal", "text", "the locale is UTF-8"),
        ("agent", "agent", "none runs; calls work the same without it"),
        ("workspace", "waiting", "nothing waits for a person"),
        ("workspace", "folder", f"{clinic.workspace} (registered by a review)"),
        ("workspace", "tickets", "approved and unchanged, 3 operations"),
        ("profiles", "db/local-app", "sound; not tried"),
        ("profiles", "service/s", "sound, its secret in the file; not tried"),
        ("profiles", "mcp/m", "sound, its secret in the file; not tried"),
    ]
    checks = json.loads(done.out)["checks"]
    for check in checks:
        if check["name"] == "space":
            check["message"] = None
    assert checks == [
        {"area": area, "name": name, "status": "ok", "message": message, "next": None} for area, name, message in told
    ]
    assert clinic.look("--offline") == (0, [], "all is well")


def test_a_home_that_is_not_there_is_well_and_stays_away(helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    found = Clinic(helm, tmp_path / "no" / "such" / "home", tmp_path / "here")
    assert helm("doctor", env={"HELM_CLI_HOME": str(found.home)}).status == 0
    lines = helm("doctor", env={**SURROUNDINGS, "HELM_CLI_HOME": str(found.home)}, cwd=found.workspace).out.splitlines()
    assert [line for line in lines if line.partition(": ")[2].startswith(("home", "state", "secrets", "profiles"))] == [
        f"ok: home: folder: {found.home} is made when it is first needed",
        "ok: home: config.toml: all is as usual",
        next(line for line in lines if line.startswith("ok: home: space: ")),
        "ok: state: state.db: there is none yet; it is made when it is first needed",
        "ok: secrets: store: new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)",
        "ok: profiles: profiles: there are none yet",
    ]
    assert not (tmp_path / "no").exists()


Act = Callable[[Path], object]


def both(*acts: Act) -> Act:
    def act(home: Path) -> None:
        for one in acts:
            one(home)

    return act


def opened(name: str, mode: int = 0o644) -> Act:
    return lambda home: (home / name).chmod(mode)


def without(name: str) -> Act:
    return lambda home: (home / name).unlink()


def sql(statement: str) -> Act:
    def act(home: Path) -> None:
        with closing(sqlite3.connect(home / "state.db")) as db, db:
            db.execute(statement)

    return act


def text(name: str, content: str | bytes, mode: int = 0o600) -> Act:
    def act(home: Path) -> None:
        (home / name).parent.mkdir(mode=0o700, exist_ok=True)
        (home / name).write_bytes(content.encode() if isinstance(content, str) else content)
        (home / name).chmod(mode)

    return act


def old(name: str) -> Act:
    """A file that nobody has touched for a while."""

    def act(home: Path) -> None:
        text(name, "x")(home)
        os.utime(home / name, (time.time() - 3600, time.time() - 3600))

    return act


def damaged(home: Path) -> None:
    """Pages of the database that were overwritten."""
    with open(home / "state.db", "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)


def another_file(home: Path) -> None:
    shutil.move(home, home.parent / "moved")
    home.write_text("")


def dangling(home: Path) -> None:
    shutil.move(home, home.parent / "moved")
    home.symlink_to("nowhere")


def socket_at(home: Path, mode: int = 0o700) -> None:
    there = places.of(home)
    places.prepare(there)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(there.socket))
    there.socket.parent.chmod(mode)


def of_another_home(home: Path) -> None:
    secrets = json.loads((home / "credentials.json").read_text())
    secrets["service/s/token"] = f"{'0' * 32}:x y"
    (home / "credentials.json").write_text(json.dumps(secrets))


UNREAD: Final = [
    "warning: workspace: workspace: not looked at, for state.db cannot be read (next: see state.db above)",
    *(
        f"warning: profiles: {name}: its file is sound; it is not tried, for state.db cannot be read"
        " (next: see state.db above)"
        for name in ("db/local-app", "service/s", "mcp/m")
    ),
]
LAST_UNREAD: Final = "1 problem: state.db; 4 warnings"
ASIDE: Final = "(next: mv HOME/state.db HOME/state.db.broken)"
AGAIN: Final = "put back a copy of it, or move it away, review your extensions again and enter your secrets again"
EDIT: Final = '(next: "${EDITOR:-vi}" HOME/'
NO_HOME: Final = "1 problem: folder"
PARTNERS: Final = [
    f"not reachable: profiles: {name}: its secret is in credentials.json, which cannot be used"
    " (next: see credentials.json above)"
    for name in ("service/s", "mcp/m")
]

# What is done to a home -> the exit status, the last line, and every line that is not well.
BREAKAGES: Final[dict[str, tuple[Act, int, str, list[str]]]] = {
    "an open home": (
        lambda home: home.chmod(0o755),
        *(0, "all is well; 1 warning"),
        ["warning: home: folder: HOME is open to other users (mode 0755) (next: chmod 700 HOME)"],
    ),
    "a home that everybody can replace": (
        lambda home: home.parent.chmod(0o777),
        *(0, "all is well; 1 warning"),
        [
            "warning: home: folder: everybody can put another folder in its place, for PARENT is writable for all"
            " (next: chmod o-w PARENT)"
        ],
    ),
    "open files": (
        both(opened("state.db"), opened("profiles/db/local-app.toml")),
        *(0, "all is well; 1 warning"),
        ["warning: home: files: state.db is open to other users (next: chmod -R go-rwx HOME)"],
    ),
    "many open files": (
        both(*(text(f"notes-{number}", "", 0o644) for number in range(5))),
        *(0, "all is well; 1 warning"),
        [
            "warning: home: files: notes-0, notes-1, notes-2 and 2 more are open to other users"
            " (next: chmod -R go-rwx HOME)"
        ],
    ),
    "a profile that others may write": (
        opened("profiles/db/local-app.toml", 0o646),
        *(0, "all is well; 1 warning"),
        ["warning: home: files: profiles/db/local-app.toml is open to other users (next: chmod -R go-rwx HOME)"],
    ),
    "files of another user": (
        lambda home: os.chown(home / "profiles/db/local-app.toml", team.DAEMON, -1),
        *(0, "all is well; 1 warning"),
        [
            "warning: home: owner: profiles/db/local-app.toml belongs to another user"
            ' (next: sudo chown -R "$(id -u)" HOME)'
        ],
    ),
    "settings that are no TOML": (
        text("config.toml", "[limits\n"),
        *(1, "1 problem: config.toml"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: it is no valid TOML:"
            f" expected ']' at the end of a table declaration (at line 1, column 8) {EDIT}config.toml)"
        ],
    ),
    "an unknown setting": (
        text("config.toml", "[limits]\ncalls_per_minuet = 3\n"),
        *(1, "1 problem: config.toml"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: the key limits.calls_per_minuet is unknown"
            f" (did you mean limits.calls_per_minute?) {EDIT}config.toml)"
        ],
    ),
    "a setting out of its range": (
        text("config.toml", "[oauth]\nport = 70000\n"),
        *(1, "1 problem: config.toml"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: the value of oauth.port must be a whole number"
            f" from 1 to 65535 {EDIT}config.toml)"
        ],
    ),
    "leftovers of writes": (
        both(old("writes/0123456789abcdef"), old(".0123.new"), text(".4567.new", "")),
        *(0, "all is well; 2 warnings"),
        [
            "warning: home: leftovers: 1 write of a file was cut off (next: look for names that begin with .helm-write-"
            " beside the files; the next write there puts it right)",
            "warning: home: leftovers: .0123.new was left by a helm that was killed (next: rm HOME/.0123.new)",
        ],
    ),
    "more leftovers of writes": (
        both(*map(old, ("writes/a", "writes/b", ".a.new", "profiles/.b.new"))),
        *(0, "all is well; 2 warnings"),
        [
            "warning: home: leftovers: 2 writes of a file were cut off (next: look for names that begin with"
            " .helm-write- beside the files; the next write there puts it right)",
            "warning: home: leftovers: .a.new, profiles/.b.new were left by a helm that was killed"
            " (next: rm HOME/.a.new HOME/profiles/.b.new)",
        ],
    ),
    "no state at all": (
        text("state.db", ""),
        *(10, "2 problems: service/s, mcp/m"),
        [
            f"not reachable: profiles: {group}/{name}: the secret of {name} is not in this home yet"
            f" (next: helm {group} edit {name} --ask-token)"
            for group, name in (("service", "s"), ("mcp", "m"))
        ],
    ),
    "a state that is none": (
        text("state.db", b"garbage " * 1000),
        *(1, LAST_UNREAD),
        [
            f"broken: state: state.db: HOME/state.db is damaged (file is not a database): {AGAIN} {ASIDE}",
            *UNREAD,
        ],
    ),
    "a state of a newer helm": (
        sql("PRAGMA user_version = 99"),
        *(1, LAST_UNREAD),
        [
            "broken: state: state.db: HOME/state.db was written by a newer helm (form 99)"
            " (next: pip install --upgrade helm-cli)",
            *UNREAD,
        ],
    ),
    "a database that is not helm's": (
        sql("PRAGMA user_version = 0"),
        *(1, LAST_UNREAD),
        [f"broken: state: state.db: HOME/state.db is a database that helm did not make: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a folder in the state's place": (
        both(without("state.db"), lambda home: (home / "state.db").mkdir(mode=0o700)),
        *(1, LAST_UNREAD),
        [f"broken: state: state.db: HOME/state.db is not a regular file: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a FIFO in the state's place": (
        both(without("state.db"), lambda home: os.mkfifo(home / "state.db", 0o600)),
        *(1, LAST_UNREAD),
        [f"broken: state: state.db: HOME/state.db is not a regular file: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a table that is gone": (
        sql("DROP TABLE sent"),
        *(1, LAST_UNREAD),
        [f"broken: state: state.db: HOME/state.db is damaged (the table sent is missing): {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a state that forgot whose it is": (
        sql("DELETE FROM home"),
        *(1, LAST_UNREAD),
        [f"broken: state: state.db: state.db no longer says which home it is of: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "no secrets at all": (
        without("credentials.json"),
        *(10, "2 problems: service/s, mcp/m"),
        [
            f"not reachable: profiles: {group}/{name}: the secret of {name} is gone from credentials.json"
            f" (next: helm {group} edit {name} --ask-token)"
            for group, name in (("service", "s"), ("mcp", "m"))
        ],
    ),
    "secrets that are none": (
        text("credentials.json", "{"),
        *(1, "3 problems: credentials.json, service/s, mcp/m"),
        [
            "broken: secrets: credentials.json: HOME/credentials.json is damaged (it is not the JSON object that helm"
            " writes), so no secret is read from it or written to it"
            " (next: move it away and enter the secrets again)",
            *PARTNERS,
        ],
    ),
    "a link in the place of the secrets": (
        both(without("credentials.json"), lambda home: (home / "credentials.json").symlink_to("state.db")),
        *(1, "3 problems: credentials.json, service/s, mcp/m"),
        [
            "broken: secrets: credentials.json: HOME/credentials.json is a symbolic link, so no secret is read from it"
            " or written to it (next: move it away and enter the secrets again)",
            *PARTNERS,
        ],
    ),
    "secrets open to others": (
        opened("credentials.json"),
        *(0, "all is well; 3 warnings"),
        [
            "warning: secrets: credentials.json: HOME/credentials.json is open to other users (mode 0644)"
            " (next: chmod 600 HOME/credentials.json)",
            *(
                f"warning: profiles: {name}: not tried, for its secret is in credentials.json, which is open to other"
                " users (next: see credentials.json above)"
                for name in ("service/s", "mcp/m")
            ),
        ],
    ),
    "a secret whose profile is gone": (
        without("profiles/service/s.toml"),
        *(0, "all is well; 1 warning"),
        [
            "warning: secrets: credentials.json: service/s/token is the secret of a profile that does not exist"
            " (next: take the line of service/s/token out of HOME/credentials.json)"
        ],
    ),
    "a secret of another home": (
        of_another_home,
        *(10, "1 problem: service/s"),
        [
            "not reachable: profiles: service/s: what credentials.json has as the secret of s was entered in another"
            " home of helm's (next: helm service edit s --ask-token)"
        ],
    ),
    "a profile that is no TOML": (
        text("profiles/service/s.toml", "base_url = \n"),
        *(1, "1 problem: service/s"),
        [
            "broken: profiles: service/s: HOME/profiles/service/s.toml cannot be used: it is no valid TOML:"
            f" invalid value (at line 1, column 12) {EDIT}profiles/service/s.toml)"
        ],
    ),
    "a profile with another target": (
        text("profiles/service/s.toml", 'base_url = "http://127.0.0.1:2"\ncredential = "file"\n'),
        *(10, "1 problem: service/s"),
        ["not reachable: profiles: service/s: the target of s changed (next: helm service edit s --ask-token)"],
    ),
    "a profile that is a folder": (
        both(without("profiles/service/s.toml"), lambda home: (home / "profiles/service/s.toml").mkdir(mode=0o700)),
        *(1, "1 problem: service/s"),
        [
            f"broken: profiles: service/s: HOME/profiles/service/s.toml is not a regular file {EDIT}"
            "profiles/service/s.toml)"
        ],
    ),
    "no folder of profiles": (
        both(lambda home: shutil.rmtree(home / "profiles/mcp"), text("profiles/mcp", "")),
        *(1, "1 problem: profiles"),
        [
            "broken: profiles: profiles: HOME/profiles/mcp cannot be used: a file stands where a folder should be"
            " (next: move it away or name another home in HELM_CLI_HOME)"
        ],
    ),
    "a file as home": (
        another_file,
        *(1, NO_HOME),
        ["broken: home: folder: HOME is not a folder (next: mv HOME HOME.moved)"],
    ),
    "a link to nowhere as home": (
        dangling,
        *(1, NO_HOME),
        ["broken: home: folder: HOME is a link that leads nowhere (next: rm HOME)"],
    ),
    "the socket of an agent that was killed": (
        socket_at,
        *(0, "all is well; 1 warning"),
        [
            "warning: agent: agent: none runs; the socket of one that was killed is left, which the next one takes away"
            " (next: helm agent start)"
        ],
    ),
    "a socket that is open to others": (
        lambda home: socket_at(home, 0o755),
        *(0, "all is well; 2 warnings"),
        [
            "warning: home: files: run is open to other users (next: chmod -R go-rwx HOME)",
            "warning: agent: agent: what stands at HOME/run/agent.sock is not yours alone, so no agent is used"
            " (next: ls -ld HOME/run HOME/run/agent.sock)",
        ],
    ),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_home_is_told_and_left_as_it_is(clinic: Clinic, name: str) -> None:
    act, status, last, lines = BREAKAGES[name]
    act(clinic.home)
    found = clinic.look("--offline")
    told = [line.replace("PARENT", str(clinic.home.parent)) for line in lines]
    assert (found.lines, found.last, found.status) == (told, last, status)


def test_a_home_of_somebody_else_is_not_looked_into(clinic: Clinic) -> None:
    os.chown(clinic.home, team.DAEMON, -1)
    told = "HOME belongs to another user, so helm keeps nothing in it"
    line = f"broken: home: folder: {told} (next: export HELM_CLI_HOME=FOLDER, or do not use sudo)"
    assert clinic.look("--offline") == (1, [line], NO_HOME)


def test_a_home_below_a_file_is_not_looked_into(clinic: Clinic) -> None:
    below = clinic._replace(home=clinic.home / "state.db" / "home")
    told = "HOME cannot be used: a file stands where a folder should be"
    step = "move it away or name another home in HELM_CLI_HOME"
    assert below.look("--offline") == (1, [f"broken: home: folder: {told} (next: {step})"], NO_HOME)


@pytest.fixture
def nobodys(sound: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of a user who is not root; a folder of pytest's own would let nobody else in."""
    place = Path(tempfile.mkdtemp(prefix="helm-doctor-"))
    place.chmod(0o755)
    monkeypatch.chdir(place)
    home = doctor.copied(sound, place)
    for path in (home, *home.rglob("*")):
        os.chown(path, team.NOBODY, team.NOBODY)
    yield home
    home.chmod(0o700)
    shutil.rmtree(place)


def as_nobody(home: Path) -> tuple[int, list[str]]:
    folder = Path.cwd()
    before = doctor.tree(folder)
    words = [*team.as_user(team.NOBODY), sys.executable, "-m", "helm_cli", "doctor", "-q", "--offline"]
    done = run(words, env={**SURROUNDINGS, "HELM_CLI_HOME": str(home), "HOME": str(folder)}, cwd=folder)
    assert doctor.tree(folder) == before
    return done.status, [line.replace(str(home), "HOME") for line in done.out.splitlines()]


def test_a_home_that_may_not_be_written_is_told(nobodys: Path) -> None:
    nobodys.chmod(0o500)
    told = "broken: home: folder: HOME is not writable for you (mode 0500) (next: chmod 700 HOME)"
    assert as_nobody(nobodys) == (1, [told, NO_HOME])
    nobodys.chmod(0o700)
    (nobodys / "state.db").chmod(0o400)
    told = "broken: state: state.db: it is not writable for you (next: chmod 600 HOME/state.db)"
    assert as_nobody(nobodys) == (1, [told, "1 problem: state.db"])


def test_a_home_that_cannot_be_made_is_told(nobodys: Path) -> None:
    told = f"HOME is not there and cannot be made: {nobodys.parent} is not writable for you"
    line = f"broken: home: folder: {told} (next: export HELM_CLI_HOME=FOLDER)"
    assert as_nobody(nobodys.parent / "no" / "home") == (1, [line, NO_HOME])


def test_a_full_disk_is_told(clinic: Clinic) -> None:
    """The file system of processes has no room for anything."""
    done = clinic.helm("doctor", "-q", "--offline", env={**SURROUNDINGS, "HELM_CLI_HOME": "/proc/helm"})
    assert done.out.splitlines() == [
        "broken: home: space: the disk is full (next: df -h /proc; df -i /proc)",
        "1 problem: space",
    ]
    assert done.status == 1


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_folder_the_rest_is_still_told(helm: Helm, home: str) -> None:
    done = helm("doctor", "-o", "json", env={**SURROUNDINGS, "HOME": home, "HELM_CLI_HOME": None})
    told = [(check["area"], check["status"], check["next"]) for check in done.json["checks"]]
    assert told == [
        ("helm", "ok", None),
        ("helm", "ok", None),
        ("home", "broken", "export HELM_CLI_HOME=FOLDER"),
        ("terminal", "ok", None),
        ("terminal", "ok", None),
    ]
    assert (done.status, done.json["ok"]) == (1, False)


def test_what_the_environment_says_of_secrets_is_told(clinic: Clinic) -> None:
    told = "HELM_CLI_CREDENTIALS is none of auto, keychain and file, so no secret can be entered"
    line = f"warning: secrets: store: {told} (next: unset HELM_CLI_CREDENTIALS)"
    wrong = clinic.look("--offline", env={"HELM_CLI_CREDENTIALS": "vault"})
    assert wrong == (0, [line], "all is well; 1 warning")
    assert clinic.look("--offline", env={"HELM_CLI_CREDENTIALS": None}) == (0, [], "all is well")
    absent = "no keychain can be reached: there is no session bus"
    step = "make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file"
    line = f"not reachable: secrets: keychain: {absent} (next: {step})"
    assert clinic.look("--offline", env={"HELM_CLI_CREDENTIALS": "keychain"}) == (10, [line], "1 problem: keychain")


def test_a_state_whose_writer_was_killed_is_put_right_elsewhere(clinic: Clinic) -> None:
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
    assert run([sys.executable, "-c", killed, str(clinic.home / "state.db")]).status == 0
    assert (clinic.home / "state.db-journal").stat().st_size > 0
    assert clinic.look("--offline") == (0, [], "all is well")


def test_a_state_with_overwritten_pages_is_told(clinic: Clinic) -> None:
    """In the words of SQLite, which are others in each version."""
    damaged(clinic.home)
    found = clinic.look("--offline")
    assert found.lines[0].startswith("broken: state: state.db: HOME/state.db is damaged (*** in database main *** ")
    assert found.lines[0].endswith(f"): {AGAIN} {ASIDE}")
    assert (found.lines[1:], found.last, found.status) == (UNREAD, LAST_UNREAD, 1)


def test_a_state_of_an_older_helm_is_read_and_left_so(clinic: Clinic) -> None:
    for statement in ("DROP TABLE sent", f"PRAGMA user_version = {NEWEST - 1}"):
        sql(statement)(clinic.home)
    assert clinic.look("--offline") == (0, [], "all is well")
    told = f"sound (form {NEWEST - 1}); the next call brings it up to form {NEWEST}"
    assert f"ok: state: state.db: {told}" in clinic.run("--offline").out.splitlines()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "csv"), "helm: -o csv is not a format of this command; take auto or json\n"),
        (("--workspace", "nowhere"), "helm: the workspace nowhere is not a folder; name one that exists\n"),
    ],
)
def test_what_cannot_be_asked_for_is_a_usage_error(clinic: Clinic, words: tuple[str, ...], told: str) -> None:
    done = clinic.run(*words)
    assert (done.status, done.out, done.err) == (2, "", told)
    assert clinic.run("--timeout", "0").status == 2


class TestPrograms:
    """Which `helm` is first in PATH."""

    def program(self, clinic: Clinic, folder: Path) -> tuple[str, str | None]:
        env = {"PATH": str(folder), "HELM_CLI_HOME": str(clinic.home)}
        done = clinic.helm("doctor", "--offline", "-o", "json", env=env)
        found = next(check for check in done.json["checks"] if check["name"] == "program")
        assert found["status"] == ("ok" if found["next"] is None else "warning")
        return found["message"], found["next"]

    def put(self, path: Path, content: str) -> None:
        path.write_text(content)
        path.chmod(0o755)

    def test_none(self, clinic: Clinic, tmp_path: Path) -> None:
        told = "there is no helm in PATH, so scripts and MCP clients do not find it by that name"
        step = f'export PATH={Path(sys.executable).parent}:"$PATH"'
        assert self.program(clinic, tmp_path) == (told, step)

    def test_the_kubernetes_tool(self, clinic: Clinic, tmp_path: Path) -> None:
        self.put(tmp_path / "helm", "\x7fELF")
        told = f"helm in PATH is another program, {tmp_path}/helm (the Kubernetes tool has this name)"
        own = Path(sys.executable).parent / "helm-cli"
        assert self.program(clinic, tmp_path) == (f"{told}; call this one helm-cli", f"{own} doctor")
        (tmp_path / "helm-cli").symlink_to(own)
        assert self.program(clinic, tmp_path) == (f"{told}; call this one helm-cli", "helm-cli doctor")

    def test_another_installation(self, clinic: Clinic, tmp_path: Path) -> None:
        self.put(tmp_path / "helm", "#!/opt/other/bin/python\nfrom helm_cli.__main__ import entry\n")
        told = f"helm in PATH is another installation of this program, {tmp_path}/helm"
        assert self.program(clinic, tmp_path) == (told, f"{tmp_path}/helm --version")

    def test_this_one_by_a_link_or_from_elsewhere(self, clinic: Clinic, tmp_path: Path) -> None:
        (tmp_path / "helm").symlink_to(Path(sys.executable).parent / "helm")
        assert self.program(clinic, tmp_path) == (f"helm in PATH is this one, {tmp_path}/helm", None)
        (tmp_path / "helm").unlink()
        self.put(tmp_path / "helm", f"#!{sys.executable}\nfrom helm_cli.__main__ import entry\n")
        assert self.program(clinic, tmp_path) == (f"helm in PATH is this one, {tmp_path}/helm", None)


def shown(clinic: Clinic, *words: str, size: tuple[int, int] = (100, 60), **env: str | None) -> tuple[int, list[str]]:
    """What a person sees at a terminal of this size, with names in the place of what differs from test to test."""
    told = {**SURROUNDINGS, "HELM_CLI_HOME": str(clinic.home), **env}
    words = (sys.executable, "-m", "helm_cli", "doctor", "--offline", "--workspace", str(clinic.workspace), *words)
    with at_terminal(*words, env=told, size=size) as screen:
        return screen.status(), screen.screen()


def test_a_person_sees_it_grouped_and_aligned(clinic: Clinic) -> None:
    (clinic.home / "state.db").chmod(0o644)
    status, lines = shown(clinic, size=(200, 60))
    at = lines.index("home")
    assert lines[at : at + 5] == [
        "home",
        f"  ok             folder            {clinic.home} is yours alone (mode 0700)",
        "  warning        files             state.db is open to other users",
        f"                 next: chmod -R go-rwx {clinic.home}",
        "  ok             config.toml       all is as usual",
    ]
    assert lines[lines.index("profiles") - 1 :][:4] == [
        "",
        "profiles",
        "  ok             db/local-app      sound; not tried",
        "  ok             service/s         sound, its secret in the file; not tried",
    ]
    assert lines[-2] == ""
    assert lines[-1].startswith("all is well; ")
    assert status == 0


@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(clinic: Clinic, width: int) -> None:
    (clinic.home / "credentials.json").chmod(0o644)
    status, lines = shown(clinic, size=(500, 90), COLUMNS=str(width))
    assert status == 0
    assert width - 20 < max(len(line) for line in lines if "next: " not in line) <= width
    told = " ".join(" ".join(lines).split())
    assert "not tried, for its secret is in credentials.json, which is open to other users" in told


def test_colours_are_left_out_where_nobody_wants_them(clinic: Clinic) -> None:
    for no_color, there in (("1", False), (None, True)):
        told = {**SURROUNDINGS, "HELM_CLI_HOME": str(clinic.home), "NO_COLOR": no_color}
        words = (sys.executable, "-m", "helm_cli", "doctor", "--offline", "--workspace", str(clinic.workspace))
        with at_terminal(*words, env=told) as screen:
            assert screen.status() == 0
            assert (b"\x1b[32mok" in screen.raw) is there


@pytest.mark.parametrize(
    ("env", "told", "step"),
    [
        ({"TERM": "dumb"}, "TERM is dumb", "export TERM=xterm-256color"),
        ({"TERM": None}, "TERM is not set", "export TERM=xterm-256color"),
        ({"HELM_CLI_NO_INPUT": "1"}, "HELM_CLI_NO_INPUT is set", "unset HELM_CLI_NO_INPUT"),
    ],
)
def test_what_keeps_a_person_from_being_asked_is_told(
    clinic: Clinic, env: dict[str, str | None], told: str, step: str
) -> None:
    _, lines = shown(clinic, "-o", "json", size=(4000, 60), **env)
    found = {check["name"]: check for check in json.loads("".join(lines))["checks"]}
    assert found["person"] == {
        "area": "terminal",
        "name": "person",
        "status": "warning",
        "message": f"nobody can be asked here, for {told}; writes and approvals wait for helm confirm",
        "next": step,
    }


def test_a_narrow_terminal_and_another_locale_are_told(clinic: Clinic) -> None:
    _, lines = shown(clinic, size=(40, 200), LC_ALL="POSIX")
    told = "".join("".join(lines).split())
    assert "displayitis40columnswide,andwhathelmshowsismadefor60andmorenext:makethewindowwider" in told
    assert "thelocaleisANSI_X3.4-1968,andhelmwritesUTF-8next:exportLC_ALL=C.UTF-8" in told


def test_an_agent_is_told_of(clinic: Clinic, home: Path) -> None:
    shutil.copytree(clinic.home, home)
    there = clinic._replace(home=home)
    with agents.agent(clinic.helm, home, {**SURROUNDINGS, "HELM_CLI_HOME": str(home)}) as agent:
        done = there.helm("doctor", "--offline", cwd=there.workspace, env=SURROUNDINGS)
        line = next(line for line in done.out.splitlines() if ": agent: " in line)
        assert line.startswith(f"ok: agent: agent: process {agent.pid} runs, idle for ")
        other = there.look("--offline", env={"HTTPS_PROXY": "http://127.0.0.1:1"})
        told = "but was started with another HTTPS_PROXY (next: helm agent stop && helm agent start)"
        assert [line.partition(" s, ")[2] for line in other.lines] == [told]
        agent.pause()
        found = there.look("--offline")
        told = f"the background agent (process {agent.pid}) does not answer here"
        line = f"not reachable: agent: agent: {told} (next: helm agent stop)"
        assert found == (10, [line], "1 problem: agent")
        agent.resume()
