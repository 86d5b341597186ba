"""What a command does with streams that are closed, full or gone, and with a current folder that is."""

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Final

import pytest

from tests import example
from tests.program import Finished, Helm, run
from tests.rig.terminal import DOWN, ENTER, at_terminal

RECENT: Final = "call app recent --arg status=open --arg limit=1"
ROWS: Final = '{"ok":true,"data":{"columns":["id","title","status"],"rows":[[199,"Ticket 199","open"]]},"error":null}\n'
FULL: Final = "the answer could not be written: no space left on device"
LINE: Final = '{"connection":"app","operation":"recent","args":{"status":"open","limit":1}}'


@pytest.fixture
def workspace(helm: Helm, tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    example.ready(helm, folder)
    return folder


def shell(line: str, cwd: Path | None = None, stdin: str = "") -> Finished:
    """A line of bash in which `helm` is the program."""
    helm = f'helm() {{ "{sys.executable}" -m helm_cli "$@"; }}; '
    return run(["bash", "-c", helm + line], cwd=cwd, stdin=stdin)


@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        (f"helm {RECENT} >&-", 0, "", ""),
        (f"helm {RECENT} 2>&-", 0, ROWS, ""),
        (f"helm {RECENT} <&-", 0, ROWS, ""),
        (f"helm {RECENT} <&- >&- 2>&-", 0, "", ""),
        (f"helm {RECENT} 2>/dev/full", 0, ROWS, ""),
        (f"helm {RECENT} >/dev/full", 1, "", f"helm: {FULL}; nothing was changed, so repeat the call\n"),
        (f"helm {RECENT} >/dev/full 2>/dev/full", 1, "", ""),
        (f"helm {RECENT} -o table >/dev/full", 1, "", f"helm: {FULL}; nothing was changed, so repeat the call\n"),
        (
            f"echo '{LINE}' | helm call --batch - >/dev/full",
            *(1, "", f"helm: {FULL}; helm history shows which calls were made\n"),
        ),
        ("helm db list >/dev/full", 1, "", f"helm: {FULL}\n"),
        ("helm db show local-app -o json >/dev/full", 1, "", f"helm: {FULL}\n"),
        ("helm db list 2>&-", 0, None, ""),
        ("helm call app nope 2>/dev/full >&-", 3, "", ""),
        (
            "helm call app nope >/dev/full",
            *(3, "", f"helm: app declares no operation nope; it has recent, endless, close\nhelm: {FULL}\n"),
        ),
        (
            "helm call --nope >/dev/full",
            2,
            "",
            "helm: there is no option --nope; an argument of the operation is --arg nope=VALUE"
            " (see helm call --help)\n",
        ),
        ("helm nope 2>/dev/full", 2, "", ""),
        ("helm nope 2>&-", 2, "", ""),
        ("helm --version >/dev/full", 1, "", f"helm: {FULL}\n"),
        ("helm --version >/dev/full 2>/dev/full", 1, "", ""),
        ("helm --version >&-", 0, "", ""),
        ("helm --help >/dev/full", 1, "", f"helm: {FULL}\n"),
        ("helm 2>/dev/full", 2, "", ""),
        ("helm db add new --engine sqlite --path new.db 2>/dev/full", 0, "", ""),
        ("helm db add new --engine sqlite --path new.db 2>&-", 0, "", ""),
    ],
)
def test_an_answer_that_cannot_be_printed(workspace: Path, line: str, status: int, out: str | None, err: str) -> None:
    ended = shell(line, workspace)
    assert (ended.status, ended.err) == (status, err)
    assert out is None or ended.out == out


@pytest.mark.parametrize("line", [RECENT, "db list", "--help", "--version", "call --help"])
def test_a_reader_that_went_away_ends_it_quietly(workspace: Path, line: str) -> None:
    # The reader is gone before helm prints, for it is told to begin by its end.
    piped = f"mkfifo gone; exec 3<>gone; exec 4>gone; exec 3<&-; helm {line} >&4"
    ended = shell(piped, workspace)
    assert (ended.status, ended.out, ended.err) == (141, "", "")


