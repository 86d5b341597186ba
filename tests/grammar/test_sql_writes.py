"""Which statements a review warns about, because they cannot run read-only."""

import pytest

from helm_cli.grammar.sql import writes
from helm_cli.model.profile import Engine


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("sqlite", "SELECT update_time, \"delete\", 'INSERT' FROM t -- DELETE"),
        ("sqlite", "SELECT replace(a, 'x', 'y') FROM t"),
        ("sqlite", "WITH x AS (SELECT replace(a, 'b', 'c') FROM t) SELECT * FROM x"),
        ("sqlite", "PRAGMA table_info(t)"),
        ("sqlite", "EXPLAIN QUERY PLAN DELETE FROM t"),
        ("sqlite", "VALUES (1)"),
        ("postgres", "TABLE t"),
        ("postgres", "SHOW server_version"),
        ("postgres", "EXPLAIN DELETE FROM t"),
        ("postgres", "SELECT $$ INSERT INTO $$"),
        ("mysql", "DESC t"),
        ("mysql", "(SELECT 1) UNION (SELECT 2)"),
    ],
)
def test_reads_are_not_warned_about(engine: Engine, text: str) -> None:
    assert not writes(text, engine)


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("sqlite", "INSERT INTO t VALUES (1) RETURNING id"),
        ("sqlite", "/* harmless */ delete from t"),
        ("sqlite", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x"),
        ("sqlite", "WITH x AS (SELECT 1) REPLACE INTO t SELECT * FROM x"),
        ("sqlite", "ATTACH 'x.db' AS x"),
        ("sqlite", "VACUUM INTO 'x.db'"),
        ("sqlite", "BEGIN"),
        ("postgres", "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone"),
        ("postgres", "SELECT * INTO u FROM t"),
        ("postgres", "SELECT * FROM t FOR UPDATE"),
        ("postgres", "SELECT * FROM t FOR SHARE"),
        ("postgres", "SELECT nextval('s')"),
        ("postgres", "EXPLAIN ANALYZE DELETE FROM t"),
        ("postgres", "COPY t TO PROGRAM 'x'"),
        ("postgres", "CALL p()"),
        ("mysql", "SELECT 1 INTO OUTFILE '/x'"),
        ("mysql", "SELECT 1 /*!50000 INTO OUTFILE '/x' */"),
        ("mysql", "SET @a = 1"),
        ("mysql", "REPLACE INTO t VALUES (1)"),
        ("mysql", "SELECT 'open"),
    ],
)
def test_what_looks_like_a_write_is_warned_about(engine: Engine, text: str) -> None:
    assert writes(text, engine)
