"""The streams as the process has them: terminal or not, how wide, with colours or not, always UTF-8."""

import sys
from collections.abc import Mapping

import pytest

from tests.program import run
from tests.rig.terminal import Place, at_terminal

TELL = "from helm_cli.view.streams import Streams; s = Streams.here(); s.say(repr(tuple(s)[2:6]) + ' \\xe9')"


def told(env: Mapping[str, str | None], size: tuple[int, int] = (80, 24), stdout: Place = "terminal") -> str:
    with at_terminal(sys.executable, "-c", TELL, env=env, size=size, stdout=stdout) as terminal:
        assert terminal.status() == 0
        return terminal.screen()[0]


@pytest.mark.parametrize(
    ("env", "size", "expected"),
    [
        ({}, (120, 24), "(True, True, 120, True) é"),
        ({"LC_ALL": "C"}, (120, 24), "(True, True, 120, True) é"),
        ({"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}, (80, 24), "(True, True, 80, True) é"),
        ({}, (0, 0), "(True, True, 80, True) é"),
        ({}, (40, 24), "(True, True, 60, True) é"),
        ({}, (500, 24), "(True, True, 200, True) é"),
        ({"COLUMNS": "100"}, (80, 24), "(True, True, 100, True) é"),
        ({"COLUMNS": "wide"}, (90, 24), "(True, True, 90, True) é"),
        ({"COLUMNS": "0"}, (90, 24), "(True, True, 90, True) é"),
        ({"NO_COLOR": "1"}, (80, 24), "(True, True, 80, False) é"),
        ({"NO_COLOR": ""}, (80, 24), "(True, True, 80, True) é"),
        ({"TERM": "dumb"}, (80, 24), "(True, True, 80, False) é"),
        ({"TERM": None}, (80, 24), "(True, True, 80, False) é"),
    ],
)
def test_on_a_terminal(env: Mapping[str, str | None], size: tuple[int, int], expected: str) -> None:
    assert told(env, size) == expected


def test_a_pipe_has_no_colors_and_the_width_of_the_terminal_beside_it() -> None:
    assert told({}, (110, 24), stdout="pipe") == "(False, True, 110, False) é"


@pytest.mark.parametrize("env", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii:strict"}])
def test_a_pipe_is_utf8_whatever_the_locale(env: Mapping[str, str]) -> None:
    write = "from helm_cli.view.streams import Streams; Streams.here().write('\\xe9\\ud800\\r\\n')"
    finished = run([sys.executable, "-c", write], env=env)
    assert (finished.status, finished.out, finished.err) == (0, "é?\r\n", "")


def test_streams_that_were_closed_swallow_their_text() -> None:
    write = "from helm_cli.view.streams import Streams; s = Streams.here(); s.write('x'); s.say('y')"
    assert run(["bash", "-c", '"$@" >&- 2>&-', "bash", sys.executable, "-c", write]).status == 0


def test_a_reader_that_went_away_is_for_the_caller_to_see() -> None:
    write = (
        "from helm_cli.view.streams import Streams\n"
        "s = Streams.here()\n"
        "try:\n    s.write('x' * 10**6)\nexcept BrokenPipeError:\n    s.say('gone')\n"
        "import os; os._exit(0)"
    )
    assert run(["bash", "-c", '"$@" | true', "bash", sys.executable, "-c", write]).err == "gone\n"
