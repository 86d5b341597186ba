"""Odd paths, files that are no database, WAL, locks and crashes: nothing is created, nothing hangs."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from helm_cli.drivers import Limits, driver, sqlite_wal
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.profile import Database
from tests.suites.driver import TICKETS, Bench, plan_of
from tests.suites.sqlite import COUNTING, bench_of, contents, tickets_file

NAMES = [
    "we?ird#%41 name.db",
    "?mode=memory",
    ":memory:",
    "a'b\"c;d.db",
    "é😀.db",
    " ",
    "%2e.db",
    "-x",
    "a\nb.db",
    "&cache=shared",
]


@pytest.fixture
def child() -> Iterator[Callable[[str, Path], subprocess.Popen[str]]]:
    """Starts Python code in another process, with a file as its argument, once it printed that it is ready."""
    with ExitStack() as stack:

        def start(code: str, path: Path) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", f"import sqlite3, sys, time\n{code}\nprint(flush=True); sys.stdin.read()"]
            process = subprocess.Popen([*command, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.callback(process.communicate)
            assert process.stdout is not None
            assert process.stdout.readline() == "\n"
            return process

        yield start


@pytest.mark.contract("C96")
@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_file(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with closing(sqlite3.connect(tmp_path / "plain.db")) as db, db:
        db.execute("CREATE TABLE t AS SELECT 1 AS a")
    (tmp_path / "plain.db").rename(folder / name)
    bench = bench_of(folder / name)
    assert bench.call("SELECT a FROM t") == {"columns": ["a"], "rows": [[1]]}
    assert bench.call("UPDATE t SET a = 2", effect="write") == {"rowsAffected": 1}
    assert bench.call("SELECT a FROM t")["rows"] == [[2]]
    assert os.listdir(folder) == [name]


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    tickets_file(tmp_path / "plain.db")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.db")
    os.rename(tmp_path / "plain.db", odd)
    bench = bench_of(Path(odd))
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff.db"]


def a_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(place))


# What to put at the path, what to append to it, and what is said of it.
NO_FILES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "missing": (lambda place: None, "", "does not exist"),
    "folder": (Path.mkdir, "", "is not a regular file"),
    "fifo": (os.mkfifo, "", "is not a regular file"),
    "socket": (a_socket, "", "is not a regular file"),
    "device": (lambda place: place.symlink_to(os.devnull), "", "is not a regular file"),
    "loop": (lambda place: place.symlink_to(place), "", "cannot be reached"),
    "nul": (Path.touch, "\0", "cannot be reached"),
    "below a file": (Path.touch, "/x", "cannot be reached"),
}


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("what", NO_FILES)
def test_what_is_no_file_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, effect: Effect
) -> None:
    put, more, said = NO_FILES[what]
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    put(Path("place"))
    before = os.listdir()
    begun = time.monotonic()
    with pytest.raises(HelmError) as caught:
        profile = Database("local-app", "sqlite", path=f"{tmp_path}/place{more}")
        driver("sqlite").run(plan_of("SELECT 1", effect=effect), profile, None, Limits())
    assert time.monotonic() - begun < 1
    assert os.listdir() == before
    assert caught.value.code == "unavailable"
    assert caught.value.message == (
        f"the database file of the profile local-app {said}; look at it with `helm db show local-app`"
    )


def test_links_are_followed(bench: Bench, path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert bench_of(link).call("DELETE FROM tickets WHERE id = 1", effect="write") == {"rowsAffected": 1}
    assert bench_of(link).call("SELECT count(*) FROM tickets")["rows"] == [[2]]


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("junk", [b"not a database, whatever its name says", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database(path: Path, bench: Bench, junk: bytes, effect: Effect) -> None:
    path.write_bytes(junk)
    error = bench.refusal("SELECT * FROM tickets", effect=effect)
    assert (error.code, error.message) == (
        "unavailable",
        "the database file is not an SQLite database, or it is encrypted; check the profile's file",
    )
    assert path.read_bytes() == junk
    assert os.listdir(path.parent) == ["app.db"]


def test_an_empty_file_is_an_empty_database(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    bench = bench_of(tmp_path / "empty.db")
    assert bench.call("SELECT count(*) FROM sqlite_master")["rows"] == [[0]]
    assert driver("sqlite").probe(bench.profile, None, Limits()) == f"SQLite {sqlite3.sqlite_version}, 0 tables"
    assert (tmp_path / "empty.db").read_bytes() == b""


def test_the_probe_counts_what_can_be_read(bench: Bench) -> None:
    assert driver("sqlite").probe(bench.profile, None, Limits()) == f"SQLite {sqlite3.sqlite_version}, 1 table"
    bench.outside("CREATE VIEW v AS SELECT 1")
    assert driver("sqlite").probe(bench.profile, None, Limits()) == f"SQLite {sqlite3.sqlite_version}, 2 tables"


def test_a_damaged_file_is_told_in_its_own_words(path: Path, bench: Bench) -> None:
    data = bytearray(path.read_bytes())
    data[4096:4196] = b"\xff" * 100  # the page of the table
    path.write_bytes(data)
    error = bench.refusal("SELECT * FROM tickets")
    assert (error.code, error.message) == ("query_failed", "database disk image is malformed")


def test_a_file_damaged_further_on_gives_no_rows_at_all(path: Path, bench: Bench) -> None:
    bench.outside("CREATE TABLE many AS " + COUNTING + " LIMIT 2000) SELECT i, hex(zeroblob(400)) AS t FROM n")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size * 3 // 4 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    for sql in ("SELECT i FROM many", "SELECT count(*), sum(length(t)) FROM many"):
        error = bench.refusal(sql, limits=Limits(rows=10_000, bytes=10_000_000))
        assert (error.code, error.message) == ("query_failed", "database disk image is malformed")
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]


def test_a_file_cut_short(path: Path, bench: Bench) -> None:
    bench.outside("CREATE TABLE many AS " + COUNTING + " LIMIT 2000) SELECT i FROM n")
    os.truncate(path, 8192)
    error = bench.refusal("SELECT sum(i) FROM many")
    assert (error.code, error.message) == ("query_failed", "database disk image is malformed")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_each_call_of_a_batch_opens_the_file_that_is_there_then(bench: Bench, path: Path, mode: str) -> None:
    bench.outside(f"PRAGMA journal_mode = {mode}")
    other = path.parent / "other.db"
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    for count in (2, 1):
        tickets_file(other).outside(f"PRAGMA journal_mode = {mode}")
        bench_of(other).outside(f"DELETE FROM tickets WHERE id > {count}")
        other.replace(path)
        assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[count]]
        assert bench.call("UPDATE tickets SET status = 'x'", effect="write") == {"rowsAffected": count}
    path.write_bytes(b"not a database, whatever its name says")
    assert bench.refusal("SELECT count(*) FROM tickets").code == "unavailable"
    path.unlink()
    assert bench.refusal("SELECT count(*) FROM tickets").code == "unavailable"
    tickets_file(path)
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert os.listdir(path.parent) == ["app.db"]


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_file_replaced_during_a_read_gives_one_of_the_two(bench: Bench, path: Path, mode: str) -> None:
    bench.outside(f"PRAGMA journal_mode = {mode}")
    other = path.parent / "other.db"
    tickets_file(other).outside("DELETE FROM tickets WHERE id > 1")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(bench.call, f"SELECT count(*), {SLOW} > 0, (SELECT count(*) FROM tickets) FROM tickets")
        time.sleep(0.2)  # the read has begun, and takes several times as long
        other.replace(path)
        assert reading.result()["rows"] in ([[3, 1, 3]], [[1, 1, 1]])
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[1]]


def to_wal(bench: Bench, path: Path) -> None:
    bench.outside("PRAGMA journal_mode = WAL")
    os.utime(path, (1_000_000_000, 1_000_000_000))  # long settled


def test_a_settled_wal_file_is_read_without_a_trace(bench: Bench, path: Path) -> None:
    to_wal(bench, path)
    before = contents(path)
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert bench.refusal("DELETE FROM tickets").code == "refused"
    assert contents(path) == before
    assert list(before) == ["app.db"]


@pytest.mark.parametrize("age", [0, 0.01, 1])
def test_a_wal_file_written_just_now_is_read_without_a_trace(bench: Bench, path: Path, age: float) -> None:
    to_wal(bench, path)
    moment = time.time_ns() - int(age * 1e9) | 1  # a time that is no whole millisecond
    os.utime(path, ns=(moment, moment))
    before = contents(path)
    begun = time.monotonic()
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert time.monotonic() - begun < 1
    assert contents(path) == before
    assert list(before) == ["app.db"]


def test_a_wal_file_of_a_coarse_file_system_is_waited_for(bench: Bench, path: Path) -> None:
    to_wal(bench, path)
    moment = int(time.time()) + 0.0  # a time of whole seconds: another write within it would not show
    os.utime(path, (moment, moment))
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert time.time() - moment >= 2
    assert list(contents(path)) == ["app.db"]


def test_a_wal_file_that_is_written_all_the_time_is_read_without_a_trace(bench: Bench, path: Path) -> None:
    to_wal(bench, path)
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            bench.outside("UPDATE tickets SET status = 'x'")

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for _ in range(5):
                assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
        finally:
            ended.set()
        writing.result()
    assert list(contents(path)) == ["app.db"]


def test_a_log_that_a_killed_program_left_is_read_and_left_as_it_is(bench: Bench, path: Path) -> None:
    to_wal(bench, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("INSERT INTO tickets VALUES (4, 'Four', 'open')")
        saved = {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    for name, data in saved.items():
        (path.parent / name).write_bytes(data)
    before = contents(path)
    assert sorted(before) == ["app.db", "app.db-wal"]
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[4]]
    assert contents(path) == before
    assert bench.outside("SELECT count(*) FROM tickets") == [(4,)]


OPEN_IN_WAL = "db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute('SELECT * FROM tickets').fetchall()"


def test_files_of_a_program_that_has_it_open_are_left_alone(
    bench: Bench, path: Path, child: Callable[[str, Path], subprocess.Popen[str]]
) -> None:
    to_wal(bench, path)
    child(OPEN_IN_WAL, path)
    before = contents(path)
    assert sorted(before) == ["app.db", "app.db-shm", "app.db-wal"]
    sqlite_wal.tidy(str(path))
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
    assert contents(path) == before


def test_files_that_nobody_needs_are_tidied(bench: Bench, path: Path, tmp_path: Path) -> None:
    to_wal(bench, path)
    sqlite_wal.tidy(str(path))
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as reader:
        reader.execute("SELECT * FROM tickets").fetchall()
    assert sorted(contents(path)) == ["app.db", "app.db-shm", "app.db-wal"]
    sqlite_wal.tidy(str(path))
    assert sorted(contents(path)) == ["app.db"]
    sqlite_wal.tidy(str(tmp_path / "missing.db"))
    assert not (tmp_path / "missing.db").exists()


def test_a_read_sees_what_a_live_wal_writer_committed(bench: Bench, path: Path) -> None:
    to_wal(bench, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("INSERT INTO tickets VALUES (4, 'Four', 'open')")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO tickets VALUES (5, 'Five', 'open')")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[4]]
        writer.execute("COMMIT")
        assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[5]]
    assert bench.call("DELETE FROM tickets", effect="write") == {"rowsAffected": 5}
    assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[0]]


SLOW = f"({COUNTING} LIMIT 4000000) SELECT max(i) FROM n)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT title, {SLOW} > 0 FROM tickets WHERE id = 1",
        f"SELECT iif(title = 'One' AND {SLOW}, abs(-9223372036854775808), title), 1 FROM tickets WHERE id = 1",
    ],
)
def test_a_settled_file_that_is_written_during_the_read_is_read_again(bench: Bench, path: Path, sql: str) -> None:
    to_wal(bench, path)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(bench.call, sql)
        time.sleep(0.1)  # the read has begun, and takes several times as long
        bench.outside("UPDATE tickets SET title = 'Uno'")  # closing it copies the WAL into the file
        assert reading.result()["rows"] == [["Uno", 1]]
    assert bench.call("SELECT title FROM tickets WHERE id = 1")["rows"] == [["Uno"]]


def test_what_cannot_be_looked_at_is_nothing(tmp_path: Path) -> None:
    nothing = sqlite_wal.look(str(tmp_path / "missing.db"))
    assert (nothing.wal, nothing.log, nothing.inode) == (False, 0, 0)
    assert not sqlite_wal.look(str(tmp_path)).wal


HOLDING_A_LOCK = "db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute('BEGIN EXCLUSIVE')"


@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_lock_that_another_process_keeps(
    bench: Bench, path: Path, effect: Effect, child: Callable[[str, Path], subprocess.Popen[str]]
) -> None:
    child(HOLDING_A_LOCK, path)
    sql = "SELECT 1 FROM tickets" if effect == "read" else "DELETE FROM tickets"
    begun = time.monotonic()
    error = bench.refusal(sql, effect=effect, limits=Limits(seconds=0.5))
    assert 0.4 < time.monotonic() - begun < 1.5
    assert (error.code, error.members) == ("timeout", {})
    assert error.message == "the database stayed locked for 0.5 s; try again later"


def test_a_lock_that_is_given_up_in_time(
    bench: Bench, path: Path, child: Callable[[str, Path], subprocess.Popen[str]]
) -> None:
    process = child(HOLDING_A_LOCK, path)
    assert process.stdin is not None
    process.stdin.close()  # it ends, and its lock with it, while the call waits
    assert bench.call("DELETE FROM tickets", effect="write") == {"rowsAffected": 3}
    process.stdin = None


TRYING_TO_WRITE = """
try:
    db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
    db.execute('BEGIN IMMEDIATE')
