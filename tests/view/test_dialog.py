"""The dialog at a real terminal: what says yes, what says no, who is not asked, and the terminal afterwards."""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from helm_cli.model.plan import Plan
from helm_cli.view.plan import plan_text
from helm_cli.view.text import wrapped
from tests.program import ROOT
from tests.rig import asks
from tests.rig.terminal import (
    CTRL_BACKSLASH,
    CTRL_C,
    CTRL_D,
    CTRL_Z,
    DOWN,
    ENTER,
    ESC,
    UP,
    Place,
    Terminal,
    at_terminal,
)

OPEN: Final = "Any other key cancels."
MOVED: Final = "> Run"
ENV: Final[Mapping[str, str | None]] = {
    "TERM": "xterm-256color",
    "LC_ALL": "C.UTF-8",
    "PYTHONPATH": str(ROOT),
    "HELM_CLI_NO_INPUT": None,
    "NO_COLOR": None,
}
ASKS: Final = [sys.executable, asks.__file__]

WRITE: Final = Plan(
    kind="db",
    effect="write",
    extension="tickets",
    connection="app",
    operation="close",
    group="db",
    profile="local-app",
    driver="sqlite",
    shape="object",
    title="Confirm database write",
    verb="Run",
    noun="query",
    request={
        "engine": "sqlite",
        "sql": "UPDATE tickets SET status = 'closed'\nWHERE id = :id",
        "params": [["id", 1], ["note", "\x1b]0;pwned\x07\x9b2J\u202e"]],
    },
)
TOLD: Final[dict[str, Any]] = {"title": WRITE.title, "lines": plan_text(WRITE), "verb": WRITE.verb}
PAGED: Final = "1-22 of 200"
LONG: Final[dict[str, Any]] = {**TOLD, "lines": [f"line {number}" for number in range(1, 201)]}

QUESTION: Final = ["> Cancel", "  Run", "Down, then Enter: Run. Any other key cancels."]

# A step is keys, a pause in seconds, a text to wait for, a text and how often it stands there, or a signal.
Step = bytes | float | str | tuple[str, int] | signal.Signals
YES: Final[tuple[Step, ...]] = (DOWN, MOVED, 0.25, ENTER)


class Case(NamedTuple):
    """Keys pressed once the question is open, and the answer that must come of it."""

    steps: tuple[Step, ...]
    answers: tuple[str, ...] = ("declined",)
    stdin: Place | bytes = "terminal"
    env: Mapping[str, str | None] = {}
    size: tuple[int, int] = (80, 24)
    told: Mapping[str, Any] = TOLD
    early: bytes = b""
    wait: str = OPEN
    shell: str = ""
    stderr: Place = "terminal"
    status: int = 0
    # Where it is a matter of moments which of two refusals comes of it.
    or_else: tuple[str, ...] | None = None


class Outcome(NamedTuple):
    answers: tuple[str, ...]
    status: int
    restored: bool
    raw: bytes
    failure: BaseException | None


def command(case: Case, answers: Path) -> list[str]:
    program = [*ASKS, str(answers), json.dumps(dict(case.told))]
    return ["bash", "-c", case.shell, "bash", *program] if case.shell else program


def take(terminal: Terminal, steps: tuple[Step, ...]) -> None:
    for step in steps:
        if isinstance(step, str):
            terminal.wait_for(step)
        elif isinstance(step, tuple):
            terminal.wait_for(*step)
        elif isinstance(step, signal.Signals):
            os.kill(terminal.process.pid, step)
        else:
            terminal.send(step)


def played(case: Case, answers: Path) -> Outcome:
    with at_terminal(
        *command(case, answers),
        stdin=case.stdin,
        stderr=case.stderr,
        env={**ENV, **case.env},
        size=case.size,
        early=case.early,
    ) as terminal:
        failure: BaseException | None = None
        status = -1
        try:
            if case.wait:
                terminal.wait_for(case.wait)
            take(terminal, case.steps)
            status = terminal.status()
        except AssertionError as error:
            failure = error
        told = tuple(answers.read_text().split()) if answers.exists() else ()
        return Outcome(told, status, terminal.attributes() == terminal.before, terminal.raw, failure)


