"""The files in `completions/`: made anew from the command tree they are the same, and their shells can read them."""

import re
import tomllib
from pathlib import Path

import pytest

from helm_cli.model.command import Command
from helm_cli.shells import SHELLS, words
from helm_cli.shells.words import PROGRAMS
from tests.program import ROOT, run
from tests.rig.shells import completed

# What bash 3.2, which macOS has, does not know.
NEWER = re.compile(
    r"(declare|local|typeset) -[a-z]*[Ang]|mapfile|readarray|coproc|&>>|\|&|;&|\$\{[^}]*(,,|\^\^|@[A-Z])\}"
    r"|\[\[ -v |wait -n|compopt|printf [^\n]*%\(|\$\{[^}]*: *-?[0-9]+: *-|shopt -s globstar"
)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_files_are_made_from_the_tree(shell: str, tree: Command, update: bool) -> None:
    """After a change of the command line: pytest tests/shells --update."""
    made = {SHELLS[shell].file: SHELLS[shell].script(tree, PROGRAMS), **dict(filter(None, [SHELLS[shell].other]))}
    for name, text in made.items():
        file = ROOT / "completions" / name
        if update:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        assert file.read_text() == text


def test_there_is_a_table_for_the_value_of_completion() -> None:
    assert tuple(SHELLS) == words.SHELLS


def test_the_wheel_puts_them_where_shells_look() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    found = {place: name for name, place in table["shared-data"].items() if name.startswith("completions/")}
    bash, zsh, fish = "share/bash-completion/completions", "share/zsh/site-functions", "share/fish/vendor_completions.d"
    assert found == {
        f"{bash}/helm": "completions/helm.bash",
        f"{bash}/helm-cli": "completions/helm-cli.bash",
        f"{zsh}/_helm": "completions/_helm",
        f"{fish}/helm.fish": "completions/helm.fish",
        f"{fish}/helm-cli.fish": "completions/helm-cli.fish",
    }
    assert all((ROOT / name).is_file() for name in found.values())


def test_the_second_name_finds_the_script_beside_it(scripts: dict[str, Path], tmp_path: Path) -> None:
    for shell, name in (("bash", "helm"), ("fish", "helm.fish")):
        other = SHELLS[shell].other
        assert other is not None
        (tmp_path / name).write_text(scripts[shell].read_text())
        (tmp_path / other[0]).write_text(other[1])
        assert completed(shell, tmp_path / other[0], ["helm-cli db sh"], tmp_path) == [{"show", "shell"}]


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", ("bash", "-n")), ("zsh", ("zsh", "-n")), ("fish", ("fish", "--no-execute"))]
)
def test_the_shell_can_read_it(shell: str, check: tuple[str, ...], scripts: dict[str, Path]) -> None:
    assert run([*check, str(scripts[shell])])[:3] == (0, "", "")


def test_bash_needs_nothing_newer_than_macos_has(scripts: dict[str, Path]) -> None:
    assert NEWER.findall(scripts["bash"].read_text()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_no_part_is_left_open(shell: str, scripts: dict[str, Path]) -> None:
    text = scripts[shell].read_text()
    assert not re.search(r"@(programs?|commands|options|places)@", text)
    assert all(line == line.rstrip() for line in text.splitlines())


def tokens(text: str) -> list[str]:
    """The signs of a PowerShell text outside of strings and comments."""
    plain = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"`]|`.)*\"|#[^\n]*", "", text)
    assert not set("'\"") & set(plain)
    return re.findall(r"[(){}\[\]]", plain)


def test_powershell_is_whole(tree: Command, scripts: dict[str, Path]) -> None:
    """No PowerShell reads it here: that its strings and brackets close, and that every command is there, is checked."""
    text = scripts["powershell"].read_text()
    open_: list[str] = []
    for sign in tokens(text):
        if sign in "({[":
            open_.append(sign)
        else:
            assert open_.pop() + sign in ("()", "{}", "[]")
    assert open_ == []
    for command in words.every(tree):
        path = " ".join(command.path)
        assert (f"    $commands['{path}'] = @(" in text) == bool(command.commands)
        assert f"    $options['{path}'] = @(" in text
        for place in words.places(command):
            listed = ", ".join(f"'{word}'" for word in (place.kind.way, *place.kind.words))
            assert f"    $places['{path} {place.key}'] = @({listed})" in text
