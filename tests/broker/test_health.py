"""What the checks of helm's health share: failures that become lines, commands found in messages, the copied state."""

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.broker import health, health_home, health_profiles, health_state
from helm_cli.broker.stores import Stores
from helm_cli.cli import doctor_here
from helm_cli.complete import state
from helm_cli.model.errors import HelmError
from helm_cli.model.health import Check, Status, exit_status
from helm_cli.store import database, snapshot, workspaces
from tests.rig.failing import failing

FIRST = Check("a", "b", "ok", "well")


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ((), 0),
        (("ok", "warning"), 0),
        (("ok", "unreachable"), 10),
        (("broken", "unreachable"), 1),
        (("unreachable", "warning", "broken"), 1),
    ],
)
def test_the_worst_finding_is_the_exit_status(found: tuple[Status, ...], status: int) -> None:
    assert exit_status([FIRST._replace(status=one) for one in found]) == status


def test_a_check_that_fails_keeps_what_it_found_and_says_where(tmp_path: Path) -> None:
    def work() -> Iterator[Check]:
        yield FIRST
        raise ZeroDivisionError("canary-d0c7")

    first, second = health.guarded("a", "c", work)
    assert first == FIRST
    assert second[:3] == ("a", "c", "broken")
    assert second.message.startswith("this check itself failed, ZeroDivisionError at test_health.py:")
    assert second.message.endswith("; please report it")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (HelmError("state", "it is broken; move it away"), ("broken", "it is broken", "move it away")),
        (HelmError("unavailable", "it is locked"), ("unreachable", "it is locked", None)),
        (
            HelmError("not_configured", "a; b; enter it with: helm db edit x --ask-password (or --password-stdin)"),
            ("warning", "a; b", "helm db edit x --ask-password"),
        ),
    ],
)
def test_an_error_of_helms_own_says_what_to_do(error: HelmError, line: tuple[str, str, str | None]) -> None:
    def work() -> list[Check]:
        raise error

    (found,) = health.guarded("a", "b", work)
    assert (found.status, found.message, found.next) == line


@pytest.mark.parametrize(
    ("step", "command"),
    [
        ("run helm plugin bind x y", "helm plugin bind x y"),
        ("see helm history", "helm history"),
        ("unlock it and try again", "unlock it and try again"),
        ("connect it again with: helm oauth connect cal", "helm oauth connect cal"),
    ],
)
def test_a_command_is_taken_out_of_the_step_that_tells_it(step: str, command: str) -> None:
    assert health.command(step) == command


def test_what_is_done_to_the_copy_does_not_reach_the_state(home: Path) -> None:
    with closing(Stores(home)) as stores:
        workspaces.register(stores.db, "/one", 1.0)
    subject = health.subject(home)
    workspaces.register(subject.stores.db, "/two", 2.0)
    assert workspaces.registered(subject.stores.db) == ["/one", "/two"]
    # Other threads have no copy of their own, of a state that may be large.
    assert health.beside(subject).stores.db is subject.stores.db
    subject.stores.close()
    with closing(Stores(home)) as stores:
        assert workspaces.registered(stores.db) == ["/one"]


def test_a_state_that_is_being_written_is_waited_for_and_then_told(home: Path) -> None:
    with closing(database.open_state(home)) as other:
        other.execute("BEGIN EXCLUSIVE")
        told = f"{home}/state.db cannot be used: another helm keeps it busy; try again when that one ended"
        with failing("state", told):
            snapshot.take(home, seconds=0.1)
        (line,) = health_state.checks(health.subject(home, seconds=0.1))
    what, _, step = told.rpartition("; ")
    assert line == Check("state", "state.db", "broken", what, step)


