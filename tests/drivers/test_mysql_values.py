"""What goes in and what comes out: every value bound as it is, every type without loss."""

from typing import Any

import pytest

from helm_cli.drivers import Limits, mysql
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import dump
from helm_cli.model.profile import Database
from tests.rig.mariadb import MariaDb
from tests.rig.mysql8 import OK, Mysql8, error, mysql8
from tests.suites.driver import Bench, plan_of

# Column type, the value as SQL, the value in the envelope.
TYPES: list[tuple[str, str, Any]] = [
    ("TINYINT", "-128", -128),
    ("BOOLEAN", "TRUE", 1),
    ("SMALLINT UNSIGNED", "65535", 65535),
    ("MEDIUMINT", "-8388608", -8388608),
    ("INT", "-2147483648", -2147483648),
    ("INT UNSIGNED", "4294967295", 4294967295),
    ("INT(6) ZEROFILL", "42", 42),
    ("BIGINT", "-9223372036854775808", "-9223372036854775808"),
    ("BIGINT", "1", "1"),
    ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551615"),
    ("BIGINT(20) ZEROFILL", "42", "42"),
    ("DECIMAL(18,4)", "12345678901234.56", "12345678901234.5600"),
    ("DECIMAL(65,0)", "-" + "9" * 65, "-" + "9" * 65),
    ("FLOAT", "0.1", 0.1),
    ("DOUBLE", "1.7976931348623157e308", 1.7976931348623157e308),
    ("DOUBLE", "-0.1e-300", -1e-301),
    ("BIT(1)", "b'1'", 1),
    ("BIT(53)", "9007199254740991", 9007199254740991),
    ("BIT(64)", "18446744073709551615", "18446744073709551615"),
    ("BIT(64)", "b'101'", 5),
    ("YEAR", "2024", 2024),
    ("YEAR", "0", 0),
    ("DATE", "'0000-00-00'", "0000-00-00"),
    ("DATE", "'2024-00-00'", "2024-00-00"),
    ("DATE", "'9999-12-31'", "9999-12-31"),
    ("DATETIME(6)", "'9999-12-31 23:59:59.999999'", "9999-12-31 23:59:59.999999"),
    ("DATETIME", "'0000-00-00 00:00:00'", "0000-00-00 00:00:00"),
    ("TIMESTAMP NULL", "'2026-11-30 12:34:56'", "2026-11-30 12:34:56"),
    ("TIME", "'-838:59:59'", "-838:59:59"),
    ("TIME(1)", "'-01:30:00.5'", "-01:30:00.5"),
    ("TIME(6)", "'838:59:59.999999'", "838:59:59.999999"),
    ("CHAR(3)", "'é'", "é"),
    ("VARCHAR(10) CHARACTER SET latin1", "'é€'", "é€"),
    ("VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "'😀'", "😀"),
    ("VARCHAR(10) CHARACTER SET ucs2", "'é'", "é"),
    ("TEXT", "''", ""),
    ("LONGTEXT", "'a\\nb\\0c'", "a\nb\0c"),
    ("ENUM('a','b')", "'b'", "b"),
    ("SET('a','b')", "'a,b'", "a,b"),
    ("BINARY(3)", "x'ff'", "/wAA"),
    ("VARBINARY(5)", "x'00ff'", "AP8="),
    ("LONGBLOB", "x'deadbeef'", "3q2+7w=="),
    ("JSON", '\'{"a": [1, 2.50, null], "b": 12345678901234567890}\'', {"a": [1, 2.5, None], "b": 12345678901234567890}),
    ("JSON", "'null'", None),
    ("JSON", "'\"text\"'", "text"),
    ("JSON", "'1e999'", "1e999"),
    ("JSON", "'[1.10, 1e2]'", [1.1, 100.0]),
    ("JSON", "'{\"a\": 12345678901234567890.123}'", '{"a": 12345678901234567890.123}'),
    ("JSON", "'[12345678901234567891e1]'", "[12345678901234567891e1]"),
    ("UUID", "'123e4567-e89b-12d3-a456-426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
    ("INET6", "'::1'", "::1"),
    ("POINT", "POINT(1,2)", "AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA=="),
    ("INT", "NULL", None),
    ("BLOB", "NULL", None),
    ("BIT(8)", "NULL", None),
]


@pytest.fixture
def bench(mariadb: MariaDb) -> Bench:
    return mariadb.bench()


@pytest.mark.contract("C101", "C102")
def test_a_row_of_every_type(bench: Bench) -> None:
    bench.outside("CREATE OR REPLACE TABLE types (" + ", ".join(f"c{i} {t[0]}" for i, t in enumerate(TYPES)) + ")")
    # As the administrator sees fit: zero dates and dates of no month.
    bench.outside("SET GLOBAL sql_mode = ''")
    bench.outside("INSERT INTO types VALUES (" + ", ".join(value for _, value, _ in TYPES) + ")")
    bench.outside("SET GLOBAL sql_mode = DEFAULT")
    data = bench.call("SELECT * FROM types")
    assert data["columns"] == [f"c{index}" for index in range(len(TYPES))]
    assert [*zip(TYPES, data["rows"][0], strict=True)] == [(told, told[2]) for told in TYPES]
    assert [type(value) for value in data["rows"][0]] == [type(told[2]) for told in TYPES]
    dump(data)


@pytest.mark.contract("C102")
def test_expressions_have_the_types_that_the_server_gives_them(bench: Bench) -> None:
    data = bench.call(
        "SELECT 1 = 1, 1.0, COUNT(*), SUM(id), AVG(id), NULL, -'1', 1e0, x'41', NOW() > '2000-01-01' FROM tickets"
    )
    assert data["rows"] == [[1, "1.0", "3", "6", "2.0000", None, -1.0, 1.0, "QQ==", 1]]


def test_json_that_functions_make(bench: Bench) -> None:
    sql = "SELECT JSON_OBJECT('a', id, 'b', {}), JSON_ARRAYAGG(title), title FROM tickets WHERE id = 1"
    assert bench.call(sql, "def")["rows"] == [[{"a": 1, "b": "def"}, ["One"], "One"]]
    names = ["def" * 20, "é" * 60, "a"]
    data = bench.call(f"SELECT 'def' AS {names[0]}, 'def' AS {names[1]}, JSON_ARRAY() AS a")
    assert data == {"columns": names, "rows": [["def", "def", []]]}


def test_names_of_columns(bench: Bench) -> None:
    data = bench.call('SELECT 1 AS `é €`, 2 AS `a"b`, 3 AS `a`, 4 AS `A`, 5')
    assert data == {"columns": ["é €", 'a"b', "a", "A", "5"], "rows": [[1, 2, 3, 4, 5]]}
    assert bench.call("SHOW TABLES LIKE 'nothing'")["rows"] == []
    assert bench.call("DESCRIBE tickets")["rows"][0] == ["id", "int(11)", "NO", "PRI", None, ""]
    assert bench.call("EXPLAIN SELECT 1")["columns"][0] == "id"


@pytest.mark.contract("C94")
@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        ("SELECT id FROM tickets WHERE id = {}", ["1"], [[1]]),
        ("SELECT id FROM tickets WHERE id = {}", [1.0], [[1]]),
        ("SELECT id FROM tickets WHERE title = {}", [1], []),
        ("SELECT id FROM tickets ORDER BY id LIMIT {}", ["2"], [[1], [2]]),
        ("SELECT id FROM tickets ORDER BY id LIMIT {} OFFSET {}", [1, 2.0], [[3]]),
        ("SELECT id FROM tickets WHERE {} IS NULL OR status = {} ORDER BY id", [None, None], [[1], [2], [3]]),
        ("SELECT id FROM tickets WHERE {} IS NULL OR status = {}", ["closed", "closed"], [[3]]),
        ("SELECT {}, {}, {}", [True, False, None], [["1", "0", None]]),
        ("SELECT {}, {}", [2**63 - 1, -(2**63)], [["9223372036854775807", "-9223372036854775808"]]),
        ("SELECT {}", [2**64], [["18446744073709551616"]]),
        ("SELECT {}", [10**65 - 1], [["9" * 65]]),
        ("SELECT {}, {}, {}, {}", [0.1, 1e22, 1.5e-7, -0.0], [[0.1, 1e22, 1.5e-7, -0.0]]),
        ("SELECT {}", ["'; DROP TABLE tickets; --"], [["'; DROP TABLE tickets; --"]]),
        ("SELECT {}, {}, {}", ["\\", "a\0b\n", "😀'\""], [["\\", "a\0b\n", "😀'\""]]),
        ("SELECT {}", [""], [[""]]),
        ("SELECT CONCAT({}, '?', {}) -- ? it's\n, '%s %%' # ?", ["a", "b"], [["a?b", "%s %%"]]),
        ("SELECT 1 AS `?`, {} /* ? */ /*! , {} */", [2, 3], [[1, "2", "3"]]),
        ("SELECT DATE_FORMAT({}, '%H:%i:%s')", ["2026-11-30 03:04:05"], [["03:04:05"]]),
        ("SELECT id FROM tickets WHERE id IN ({}, {}) ORDER BY id", [1, "3"], [[1], [3]]),
        ("SELECT id FROM tickets WHERE title LIKE {}", ["T%o"], [[2]]),
        ("SELECT {} + {}", [1, 2], [["3"]]),
        ("SELECT JSON_VALUE({}, '$.a')", ['{"a": 1}'], [["1"]]),
    ],
)
def test_binding_just_works(bench: Bench, sql: str, values: list[Any], rows: list[list[Any]]) -> None:
    assert bench.call(sql, *values)["rows"] == rows


