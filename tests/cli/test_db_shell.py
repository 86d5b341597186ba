"""`helm db shell` at a terminal: typed statements, the write toggle, and what a terminal must never be sent."""

import json
import os
import re
import signal
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from helm_cli.model.profile import Database
from helm_cli.store import profiles
from tests.example import database
from tests.program import Helm
from tests.rig.terminal import CTRL_C, CTRL_D, DOWN, ENTER, ESC, Place, Terminal, at_terminal

YES = (DOWN, 0.3, ENTER)
DELETE = "DELETE FROM tickets WHERE id = 1;"


@pytest.fixture
def app(home: Path, tmp_path: Path) -> Path:
    file = tmp_path / "app.db"
    database(file)
    assert profiles.create(home, Database("app", "sqlite", path=str(file)))
    return file


@contextmanager
def shell(
    *, stdin: Place | bytes = "terminal", stdout: Place = "terminal", size: tuple[int, int] = (100, 30)
) -> Iterator[Terminal]:
    """A shell that is ready for its first line."""
    with at_terminal(
        sys.executable, "-m", "helm_cli", "db", "shell", "app", stdin=stdin, stdout=stdout, size=size
    ) as terminal:
        terminal.wait_for("app>")
        yield terminal


def at_prompt(terminal: Terminal) -> None:
    """Wait until the shell takes keys: what is typed before, the terminal itself may act on."""
    until = time.monotonic() + 20
    while not re.fullmatch(r"app( \(writes on\))?>|[.]{4}", (terminal.screen() or [""])[-1]):
        assert time.monotonic() < until, terminal.screen()
        time.sleep(0.01)


def type_(terminal: Terminal, text: str, answer: str, times: int = 1) -> None:
    """Type a line and wait for what it brings to the screen."""
    at_prompt(terminal)
    terminal.send(text.encode(), ENTER)
    terminal.wait_for(answer, times)


def leave(terminal: Terminal) -> None:
    at_prompt(terminal)
    terminal.send(CTRL_D)
    assert terminal.status() == 0


def turn_on(terminal: Terminal, times: int = 1) -> None:
    type_(terminal, "\\w", "Turn on. Any other key cancels", times)
    terminal.send(*YES)
    terminal.wait_for("helm: writes to app are on", times)


def confirm(terminal: Terminal, sql: str, answer: tuple[bytes | float, ...], told: str) -> None:
    type_(terminal, sql, "Run. Any other key cancels")
    terminal.send(*answer)
    terminal.wait_for(told)


def ids(file: Path) -> set[int]:
    with closing(sqlite3.connect(file)) as db:
        return {number for (number,) in db.execute("SELECT id FROM tickets WHERE id < 4")}


def test_statements_and_meta_commands(app: Path) -> None:
    with shell() as terminal:
        type_(terminal, "SELECT id,", "....")
        type_(terminal, " title FROM tickets LIMIT 2;", "2 rows")
        type_(terminal, "\\o csv", "results are shown as csv")
        type_(terminal, "SELECT 7 AS a, NULL AS b; SELECT 'x;y' AS c;", "x;y", 2)
        type_(terminal, "\\o auto", "results are shown as auto")
        type_(terminal, "\\d", "1 row")
        type_(terminal, "\\d tickets", "3 rows")
        terminal.wait_for("app>", 7)
        assert terminal.screen() == [
            r"helm: app is sqlite, read-only; \? for help, \q to leave",
            "app> SELECT id,",
            "....  title FROM tickets LIMIT 2;",
            "id   title",
            "─────────────",
            " 1   Ticket 1",
            " 2   Ticket 2",
            "2 rows",
            "app> \\o csv",
            "helm: results are shown as csv",
            "app> SELECT 7 AS a, NULL AS b; SELECT 'x;y' AS c;",
            "a,b",
            "7,",
            "c",
            "x;y",
            "app> \\o auto",
            "helm: results are shown as auto",
            "app> \\d",
            "schema   name      type    columns   rows",
            "─────────────────────────────────────────",
            "main     tickets   table         3   null",
            "1 row",
            "app> \\d tickets",
            "column   type      nullable   default   key",
            "───────────────────────────────────────────────",
            "id       INTEGER   no                   primary",
            "title    TEXT      no",
            "status   TEXT      no",
            "3 rows",
            "app>",
        ]
        leave(terminal)


