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


# The name of a folder that would do something, and the same as it is typed.
EVIL: Final = "$((a[$(touch evil)0]))"
TYPED: Final = "\\$\\(\\(a\\[\\$\\(touch\\ evil\\)0\\]\\)\\)"
# The same with folders of such names on the way, some of which are not there.
FOLDERS: Final[dict[str, list[str]]] = {
    f"plugin new ./{TYPED}/deep/in": ["plugin", "new", f"./{EVIL}/deep/inner"],
    f"plugin new {TYPED}/deep/in": ["plugin", "new", f"{EVIL}/deep/inner"],
    f"db add x --path=./{TYPED}/deep/in": ["db", "add", "x", f"--path=./{EVIL}/deep/inner"],
    f"draft add @./{TYPED}/deep/in": ["draft", "add", f"@./{EVIL}/deep/inner"],
    f"mcp add x -- ./{TYPED}/deep/ru": ["mcp", "add", "x", "--", f"./{EVIL}/deep/run"],
    "plugin new \\$HOME/mi": ["plugin", "new", "$HOME/mine"],
    "plugin new \\`touch\\ evil\\`/mi": ["plugin", "new", "`touch evil`/mine"],
    f"plugin new ./{TYPED}/new/d": ["plugin", "new", f"./{EVIL}/new/d"],
    f"plugin new ./gone-{TYPED}/d": ["plugin", "new", f"./gone-{EVIL}/d"],
    f"db add x --path=./gone-{TYPED}/d": ["db", "add", "x", f"--path=./gone-{EVIL}/d"],
    f"draft add @./gone-{TYPED}/d": ["draft", "add", f"@./gone-{EVIL}/d"],
    f"mcp add x -- ./gone-{TYPED}/d": ["mcp", "add", "x", "--", f"./gone-{EVIL}/d"],
    f"mcp add x --token-env {TYPED}": ["mcp", "add", "x", "--token-env", EVIL],
    f"call {TYPED} {TYPED}/d": ["call", EVIL, f"{EVIL}/d"],
    # Between quotes, which the shell closes itself where it knows the end.
    f"mcp add x -- './{EVIL}/deep/ru": ["mcp", "add", "x", "--", f"./{EVIL}/deep/run"],
    f"plugin new './{EVIL}/gone/d\t'": ["plugin", "new", f"./{EVIL}/gone/d"],
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_name_of_a_folder_is_not_evaluated(
    shell: str, record: Path, scripts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by the script nor by what of the shell it calls: the folder before the last need not be there."""
    here = tmp_path / "here"
    for name in (f"{EVIL}/deep/inner", "$HOME/mine", "`touch evil`/mine"):
        (here / name).mkdir(parents=True)
    run = here / EVIL / "deep" / "run"
    run.touch(0o755)
    monkeypatch.chdir(here)
    with prompt(shell, f"source {scripts[shell]}", tmp_path) as terminal:
        assert dict(zip(FOLDERS, entered(terminal, record, list(FOLDERS)), strict=True)) == FOLDERS
    assert not list(here.rglob("evil"))


@pytest.mark.parametrize(
    "settings",
    ["unset COMP_WORDBREAKS", "COMP_WORDBREAKS=${COMP_WORDBREAKS//=}", "set -f; shopt -s failglob; GLOBIGNORE='*'"],
)
def test_bash_as_others_set_it(
    settings: str, here: World, record: Path, scripts: dict[str, Path], tmp_path: Path
) -> None:
    keys = ("db add x --engine=pos", "db add x --path=my\\ f", "project add fol\tdee", "call app rec")
    with prompt("bash", f"source {scripts['bash']}; {settings}", tmp_path) as terminal:
        assert entered(terminal, record, keys) == [KEYS[typed] for typed in keys]