@pytest.mark.contract("C94")
@pytest.mark.parametrize("mode", ["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI", "STRICT_ALL_TABLES", "", "ORACLE"])
def test_binding_in_every_mode_of_the_server(bench: Bench, mode: str) -> None:
    bench.outside(f"SET GLOBAL sql_mode = '{mode}'")
    try:
        assert bench.call("SELECT {}, {}", "\\'\"", 1.5)["rows"] == [["\\'\"", 1.5]]
    finally:
        bench.outside("SET GLOBAL sql_mode = DEFAULT")


def test_text_columns_of_other_collations_and_character_sets(bench: Bench) -> None:
    bench.outside(
        "CREATE OR REPLACE TABLE words (l VARCHAR(9) CHARACTER SET latin1, b VARCHAR(9) COLLATE utf8mb4_bin,"
        " u VARCHAR(9) COLLATE utf8mb4_unicode_ci, d DATE, e ENUM('x', 'y'))"
    )
    bench.outside("INSERT INTO words VALUES ('é', 'É', 'ß', '2026-11-30', 'y')")
    for column, value in {"l": "É", "b": "É", "u": "SS", "d": "2026-11-30", "e": "y"}.items():
        assert len(bench.call(f"SELECT 1 FROM words WHERE {column} = {{}}", value)["rows"]) == 1, column
    assert bench.call("SELECT 1 FROM words WHERE b = {}", "é")["rows"] == []