# The settings after it must be those that it found.
LEFT_RAW: Final = 's=$(stty -g); stty raw -echo; a=$(stty -g); "$@"; b=$(stty -g); stty "$s"; [ "$a" = "$b" ]'
PIPED_YES: Final = b"\x1b[B\r" + b"yes\ny\n\r\n" * 1000

CONFIRMED: Final = {
    "stdin terminal": Case(YES, ("confirmed",)),
    "stdin null": Case(YES, ("confirmed",), stdin="null"),
    "stdin pipe": Case(YES, ("confirmed",), stdin=PIPED_YES),
    "application mode Down": Case((b"\x1bOB", MOVED, 0.25, ENTER), ("confirmed",)),
    "Down twice": Case((DOWN, MOVED, DOWN, 0.25, ENTER), ("confirmed",)),
    "TERM=xterm": Case(YES, ("confirmed",), env={"TERM": "xterm"}),
    "TERM=vt100": Case(YES, ("confirmed",), env={"TERM": "vt100"}),
    "TERM=linux": Case(YES, ("confirmed",), env={"TERM": "linux"}),
    "TERM=unknown": Case(YES, ("confirmed",), env={"TERM": "unknown"}),
    "LC_ALL=C": Case(YES, ("confirmed",), env={"LC_ALL": "C"}),
    "size 0x0": Case((DOWN, MOVED, 0.25, ENTER), ("confirmed",), size=(0, 0)),
    "keys before the program": Case(YES, ("confirmed",), early=ENTER + b"y\nyes\n" + CTRL_D),
    "terminal replies": Case(
        (
            b"\x1b[?62;4c\x1b[24;80R\x1b[0n",
            b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1bP1+r436f\x1b\\",
            b"\x1b[I\x1b[O",
            b"\x1b[<0;10;10M\x1b[M !!",
            b"\x1b[?6",
            b"2;4c",
            b"\x1b[8;24;80t\x1b[?2004;1$y",
            0.2,
            *YES,
        ),
        ("confirmed",),
    ),
    "a stop is not taken": Case((signal.SIGTSTP, 0.1, *YES), ("confirmed",)),
    "terminal left raw": Case(YES, ("confirmed",), shell=LEFT_RAW),
    "terminal left without output": Case(YES, ("confirmed",), shell='stty -opost; "$@"; stty opost'),
    "paged to its end": Case((b" " * 20, "200 of 200", ENTER, OPEN, *YES), ("confirmed",), told=LONG, wait=PAGED),
    "paged by its last page": Case((b"G", "179-200 of 200", ENTER, OPEN, *YES), ("confirmed",), told=LONG, wait=PAGED),
    "signal handled by the program": Case(YES, ("confirmed",), told={**TOLD, "trap": True}),
}