@pytest.mark.parametrize(
    ("redirection", "status", "told"),
    [(">/dev/full", 1, f"helm: {FULL}; the write was applied"), (">&-", 0, ""), ("| head -0", 141, "")],
)
def test_a_write_that_was_applied_is_not_to_be_repeated(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, redirection: str, status: int, told: str
) -> None:
    monkeypatch.chdir(workspace)
    line = f'set -o pipefail; "{sys.executable}" -m helm_cli call app close --arg id=1 {redirection}'
    with at_terminal("bash", "-c", line, size=(100, 40)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(DOWN, 0.3, ENTER)
        assert screen.status() == status
        shown = "\n".join(screen.screen())
        assert told in shown and "Traceback" not in shown and "fault in helm" not in shown
    with sqlite3.connect(workspace / "app.db") as db:
        assert db.execute("SELECT status FROM tickets WHERE id = 1").fetchone() == ("closed",)
    db.close()


CLOSED: Final = "comes on standard input, which is closed; pipe it in"
ADD: Final = "helm db add my --engine mysql --host h.invalid --user u --database d --password-stdin"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("helm call --batch - <&-", f"the batch {CLOSED}"),
        ("helm call app recent --args - <&-", f"--args {CLOSED}"),
        (f"{ADD} <&-", f"the password {CLOSED}"),
        ("helm call app recent --args - 0>out", "--args cannot be read from standard input: "),
        (f"{ADD} 0>out", "the password cannot be read from standard input: "),
        ("helm call --batch - 0>out", "the batch cannot be read: "),
    ],
)
def test_an_input_that_is_not_there_is_a_usage_error(workspace: Path, line: str, message: str) -> None:
    ended = shell(line, workspace)
    assert ended.status == 2
    assert ended.err.startswith(f"helm: {message}") and ended.err.count("\n") == 1


def test_an_input_that_comes_late_on_a_non_blocking_pipe_is_waited_for(workspace: Path) -> None:
    script = 'import os, sys; os.set_blocking(0, False); os.execv(sys.executable, [sys.executable, "-m", "helm_cli",'
    script += ' "call", "app", "recent", "--args", "-"])'
    late = f"""(sleep 0.4; echo '{{"status":"open","limit":1}}') | "{sys.executable}" -c '{script}'"""
    assert shell(late, workspace).out == ROWS


def test_an_output_that_is_not_taken_at_once_is_printed_whole(helm: Helm, workspace: Path) -> None:
    script = 'import os, sys; os.set_blocking(1, False); os.execv(sys.executable, [sys.executable, "-m", "helm_cli",'
    script += ' "plugin", "schema"])'
    wanted = helm("plugin", "schema").out
    ended = shell(f"\"{sys.executable}\" -c '{script}' | (sleep 0.3; cat)", workspace)
    assert (ended.status, ended.out, ended.err) == (0, wanted, "")


GONE: Final = "the current folder is gone; change into one"


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("helm db add rel --engine sqlite --path rel.db", 2, f"{GONE} that exists"),
        ("helm plugin new rel", 2, f"{GONE} that exists"),
        ("helm plugin validate rel", 2, f"{GONE} that exists"),
        ("HELM_CLI_HOME=rel helm db list", 2, f"{GONE} that exists"),
        ("helm call app recent", 2, f"{GONE}, or name it with --workspace"),
        ("helm call app close --arg id=1 --workspace $OLDPWD", 7, "app close writes; "),
    ],
)
def test_a_current_folder_that_is_gone(workspace: Path, line: str, status: int, message: str) -> None:
    ended = shell(f"mkdir gone; cd gone; rmdir ../gone; {line}", workspace)
    assert ended.status == status
    assert ended.err.startswith(f"helm: {message}") and ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("db add rel --engine sqlite --path rel.db", 2),
        ("plugin validate rel", 2),
        ("plugin review rel", 1),
        ("call app recent", 1),
        ("history", 1),
        ("call app close --arg id=1 --workspace ..", 7),
        ("db list", 0),
    ],
)
def test_a_current_folder_that_is_not_utf8(workspace: Path, line: str, status: int) -> None:
    folder = os.fsencode(workspace) + b"/n\xff"
    os.mkdir(folder)
    ended = shell(f"cd $'n\\xff'; helm {line}", workspace)
    assert ended.status == status
    assert "fault in helm" not in ended.err and ended.err.count("\n") <= 1


@pytest.mark.parametrize(
    ("given", "password"),
    [("a\n", "a"), ("a\r\n", "a"), ("a\r", "a\r"), ("a\n\n", "a\n"), ("a\n\r", "a\n\r"), ("a", "a")],
)
def test_one_newline_at_the_end_of_a_password_is_dropped(helm: Helm, home: Path, given: str, password: str) -> None:
    ended = helm(*ADD.split()[1:], stdin=given, env={"HELM_CLI_CREDENTIALS": "file"})
    assert ended.status == 0, ended
    kept: str = json.loads((home / "credentials.json").read_text())["db/my/password"]
    # Before it stands the target that it was entered for.
    assert kept.partition(" ")[2] == password


def test_a_loop_of_links_is_no_workspace(helm: Helm) -> None:
    Path("loop").symlink_to("loop")
    ended = helm("call", "app", "recent", "--workspace", "loop")
    assert ended.status == 2
    assert ended.err == "helm: the workspace loop is not a folder; name one that exists\n"