@pytest.mark.contract("C94")
@pytest.mark.parametrize("value", ["2; drop", "1 or 1", "", "-1", -1, 1.5, True, None, "1.0", " 1"])
@pytest.mark.parametrize(
    ("sql", "others"), [("LIMIT {}", []), ("LIMIT 1, {}", []), ("LIMIT 1 OFFSET {}", []), ("LIMIT {}, {}", [1])]
)
def test_what_is_no_number_of_rows(bench: Bench, value: Any, sql: str, others: list[Any]) -> None:
    error = bench.refusal(f"SELECT id FROM tickets ORDER BY id {sql}", *others, value)
    assert (error.code, error.message) == ("refused", "an argument for LIMIT or OFFSET must be a whole number of rows")


@pytest.mark.contract("C94")
def test_a_text_of_which_the_server_takes_the_beginning(bench: Bench) -> None:
    error = bench.refusal("SELECT id FROM tickets WHERE id = {}", "1 or 1=1")
    assert error.code == "query_failed"
    assert error.message == (
        "the server took an argument for another value: Truncated incorrect DECIMAL value: '1 or 1=1'"
    )
    long = "1" + "x" * 300
    assert bench.refusal("SELECT id FROM tickets WHERE id = {}", long).code == "query_failed"
    assert bench.call("SELECT id FROM tickets WHERE {} = '' OR id = {}", "", "")["rows"] == [[1], [2], [3]]
    # What stands in the table is as it is.
    assert bench.call("SELECT id FROM tickets WHERE title + 0 = {}", 7)["rows"] == []


