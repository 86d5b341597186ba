"""What each engine would find in a text: statements, placeholders, and what it could not read."""

import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar.sql import Scan, first_keyword, scan
from helm_cli.model.profile import Engine

ENGINES: tuple[Engine, ...] = get_args(Engine)

SAME_FOR_ALL = [
    ("", 0),
    (" \n\t", 0),
    (";", 0),
    (";;;", 0),
    ("-- nothing", 0),
    ("/* nothing; at all */", 0),
    ("SELECT 1", 1),
    ("SELECT 1;", 1),
    ("SELECT 1; -- done\n", 1),
    ("SELECT 1; /* done */ ", 1),
    ("; SELECT 1", 1),
    ("-- first\nSELECT 1 -- last", 1),
    ("SELECT 1 /* ; */ + 1", 1),
    ("SELECT ';', 'it''s; fine'", 1),
    ("SELECT ';;' AS \"a;b\"", 1),
    ("SELECT 1; SELECT 2", 2),
    ("SELECT 1; DROP TABLE tickets", 2),
    ("SELECT 1; -- c\n; SELECT 2;", 2),
    ("SELECT '' ; SELECT ''", 2),
    ("SELECT 10-- 5\n;SELECT 2", 2),
    ("SELECT 'é€😀'", 1),
]


@pytest.mark.contract("C93")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "statements"), SAME_FOR_ALL)
def test_statements_are_counted(text: str, statements: int, engine: Engine) -> None:
    assert scan(text, engine) == Scan(statements, 0, None)


@pytest.mark.contract("C93")
@pytest.mark.parametrize(
    ("engine", "text", "statements", "placeholders"),
    [
        ("sqlite", "SELECT * FROM t WHERE a = ? AND b=? LIMIT ?", 1, 3),
        ("sqlite", "SELECT '?', \"?\", `?`, [?], ? -- ?\n/* ? */", 1, 1),
        ("sqlite", "SELECT [a;b] FROM t", 1, 0),
        ("sqlite", "SELECT 'back\\'; SELECT 2", 2, 0),
        ("sqlite", "SELECT x'00', a->>'$.b', a$b FROM t", 1, 0),
        ("sqlite", "\ufeffSELECT 1", 1, 0),
        ("sqlite", "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM u; INSERT INTO u VALUES (1); END", 1, 0),
        ("sqlite", "create temp trigger r after insert on t begin select case 1 when 1 then 2 end; end;", 1, 0),
        ("sqlite", "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM u; END; SELECT 1", 2, 0),
        ("sqlite", "SELECT 1 AS trigger_; SELECT 2", 2, 0),
        ("postgres", "SELECT * FROM t WHERE a = $1 AND b = $2", 1, 2),
        ("postgres", "SELECT $2, $1, $2::text, $1", 1, 2),
        ("postgres", "SELECT '$1', \"$2\", $q$ $3 $q$, $$ $4; $$, $1 -- $5\n/* $6 */", 1, 1),
        ("postgres", "SELECT $a$ $b$ ; $a$", 1, 0),
        ("postgres", "SELECT $é$;$é$", 1, 0),
        ("postgres", "SELECT a$1 FROM t", 1, 0),
        ("postgres", "SELECT E'it\\'s; fine', e'\\\\'", 1, 0),
        ("postgres", "SELECT 'back\\'; SELECT 2", 2, 0),
        ("postgres", "SELECT date'2024-01-01\\'; SELECT 2", 2, 0),
        ("postgres", "SELECT U&'d\\0061t;a', B'1', X'1F'", 1, 0),
        ("postgres", "SELECT 1 /* a /* nested; */ still; */", 1, 0),
        ("postgres", "SELECT 1 -- ends with a return\r; SELECT 2", 2, 0),
        ("postgres", "SELECT a ? 'k', a ?| $1, a ?& $2, a @? '$.x' FROM t", 1, 2),
        ("postgres", "SELECT (a) ? $1, a[1] ? b, '{}'::jsonb ? 'x'", 1, 1),
        ("postgres", "SELECT 1;;", 1, 0),
        ("mysql", "SELECT * FROM t WHERE a = ? AND b=?", 1, 2),
        ("mysql", "SELECT '?', \"?\", `?`, ? # ?\n-- ?\n/* ? */", 1, 1),
        ("mysql", "SELECT 'it\\'s; fine', \"a\\\";\"", 1, 0),
        ("mysql", "SELECT 1 # ; SELECT 2", 1, 0),
        ("mysql", "SELECT 1 --\n, 2", 1, 0),
        ("mysql", "SELECT 5--?", 1, 1),
        ("mysql", "SELECT 1 /* a /* not nested */ ; SELECT 2", 2, 0),
        ("mysql", "SELECT 1 /*!50000 , ? */", 1, 1),
        ("mysql", "SELECT 1 /*! ; DROP TABLE t */", 2, 0),
        ("mysql", "SELECT 1 /*M!100000 ; DROP TABLE t */", 2, 0),
        ("mysql", "SELECT 1 /*! + 1 /* plain; */ */", 1, 0),
        ("mysql", "SELECT /*+ NO_MERGE(t) */ @a := 1, @@version, 2*/* x */3 FROM t", 1, 0),
    ],
)
def test_placeholders_are_those_of_the_engine(engine: Engine, text: str, statements: int, placeholders: int) -> None:
    assert scan(text, engine) == Scan(statements, placeholders, None)


