"""`helm completion`: what it prints stands in `completions/`, and what it installs is found by the shells."""

import os
from pathlib import Path
from typing import Final

import pytest

from helm_cli.shells import SHELLS
from tests.program import ROOT, Finished, Helm, run
from tests.rig.shells import completed

OURS: Final = {
    "bash": (".local/share/bash-completion/completions/helm", ".local/share/bash-completion/completions/helm-cli"),
    "zsh": (".local/share/zsh/site-functions/_helm",),
    "fish": (".config/fish/completions/helm.fish", ".config/fish/completions/helm-cli.fish"),
}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No helm on the PATH: not the one of the environment that the tests run in."""
    folders = [folder for folder in os.environ["PATH"].split(":") if not os.path.exists(os.path.join(folder, "helm"))]
    monkeypatch.setenv("PATH", ":".join(folders))


def own() -> Path:
    return Path(os.environ["HOME"])


@pytest.mark.parametrize("shell", SHELLS)
def test_it_prints_the_script(helm: Helm, shell: str) -> None:
    assert helm("completion", shell) == Finished(0, (ROOT / "completions" / SHELLS[shell].file).read_text(), "")


@pytest.mark.parametrize(
    ("words", "login", "message"),
    [
        ("", "/usr/bin/fish", "; yours seems to be fish: helm completion fish --install"),
        ("", "/opt/pwsh", "; yours seems to be powershell: helm completion powershell --install"),
        ("--install", "/bin/sh", ""),
    ],
)
def test_without_a_shell_it_names_them(helm: Helm, words: str, login: str, message: str) -> None:
    told = f"helm: name a shell: bash, zsh, fish or powershell{message}\n"
    assert helm("completion", *words.split(), env={"SHELL": login}) == Finished(2, "", told)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tcsh", "there is no completion for tcsh; take bash, zsh, fish or powershell"),
        ("bash --force", "--force goes with --install: what is printed replaces nothing"),
    ],
)
def test_what_cannot_be_is_told(helm: Helm, words: str, message: str) -> None:
    assert helm("completion", *words.split()) == Finished(2, "", f"helm: {message}\n")


STEPS: Final = {
    "bash": "a new bash has it by the package bash-completion; without that, put this into ~/.bashrc: source {0}",
    "zsh": "unless zsh knows that folder, put this into ~/.zshrc before compinit: fpath=({folder} $fpath)",
    "fish": "fish has it at the next Tab",
}


@pytest.mark.parametrize("shell", OURS)
def test_it_installs_for_the_user(helm: Helm, shell: str) -> None:
    files = [own() / name for name in OURS[shell]]
    step = STEPS[shell].format(files[0], folder=files[0].parent)
    names = " and ".join(map(str, files))
    assert helm("completion", shell, "--install") == Finished(0, "", f"helm: wrote {names}; {step}\n")
    texts = [file.read_bytes() for file in files]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o644] * len(files)
    times = [file.stat().st_mtime_ns for file in files]
    again = f"helm: nothing to do: there already is {names}; {step}\n"
    assert helm("completion", shell, "--install") == Finished(0, "", again)
    assert [file.stat().st_mtime_ns for file in files] == times
    # What an older helm wrote is ours too.
    files[0].write_bytes(texts[0] + b"# older\n")
    assert helm("completion", shell, "--install", "-q") == Finished(0, "", "")
    assert [file.read_bytes() for file in files] == texts
    assert sorted(path.name for path in files[0].parent.iterdir()) == sorted(file.name for file in files)
    assert not (own() / ".helm").exists()


@pytest.mark.parametrize("shell", OURS)
@pytest.mark.parametrize("way", ["content", "link", "folder"])
def test_what_is_anothers_is_left_alone(helm: Helm, tmp_path: Path, shell: str, way: str) -> None:
    file = own() / OURS[shell][-1]
    file.parent.mkdir(parents=True)
    target = tmp_path / "target"
    target.write_text("theirs")
    if way == "content":
        file.write_text("theirs")
    elif way == "link":
        file.symlink_to(target)
    else:
        file.mkdir()
    told = f"helm: {file} was not written by helm; move it away, or replace it with --force\n"
    assert helm("completion", shell, "--install") == Finished(3, "", told)
    # Nothing of the two is written where one cannot be.
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    forced = helm("completion", shell, "--install", "--force")
    if way == "folder":
        assert forced.status == 1
        assert forced.err == f"helm: {file} cannot be written (is a directory); print the script instead\n"
    else:
        assert forced.status == 0
        assert not file.is_symlink()
        assert b"helm completion" in file.read_bytes()
    assert target.read_text() == "theirs"


def test_folders_of_the_user_are_honoured(helm: Helm, tmp_path: Path) -> None:
    data, config, settings = (tmp_path / name for name in ("my data", "config", "settings"))
    (settings / ".zfunc").mkdir(parents=True)
    env = {"XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(config)}
    told = helm("completion", "bash", "--install", env=env)
    assert f"source '{data}/bash-completion/completions/helm'\n" in told.err
    assert (data / "bash-completion" / "completions" / "helm").is_file()
    assert helm("completion", "fish", "--install", env=env).status == 0
    assert (config / "fish" / "completions" / "helm.fish").is_file()
    assert helm("completion", "zsh", "--install", env=env).status == 0
    assert (data / "zsh" / "site-functions" / "_helm").is_file()
    folder = str(settings / ".zfunc")
    told = helm("completion", "zsh", "--install", env={"ZDOTDIR": str(settings), "FPATH": f"/x:{folder}"})
    assert told.err == f"helm: wrote {folder}/_helm; a new zsh has it\n"
    assert helm("completion", "bash", "--install", env={"BASH_COMPLETION_USER_DIR": str(tmp_path)}).status == 0
    assert (tmp_path / "completions" / "helm-cli").is_file()


def test_powershell_is_told_the_line(helm: Helm) -> None:
    told = helm("completion", "powershell", "--install")
    assert told.out == "helm completion powershell | Out-String | Invoke-Expression\n"
    assert (told.status, told.err.count("$PROFILE")) == (0, 1)


def test_a_disk_that_cannot_be_written(helm: Helm) -> None:
    (own() / ".config").write_text("")
    told = "completions/helm.fish cannot be written (not a directory); print the script instead\n"
    ended = helm("completion", "fish", "--install")
    assert (ended.status, ended.out, ended.err) == (1, "", f"helm: {own()}/.config/fish/{told}")


def test_no_home_is_told(helm: Helm) -> None:
    told = "helm: your home folder is not known: HOME is no absolute path; print the script instead\n"
    assert helm("completion", "fish", "--install", env={"HOME": "nowhere"}) == Finished(2, "", told)


def test_another_helm_keeps_its_name(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that has the Kubernetes tool too, only `helm-cli` is completed by us."""
    for folder, name in (("theirs", "helm"), ("ours", "helm-cli")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("#!/bin/sh\n")
        (tmp_path / folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/theirs:{tmp_path}/ours:{os.environ['PATH']}")
    assert helm("completion", "bash").out.endswith("\ncomplete -o nospace -F _helm_cli helm-cli\n")
    assert helm("completion", "zsh").out.startswith("#compdef helm-cli\n")
    for shell, files in OURS.items():
        assert helm("completion", shell, "--install").status == 0
        there = [path.name for path in (own() / files[0]).parent.iterdir()]
        assert there == {"bash": ["helm-cli"], "zsh": ["_helm-cli"], "fish": ["helm-cli.fish"]}[shell]
    (tmp_path / "ours" / "helm").symlink_to("helm-cli")
    monkeypatch.setenv("PATH", f"{tmp_path}/ours:{os.environ['PATH']}")
    assert helm("completion", "zsh").out.startswith("#compdef helm helm-cli\n")


def test_installed_it_is_found(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By fish in its folder, by zsh in a folder of its fpath, by bash with the line that was told."""
    # Of a command that is not there fish completes nothing.
    for name in ("helm", "helm-cli"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for shell in OURS:
        assert helm("completion", shell, "--install").status == 0
    ended = run(["fish", "-c", "complete -C 'helm db a'; complete -C 'helm-cli agent st'"])
    assert [line.partition("\t")[0] for line in ended.out.splitlines()] == ["add", "start", "status", "stop"]
    bash = own() / OURS["bash"][0]
    assert completed("bash", bash, ["helm db a"], tmp_path) == [{"add"}]
    loading = tmp_path / "loading"
    loading.write_text(f"fpath=({own() / OURS['zsh'][0]}(:h) $fpath); autoload -Uz compinit && compinit -u -D\n")
    zsh = completed("zsh", loading, ["helm db a", "helm-cli agent st", "helm db a"], tmp_path)
    assert zsh == [{"add"}, {"start", "status", "stop"}, {"add"}]
