"""`state.db`: private, changed all or nothing, and never overwritten when something is wrong with it."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.store import database, targets
from helm_cli.store import home as homes
from helm_cli.store.schema import STEPS
from tests.store import acts, crowd


def refused(home: Path) -> str:
    with pytest.raises(HelmError) as caught:
        database.open_state(home).close()
    assert caught.value.code == "state"
    return caught.value.message


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_it_is_private_under_every_umask_with_its_journal(home: Path, umask: int) -> None:
    os.umask(umask)
    with closing(database.open_state(home)) as db, database.transaction(db):
        targets.remember(db, "a", "1")
        assert sorted(path.name for path in home.iterdir()) == ["state.db", "state.db-journal"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}


def test_one_that_is_open_to_others_is_closed(home: Path) -> None:
    database.open_state(home).close()
    (home / "state.db").chmod(0o644)
    database.open_state(home).close()
    assert stat.S_IMODE((home / "state.db").stat().st_mode) == 0o600


def test_it_is_opened_again_as_it_was(home: Path) -> None:
    with closing(database.open_state(home)) as db:
        targets.remember(db, "a", "1")
    with closing(database.open_state(home)) as db:
        assert targets.target(db, "a") == "1"
        assert database.row(db, "PRAGMA user_version") == (len(STEPS),)
        assert database.row(db, "PRAGMA journal_mode") == ("truncate",)
        assert database.row(db, "PRAGMA integrity_check") == ("ok",)


def test_what_is_read_together_is_of_one_moment_and_leaves_no_lock(home: Path, db: sqlite3.Connection) -> None:
    targets.remember(db, "a", "1")
    with closing(database.open_state(home)) as other:
        with database.reading(db):
            assert targets.target(db, "a") == "1"
            other.execute("PRAGMA busy_timeout = 1")
            with pytest.raises(HelmError):
                targets.remember(other, "a", "2")
            assert targets.target(db, "a") == "1"
        targets.remember(other, "a", "2")
        with pytest.raises(HelmError), database.reading(db):
            database.run(db, "SELECT * FROM nowhere")
        targets.remember(other, "a", "3")
    with database.transaction(db), database.reading(db):
        assert targets.target(db, "a") == "3"
        targets.remember(db, "a", "4")
    assert targets.target(db, "a") == "4"


@pytest.mark.parametrize("lasting", [True, False])
def test_a_transaction_is_all_or_nothing(db: sqlite3.Connection, lasting: bool) -> None:
    with pytest.raises(KeyboardInterrupt), database.transaction(db, lasting=lasting):
        targets.remember(db, "a", "1")
        raise KeyboardInterrupt
    assert targets.target(db, "a") is None
    with database.transaction(db, lasting=lasting):
        targets.remember(db, "a", "1")
    assert targets.target(db, "a") == "1"
    assert database.row(db, "PRAGMA synchronous") == (2,)


def test_a_file_that_is_no_database_is_told_and_left(home: Path) -> None:
    home.mkdir()
    (home / "state.db").write_bytes(b"junk" * 1_000)
    assert refused(home) == (
        f"{home}/state.db is damaged (file is not a database); nothing was changed in it: put back a copy of it,"
        " or move it away and review your extensions again"
    )
    assert (home / "state.db").read_bytes() == b"junk" * 1_000


def test_a_damaged_database_is_told(home: Path) -> None:
    with closing(database.open_state(home)) as db:
        targets.remember(db, "a", "1")
    data = (home / "state.db").read_bytes()
    page = int.from_bytes(data[16:18], "big")
    (home / "state.db").write_bytes(data[:page] + b"\xff" * (len(data) - page))
    with pytest.raises(HelmError, match="is damaged") as caught, closing(database.open_state(home)) as db:
        targets.target(db, "a")
    assert caught.value.code == "state"


def test_a_database_that_lost_a_table_is_told(home: Path, db: sqlite3.Connection) -> None:
    db.execute("DROP TABLE targets")
    with pytest.raises(HelmError, match=r"is damaged \(no such table: targets\)") as caught:
        targets.remember(db, "a", "1")
    assert caught.value.code == "state"


def test_text_that_is_no_text_is_damage(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO targets VALUES ('a', CAST(x'ff' AS TEXT))")
    with pytest.raises(HelmError, match="is damaged") as caught:
        targets.target(db, "a")
    assert caught.value.code == "state"


def test_a_database_of_something_else_is_told_and_left(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / "state.db")) as other:
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    before = (home / "state.db").read_bytes()
    assert refused(home) == f"{home}/state.db is a database that helm did not make; move it away"
    assert (home / "state.db").read_bytes() == before
    with closing(sqlite3.connect(home / "state.db")) as other:
        other.execute("DROP TABLE mine")
        other.execute("PRAGMA user_version = -1")
    assert refused(home) == f"{home}/state.db is a database that helm did not make; move it away"


def test_a_newer_form_is_told_and_left(home: Path) -> None:
    with closing(database.open_state(home)) as db:
        db.execute("PRAGMA user_version = 99")
    before = (home / "state.db").read_bytes()
    assert refused(home) == f"{home}/state.db was written by a newer helm (form 99); update this one"
    assert (home / "state.db").read_bytes() == before


@pytest.mark.parametrize("what", ["fifo", "folder"])
def test_what_is_no_regular_file_is_told(home: Path, what: str) -> None:
    home.mkdir()
    os.mkfifo(home / "state.db") if what == "fifo" else (home / "state.db").mkdir()
    assert refused(home) == f"{home}/state.db is not a regular file; move it away"


def test_a_state_that_another_keeps_busy_is_told(
    home: Path, db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.05)
    with closing(database.open_state(home)) as second, database.transaction(db):
        with pytest.raises(HelmError) as caught, database.transaction(second):
            raise AssertionError("two are in a transaction")
        assert (caught.value.code, caught.value.message) == (
            "state",
            f"{home}/state.db cannot be used: another helm keeps it busy; try again when that one ended",
        )


def test_a_full_disk_changes_nothing(home: Path) -> None:
    assert crowd.alone(acts.approve, home) is None
    assert crowd.alone(acts.fill, home) == (
        f"state: {home}/state.db cannot be used: the disk failed to read or write;"
        " see that it is sound and has space left"
    )
    assert acts.whole_approval(home) == "0"


def test_what_is_too_large_is_told(db: sqlite3.Connection) -> None:
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000)
    with pytest.raises(HelmError, match="something is too large to be kept in it"):
        targets.remember(db, "a", "x" * 2_000)


def test_a_reason_without_a_sentence_of_its_own_is_passed_on(home: Path, db: sqlite3.Connection) -> None:
    db.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
    with pytest.raises(HelmError, match=r"^state\.db cannot be used: not authorized$") as caught:
        targets.target(db, "a")
    assert caught.value.code == "state"


def test_a_name_that_is_no_text_cannot_be_recorded(db: sqlite3.Connection) -> None:
    with pytest.raises(HelmError, match="a path or name that is not UTF-8 cannot be recorded; rename it") as caught:
        targets.remember(db, "\udcff", "1")
    assert caught.value.code == "state"


def test_a_fault_of_helms_own_is_not_the_states(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.ProgrammingError):
        database.rows(db, "SELECT ?", ())


def test_a_home_that_is_a_file_is_told(home: Path) -> None:
    home.write_text("")
    assert refused(home) == f"{home} is not a folder; move it away or name another home in HELM_CLI_HOME"


def test_a_path_that_sqlite_cannot_open_is_told(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d" * 200] * 3)
    homes.prepare(deep)
    assert refused(deep) == (
        f"{deep}/state.db cannot be used: permission denied;"
        " make it and its folder writable for your user, see HELM_CLI_HOME"
    )


@pytest.mark.parametrize("end", database.BESIDE)
@pytest.mark.parametrize("linked", [False, True])
def test_what_sqlite_would_wait_at_for_ever_is_told(home: Path, tmp_path: Path, end: str, linked: bool) -> None:
    """Beside what a link leads to, where the state is one: there SQLite keeps its own files."""
    place = tmp_path / "a b" if linked else home
    database.open_state(place).close()
    if linked:
        homes.prepare(home)
        (home / "state.db").symlink_to(place / "state.db")
    beside = place / f"state.db{end}"
    beside.unlink(missing_ok=True)
    os.mkfifo(beside)
    named = f"'{beside}'" if linked else beside
    assert refused(home) == f"{beside} is not a regular file; take it away with: mv {named} {named}.moved"


def test_what_an_interrupt_left_open_is_abandoned(db: sqlite3.Connection) -> None:
    targets.remember(db, "a", "1")
    for _ in range(2):
        database.abandon(db)
        assert targets.target(db, "a") == "1"
    db.execute("BEGIN IMMEDIATE")
    targets.remember(db, "a", "2")
    database.abandon(db)
    assert (targets.target(db, "a"), db.in_transaction) == ("1", False)