@pytest.mark.contract("C93")
@pytest.mark.parametrize(
    ("engine", "text", "fault"),
    [
        ("sqlite", "SELECT 'a", "the string that begins at character 8 never ends"),
        ("sqlite", "SELECT 'a''", "the string that begins at character 8 never ends"),
        ("sqlite", 'SELECT "a', "the quoted text that begins at character 8 never ends"),
        ("sqlite", "SELECT [a", "the quoted name that begins at character 8 never ends"),
        ("sqlite", "SELECT `a", "the quoted name that begins at character 8 never ends"),
        ("sqlite", "SELECT 1 /* a", "the comment that begins at character 10 never ends"),
        ("sqlite", "SELECT \0", "the text holds a NUL character"),
        ("sqlite", "SELECT '\ud800'", "the text holds a lone surrogate, which no UTF-8 text can carry"),
        ("sqlite", "SELECT ?1", "sqlite placeholders are a plain ?; ?1 is not one"),
        ("sqlite", "SELECT :status", "sqlite placeholders are a plain ?; :status is not one"),
        ("sqlite", "SELECT @status", "sqlite placeholders are a plain ?; @status is not one"),
        ("sqlite", "SELECT $1", "sqlite placeholders are a plain ?; $1 is not one"),
        ("sqlite", "SELECT 1;;", "sqlite takes at most one ; after the statement"),
        ("postgres", "SELECT E'a\\'", "the string that begins at character 8 never ends"),
        ("postgres", "SELECT $a$ b $c$", "the string that begins at character 8 never ends"),
        ("postgres", "SELECT $$ b", "the string that begins at character 8 never ends"),
        ("postgres", "SELECT 1 /* /* */", "the comment that begins at character 10 never ends"),
        ("postgres", "SELECT $0", "postgres placeholders count from $1; $0 is not one"),
        ("postgres", "SELECT $1, $3", "it uses $3 but not $2"),
        ("postgres", "SELECT $2", "it uses $2 but not $1"),
        ("postgres", "SELECT $999999", "postgres takes at most 65535 placeholders"),
        ("postgres", "SELECT ?", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("postgres", "SELECT a FROM t WHERE a = ?", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("postgres", "SELECT a FROM t WHERE a=? AND b=?", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("postgres", "SELECT a FROM t LIMIT ? OFFSET ?", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("postgres", "INSERT INTO t VALUES (?, ?)", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("postgres", "SELECT a BETWEEN ? AND $1", "postgres placeholders are $1, $2 and so on; ? is not one"),
        ("mysql", "SELECT 'a\\'", "the string that begins at character 8 never ends"),
        ("mysql", "SELECT `a", "the quoted name that begins at character 8 never ends"),
        ("mysql", "SELECT 1 /* a", "the comment that begins at character 10 never ends"),
        ("mysql", "SELECT 1 /*! + 1", "a comment of the form /*! … */ never ends"),
        ("mysql", "SELECT $1", "mysql placeholders are a plain ?; $1 is not one"),
        ("mysql", "SELECT :status", "mysql placeholders are a plain ?; :status is not one"),
    ],
)
def test_what_no_engine_could_prepare_is_told(engine: Engine, text: str, fault: str) -> None:
    assert scan(text, engine).fault == fault


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("select 1", "SELECT"),
        ("-- why\n/* what */ With x AS (SELECT 1) SELECT 1", "WITH"),
        ("(SELECT 1)", "SELECT"),
        ("; VALUES (1)", "VALUES"),
        ("SELECT*FROM t", "SELECT"),
        ("", ""),
        ("'text'", ""),
        ("SELECT 'open", "SELECT"),
        ("'open", ""),
    ],
)
def test_the_first_keyword(text: str, word: str, engine: Engine) -> None:
    assert first_keyword(text, engine) == word


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["'" + "a''" * 100_000, "/*" * 50_000, "$a$ " * 30_001, '"' * 100_001, "(" * 50_000])
def test_a_hostile_text_takes_linear_time(text: str, engine: Engine) -> None:
    begun = time.process_time()
    scan(text, engine)
    assert time.process_time() - begun < 2


@given(st.text(alphabet="aE ;?$1'\"`[]/*-#\\!\n:@\ud800\0"), st.sampled_from(ENGINES))
def test_no_text_breaks_it(text: str, engine: Engine) -> None:
    found = scan(text, engine)
    assert found.statements >= 0
    assert found.placeholders >= 0


@given(st.text(alphabet='a;?$1"`[]/*-# \n'), st.sampled_from(ENGINES))
def test_what_stands_in_a_string_is_no_code(inner: str, engine: Engine) -> None:
    assert scan(f"SELECT '{inner}'", engine) == Scan(1, 0, None)
