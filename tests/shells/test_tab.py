"""Real keys in the real shells: what a Tab puts on the line is what the program then gets, and nothing else happens."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.rig.completing import HOSTILE, World
from tests.rig.shells import SHELLS, TAB, prompt, recorder
from tests.rig.terminal import ENTER, Terminal

# What is typed before a Tab -> the words that the program then gets.
KEYS: Final[dict[str, list[str]]] = {
    "call app rec": ["call", "app", "recent"],
    "db add x --engine pos": ["db", "add", "x", "--engine", "postgres"],
    "db add x --engine=pos": ["db", "add", "x", "--engine=postgres"],
    "call app recent --arg st\ttrue": ["call", "app", "recent", "--arg", "status=true"],
    "call app recent --arg=li\t20": ["call", "app", "recent", "--arg=limit=20"],
    "call h3 a:": ["call", "h3", "a:b"],
    "plugin run acme/marketing --schedule 0": ["plugin", "run", "acme/marketing", "--schedule", "0 14 * * MON"],
    "db add x --path my\\ f": ["db", "add", "x", "--path", "my file"],
    "db add x --path=my\\ f": ["db", "add", "x", "--path=my file"],
    "draft add @my\\ f": ["draft", "add", "@my file"],
    "project add fol\tdee": ["project", "add", "folder/deep"],
}


def entered(terminal: Terminal, record: Path, keys: Sequence[str]) -> list[list[str]]:
    """The words that the program was called with each time that this was typed, a Tab and Enter pressed."""
    for at, typed in enumerate(keys, 1):
        terminal.send(f"helm {typed}".encode(), TAB, ENTER)
        terminal.wait_for(f"recorded {at}.")
    # The end of a folder's name is left to the shell: zsh takes it back at Enter.
    return [line.replace("/\x1f", "\x1f").split("\x1f")[:-1] for line in record.read_text().split("\n")[:-1]]


@pytest.fixture
def record(here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program writes down what it got; the current folder has files."""
    file = tmp_path / "record"
    monkeypatch.setenv("PATH", f"{recorder(tmp_path / 'recording', file)}:{os.environ['PATH']}")
    (here.workspace / "my file").touch()
    (here.workspace / "folder" / "deep").mkdir(parents=True, exist_ok=True)
    return file


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab(shell: str, here: World, record: Path, scripts: dict[str, Path], tmp_path: Path) -> None:
    with prompt(shell, f"source {scripts[shell]}", tmp_path) as terminal:
        assert dict(zip(KEYS, entered(terminal, record, list(KEYS)), strict=True)) == KEYS


@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_with_signs_of_a_shell_is_quoted(
    shell: str, here: World, record: Path, scripts: dict[str, Path], tmp_path: Path
) -> None:
    """The first name has most signs in it; all of them, one by one, are the long form."""
    names = HOSTILE if os.environ.get("HELM_TEST_LONG") else HOSTILE[:5]
    typed = [f"call h{at} " for at in range(len(names))]
    open_ = ['call h0 "', "call h0 '"]
    with prompt(shell, f"source {scripts[shell]}", tmp_path) as terminal:
        found = entered(terminal, record, [*typed, *open_])
    assert [words[-1] for words in found] == [*names, HOSTILE[0], HOSTILE[0]]
    assert not list(here.workspace.glob("evil*"))