def test_failures_are_one_line_and_the_shell_goes_on(app: Path) -> None:
    with shell() as terminal:
        type_(terminal, "SELECT nope;", "helm: no such column: nope")
        type_(terminal, "SELEC 1; SELECT 'not' || ' run';", 'helm: near "SELEC": syntax error')
        type_(terminal, DELETE, r"helm: writes are off; \w turns them on")
        type_(terminal, "\\d gone", r"helm: there is no table gone; \d lists them")
        type_(terminal, "\\x", r"helm: there is no \x; \? shows what there is")
        type_(terminal, "\\o xml", "helm: there is no such format")
        type_(terminal, "", "app>", 7)
        type_(terminal, "\\?", "Each statement has a connection and a transaction of its own.")
        at_prompt(terminal)
        terminal.send(b"\\q", ENTER)
        assert terminal.status() == 0
        assert b"not run" not in terminal.raw
    assert ids(app) == {1, 2, 3}


def test_who_comes_from_elsewhere_finds_the_way(app: Path) -> None:
    with shell() as terminal:
        type_(terminal, "\\dt", "main     tickets   table")
        type_(terminal, "\\l", "helm: app is one database; helm db list shows the others")
        type_(terminal, "HELP;", "Each statement has a connection and a transaction of its own.")
        at_prompt(terminal)
        terminal.send(b"exit", ENTER)
        assert terminal.status() == 0
    for leaving in ((b"quit;", ENTER), (b"SELECT 'an open", ENTER, 0.1, b"\\q", ENTER)):
        with shell() as terminal:
            terminal.send(*leaving)
            assert terminal.status() == 0
            assert b"error" not in terminal.raw


def test_a_slip_does_not_lead_to_turning_writes_on(app: Path) -> None:
    with shell() as terminal:
        for slip, word in (
            ("SELCT 1;", "SELCT"),
            ("updte tickets SET id = 1;", "updte"),
            ("UPDATE tickets WHERE;", "WHERE"),
        ):
            type_(terminal, slip, f'helm: near "{word}": syntax error')
        type_(terminal, DELETE, r"helm: writes are off; \w turns them on")
        assert terminal.raw.count(b"writes are off") == 1
        leave(terminal)


def test_tab_completes_tables_columns_and_keywords(app: Path) -> None:
    with shell() as terminal:
        terminal.send(b"SELECT count(*) FRO\t", 0.1, b" tick\t", 0.1, b" WHERE sta\t", 0.1)
        terminal.send(b"= 'open';", ENTER)
        terminal.wait_for("100")
        terminal.wait_for("app> SELECT count(*) FROM tickets WHERE status= 'open';")
        leave(terminal)


@pytest.mark.contract("C120")
def test_data_cannot_act_on_the_terminal(app: Path) -> None:
    with closing(sqlite3.connect(app)) as db, db:
        db.execute("UPDATE tickets SET title = ? WHERE id = 1", ("\x1b]0;owned\x07\x1b[2J\u202egone",))
        db.execute('CREATE TABLE "\x1b[31mred" ("\x1b[32mgreen" TEXT)')
    with shell() as terminal:
        type_(terminal, "SELECT title FROM tickets WHERE id = 1;", r"\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}gone")
        type_(terminal, "\\d", r"\u{1b}[31mred")
        type_(terminal, 'SELECT "gone" FROM "nope\x16\x1b[31m";', "helm: no such table")
        leave(terminal)
        assert not any(sequence in terminal.raw for sequence in (b"\x1b]0;", b"\x1b[2J", b"\x1b[31m", b"\x1b[32m"))


@pytest.mark.contract("C106")
def test_writes_are_off_until_turned_on_and_each_is_asked_about(app: Path, helm: Helm) -> None:
    with shell(size=(100, 60)) as terminal:
        type_(terminal, "\\w", "Turn on. Any other key cancels")
        terminal.send(ENTER)
        terminal.wait_for("helm: writes to app stay off")
        type_(terminal, DELETE, r"helm: writes are off; \w turns them on")
        leave(terminal)
    with shell(size=(100, 60)) as terminal:
        turn_on(terminal)
        confirm(terminal, DELETE, (ESC,), "helm: declined; nothing was sent")
        assert ids(app) == {1, 2, 3}
        leave(terminal)
    with shell(size=(100, 60)) as terminal:
        turn_on(terminal)
        confirm(terminal, DELETE, YES, "rowsAffected  1")
        screen = terminal.screen()
        assert screen[screen.index("Turn on writes") + 1 :][:6] == [
            "",
            "  profile   db/app",
            "  engine    sqlite",
            r"  until     you leave this shell, the profile changes, or you type \w again",
            "  asked     each statement that writes is still shown and asked about",
            "",
        ]
        assert screen[screen.index("Confirm database write") + 1 :][:8] == [
            "",
            "  extension   (none: you, in the explorer)",
            "  connection  explorer",
            "  profile     db/app",
            "  query       shell",
            "  engine      sqlite",
            "  sql         DELETE FROM tickets WHERE id = 1",
            "  params      []",
        ]
        assert ids(app) == {2, 3}
        leave(terminal)
    outcomes = [row["outcome"] for row in helm("history", "-n", "4", "-o", "json").json]
    assert outcomes == ["ok", "declined", "refused"]


