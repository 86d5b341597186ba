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
        ("tcsh", "helm completion takes bash, zsh, fish or powershell"),
        ("bash --install --uninstall", "--install and --uninstall exclude each other; give one of them"),
        ("bash --uninstall --force", "--force goes with --install: what is not helm's is never removed"),
        ("bash --force", "--force goes with --install: what is printed replaces nothing"),
    ],
)
def test_what_cannot_be_is_told(helm: Helm, words: str, message: str) -> None:
    assert helm("completion", *words.split()) == Finished(2, "", f"helm: {message}\n")


STEPS: Final = {
    "bash": "a new bash has it by the package bash-completion; without that, put this into ~/.bashrc: "
    "source {0}; source {1}",
    "zsh": "put this into ~/.zshrc: fpath=({folder} $fpath); autoload -U compinit && compinit",
    "fish": "fish has it at the next Tab",
}


@pytest.mark.parametrize("shell", OURS)
def test_it_installs_for_the_user(helm: Helm, shell: str) -> None:
    files = [own() / name for name in OURS[shell]]
    step = STEPS[shell].format(*files, folder=files[0].parent)
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


@pytest.mark.parametrize("shell", OURS)
def test_what_was_installed_is_removed_and_nothing_else(helm: Helm, shell: str) -> None:
    files = [own() / name for name in OURS[shell]]
    none = Finished(0, "", f"helm: nothing to do: there is no completion of helm's for {shell}\n")
    assert helm("completion", shell, "--uninstall") == none
    assert helm("completion", shell, "--install").status == 0
    beside = files[0].with_name("another")
    beside.write_text("theirs")
    (files[0].parent / f".{files[0].name}.0123abcd").write_bytes(files[0].read_bytes()[:2000])
    ended = helm("completion", shell, "--uninstall")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.startswith(f"helm: removed {' and '.join(map(str, files))}")
    assert [*files[0].parent.iterdir()] == [beside]
    assert helm("completion", shell, "--uninstall") == none
    # What is another's stays, also where it is but a link to what is ours.
    assert helm("completion", shell, "--install").status == 0
    ours = files[0].rename(files[0].with_name("ours"))
    files[0].symlink_to(ours)
    ended = helm("completion", shell, "--uninstall")
    assert ended.err.startswith(f"helm: {files[0]} was not written by helm, so it stays\n")
    assert (files[0].is_symlink(), ours.exists(), [file.exists() for file in files[1:]]) == (
        True,
        True,
        [False] * (len(files) - 1),
    )


def test_it_is_removed_from_where_it_once_was_put(helm: Helm) -> None:
    """For zsh there are two folders, and a second name where helm was another program."""
    assert helm("completion", "zsh", "--install").status == 0
    (own() / ".zfunc").mkdir()
    assert helm("completion", "zsh", "--install").status == 0
    (own() / ".zfunc" / "_helm").rename(own() / ".zfunc" / "_helm-cli")
    assert helm("completion", "zsh", "--uninstall").err.count("/_helm") == 2
    assert not [*(own() / ".zfunc").iterdir(), *(own() / OURS["zsh"][0]).parent.iterdir()]
    told = helm("completion", "powershell", "--uninstall")
    assert (told.status, told.out, told.err.count("$PROFILE")) == (0, "", 1)


