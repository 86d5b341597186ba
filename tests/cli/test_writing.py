"""A write from the caller to the file: shown, confirmed or not, here or in another terminal, and sent once."""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from tests.example import ready
from tests.program import Helm, begun
from tests.rig import forked
from tests.rig.terminal import CTRL_C, DOWN, ENTER, ESC, Terminal, at_terminal, uncounted

HELM = (sys.executable, "-m", "helm_cli")
CLOSE = ("call", "app", "close", "--arg", "id=1")
TITLE = "Confirm database write"
# Longer than the pause that the dialog wants between Down and Enter.
YES = (DOWN, 0.3, ENTER)


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    file = ready(helm, workspace)
    monkeypatch.chdir(workspace)
    return file


def terminal(*words: str, stdin: bytes | None = None) -> AbstractContextManager[Terminal]:
    # Wide enough for the path of a test's folder.
    return at_terminal(*HELM, *words, stdin="terminal" if stdin is None else stdin, size=(200, 24))


def statuses(file: Path) -> dict[int, str]:
    with closing(sqlite3.connect(file)) as db:
        return dict(db.execute("SELECT id, status FROM tickets WHERE id IN (1, 3)").fetchall())


def waits(helm: Helm) -> str:
    """The id of the one write that waits, as soon as there is one."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        listed = helm("confirm", "--list", "-o", "json").json
        if listed:
            assert len(listed) == 1
            return str(listed[0]["id"])
        time.sleep(0.05)
    raise AssertionError("nothing waits")


@pytest.mark.contract("C46", "C105", "C111")
def test_down_and_enter_run_what_was_shown(app: Path) -> None:
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        shown = [uncounted(line.rstrip()) for line in screen.screen() if line.strip()]
        assert shown == [
            TITLE,
            "  extension   tickets",
            f"  workspace   {app.parent}",
            "  connection  app",
            "  profile     db/local-app",
            "  query       close",
            "  engine      sqlite",
            "  sql         UPDATE tickets SET status = 'closed' WHERE id = ?",
            "  params",
            "    id = 1",
            "> Cancel",
            "  Run",
            "Down, then Enter: Run. Any other key cancels.",
        ]
        screen.send(*YES)
        assert screen.status() == 0
        assert any("rowsAffected" in line and "1" in line for line in screen.screen())
    assert statuses(app) == {1: "closed", 3: "open"}


@pytest.mark.contract("C111", "C112")
@pytest.mark.parametrize("keys", [(ENTER,), (ESC,), (CTRL_C,), (b"y", ENTER), (b"\n",), (DOWN + ENTER,)])
def test_everything_else_changes_nothing(app: Path, keys: tuple[bytes, ...]) -> None:
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(*keys)
        assert screen.status() == 6
        screen.wait_for("nothing was sent")
    assert statuses(app) == {1: "open", 3: "open"}


@pytest.mark.contract("C111")
def test_keys_that_come_too_fast_send_nothing_and_are_called_that(app: Path, helm: Helm) -> None:
    told = "Enter came too soon after Down to be a decision, so nothing was sent"
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN + ENTER)
        assert screen.status() == 6
        screen.wait_for(told)
        assert "the person declined" not in "\n".join(screen.screen())
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    with terminal("confirm", id_) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN + ENTER)
        assert screen.status() == 6
        screen.wait_for(told)
    assert statuses(app) == {1: "open", 3: "open"}
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    with terminal("confirm", id_) as screen:
        screen.wait_for("Any other key cancels")
        shown = "\n".join(screen.screen())
        assert f"  asked by    process {forked.parent()} in " in shown and f"  workspace   {app.parent}\n" in shown
        screen.send(*YES)
        assert screen.status() == 0
    assert statuses(app) == {1: "closed", 3: "open"}


@pytest.mark.contract("C111", "C113")
def test_a_pipe_full_of_yes_cannot_confirm(app: Path) -> None:
    with terminal(*CLOSE, stdin=b"y\n" * 20_000) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(0.5, ENTER)
        assert screen.status() == 6
    assert statuses(app) == {1: "open", 3: "open"}


@pytest.mark.contract("C112")
def test_two_writes_ask_twice(app: Path, helm: Helm, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(
        '{"connection":"app","operation":"close","args":{"id":1},"id":"a"}\n'
        '{"connection":"app","operation":"close","args":{"id":3},"id":"b"}\n'
    )
    with terminal("call", "--batch", str(batch)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(*YES)
        screen.wait_for('"id":"a"')
        screen.wait_for("Any other key cancels", times=1)
        screen.wait_for("id = 3")
        screen.send(0.5, ENTER)
        assert screen.status() == 6
    assert statuses(app) == {1: "closed", 3: "open"}


@pytest.mark.contract("C109", "C112")
def test_a_waiting_call_gets_the_result_of_what_another_terminal_confirmed(app: Path, helm: Helm) -> None:
    with begun(*CLOSE, "--wait") as call:
        id_ = waits(helm)
        with terminal("confirm", id_) as screen:
            screen.wait_for("Any other key cancels")
            screen.send(*YES)
            assert screen.status() == 0
        out, err = call.communicate(timeout=20)
    assert (call.returncode, out) == (0, '{"ok":true,"data":{"rowsAffected":1},"error":null}\n')
    assert err == f"helm: waiting for a person to run helm confirm {id_} in a terminal\n"
    assert statuses(app)[1] == "closed"
    with terminal("confirm", id_) as screen:
        assert screen.status() == 7
        screen.wait_for("was used already")
    outcomes = [(entry["operation"], entry["outcome"]) for entry in helm("history", "-o", "json").json]
    assert outcomes == [("close", "ok")]


def test_declining_elsewhere_uses_the_token_up(app: Path, helm: Helm) -> None:
    with begun(*CLOSE, "--wait") as call:
        with terminal("confirm", waits(helm)) as screen:
            screen.wait_for("Any other key cancels")
            screen.send(ENTER)
            assert screen.status() == 6
        out, _ = call.communicate(timeout=20)
    assert call.returncode == 6
    assert '"code":"declined"' in out
    assert helm("confirm", "--list", "-o", "json").json == []
    assert statuses(app)[1] == "open"


@pytest.mark.contract("C110")
def test_a_pending_write_dies_with_the_approval_it_was_asked_under(app: Path, helm: Helm) -> None:
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    manifest = Path("tickets/manifest.json")
    manifest.write_text(manifest.read_text().replace("'closed' WHERE", "'gone' WHERE"))
    with terminal("confirm", id_) as screen:
        assert screen.status() == 3
        screen.wait_for("changed since it was approved")
    # What can never be confirmed waits no longer.
    assert helm("confirm", "--list", "-o", "json").json == []
    with terminal("confirm", id_) as screen:
        assert screen.status() == 7
        screen.wait_for(f"{id_} was used already")
    assert statuses(app)[1] == "open"


@pytest.mark.contract("C110")
def test_a_pending_write_is_not_that_of_another_approval(app: Path, helm: Helm) -> None:
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    manifest = Path("tickets/manifest.json")
    manifest.write_text(manifest.read_text().replace("'closed' WHERE", "'gone' WHERE"))
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest).status == 0
    with terminal("confirm", id_) as screen:
        assert screen.status() == 7
        screen.wait_for("what would be sent now is not what was asked for: its profile or its extension changed")
        # Nobody is asked to read what cannot be confirmed.
        assert b"Any other key cancels" not in screen.raw
    assert helm("confirm", "--list", "-o", "json").json == []
    assert statuses(app)[1] == "open"


@pytest.mark.parametrize("when", ["before", "during"])
def test_who_waits_for_what_became_impossible_is_told_so(app: Path, helm: Helm, when: str) -> None:
    with begun(*CLOSE, "--wait") as call:
        id_ = waits(helm)
        if when == "before":
            assert helm("plugin", "disable", "tickets").status == 0
        with terminal("confirm", id_) as screen:
            if when == "during":
                screen.wait_for("Any other key cancels")
                assert helm("plugin", "disable", "tickets").status == 0
                screen.send(*YES)
            assert screen.status() == 3
        out, _ = call.communicate(timeout=20)
    assert (call.returncode, json.loads(out)["error"]["code"]) == (3, "refused")
    assert helm("confirm", "--list", "-o", "json").json == []
    assert [entry["outcome"] for entry in helm("history", "-o", "json").json] == ["refused"]
    assert statuses(app)[1] == "open"


def test_declining_needs_no_person_because_it_sends_nothing(app: Path, helm: Helm) -> None:
    with begun(*CLOSE, "--wait") as call:
        id_ = waits(helm)
        ended = helm("confirm", id_, "--decline")
        assert (ended.status, ended.out, ended.err) == (0, "", f"helm: {id_} was declined; nothing was sent\n")
        call.communicate(timeout=20)
    assert call.returncode == 6
    assert helm("confirm", id_, "--decline").status == 7
    assert [entry["outcome"] for entry in helm("history", "-o", "json").json] == ["declined"]
    assert statuses(app)[1] == "open"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("k3v7q2ab", "--list"), "--list lists everything that waits; give no ID"),
        (("--decline",), "--decline needs the ID of what to decline; see helm confirm --list"),
        (("--decline", "--list"), "--decline needs the ID of what to decline; see helm confirm --list"),
    ],
)
def test_what_confirm_cannot_do_at_once(helm: Helm, words: tuple[str, ...], told: str) -> None:
    ended = helm("confirm", *words)
    assert (ended.status, ended.out, ended.err) == (2, "", f"helm: {told}\n")


def test_two_terminals_confirming_one_write_send_it_once(app: Path, helm: Helm) -> None:
    with closing(sqlite3.connect(app)) as db, db:
        db.execute("CREATE TABLE sent (at TEXT)")
        db.execute("CREATE TRIGGER once AFTER UPDATE ON tickets BEGIN INSERT INTO sent VALUES ('now'); END")
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    with terminal("confirm", id_) as one, terminal("confirm", id_) as two:
        for screen in (one, two):
            screen.wait_for("Any other key cancels")
        for screen in (one, two):
            screen.send(DOWN)
        time.sleep(0.3)
        for screen in (one, two):
            screen.send(ENTER)
        assert sorted((one.status(), two.status())) == [0, 7]
    with closing(sqlite3.connect(app)) as db:
        assert db.execute("SELECT count(*) FROM sent").fetchone() == (1,)


def test_a_killed_dialog_leaves_nothing_sent_and_the_call_can_be_made_again(app: Path, helm: Helm) -> None:
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN)
        os.kill(screen.process.pid, signal.SIGKILL)
        assert screen.status() == -signal.SIGKILL
    assert statuses(app)[1] == "open"
    assert helm("confirm", "--list", "-o", "json").json == []
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(*YES)
        assert screen.status() == 0


def test_a_person_s_answer_ends_pinning_without_one(app: Path, helm: Helm) -> None:
    with terminal(*CLOSE) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(ENTER)
        assert screen.status() == 6
    manifest = Path("tickets/manifest.json")
    manifest.write_text(manifest.read_text().replace("Tickets", "Tasks"))
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    ended = helm("plugin", "review", "tickets", "--approve", digest, "-o", "json")
    assert ended.status == 7
    assert waits(helm) in ended.err


@pytest.mark.contract("C120")
def test_data_on_a_terminal_is_shown_and_not_obeyed(app: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred\u202e\u200b\x9b2J"
    with closing(sqlite3.connect(app)) as db, db:
        db.execute("UPDATE tickets SET title = ? WHERE id = 199", (evil,))
    for output in ("auto", "json", "pretty", "data", "table", "csv", "tsv", "ndjson"):
        with terminal("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1", "-o", output) as screen:
            assert screen.status() == 0
            text = screen.raw.decode()
        for hostile in ("\x1b]0;", "\x07", "\x1b[31mred", "\u202e", "\u200b", "\x9b"):
            assert hostile not in text, output
        assert "red" in text


def test_a_dry_run_tells_a_person_where_it_would_go(app: Path) -> None:
    with at_terminal(*HELM, *CLOSE, "--dry-run", size=(200, 30)) as screen:
        assert screen.status() == 0
        assert any(line.split() == ["database", str(app)] for line in screen.screen())
    with at_terminal(*HELM, *CLOSE, "--dry-run", size=(200, 30), env={"HELM_CLI_NO_INPUT": "1"}) as screen:
        assert screen.status() == 0
        assert not any("app.db" in line for line in screen.screen())
    assert statuses(app)[1] == "open"


def test_a_call_that_stops_waiting_takes_its_write_back(app: Path, helm: Helm) -> None:
    with begun(*CLOSE, "--wait") as call:
        id_ = waits(helm)
        call.send_signal(signal.SIGINT)
        call.communicate(timeout=20)
    assert call.returncode == 130
    assert helm("confirm", "--list", "-o", "json").json == []
    with terminal("confirm", id_) as screen:
        assert screen.status() == 7
        screen.wait_for("was declined already")
    assert statuses(app)[1] == "open"


def test_of_two_terminals_the_slower_one_is_told_the_truth(app: Path, helm: Helm) -> None:
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    with terminal("confirm", id_) as yes, terminal("confirm", id_) as no:
        for screen in (yes, no):
            screen.wait_for("Any other key cancels")
        yes.send(*YES)
        assert yes.status() == 0
        no.send(ESC)
        assert no.status() == 7
        no.wait_for(f"{id_} was used already")
    assert [entry["outcome"] for entry in helm("history", "-o", "json").json] == ["ok"]
    assert statuses(app)[1] == "closed"


def test_a_write_that_nobody_could_read_does_not_wait(app: Path, helm: Helm) -> None:
    manifest = Path("tickets/manifest.json")
    padding = "/* " + "x" * 1_100_000 + " */"
    manifest.write_text(manifest.read_text().replace("UPDATE tickets", f"UPDATE {padding} tickets"))
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest).status == 0
    ended = helm(*CLOSE)
    assert (ended.status, ended.json["error"]["code"]) == (3, "refused")
    assert "over 1 MiB" in ended.err
    assert helm("confirm", "--list", "-o", "json").json == []