DECLINED: Final = {
    "Enter": Case((ENTER,)),
    "Enter, stdin null": Case((ENTER,), stdin="null"),
    "Enter, stdin pipe": Case((ENTER,), stdin=PIPED_YES),
    "y": Case((b"y",)),
    "yes and newline": Case((b"yes\n",)),
    "yes endlessly piped": Case((0.3, ENTER), shell='yes | "$@"; true'),
    "Down before the program": Case((ENTER,), early=DOWN),
    "keys as it opens": Case((DOWN + ENTER, 0.3, ESC), wait=TOLD["title"], or_else=("hasty",)),
    "Down and Enter in one write": Case((DOWN + ENTER,), ("hasty",)),
    "Down, then Enter in one write with it, twice": Case((DOWN, MOVED, 0.25, DOWN + ENTER), ("hasty",)),
    "paste": Case((b"\x1b[200~yes\r\x1b[201~",)),
    "paste of the keys": Case((b"\x1b[200~\x1b[B\r\x1b[201~",)),
    "paste after Down": Case((DOWN, MOVED, 0.25, b"\x1b[200~\r\x1b[201~")),
    "Esc": Case((ESC,)),
    "Ctrl-C": Case((CTRL_C,)),
    "Ctrl-D": Case((CTRL_D,)),
    "Ctrl-J": Case((b"\n",)),
    "Ctrl-Z": Case((CTRL_Z,)),
    "Ctrl-Backslash": Case((CTRL_BACKSLASH,)),
    "Ctrl-Q": Case((b"\x11",)),
    "Ctrl-N": Case((b"\x0e",)),
    "j": Case((b"j",)),
    "Tab": Case((b"\t",)),
    "Space": Case((b" ",)),
    "Page Down": Case((b"\x1b[6~",)),
    "Up, Enter": Case((UP, 0.25, ENTER)),
    "Down, Up, Enter": Case((DOWN, MOVED, UP, "> Cancel", 0.25, ENTER)),
    "Down, j": Case((DOWN, MOVED, 0.25, b"j")),
    "Down, Ctrl-J": Case((DOWN, MOVED, 0.25, b"\n")),
    "Down, Space": Case((DOWN, MOVED, 0.25, b" ")),
    "Down, Esc": Case((DOWN, MOVED, 0.25, ESC)),
    "Alt-P, then Enter": Case((DOWN, MOVED, b"\x1bP", 0.25, ENTER)),
    "broken UTF-8": Case((b"\xff\xfe",)),
    "SIGINT": Case((signal.SIGINT,)),
    "no end of keys": Case((*(b"x", 0.03) * 200,), wait=TOLD["title"]),
    "Esc in the pager": Case((ESC,), told=LONG, wait=PAGED),
    "Ctrl-C in the pager": Case((CTRL_C,), told=LONG, wait=PAGED),
    "Enter all the way": Case((ENTER * 12, "200 of 200", ENTER, OPEN, ENTER), told=LONG, wait=PAGED),
    "keys left over from the pager": Case(
        (b"G", "200 of 200", ENTER + DOWN + ENTER, OPEN, ENTER), told=LONG, wait=PAGED
    ),
    "q in the pager": Case((b"q",), told=LONG, wait=PAGED),
    "q at the end of the pager": Case((b"G", "200 of 200", b"q"), told=LONG, wait=PAGED),
    "Enters in one burst stop at the end": Case((ENTER * 30, "200 of 200", 0.3, b"q"), told=LONG, wait=PAGED),
}

EXPIRED: Final = {
    "at its time": Case((), ("expired",), told={**TOLD, "seconds": 1.0}, wait=""),
    "with the verb focused": Case((DOWN, MOVED), ("expired",), told={**TOLD, "seconds": 3.0}),
    "before it opens": Case((), ("expired",), told={**TOLD, "seconds": -1.0}, wait=""),
    "in the pager": Case((b" ",), ("expired",), told={**LONG, "seconds": 2.0}, wait=PAGED),
}

ENDED: Final = {
    "SIGTERM": Case((signal.SIGTERM,), (), status=143),
    "SIGHUP": Case((signal.SIGHUP,), (), status=129),
    "SIGQUIT": Case((signal.SIGQUIT,), (), status=131),
    "SIGTERM in the pager": Case((signal.SIGTERM,), (), told=LONG, wait=PAGED, status=143),
    "SIGTERM as it opens": Case((signal.SIGTERM,), (), wait=TOLD["title"], status=143),
    "SIGTERM with a handler": Case((signal.SIGTERM,), ("handled",), told={**TOLD, "trap": True}, status=143),
    "SIGHUP under nohup": Case((signal.SIGHUP, 0.1, ENTER), ("declined",), shell="trap '' HUP; exec \"$@\""),
}