def test_keys_that_come_at_once_are_no_yes(app: Path) -> None:
    with shell(size=(100, 60)) as terminal:
        type_(terminal, "\\w", "Turn on. Any other key cancels")
        terminal.send(DOWN + ENTER)
        terminal.wait_for("Enter came too soon after Down to be a decision, so writes to app stay off")
        type_(terminal, "\\w", "Turn on. Any other key cancels", 2)
        terminal.send(*YES)
        terminal.wait_for("helm: writes to app are on")
        confirm(terminal, DELETE, (DOWN + ENTER,), "too soon after Down to be a decision, so nothing was sent")
        assert ids(app) == {1, 2, 3}
        leave(terminal)


def test_a_write_that_is_interrupted_says_to_look(app: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
        " DELETE FROM tickets WHERE id IN (SELECT i FROM n WHERE i > 1);"
    )
    with shell(size=(100, 60)) as terminal:
        turn_on(terminal)
        confirm(
            terminal, endless, (*YES, 0.5, CTRL_C), "helm: interrupted; it is unknown whether the write was applied"
        )
        leave(terminal)
    assert ids(app) == {1, 2, 3}


def test_a_write_that_a_signal_ends_says_to_look(app: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
        " DELETE FROM tickets WHERE id IN (SELECT i FROM n WHERE i > 1);"
    )
    with shell(size=(100, 60)) as terminal:
        turn_on(terminal)
        type_(terminal, endless, "Run. Any other key cancels")
        terminal.send(*YES, 0.5)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.status() == 128 + signal.SIGTERM
        terminal.wait_for("it is unknown whether the write was applied")
    assert ids(app) == {1, 2, 3}


@pytest.mark.contract("C106")
def test_a_profile_that_came_back_to_where_it_was_turned_writes_off(app: Path, helm: Helm) -> None:
    with shell() as terminal:
        turn_on(terminal)
        for path in ("elsewhere.db", str(app)):
            assert helm("db", "edit", "app", "--path", path).status == 0
        type_(terminal, "SELECT 1;", "the profile app changed: writes are off")
        leave(terminal)


@pytest.mark.contract("C106")
def test_a_new_shell_begins_with_writes_off(app: Path) -> None:
    with shell() as terminal:
        turn_on(terminal)
        leave(terminal)
    with shell() as terminal:
        type_(terminal, DELETE, r"helm: writes are off; \w turns them on")
        leave(terminal)
    assert ids(app) == {1, 2, 3}


@pytest.mark.contract("C106")
def test_the_person_turns_writes_off(app: Path) -> None:
    with shell() as terminal:
        turn_on(terminal)
        type_(terminal, "\\w", "helm: writes to app are off")
        type_(terminal, DELETE, r"helm: writes are off; \w turns them on")
        leave(terminal)
    assert ids(app) == {1, 2, 3}


@pytest.mark.contract("C106")
def test_a_changed_profile_turns_writes_off(app: Path, helm: Helm, tmp_path: Path) -> None:
    """While the shell waits for a line, and while it waits for a yes."""
    database(tmp_path / "other.db")
    with shell(size=(100, 80)) as terminal:
        turn_on(terminal)
        assert helm("db", "edit", "app", "--path", str(tmp_path / "other.db")).status == 0
        type_(terminal, DELETE, "helm: the profile app changed, so writes to it are off; turn them on again")
        terminal.wait_for("helm: the profile app changed: writes are off")
        type_(terminal, "SELECT 'still' || ' reads';", "still reads")
        turn_on(terminal, 2)
        type_(terminal, DELETE, "Run. Any other key cancels")
        assert helm("db", "edit", "app", "--path", str(app)).status == 0
        terminal.send(*YES)
        terminal.wait_for("helm: the profile app changed, so writes to it are off; turn them on again", 2)
        terminal.wait_for("helm: the profile app changed: writes are off", 2)
        leave(terminal)
    assert (ids(app), ids(tmp_path / "other.db")) == ({1, 2, 3}, {1, 2, 3})


