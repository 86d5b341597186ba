"""`helm db tables`, `query` and `shell` on each engine: what they print, and that a query never writes."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.example import database
from tests.program import Helm
from tests.rig import mariadb as rig
from tests.rig import postgres as postgres_rig
from tests.rig.mariadb import MariaDb
from tests.rig.postgres import Postgres
from tests.rig.terminal import CTRL_D, DOWN, ENTER, Place, Terminal, at_terminal

FILE = {"HELM_CLI_CREDENTIALS": "file"}
CREATE = "CREATE TABLE tickets (id INT PRIMARY KEY, title VARCHAR(200) NOT NULL, status VARCHAR(20) DEFAULT 'open')"
INSERT = "INSERT INTO tickets VALUES (1, 'One', 'open'), (2, 'Two', 'closed')"


class Engine(NamedTuple):
    """A database that the profile `app` leads to; `outside` runs a statement past helm."""

    name: str
    outside: Callable[[str], list[tuple[Any, ...]]]
    placeholder: str


@pytest.fixture(params=["sqlite", "postgres", "mysql"])
def engine(request: pytest.FixtureRequest, helm: Helm, tmp_path: Path) -> Engine:
    made: Engine = {"sqlite": _sqlite, "postgres": _postgres, "mysql": _mysql}[request.param](request, helm, tmp_path)
    return made


def _sqlite(request: pytest.FixtureRequest, helm: Helm, tmp_path: Path) -> Engine:
    file = tmp_path / "app.db"

    def outside(sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            return db.execute(sql).fetchall()

    outside(CREATE)
    outside(INSERT)
    assert helm("db", "add", "app", "--engine", "sqlite", "--path", str(file)).status == 0
    return Engine("sqlite", outside, "?")


def _postgres(request: pytest.FixtureRequest, helm: Helm, tmp_path: Path) -> Engine:
    server: Postgres = request.getfixturevalue("postgres")
    server.fresh(CREATE, INSERT, "ANALYZE tickets")
    words = ("--host", "127.0.0.1", "--port", str(server.port), "--database", "zq_main", "--user", postgres_rig.OWNER)
    _add(helm, "postgres", postgres_rig.PASSWORD, *words)
    return Engine("postgres", server.outside, "$1")


def _mysql(request: pytest.FixtureRequest, helm: Helm, tmp_path: Path) -> Engine:
    server: MariaDb = request.getfixturevalue("mariadb")
    for (name,) in server.outside("SELECT table_name FROM information_schema.tables WHERE table_schema = 'app'"):
        server.outside(f"DROP TABLE `{name}`")
    for statement in (CREATE, INSERT, "ANALYZE TABLE tickets"):
        server.outside(statement)
    _add(helm, "mysql", rig.PASSWORD, "--socket", server.socket, "--database", "app", "--user", rig.USER)
    return Engine("mysql", server.outside, "?")


def _add(helm: Helm, engine: str, password: str, *words: str) -> None:
    ended = helm("db", "add", "app", "--engine", engine, *words, "--password-stdin", stdin=password, env=FILE)
    assert ended.status == 0, ended


def at(*words: str, stdout: Place = "pipe", env: dict[str, str] | None = None) -> AbstractContextManager[Terminal]:
    """A command with a person at the terminal, who may be told things there; what it prints goes to a pipe."""
    command = (sys.executable, "-m", "helm_cli", "db", *words)
    return at_terminal(*command, stdout=stdout, env={**FILE, **(env or {})}, size=(100, 70))


def ran(*words: str) -> str:
    """What a command printed that ended well."""
    with at(*words) as terminal:
        assert terminal.status() == 0, terminal.screen()
        return terminal.out.decode()


def told(*words: str, status: int) -> str:
    """What a command that failed told the person."""
    with at(*words) as terminal:
        assert terminal.status() == status, terminal.screen()
        return "".join(terminal.screen())


# The default of the column status, as the last word of its line: no key stands after it.
DEFAULTS = {"sqlite": "'open'", "postgres": "varying", "mysql": "'open'"}


def test_the_tables_are_listed(engine: Engine) -> None:
    schema = {"sqlite": "main", "postgres": "public", "mysql": "app"}[engine.name]
    rows = None if engine.name == "sqlite" else 2
    assert json.loads(ran("tables", "app", "-o", "json")) == [
        {"schema": schema, "name": "tickets", "type": "table", "columns": 3, "rows": rows}
    ]
    assert ran("tables", "app") == f"{schema}\ttickets\ttable\t3\t{rows or ''}\n"
    head, row = "schema,name,type,columns,rows\r\n", f"{schema},tickets,table,3,{rows or ''}\r\n"
    assert ran("tables", "app", "-o", "csv") == head + row


def test_a_query_binds_its_values_by_place(engine: Engine) -> None:
    sql = f"SELECT id, title FROM tickets WHERE status = {engine.placeholder} ORDER BY id"
    assert json.loads(ran("query", "app", sql, "--arg", "open"))["data"] == {
        "columns": ["id", "title"],
        "rows": [[1, "One"]],
    }
    assert ran("query", "app", sql, "--arg", "closed", "-o", "csv") == "id,title\r\n2,Two\r\n"
    assert json.loads(ran("query", "app", sql, "--arg", "'; DROP TABLE tickets; --"))["data"]["rows"] == []
    assert engine.outside("SELECT count(*) FROM tickets") == [(2,)]


@pytest.mark.contract("C103")
@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT * FROM gone", 14),
        ("DELETE FROM tickets", 3),
        ("SELECT 1; DELETE FROM tickets", 3),
        ("COMMIT", 3),
    ],
)
def test_a_query_that_fails_or_writes_changes_nothing(engine: Engine, sql: str, status: int) -> None:
    words = ("query", "app", sql)
    with at(*words) as terminal:
        ended = terminal.status()
        # What a server says of two statements is its own syntax error.
        assert ended == status or (engine.name != "sqlite" and ended in (3, 14)), terminal.screen()
        assert terminal.screen()[0].startswith("helm: ")
        assert json.loads(terminal.out)["ok"] is False
        assert b"127.0.0.1" not in terminal.raw + terminal.out
    assert engine.outside("SELECT count(*) FROM tickets") == [(2,)]


@pytest.mark.contract("C106")
def test_the_shell_reads_describes_and_writes(engine: Engine) -> None:
    with at("shell", "app", stdout="terminal") as terminal:
        terminal.wait_for("app>")
        for line, answer, prompts in (
            (b"\\d tickets", "3 rows", 2),
            (b"SELECT id FROM tic\t WHERE sta\t= 'open';", "1 row", 3),
            (b"UPDATE tickets SET status = 'closed';", r"helm: writes are off; \w turns them on", 4),
        ):
            terminal.send(line, ENTER)
            terminal.wait_for(answer)
            terminal.wait_for("app>", prompts)
        primary = [line.split() for line in terminal.screen() if line.startswith(("id ", "title ", "status "))]
        assert [(line[0], *(word for word in line if word in ("yes", "no")), line[-1]) for line in primary] == [
            ("id", "no", "primary"),
            ("title", "no", "no"),
            ("status", "yes", DEFAULTS[engine.name]),
        ]
        terminal.send(b"\\w", ENTER)
        terminal.wait_for("Any other key cancels")
        terminal.send(DOWN, 0.3, ENTER)
        terminal.wait_for("app (writes on)>")
        terminal.send(b"UPDATE tickets SET status = 'closed';", ENTER)
        terminal.wait_for("Run. Any other key cancels")
        assert "  profile     db/app" in terminal.screen()
        terminal.send(DOWN, 0.3, ENTER)
        terminal.wait_for("rowsAffected  2")
        terminal.wait_for("app (writes on)>", 2)
        terminal.send(CTRL_D)
        assert terminal.status() == 0
    assert engine.outside("SELECT status FROM tickets ORDER BY id") == [("closed",), ("closed",)]


def test_people_see_a_table_and_a_terminal_gets_text_also_outside_of_any_workspace(
    helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database(tmp_path / "app.db")
    helm("db", "add", "app", "--engine", "sqlite", "--path", str(tmp_path / "app.db"))
    monkeypatch.chdir("/")
    with at("query", "app", "SELECT 1 AS one, char(27) || '[2J' AS esc", stdout="terminal") as terminal:
        assert terminal.status() == 0
        assert terminal.screen() == ["one   esc", "───────────────", r"  1   \u{1b}[2J", "1 row"]


@pytest.mark.parametrize(
    ("words", "code"), [(("query", "app", "SELECT 1"), 7), (("tables", "app"), 7), (("shell", "app"), 7)]
)
def test_without_a_person_nothing_is_opened(helm: Helm, tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    helm("db", "add", "app", "--engine", "sqlite", "--path", str(tmp_path / "app.db"))
    os.mkfifo(tmp_path / "app.db")
    ended = helm("db", *words)
    assert (ended.status, ended.err) == (
        code,
        "helm: the database explorer needs a person at the terminal; run it in one\n",
    )
    with at(*words, env={"HELM_CLI_NO_INPUT": "1"}) as terminal:
        assert terminal.status() == code


def test_wrong_words_are_told_before_anything_is_asked(helm: Helm) -> None:
    for words, message in (
        (("tables", "app", "-o", "xml"), "-o takes auto, json, table, csv, tsv or ndjson"),
        (("query", "app", "SELECT 1", "-o", "xml"), "-o takes auto, json, pretty, data"),
        (("query", "app", "SELECT 1", "-o", "text"), "this result cannot be shown as text"),
    ):
        ended = helm("db", *words)
        assert (ended.status, message in ended.err) == (2, True), ended


def test_no_extension_reaches_the_explorer(helm: Helm, tmp_path: Path) -> None:
    for operation in ("shell", "query", "tables"):
        ended = helm("call", "explorer", operation, "--arg", "sql=SELECT 1", cwd=tmp_path)
        assert (ended.status, ended.json["error"]["code"]) == (3, "refused")


def test_a_profile_that_is_missing_or_does_not_answer(helm: Helm, tmp_path: Path) -> None:
    assert "there is no database profile nobody" in told("query", "nobody", "SELECT 1", status=4)
    helm("db", "add", "app", "--engine", "sqlite", "--path", str(tmp_path / "app.db"))
    assert "does not exist" in told("tables", "app", status=10)