except sqlite3.OperationalError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_call_leaves_the_locks_of_its_own_process_alone(bench: Bench, path: Path, mode: str) -> None:
    bench.outside(f"PRAGMA journal_mode = {mode}")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        for age in (0, 1_000_000_000):
            os.utime(path, (age or time.time(), age or time.time()))
            assert bench.call("SELECT count(*) FROM tickets")["rows"] == [[3]]
            command = [sys.executable, "-c", f"import sqlite3, sys\n{TRYING_TO_WRITE}", str(path)]
            tried = subprocess.run(command, capture_output=True, text=True, timeout=30)
            assert (tried.returncode, tried.stderr) == (1, "database is locked\n")


CRASHING = """
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('PRAGMA cache_size = 1')
db.execute('BEGIN IMMEDIATE')
db.execute('CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) SELECT i'
           ' FROM n')
db.execute("UPDATE tickets SET title = 'half'")
db.execute('UPDATE big SET i = 0')
"""


def test_a_hot_journal_is_told_and_a_write_heals_it(
    bench: Bench, path: Path, child: Callable[[str, Path], subprocess.Popen[str]]
) -> None:
    process = child(CRASHING, path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = contents(path)
    assert sorted(before) == ["app.db", "app.db-journal"]
    error = bench.refusal("SELECT * FROM tickets")
    assert error.code == "query_failed"
    assert error.message == (
        "attempt to write a readonly database; a program that wrote to this file was killed; open it once with"
        " a program that may write"
    )
    assert contents(path) == before
    assert bench.call("UPDATE tickets SET status = 'open' WHERE id = 3", effect="write") == {"rowsAffected": 1}
    assert bench.call("SELECT title FROM tickets ORDER BY id")["rows"] == [[title] for _, title, _ in TICKETS]


CANNOT_BE_OPENED = (
    "the database file cannot be opened, or it is in WAL mode and its folder cannot be written to;"
    " check the profile's file"
)
UNPRIVILEGED = """
import os, sys
from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Database
from tests.suites.driver import plan_of
driver("sqlite"), __import__("helm_cli.drivers.sqlite_serve"), __import__("encodings.idna")
os.chdir("/")
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    plan = plan_of(sys.argv[2], effect=sys.argv[3])
    print(driver("sqlite").run(plan, Database("local-app", "sqlite", path=sys.argv[1]), None, Limits()))
except HelmError as error:
    print(error.code, error.message)
"""


class Unwritable:
    """A folder that the process under test may read but not write to, outside the 0700 folders of pytest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call(self, sql: str, effect: Effect = "read") -> str:
        command = [sys.executable, "-c", UNPRIVILEGED, str(self.folder / "app.db"), sql, effect]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


@pytest.fixture
def unwritable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Unwritable]:
    top = Path(tempfile.mkdtemp())
    top.chmod(0o755)
    (top / "data").mkdir()
    yield Unwritable(top / "data")
    (top / "data").chmod(0o755)
    shutil.rmtree(top)


def test_a_wal_file_in_a_folder_that_cannot_be_written(unwritable: Unwritable) -> None:
    file = unwritable.folder / "app.db"
    to_wal(tickets_file(file), file)
    file.chmod(0o444)
    unwritable.folder.chmod(0o555)
    assert unwritable.call("SELECT count(*) FROM tickets") == "{'columns': ['count(*)'], 'rows': [[3]]}"
    assert unwritable.call("DELETE FROM tickets", "write") == "query_failed attempt to write a readonly database"
    os.utime(file)
    assert unwritable.call("SELECT count(*) FROM tickets") == "{'columns': ['count(*)'], 'rows': [[3]]}"
    assert os.listdir(unwritable.folder) == ["app.db"]


def test_a_wal_file_that_may_be_written_in_a_folder_that_may_not(unwritable: Unwritable) -> None:
    file = unwritable.folder / "app.db"
    to_wal(tickets_file(file), file)
    file.chmod(0o666)
    unwritable.folder.chmod(0o555)
    assert unwritable.call("DELETE FROM tickets", "write") == (
        "query_failed attempt to write a readonly database; it is in WAL mode and its folder cannot be written to"
    )


@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_log_with_content_beside_a_file_that_may_only_be_read(unwritable: Unwritable, mode: int) -> None:
    file = unwritable.folder / "app.db"
    to_wal(tickets_file(file), file)
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("INSERT INTO tickets VALUES (4, 'Four', 'open')")
        saved = {path.name: path.read_bytes() for path in unwritable.folder.iterdir()}
    for name, data in saved.items():
        if name != "app.db-shm":
            (unwritable.folder / name).write_bytes(data)
    unwritable.folder.chmod(mode)
    assert unwritable.call("SELECT count(*) FROM tickets") == (
        "unavailable the database is in WAL mode and was not closed by the program that wrote to it, and helm may"
        " not write to it; open it once with a program that may"
    )
    assert unwritable.call("DELETE FROM tickets", "write") == "query_failed attempt to write a readonly database"
    assert sorted(os.listdir(unwritable.folder)) == ["app.db", "app.db-wal"]


def test_a_file_that_may_not_be_read(unwritable: Unwritable) -> None:
    file = unwritable.folder / "app.db"
    tickets_file(file)
    file.chmod(0o000)
    assert unwritable.call("SELECT 1") == f"unavailable {CANNOT_BE_OPENED}"
    assert unwritable.call("DELETE FROM tickets", "write").startswith("unavailable ")


def test_a_file_that_may_only_be_read_refuses_a_write(unwritable: Unwritable) -> None:
    file = unwritable.folder / "app.db"
    tickets_file(file)
    file.chmod(0o444)
    told = unwritable.call("DELETE FROM tickets", "write")
    assert told == "query_failed attempt to write a readonly database"