ABSENT: Final = {
    "no terminal": Case((), ("absent",), shell='setsid -w "$@"', wait=""),
    "no terminal, a pipe of yes": Case((), ("absent",), shell='yes | setsid -w "$@"', wait=""),
    "background job": Case((), ("absent",), shell='set -m; "$@" & wait $!', wait=""),
    "TERM=dumb": Case((), ("absent",), env={"TERM": "dumb"}, wait=""),
    "TERM empty": Case((), ("absent",), env={"TERM": ""}, wait=""),
    "TERM unset": Case((), ("absent",), env={"TERM": None}, wait=""),
    "stderr null": Case((), ("absent",), stderr="null", wait=""),
    "stderr pipe": Case((), ("absent",), stderr="pipe", wait=""),
    "HELM_CLI_NO_INPUT": Case((), ("absent",), env={"HELM_CLI_NO_INPUT": "1"}, wait=""),
    "HELM_CLI_NO_INPUT empty": Case((), ("absent",), env={"HELM_CLI_NO_INPUT": ""}, wait=""),
}

TWICE: Final[dict[str, Any]] = {**TOLD, "times": 2}
REPEATED: Final = {
    "a yes is for one write": Case((*YES, (OPEN, 2), ENTER), ("confirmed", "declined"), told=TWICE, size=(80, 50)),
    "two yes": Case(
        (*YES, (OPEN, 2), DOWN, (MOVED, 2), 0.25, ENTER), ("confirmed", "confirmed"), told=TWICE, size=(80, 50)
    ),
    "keys left over from the first": Case(
        (DOWN + ENTER + DOWN, 0.02, ENTER, (OPEN, 2), ENTER), ("hasty", "declined"), told=TWICE, size=(80, 50)
    ),
}

CASES: Final = {
    f"{group}: {name}": case
    for group, cases in {
        "confirmed": CONFIRMED,
        "declined": DECLINED,
        "expired": EXPIRED,
        "ended": ENDED,
        "absent": ABSENT,
        "repeated": REPEATED,
    }.items()
    for name, case in cases.items()
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """All cases, played side by side, for they mostly wait."""
    folder = tmp_path_factory.mktemp("answers")
    with ThreadPoolExecutor(6) as pool:
        running = {name: pool.submit(played, case, folder / str(at)) for at, (name, case) in enumerate(CASES.items())}
        return {name: future.result() for name, future in running.items()}


def check(outcomes: dict[str, Outcome], name: str) -> None:
    outcome, case = outcomes[name], CASES[name]
    if outcome.failure is not None:
        raise outcome.failure
    assert outcome.answers in (case.answers, case.or_else)
    assert outcome.status == case.status
    assert outcome.restored, "the terminal's settings were not given back"
    assert b"Traceback" not in outcome.raw
    assert b"pwned\x07" not in outcome.raw


@pytest.mark.parametrize("name", [f"confirmed: {name}" for name in CONFIRMED])
def test_only_down_and_then_enter_confirm(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)


@pytest.mark.contract("C111", "C113")
@pytest.mark.parametrize("name", [f"declined: {name}" for name in DECLINED])
def test_everything_else_declines(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)


@pytest.mark.parametrize("name", [f"expired: {name}" for name in EXPIRED])
def test_it_closes_when_its_time_is_up(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)


@pytest.mark.parametrize("name", [f"ended: {name}" for name in ENDED])
def test_a_signal_ends_it_with_the_terminal_restored(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)


@pytest.mark.contract("C113")
@pytest.mark.parametrize("name", [f"absent: {name}" for name in ABSENT])
def test_where_no_person_is_nothing_is_asked(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)
    assert TOLD["title"].encode() not in outcomes[name].raw


@pytest.mark.contract("C112")
@pytest.mark.parametrize("name", [f"repeated: {name}" for name in REPEATED])
def test_every_write_is_asked_for(outcomes: dict[str, Outcome], name: str) -> None:
    check(outcomes, name)
    assert outcomes[name].raw.count(TOLD["title"].encode()) == 2


@pytest.mark.contract("C111")
def test_a_quick_enter_after_down_declines(tmp_path: Path) -> None:
    # A machine that is slow enough to turn 20 ms into 100 says nothing: then once more.
    for attempt in range(20):
        answers = tmp_path / str(attempt)
        with at_terminal(*ASKS, str(answers), json.dumps(TOLD), env=ENV) as terminal:
            terminal.wait_for(OPEN)
            started = time.monotonic()
            terminal.send(DOWN, 0.02, ENTER)
            took = time.monotonic() - started
            assert terminal.status() == 0
        if took < 0.1:
            assert answers.read_text() == "hasty\n"
            return
    raise AssertionError("this machine never managed two keys within 100 ms")


@pytest.mark.contract("C111", "C120")
def test_what_is_on_the_screen(tmp_path: Path) -> None:
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(TOLD), env=ENV) as terminal:
        terminal.wait_for(OPEN)
        assert terminal.screen() == [
            "",
            "Confirm database write",
            "",
            "  extension   tickets",
            "  connection  app",
            "  profile     db/local-app",
            "  query       close",
            "  engine      sqlite",
            "  sql",
            "    UPDATE tickets SET status = 'closed'",
            "    WHERE id = :id",
            "  params",
            "    id = 1",
            '    note = "\\u001b]0;pwned\\u0007\\u009b2J\\u202e"',
            "",
            "> Cancel",
            "  Run",
            "Down, then Enter: Run. Any other key cancels.",
        ]
        terminal.send(DOWN)
        terminal.wait_for(MOVED)
        assert terminal.screen()[-3:] == ["  Cancel", "> Run", "Down, then Enter: Run. Any other key cancels."]
        terminal.resize(100, 30)
        terminal.send(0.25, ENTER)
        assert terminal.status() == 0