def test_a_float_keeps_six_digits_and_a_cast_to_double_all_of_them(bench: Bench) -> None:
    bench.outside("CREATE OR REPLACE TABLE floats (f FLOAT)")
    bench.outside("INSERT INTO floats VALUES (16777215)")
    assert bench.call("SELECT f, CAST(f AS DOUBLE) FROM floats")["rows"] == [[16777200.0, 16777215.0]]


def test_an_integer_that_no_type_holds_is_refused(bench: Bench) -> None:
    assert bench.refusal("SELECT {}", 10**65).code == "refused"


@pytest.mark.contract("C103")
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT nosuchcolumn FROM tickets", "Unknown column 'nosuchcolumn' in 'SELECT'"),
        ("SELECT * FROM app.nosuchtable", "Table 'nosuchtable' doesn't exist"),
        ("SELECT NOSUCH(1)", "FUNCTION NOSUCH does not exist"),
    ],
)
def test_messages_of_the_server(bench: Bench, sql: str, message: str) -> None:
    error = bench.refusal(sql)
    assert (error.code, error.message.lower()) == ("query_failed", message.lower())


@pytest.mark.contract("C103")
def test_the_servers_message_does_not_tell_who_calls(bench: Bench, mariadb: MariaDb) -> None:
    mariadb.outside("CREATE OR REPLACE USER 'helm_guest'@'%'")
    mariadb.outside("GRANT SELECT (id) ON app.tickets TO 'helm_guest'@'%'")
    guest = bench._replace(profile=mariadb.profile(user="helm_guest"), secret=None)
    assert guest.call("SELECT COUNT(id) FROM tickets")["rows"] == [["3"]]
    error = guest.refusal("SELECT * FROM mysql.user")
    assert error.message == "SELECT command denied to the profile's user for table `mysql`.`user`"


@pytest.mark.contract("C103")
def test_the_servers_message_does_not_tell_the_profile(bench: Bench, mariadb: MariaDb) -> None:
    mariadb.outside("CREATE OR REPLACE TABLE floats (f FLOAT)")
    mariadb.outside("CREATE OR REPLACE USER `o'br`@'%'")
    mariadb.outside("GRANT SELECT ON app.floats TO `o'br`@'%'")
    guest = bench._replace(profile=mariadb.profile(user="o'br"), secret=None)
    for sql, message in {
        "SELECT * FROM tickets": "SELECT command denied to the profile's user for table `tickets`",
        "SHOW CREATE TABLE tickets": "SHOW command denied to the profile's user for table `tickets`",
        "SELECT * FROM floats.x": "SELECT command denied to the profile's user for table `floats`.`x`",
        "SHOW TABLES FROM nosuch": "Access denied for the profile's user to database 'nosuch'",
    }.items():
        assert guest.refusal(sql).message == message
    dropped = guest.refusal("DROP DATABASE app", effect="write")
    assert dropped.message == "Access denied for the profile's user to the profile's database"


@pytest.mark.contract("C103")
def test_a_long_message_is_cut(bench: Bench) -> None:
    with mysql8(Mysql8(sign_in=(OK,), answers={"SELECT": (error(1064, "é" * 9000),)})) as server:
        profile = Database("local-app", "mysql", host="127.0.0.1", port=server.port, user="helm_tester")
        with pytest.raises(HelmError) as caught:
            mysql.run(plan_of("SELECT 1", engine="mysql"), profile, "x", Limits())
    assert caught.value.message == "é" * 2048 + " … (the message is longer)"
