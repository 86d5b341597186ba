"""What waits, chosen from a list or watched for, at a real terminal."""

import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.example import ready, status
from tests.program import Helm
from tests.rig.terminal import CTRL_C, DOWN, ENTER, ESC, Terminal, at_terminal

HELM = (sys.executable, "-m", "helm_cli")
YES = (0.3, DOWN, 0.3, ENTER)
NO = (0.3, ESC)


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = ready(helm, tmp_path)
    monkeypatch.chdir(tmp_path)
    return file


def terminal(*words: str) -> AbstractContextManager[Terminal]:
    return at_terminal(*HELM, *words, stdin="terminal", size=(200, 100))


@pytest.fixture
def watch(app: Path) -> Iterator[Terminal]:
    with terminal("confirm", "--watch") as screen:
        screen.wait_for("watching for what waits for you")
        yield screen
        if screen.process.poll() is None:
            screen.send(CTRL_C)
            assert screen.status() == 130


def test_a_call_on_another_terminal_gets_what_was_decided(
    app: Path, watch: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_NO_INPUT", "1")
    for number, keys, left in ((1, YES, 0), (3, NO, 6)):
        with terminal("call", "app", "close", "--arg", f"id={number}", "--wait", "-o", "json") as asking:
            watch.wait_for(f"id = {number}")
            watch.send(*keys)
            assert asking.status() == left
            told = "\n".join(asking.screen())
            assert ('"rowsAffected":1' in told, '"code":"declined"' in told) == (left == 0, left == 6)
    watch.wait_for("confirmed and sent")
    watch.wait_for("close of tickets: declined; nothing was sent")
    assert (status(app, 1), status(app, 3)) == ("closed", "open")


def test_each_that_comes_is_asked_about_once(app: Path, watch: Terminal, helm: Helm) -> None:
    ids = [helm("call", "app", "close", "--arg", f"id={number}").json["error"]["confirmation"] for number in (1, 3, 5)]
    for number, keys in ((1, YES), (3, NO), (5, YES)):
        watch.wait_for(f"id = {number}")
        watch.send(*keys)
    watch.wait_for("confirmed and sent", times=2)
    assert [status(app, number) for number in (1, 3, 5)] == ["closed", "open", "closed"]
    assert helm("confirm", "--list", "-o", "json").json == []
    for id_ in ids:
        assert helm("confirm", id_).status == 7


def test_an_approval_is_watched_for_too(app: Path, watch: Terminal, helm: Helm) -> None:
    watch.send(0.3)
    assert helm("call", "app", "close", "--arg", "id=1").status == 7
    watch.wait_for("id = 1")
    watch.send(*NO)
    watch.wait_for("of tickets: declined; nothing was sent")
    manifest = app.parent / "tickets" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"1.0.0"', '"1.0.1"'))
    digest = helm("plugin", "review", "tickets", "-o", "json").json["digest"]
    assert helm("plugin", "review", "tickets", "--approve", digest).status == 7
    watch.wait_for("Approve extension tickets")
    watch.send(*YES)
    watch.wait_for(": approved")
    assert helm("plugin", "review", "tickets", "--check").status == 0


def test_the_question_counts_down(app: Path) -> None:
    with terminal("call", "app", "close", "--arg", "id=1") as screen:
        screen.wait_for("4:58 left.")
        screen.wait_for("4:57 left.")
        screen.send(*NO)
        assert screen.status() == 6


def test_without_an_id_the_person_chooses(app: Path, helm: Helm) -> None:
    for number in (1, 3):
        helm("call", "app", "close", "--arg", f"id={number}")
    with terminal("confirm") as screen:
        screen.wait_for("Which one do you want to look at?")
        screen.send(0.3, DOWN, ENTER)
        screen.wait_for("id = 3")
        screen.send(*YES)
        assert screen.status() == 0
    assert (status(app, 1), status(app, 3)) == ("open", "closed")
    with terminal("confirm") as screen:
        screen.wait_for("none of them")
        screen.send(0.3, DOWN, ENTER)
        assert screen.status() == 0
    assert status(app, 1) == "open"


def test_without_a_terminal_nothing_is_watched_for(app: Path, helm: Helm) -> None:
    finished = helm("confirm", "--watch")
    told = "helm: watching needs a person at the terminal; run it in one\n"
    assert (finished.status, finished.out, finished.err) == (7, "", told)
    told = "--watch asks about everything that comes; give no ID, no --list, no --decline and no --output"
    for more in (("--list",), ("-o", "csv"), ("k3v7q2ab",)):
        both = helm("confirm", "--watch", *more)
        assert (both.status, both.err) == (2, f"helm: {told}\n")


def test_who_asks_is_shown_and_not_obeyed(app: Path, helm: Helm) -> None:
    evil = app.parent / "x\nQQ\u202e\x9b31m"
    evil.mkdir()
    assert helm("call", "app", "close", "--arg", "id=1", "--workspace", str(app.parent), cwd=evil).status == 7
    with terminal("confirm") as screen:
        screen.wait_for("Which one do you want to look at?")
        screen.wait_for("none of them")
        for hostile in ("\u202e", "\x9b", "x\nQQ", "x\r\nQQ"):
            assert hostile.encode() not in screen.raw
        assert "x⏎QQ\\u{202e}\\u{9b}31m".encode() in screen.raw
        screen.send(0.3, CTRL_C)
        screen.status()


def test_a_watch_in_the_background_says_why_it_ended(app: Path) -> None:
    with at_terminal("bash", "-i", stdin="terminal", size=(200, 100)) as shell:
        shell.send(f"{sys.executable} -m helm_cli confirm --watch\r".encode())
        shell.wait_for("watching for what waits for you")
        shell.send(b"\x1a")
        shell.wait_for("Stopped")
        shell.send(b"bg\r")
        shell.wait_for("watching ended: helm is in the background, or its terminal is gone")
        shell.send(b"exit\r")
        shell.status()


def test_a_signal_during_the_question_restores_the_terminal(app: Path, helm: Helm) -> None:
    with terminal("confirm", "--watch") as screen:
        screen.wait_for("watching for what waits for you")
        assert helm("call", "app", "close", "--arg", "id=1").status == 7
        screen.wait_for("id = 1")
        screen.process.send_signal(signal.SIGTERM)
        assert screen.status() in (-signal.SIGTERM, 128 + signal.SIGTERM)
        assert screen.attributes() == screen.before
    assert status(app, 1) == "open"