def test_folders_of_the_user_are_honoured(helm: Helm, tmp_path: Path) -> None:
    data, config, settings = (tmp_path / name for name in ("my data", "config", "settings"))
    (settings / ".zfunc").mkdir(parents=True)
    env = {"XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(config)}
    told = helm("completion", "bash", "--install", env=env)
    lines = (f"source '{data}/bash-completion/completions/{name}'" for name in ("helm", "helm-cli"))
    assert told.err.endswith(f": {'; '.join(lines)}\n")
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


def test_a_home_that_is_empty_is_none(helm: Helm) -> None:
    told = "helm: your home folder is not known: HOME is no absolute path; print the script instead\n"
    for shell in OURS:
        for way in ("--install", "--uninstall"):
            assert helm("completion", shell, way, env={"HOME": ""}) == Finished(2, "", told)


@pytest.mark.parametrize(
    ("shell", "variable", "value"),
    [
        *(("bash", "BASH_COMPLETION_USER_DIR", value) for value in ("rel", "~/bc", ":", "::rel:~/bc", "")),
        *(("bash", "XDG_DATA_HOME", value) for value in ("rel", "~/data", "")),
        *(("zsh", variable, value) for variable in ("ZDOTDIR", "XDG_DATA_HOME") for value in ("rel", "~/z", "")),
        *(("fish", "XDG_CONFIG_HOME", value) for value in ("rel", "~/config", "")),
    ],
)
def test_what_is_no_absolute_path_names_no_place(
    helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, variable: str, value: str
) -> None:
    """A shell reads some of these below the folder that it is in; nothing is ever written there."""
    here = tmp_path / "here"
    (here / "rel" / ".zfunc").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert helm("completion", shell, "--install", env={variable: value}).status == 0
    assert all((own() / name).is_file() for name in OURS[shell])
    assert sorted(str(path.relative_to(here)) for path in here.rglob("*")) == ["rel", "rel/.zfunc"]


def test_of_a_list_of_places_the_first_that_is_one_counts(helm: Helm, tmp_path: Path) -> None:
    env = {"BASH_COMPLETION_USER_DIR": f":rel:{tmp_path}/first:{tmp_path}/second"}
    assert helm("completion", "bash", "--install", env=env).status == 0
    assert sorted(path.name for path in tmp_path.glob("*/completions/*")) == ["helm", "helm-cli"]
    assert (tmp_path / "first" / "completions" / "helm").is_file()


@pytest.mark.parametrize("way", ["--install", "--uninstall"])
def test_beside_the_file_only_what_is_ours_is_taken_away(helm: Helm, tmp_path: Path, way: str) -> None:
    """What a run that was killed left; a FIFO, whatever it is called, holds nobody up."""
    file = own() / OURS["fish"][0]
    assert helm("completion", "fish", "--install").status == 0
    text = file.read_bytes()
    file.write_bytes(text + b"# older\n")
    left = [file.with_name(f".helm.fish.{at * 8}") for at in "012345"]
    left[0].write_bytes(text[:2000])
    left[1].write_bytes(b"theirs")
    left[2].symlink_to(tmp_path / "target")
    (tmp_path / "target").write_bytes(text)
    left[3].mkdir()
    # Nobody loses anything with an empty one.
    left[4].touch()
    os.mkfifo(left[5])
    assert helm("completion", "fish", way).status == 0
    assert [os.path.lexists(path) for path in left] == [False, True, True, True, False, True]
    assert left[1].read_bytes() == b"theirs"
    assert (tmp_path / "target").read_bytes() == text


def test_a_fifo_in_the_place_of_the_file_is_anothers(helm: Helm) -> None:
    file = own() / OURS["fish"][0]
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    told = f"helm: {file} was not written by helm; move it away, or replace it with --force\n"
    assert helm("completion", "fish", "--install") == Finished(3, "", told)
    assert helm("completion", "fish", "--install", "--force").status == 0
    assert b"helm completion" in file.read_bytes()


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
    # Without the package bash-completion, the line that was told is all there is.
    line = helm("completion", "bash", "--install").err.rstrip("\n").partition("~/.bashrc: ")[2]
    known = run(["bash", "--norc", "-c", f"{line}; complete -p helm helm-cli"]).out
    assert known == "".join(f"complete -o nospace -F _helm_cli {name}\n" for name in ("helm", "helm-cli"))
    told = helm("completion", "zsh", "--install").err.rstrip("\n").partition("~/.zshrc: ")[2]
    (tmp_path / ".zshrc").write_text(f"{told}\n")
    ended = run(["zsh", "-ic", "print $_comps[helm] $_comps[helm-cli]"], env={"ZDOTDIR": str(tmp_path)})
    assert ended.out == "_helm _helm\n"
    (own() / ".zshrc").write_text("autoload -U compinit && compinit\n")
    told = helm("completion", "zsh", "--install").err
    assert told.endswith(
        f"into ~/.zshrc before compinit: fpath=({own() / OURS['zsh'][0]}(:h) $fpath)\n".replace("/_helm(:h)", "")
    )
    loading = tmp_path / "loading"
    loading.write_text(f"fpath=({own() / OURS['zsh'][0]}(:h) $fpath); autoload -Uz compinit && compinit -u -D\n")
    zsh = completed("zsh", loading, ["helm db a", "helm-cli agent st", "helm db a"], tmp_path)
    assert zsh == [{"add"}, {"start", "status", "stop"}, {"add"}]