@pytest.mark.contract("C120")
def test_text_that_its_caller_forgot_to_make_harmless(tmp_path: Path) -> None:
    told = {"title": "T\x1b[2J", "lines": ["\x1b]0;pwned\x07", "a\x9b1Ab\nc"], "verb": "R\x1b[1Aun"}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV) as terminal:
        terminal.wait_for(OPEN)
        assert terminal.screen()[:8] == [
            "",
            "T\\u{1b}[2J",
            "",
            "\\u{1b}]0;pwned\\u{7}",
            "a\\u{9b}1Ab⏎c",
            "",
            "> Cancel",
            "  R\\u{1b}[1Aun",
        ]
        terminal.send(ENTER)
        assert terminal.status() == 0
        assert b"\x1b[2J" not in terminal.raw
        assert b"\x1b]" not in terminal.raw


def test_a_long_body_can_be_read_in_full(tmp_path: Path) -> None:
    lines = [f"  line {number} " + "x" * (number % 7 * 30) for number in range(1, 61)]
    told = {"title": "Confirm", "lines": lines, "verb": "Run"}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV) as terminal:
        terminal.wait_for("Confirm")
        terminal.wait_for("1-22 of")
        total = int(terminal.screen()[-1].split(" of ")[1].split()[0])
        read: list[str] = []
        for top in range(1, total + 1, 22):
            first = min(top, total - 21)
            terminal.wait_for(f" {first}-{first + 21} of {total}")
            screen = terminal.screen()
            assert screen[0] == "Confirm"
            read[first - 1 :] = screen[1:23]
            terminal.send(b" ")
        # A later part of a line stands two deeper than its beginning.
        joined = "\n".join(read).replace("\n    ", "")
        assert joined.split("\n") == [line.rstrip() for line in lines]
        terminal.send(b"b")
        terminal.wait_for(f" {total - 43}-{total - 22} of {total}")
        terminal.send(b" ")
        terminal.wait_for(f" {total - 21}-{total} of {total}")
        terminal.send(ENTER)
        terminal.wait_for(OPEN)
        assert terminal.screen()[2:-3] == [
            "",
            *screen_of(lines, 16),
            f"  … {total} lines, all shown before this question",
            "",
        ]
        terminal.send(ENTER)
        assert terminal.status() == 0
        assert (tmp_path / "answers").read_text() == "declined\n"


def screen_of(lines: list[str], rows: int) -> list[str]:
    return [part.rstrip() for line in lines for part in wrapped(line, 79)][:rows]