@pytest.mark.parametrize("open_still", [True, False])
def test_a_state_with_a_log_of_writes_is_read_too(home: Path, open_still: bool) -> None:
    with closing(database.open_state(home)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        workspaces.register(db, "/one", 1.0)
        if not open_still:
            db.close()
        before = sorted(path.name for path in home.iterdir())
        with closing(snapshot.take(home) or snapshot.blank()) as copy:
            assert workspaces.registered(copy) == ["/one"]
        assert sorted(path.name for path in home.iterdir()) == before


def test_a_state_that_is_too_large_to_be_looked_at_is_still_used(home: Path) -> None:
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, 1.0 FROM n"
    with closing(database.open_state(home)) as db:
        db.execute(f"INSERT INTO workspaces (path, registered_at) {rows}")
    subject = health.subject(home, seconds=0.0)
    (line,) = health_state.checks(subject)
    assert (line.status, line.message) == ("warning", "it is so large that there was no time to look at all of it")
    assert line.next == f"sqlite3 {home}/state.db 'PRAGMA quick_check'"
    assert len(workspaces.registered(subject.stores.db)) == 20_000
    subject.stores.close()


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_what_is_no_file_beside_the_state_holds_nobody(home: Path, end: str) -> None:
    database.open_state(home).close()
    (home / f"state.db{end}").unlink(missing_ok=True)
    os.mkfifo(home / f"state.db{end}")
    step = f"take it away with: mv {home}/state.db{end} {home}/state.db{end}.moved"
    told = f"{home}/state.db{end} is not a regular file"
    for opening in (snapshot.take, database.open_state):
        with failing("state", f"{told}; {step}"):
            opening(home)
    with pytest.raises(LookupError), state.opened(str(home)):
        pass
    (line,) = health_state.checks(health.subject(home))
    assert line == Check("state", "state.db", "broken", told, step)
    (home / "real").mkdir()
    (home / "state.db").rename(home / "real" / "state.db")
    (home / f"state.db{end}").rename(home / "real" / f"state.db{end}")
    (home / "state.db").symlink_to("real/state.db")
    with failing("state", f"{told}; {step}".replace(f"{home}/", f"{home}/real/")):
        snapshot.take(home)


def test_what_does_not_end_by_itself_is_left_behind() -> None:
    hanging = threading.Event()
    with failing("unavailable", "it was not done within 0.05 s, and was left behind"):
        health_profiles.within(hanging.wait, 0.05)
    hanging.set()
    assert health_profiles.within(hanging.wait, 5.0) is True


def test_a_killed_writers_state_may_be_damaged_too(home: Path) -> None:
    with closing(database.open_state(home)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    with open(home / "state.db", "r+b") as file:
        file.seek(16)
        file.write(b"\0\0")
    with pytest.raises(HelmError, match=r"state\.db is damaged \(file is not a database\)"):
        snapshot.take(home)


def test_a_killed_writers_state_that_cannot_be_copied_is_told(home: Path) -> None:
    with closing(database.open_state(home)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        told = "was being written when helm was killed, and cannot be copied to be looked at: file too large"
        with failing("state", f"{home}/state.db {told}; the next call puts it right, see helm history"):
            snapshot.take(home)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_is_full_before_it_takes_nothing(tmp_path: Path) -> None:
    line = health_home.space(tmp_path / "no" / "home")
    assert (line.status, line.next) == ("ok", None)
    # The file system of processes has no room for anything.
    line = health_home.space(Path("/proc/helm"))
    assert line == Check("home", "space", "broken", "the disk is full", "df -h /proc; df -i /proc")
    line = health_home.room(tmp_path, 5 * 1024 * 1024 + 1)
    assert (line.status, line.message) == ("warning", "only 5 MiB are free")


@pytest.mark.parametrize(("content", "told"), [("1\n", True), ("0\n", False), (None, False)])
def test_keys_that_others_may_press_are_told(tmp_path: Path, content: str | None, told: bool) -> None:
    setting = tmp_path / "legacy_tiocsti"
    if content is not None:
        setting.write_text(content)
    lines = list(doctor_here.keys(setting))
    assert [line.next for line in lines] == (["sudo sysctl dev.tty.legacy_tiocsti=0"] if told else [])
