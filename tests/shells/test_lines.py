"""Lines of the command line and what the real shells offer at their ends, names of this machine among it."""

import os
from pathlib import Path
from typing import Final

import pytest

from tests.rig.completing import HOSTILE, World
from tests.rig.shells import SHELLS, completed

PROJECT: Final = {"--id", "--workspace", "-q", "--quiet", "-v", "--verbose", "-h", "--help"}
ROLE: Final = {"--anyone", "--output", "-o", "--workspace", "-q", "--quiet", "-v", "--verbose", "-h", "--help"}

# Line -> the words offered. FILES are those of the current folder, FOLDERS those of them that are folders.
FILES: Final = {"my file.json", "my dir", "other.json"}
FOLDERS: Final = {"my dir"}
LINES: Final[dict[str, set[str]]] = {
    "helm d": {"db", "draft", "doctor", "demo"},
    "helm nonsense ": set(),
    "helm db nonsense ": set(),
    "helm-cli db sh": {"show", "shell"},
    "helm -q db sh": {"show", "shell"},
    # Options: each once, but for those that may be repeated; where nothing else can stand; not after two dashes.
    "helm db add x --en": {"--engine"},
    "helm db add x --engine sqlite --en": set(),
    "helm db add x --engine=sqlite --en": set(),
    "helm db list -o json --out": set(),
    "helm db list --output json -o": set(),
    "helm db list -ojson --out": set(),
    "helm call app recent --arg status=1 --arg": {"--arg", "--arg-str", "--args"},
    "helm project add . ": PROJECT,
    "helm project add . --id x ": PROJECT - {"--id"},
    "helm db add ": set(),
    "helm mcp add x -- -": set(),
    # Words that are operators elsewhere.
    **{f"helm '{sign}' ": set() for sign in ("!", "(", "=")},
    **{f"helm call '{sign}' ": set() for sign in ("!", "(", "=", ">", "2>")},
    "helm call app '!' --jo": {"--jobs"},
    # What redirects is no word of helm's.
    "helm call 2>/dev/null ap": {"app"},
    "helm call 2> /dev/null app rec": {"recent"},
    'helm call >"my file" 2>&1 app rec': {"recent"},
    "helm call <x app '>' --output=js": {"json"},
    "helm &>x db >>y sh": {"show", "shell"},
    # Fixed words, in both ways of giving a value.
    "helm db add x --engine ": {"sqlite", "postgres", "mysql"},
    "helm db add x --engine p": {"postgres"},
    "helm db add x --engine=": {"sqlite", "postgres", "mysql"},
    "helm db add x --engine=p": {"postgres"},
    "helm call app recent --output=js": {"json"},
    "helm call app recent -o t": {"table", "tsv", "text"},
    "helm plugin settings acme/marketing ": {"set", "unset"},
    "helm completion ": {"bash", "zsh", "fish", "powershell"},
    "helm history --outcome not_a": {"not_approved", "not_authorized"},
    # Files and folders.
    "helm db add x --path ": FILES,
    "helm db add x --path my": {"my file.json", "my dir"},
    "helm db add x --path my\\ d": {"my dir"},
    "helm db add x --path=my\\ f": {"my file.json"},
    "helm project add ": FOLDERS,
    "helm plugin list --workspace ": FOLDERS,
    "helm plugin list --workspace=m": FOLDERS,
    "helm call app recent --args @o": {"other.json"},
    "helm call app recent --args=@o": {"other.json"},
    "helm call app recent --args o": set(),
    "helm draft add @my\\ f": {"my file.json"},
    "helm mcp add x -- setpri": {"setpriv"},
    "helm mcp add x -- setpriv o": {"other.json"},
    "helm mcp add x --token-env HELM_CLI_HO": {"HELM_CLI_HOME"},
    # Names of this machine.
    "helm db show ": {"local-app", "shop"},
    "helm oauth connect c": {"cal"},
    "helm plugin show --workspace=../else\\ where ": {"other"},
    "helm call --plugin=ac": {"acme/marketing"},
    "helm call --plugin tickets ": {"app", "web", "docs", "notes", "tdt", "files"},
    "helm call app ": {"recent", "every", "close"},
    "helm call app recent --arg ": {"status=", "limit="},
    "helm call app recent --arg=st": {"status="},
    "helm call app recent --arg status=open --arg ": {"limit="},
    "helm confirm ": {"PENDING"},
    "helm draft publish DRAFT --via ": {"send_post"},
    "helm plugin bind acme/marketing ": {"send_post", "count_posts"},
    "helm plugin run acme/marketing --schedule ": {"0 14 * * MON"},
    "helm plugin run acme/marketing --schedule 0\\ 1": {"0 14 * * MON"},
}
# Of quotes that are still open, each shell in its own way tells no more than what goes on.
QUOTED: Final[dict[str, set[str]]] = {
    'helm db add x --path "my d': {"my dir"},
    "helm db add x --path 'my d": {"my dir"},
    'helm call "ap': {"app"},
    'helm plugin run acme/marketing --schedule "0 1': {"0 14 * * MON"},
}


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_offered(shell: str, here: World, scripts: dict[str, Path], tmp_path: Path) -> None:
    for name in ("my file.json", "other.json"):
        (here.workspace / name).touch()
    (here.workspace / "my dir").mkdir(exist_ok=True)

    def filled(text: str) -> str:
        return text.replace("PENDING", here.pending).replace("DRAFT", here.draft)

    lines = {filled(line): {filled(word) for word in found} for line, found in {**LINES, **QUOTED}.items()}
    found = completed(shell, scripts[shell], list(lines), tmp_path)
    assert dict(zip(lines, found, strict=True)) == lines
    assert not list(here.workspace.glob("evil"))


