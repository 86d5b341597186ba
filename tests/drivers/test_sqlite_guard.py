"""What a declared SQLite statement may and may not do, on real files: nothing but rows moves."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.drivers.outcome import AS_WRITE
from tests.suites.driver import Bench
from tests.suites.sqlite import contents

OTHER = "file of another program"

# Each tries to reach another file, to change this one, or to change how the connection behaves.
ATTACKS = [
    "INSERT INTO tickets VALUES (9, 'x', 'y')",
    "INSERT INTO tickets VALUES (9, 'x', 'y') RETURNING id",
    "WITH x AS (SELECT 9 AS id) INSERT INTO tickets SELECT id, 'x', 'y' FROM x",
    "REPLACE INTO tickets VALUES (1, 'x', 'y')",
    "UPDATE tickets SET title = (SELECT max(title) FROM tickets) RETURNING id",
    "DELETE FROM tickets WHERE id IN (SELECT id FROM tickets)",
    "INSERT INTO notes(notes) VALUES ('optimize')",
    "INSERT INTO boxes VALUES (9, 1, 2)",
    "CREATE TABLE other AS SELECT 1 AS a",
    "CREATE TEMP TABLE other (a)",
    "CREATE TEMP VIEW other AS SELECT 1",
    "CREATE VIRTUAL TABLE temp.other USING fts5(a)",
    "CREATE VIRTUAL TABLE other USING fts5(a)",
    "DROP TABLE tickets",
    "ALTER TABLE tickets RENAME TO others",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO '{folder}/copy.db'",
    "ATTACH '{folder}/other.db' AS other",
    "ATTACH '{folder}/new.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "BEGIN IMMEDIATE",
    "SAVEPOINT a",
    "RELEASE a",
    "PRAGMA query_only = 0",
    "PRAGMA writable_schema = 1",
    "PRAGMA writable_schema",
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA journal_mode = WAL",
    "PRAGMA temp_store_directory = '{folder}'",
    "PRAGMA hard_heap_limit = 1000",
    "PRAGMA mmap_size = 1000000",
    "PRAGMA busy_timeout = 100000",
    "PRAGMA user_version = 9",
    "PRAGMA user_version(9)",
    "PRAGMA wal_checkpoint",
    "PRAGMA optimize",
    "PRAGMA database_list",
    "SELECT * FROM pragma_database_list",
    "SELECT file FROM pragma_database_list()",
    "SELECT load_extension('{folder}/x.so')",
    "SELECT LOAD_EXTENSION('{folder}/x.so')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "EXPLAIN INSERT INTO tickets VALUES (9, 'x', 'y')",
    "SELECT 1; DROP TABLE tickets",
]

LEGITIMATE = [
    ("SELECT count(*) FROM tickets", [[3]]),
    ("select*from tickets where id=1", [[1, "One", "open"]]),
    ("-- why\n/* what */ SELECT 1;", [[1]]),
    ("; SELECT 1", [[1]]),
    ("VALUES (1, 2), (3, 4)", [[1, 2], [3, 4]]),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT sum(i) FROM n", [[6]]),
    ("SELECT replace(title, 'O', 'o') FROM tickets WHERE id = 1", [["one"]]),
    ("SELECT value FROM json_each('[1, 2]')", [[1], [2]]),
    ("SELECT json_extract('{\"a\": [1]}', '$.a[0]')", [[1]]),
    ("SELECT name FROM pragma_table_info('tickets') ORDER BY cid", [["id"], ["title"], ["status"]]),
    ("SELECT text FROM notes WHERE notes MATCH 'hello'", [["hello world"]]),
    ("SELECT snippet(notes, 0, '[', ']', '…', 4) FROM notes WHERE notes MATCH 'world'", [["hello [world]"]]),
    ("SELECT text FROM oldnotes WHERE oldnotes MATCH 'hello'", [["hello world"]]),
    ("SELECT id FROM boxes WHERE low < 5", [[1]]),
    ("SELECT title FROM open_tickets ORDER BY id", [["One"], ["Two"]]),
    ("PRAGMA table_info(nosuchtable)", []),
    ("pragma user_version", [[7]]),
    ("PRAGMA integrity_check(1)", [["ok"]]),
    ("PRAGMA foreign_key_check", []),
    ("SELECT row_number() OVER (ORDER BY id) FROM tickets", [[1], [2], [3]]),
    ("SELECT title FROM tickets GROUP BY title HAVING count(*) = 1 ORDER BY 1 LIMIT 1", [["One"]]),
    ("SELECT 1 WHERE 0", []),
    ("SELECT * FROM tickets UNION SELECT 9, '; DROP', '?' ORDER BY 1 DESC LIMIT 1", [[9, "; DROP", "?"]]),
]


@pytest.fixture
def furnished(bench: Bench, path: Path) -> Bench:
    """The tickets with a view, FTS5, FTS4 and R-Tree tables, a trigger into FTS, and another file beside them."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """
            PRAGMA user_version = 7;
            CREATE VIEW open_tickets AS SELECT * FROM tickets WHERE status = 'open';
            CREATE VIRTUAL TABLE notes USING fts5(text);
            CREATE VIRTUAL TABLE oldnotes USING fts4(text);
            CREATE VIRTUAL TABLE boxes USING rtree(id, low, high);
            INSERT INTO notes VALUES ('hello world');
            INSERT INTO oldnotes VALUES ('hello world');
            INSERT INTO boxes VALUES (1, 2, 3);
            CREATE TRIGGER noted AFTER UPDATE ON tickets BEGIN INSERT INTO notes VALUES (new.title); END;
            """
        )
    with closing(sqlite3.connect(path.parent / "other.db")) as db, db:
        db.execute("CREATE TABLE secrets AS SELECT 1 AS a")
    return bench


@pytest.mark.contract("C96")
@pytest.mark.parametrize("sql", ATTACKS)
def test_a_read_reaches_and_changes_nothing_else(furnished: Bench, path: Path, sql: str) -> None:
    before = contents(path)
    error = furnished.refusal(sql.replace("{folder}", str(path.parent)))
    assert error.code == "refused"
    assert contents(path) == before
    sqlite3.connect(":memory:").close()  # the heap limit would be the whole process's


@pytest.mark.contract("C96")
@pytest.mark.parametrize(("sql", "rows"), LEGITIMATE)
def test_reads_of_every_sort_work(furnished: Bench, path: Path, sql: str, rows: list[list[object]]) -> None:
    before = contents(path)
    assert furnished.call(sql)["rows"] == rows
    assert contents(path) == before


def test_what_was_refused_is_named(furnished: Bench) -> None:
    only = "anything but SELECT, VALUES, EXPLAIN and reading PRAGMAs"
    for sql, what in [
        ("DELETE FROM tickets", only),
        ("ATTACH 'x' AS x", "ATTACH"),
        ("BEGIN", "BEGIN, COMMIT or ROLLBACK"),
        ("SAVEPOINT a", "a savepoint"),
        ("PRAGMA database_list", "PRAGMA database_list"),
        ("PRAGMA user_version = 1", "PRAGMA user_version with a value"),
        ("SELECT load_extension('x')", "the function load_extension"),
    ]:
        hint = f"; {AS_WRITE}" if what == only else ""
        assert furnished.refusal(sql).message == f"helm does not let a read query use {what}; nothing changed{hint}"
    assert furnished.refusal("VACUUM").message == f"a read query must return columns; {AS_WRITE}"
    hidden = furnished.refusal("WITH one AS (SELECT 1) DELETE FROM tickets RETURNING id")
    assert hidden.message.endswith(f"; {AS_WRITE}")


@pytest.mark.contract("C104")
@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '{folder}/other.db' AS other",
        "ATTACH '{folder}/new.db' AS other",
        "VACUUM INTO '{folder}/copy.db'",
        "VACUUM",
        "COMMIT",
        "END",
        "ROLLBACK",
        "BEGIN",
        "SAVEPOINT a",
        "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = WAL",
        "PRAGMA user_version = 9",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA hard_heap_limit = 1000",
        "INSERT INTO tickets SELECT 9, file, 'x' FROM pragma_database_list",
        "UPDATE tickets SET title = load_extension('x')",
        "DELETE FROM sqlite_master",
    ],
)
def test_a_write_stays_in_its_file_and_transaction(furnished: Bench, path: Path, sql: str) -> None:
    before = contents(path)
    error = furnished.refusal(sql.replace("{folder}", str(path.parent)), effect="write")
    assert error.code in ("refused", "query_failed")
    assert error.members == {}
    assert contents(path) == before


@pytest.mark.contract("C104")
@pytest.mark.parametrize(
    ("sql", "affected"),
    [
        ("UPDATE tickets SET title = 'noted' WHERE id < 3", 2),  # its trigger writes to FTS, which does not count
        ("INSERT INTO notes VALUES ('a'), ('b')", 2),
        ("INSERT INTO oldnotes VALUES ('a')", 1),
        ("INSERT INTO boxes VALUES (2, 3, 4)", 1),
        ("INSERT INTO tickets VALUES (1, 'x', 'y') ON CONFLICT (id) DO UPDATE SET title = 'z'", 1),
        ("REPLACE INTO tickets VALUES (1, 'x', 'y')", 1),
        ("WITH x AS (SELECT 1 AS id) UPDATE tickets SET title = 'w' WHERE id IN (SELECT id FROM x)", 1),
        ("DELETE FROM tickets RETURNING id, title", 3),
        ("CREATE TABLE more (a)", 0),
        ("DROP TABLE tickets", 0),
        ("CREATE TRIGGER gone AFTER DELETE ON tickets BEGIN DELETE FROM notes; SELECT 1; END", 0),
        ("SELECT * FROM tickets", 0),
    ],
)
def test_writes_of_every_sort_work(furnished: Bench, sql: str, affected: int) -> None:
    assert furnished.call(sql, effect="write") == {"rowsAffected": affected}