def test_a_paste_of_writes_is_asked_about_one_by_one_and_ends_at_a_no(app: Path) -> None:
    """What is pasted after the first statement cannot answer for it."""
    pasted = b"\x1b[200~DELETE FROM tickets WHERE id = 1;\nDELETE FROM tickets WHERE id = 2;\x1b[201~"
    with shell(size=(100, 60)) as terminal:
        turn_on(terminal)
        at_prompt(terminal)
        terminal.send(pasted, 0.2, ENTER)
        terminal.wait_for("Run. Any other key cancels")
        terminal.send(*YES)
        terminal.wait_for("Run. Any other key cancels", 2)
        terminal.send(ESC)
        terminal.wait_for("helm: declined")
        leave(terminal)
    assert ids(app) == {2, 3}


def test_control_c_drops_the_line_and_ends_a_query(app: Path) -> None:
    with shell() as terminal:
        terminal.send(b"DELETE everything", CTRL_C)
        terminal.wait_for("app>", 2)
        type_(terminal, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT sum(i) FROM n;", "sum(i)")
        terminal.send(0.5, CTRL_C)
        terminal.wait_for("helm: interrupted")
        type_(terminal, "SELECT 'still' || ' here';", "still here")
        leave(terminal)


def test_a_long_result_is_paged(app: Path) -> None:
    with shell(size=(80, 20)) as terminal:
        type_(terminal, "SELECT id FROM tickets;", "1-19 of 203 lines   Space: go on   b: back   q: leave")
        terminal.send(b" ")
        terminal.wait_for("20-38 of 203 lines")
        terminal.send(b"j", b"b", b"G")
        terminal.wait_for("185-203 of 203 lines")
        assert terminal.screen()[:19] == [*(f"{number}" for number in range(183, 201)), "200 rows"]
        terminal.send(b"q")
        terminal.wait_for("200 rows")
        type_(terminal, "SELECT 'still' || ' here';", "still here")
        leave(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_with_the_terminal_restored(app: Path, number: signal.Signals) -> None:
    with shell() as terminal:
        terminal.send(b"SELECT")
        terminal.wait_for("SELECT")
        os.kill(terminal.process.pid, number)
        assert terminal.status() == 128 + number
        assert terminal.attributes() == terminal.before
        assert terminal.raw.rfind(b"\x1b[?2004l") > terminal.raw.rfind(b"\x1b[?2004h")


def test_the_history_is_private_and_holds_no_secret(app: Path, home: Path) -> None:
    with shell() as terminal:
        type_(terminal, "SELECT 1 AS one;", "1 row")
        type_(terminal, " SELECT 2 AS hidden;", "1 row", 2)
        type_(terminal, "SELECT 'x' AS password;", "1 row", 3)
        leave(terminal)
    file = home / "shell-history"
    assert [json.loads(line) for line in file.read_text().splitlines()] == ["SELECT 1 AS one;"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with shell() as terminal:
        terminal.send(b"\x1b[A", 0.1, ENTER)
        terminal.wait_for("1 row")
        assert "app> SELECT 1 AS one;" in terminal.screen()
        leave(terminal)


def test_results_go_to_standard_output_and_a_pipe_cannot_type(app: Path) -> None:
    with shell(stdin=b"DELETE FROM tickets;\n\\q\n", stdout="pipe") as terminal:
        terminal.send(b"SELECT id FROM tickets LIMIT 2;", ENTER)
        terminal.wait_for("app>", 2)
        leave(terminal)
        assert terminal.out == b'{"ok":true,"data":{"columns":["id"],"rows":[[1],[2]]},"error":null}\n'
    assert ids(app) == {1, 2, 3}


def test_it_needs_a_person_and_a_database_that_answers(app: Path, helm: Helm) -> None:
    ended = helm("db", "shell", "app", stdin="SELECT 1;\n")
    assert (ended.status, ended.out, ended.err) == (
        7,
        "",
        "helm: the database explorer needs a person at the terminal; run it in one\n",
    )
    app.unlink()
    for name, status in (("app", 10), ("nobody", 4)):
        with at_terminal(sys.executable, "-m", "helm_cli", "db", "shell", name) as terminal:
            assert terminal.status() == status
            assert str(app).encode() not in terminal.raw