@pytest.mark.parametrize("shell", SHELLS)
def test_names_with_signs_of_a_shell_are_offered_as_they_are(
    shell: str, here: World, scripts: dict[str, Path], tmp_path: Path
) -> None:
    assert completed(shell, scripts[shell], ["helm call all "], tmp_path) == [{*HOSTILE}]
    assert not list(here.workspace.glob("evil"))


def test_bash_offers_nothing_that_would_bring_back_a_line(
    here: World, scripts: dict[str, Path], tmp_path: Path
) -> None:
    assert completed("bash", scripts["bash"], ['helm call h1 "', "helm call h1 '"], tmp_path) == [set(), {"!!"}]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_typed_is_not_evaluated(shell: str, here: World, scripts: dict[str, Path], tmp_path: Path) -> None:
    evil = ("$(touch evil)", "`touch evil`", "(touch evil)", '"$(touch evil)"')
    lines = [
        line
        for word in evil
        for line in (
            f"helm call {word}",
            f"helm call {word} ",
            f"helm {word} ",
            f"helm plugin show --workspace {word} ",
        )
    ]
    lines += [f"helm db add x --path={word}" for word in evil]
    completed(shell, scripts[shell], lines, tmp_path)
    assert not list(here.workspace.glob("evil*"))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_program_that_is_typed_is_asked(
    shell: str, here: World, scripts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by its path, where there is no helm on the PATH."""
    own, *others = os.environ["PATH"].split(":")
    left = [folder for folder in others if not os.path.exists(os.path.join(folder, "helm"))]
    monkeypatch.setenv("PATH", ":".join(left))
    (Path(os.environ["HOME"]) / "bin").symlink_to(own)
    lines = [f"{own}/helm db show ", "~/bin/helm db show ", "helm db show "]
    assert completed(shell, scripts[shell], lines, tmp_path) == [{"local-app", "shop"}, {"local-app", "shop"}, set()]


@pytest.mark.parametrize("shell", SHELLS)
def test_no_program_is_no_names(
    shell: str, here: World, scripts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where `helm` is the program of another, that says something else, fails or waits for its input."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "helm").write_text("#!/bin/sh\ncat\necho Error: unknown flag: --complete >&2\nexit 1\n")
    (other / "helm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    lines = ["helm db show ", "helm db add x --engine "]
    assert completed(shell, scripts[shell], lines, tmp_path) == [set(), {"sqlite", "postgres", "mysql"}]