def test_lines_that_were_leapt_over_are_not_called_shown(tmp_path: Path) -> None:
    told = {**LONG, "summary": ["  writes  2", "  " + "reads  16 " * 9]}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV) as terminal:
        terminal.wait_for(PAGED)
        assert terminal.screen()[-1] == " 1-22 of 200   Space: go on   q: cancel   b: back"
        terminal.send(b" ", 0.1, b"\x1b[F")
        terminal.wait_for("179-200 of 200")
        assert terminal.screen()[-1] == " 179-200 of 200   Enter: answer   q: cancel   b: back"
        terminal.send(ENTER)
        terminal.wait_for(OPEN)
        assert [line for line in terminal.screen() if line][-8:] == [
            "Confirm database write",
            "  writes  2",
            "  " + "reads  16 " * 7 + "reads",
            "      16 reads  16",
            "  … 200 lines, of which 66 were shown before this question",
            *QUESTION,
        ]
        terminal.send(ENTER)
        assert terminal.status() == 0


def test_sixty_columns_show_how_to_cancel(tmp_path: Path) -> None:
    told = {**LONG, "lines": ["x"] * 12_000}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV, size=(60, 24)) as terminal:
        terminal.wait_for("1-22 of 12000")
        terminal.send(b"G")
        terminal.wait_for("12000 of 12000")
        assert terminal.screen()[-1] == " 11979-12000 of 12000   Enter: answer   q: cancel   b: back"
        terminal.send(ESC)
        assert terminal.status() == 0


def test_another_width_counts_anew(tmp_path: Path) -> None:
    told = {**LONG, "lines": ["x" * 75, *LONG["lines"][1:]]}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV) as terminal:
        terminal.wait_for(PAGED)
        terminal.send(b"G")
        terminal.wait_for("179-200 of 200")
        terminal.resize(70, 24)
        terminal.wait_for("179-200 of 201")
        terminal.send(ENTER)
        terminal.wait_for("180-201 of 201")
        terminal.send(ENTER)
        terminal.wait_for("  … 201 lines, of which 23 were shown before this question")
        terminal.wait_for(OPEN)
        terminal.send(ENTER)
        assert terminal.status() == 0


@pytest.mark.parametrize(("env", "bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_what_stands_out(tmp_path: Path, env: dict[str, str], bold: bool) -> None:
    """The title of a question, and in a review its headings and writes; nothing where colours are not wanted."""
    told = {**TOLD, "styled": True}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env={**ENV, **env}) as terminal:
        terminal.wait_for(OPEN)
        assert (b"\x1b[1mConfirm database write\x1b[0m" in terminal.raw) is bold
        assert (b"\x1b[1;31m  extension   tickets\x1b[0m" in terminal.raw) is bold
        terminal.send(ENTER)
        assert terminal.status() == 0


def test_a_value_cannot_pose_as_a_line_of_its_own(tmp_path: Path) -> None:
    told = {"title": "Confirm", "lines": ["    note = " + "x" * 68 + "    id = 2"], "verb": "Run"}
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(told), env=ENV) as terminal:
        terminal.wait_for(OPEN)
        assert terminal.screen()[3:5] == ["    note = " + "x" * 68, "          id = 2"]
        terminal.send(ENTER)
        assert terminal.status() == 0


def test_a_window_that_is_closed_ends_it(tmp_path: Path) -> None:
    with at_terminal(*ASKS, str(tmp_path / "answers"), json.dumps(TOLD), env=ENV, stdin="null") as terminal:
        terminal.wait_for(OPEN)
        terminal.hang_up()
        assert terminal.status() == 129
        assert not (tmp_path / "answers").exists()


def test_a_closed_window_under_nohup_declines(tmp_path: Path) -> None:
    shell = ["bash", "-c", "trap '' HUP; exec \"$@\" 2>/dev/tty", "bash"]
    with at_terminal(*shell, *ASKS, str(tmp_path / "answers"), json.dumps(TOLD), env=ENV, stdin="null") as terminal:
        terminal.wait_for(OPEN)
        terminal.hang_up()
        assert terminal.status() == 0
        assert (tmp_path / "answers").read_text() == "declined\n"
