"""`helm doctor` as a program: what it says and where, what it ends with, and that it changes nothing."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest

from helm_cli import __version__
from helm_cli.store.schema import STEPS
from tests.program import Helm
from tests.rig import agents, doctor
from tests.rig.breakages import BREAKAGES, OF_AGENT
from tests.rig.doctor import SURROUNDINGS, Clinic
from tests.rig.terminal import at_terminal

NEWEST: Final = len(STEPS)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which all is well, for copies."""
    place = tmp_path_factory.mktemp("sound")
    doctor.well(place)
    return place


@pytest.fixture
def clinic(helm: Helm, sound: Path, tmp_path: Path) -> Clinic:
    return Clinic(helm, doctor.copied(sound, tmp_path), sound / "workspace")


def test_where_all_is_well_it_says_so(clinic: Clinic) -> None:
    done = clinic.run("--offline", "-o", "json")
    assert (done.status, done.err, done.json["ok"]) == (0, "", True)
    free = next(check.pop("message") for check in done.json["checks"] if check["name"] == "space")
    assert free.endswith(" GiB are free")
    system = os.uname()
    python = ".".join(map(str, sys.version_info[:3]))
    nobody = (
        "nobody can be asked here, for standard error is not a terminal; writes and approvals wait for helm confirm"
    )
    told = [
        ("helm", "version", f"helm {__version__}, Python {python} on {system.sysname} {system.machine}"),
        ("helm", "program", f"helm in PATH is this one, {Path(sys.executable).parent}/helm"),
        ("home", "folder", f"{clinic.home} is yours alone (mode 0700)"),
        ("home", "files", "11 files, your own and closed to other users"),
        ("home", "config.toml", "all is as usual"),
        ("home", "space", None),
        ("state", "state.db", f"sound (form {NEWEST})"),
        ("secrets", "store", "new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)"),
        ("secrets", "credentials.json", "2 secrets, closed to other users"),
        ("terminal", "person", f"{nobody} in a terminal"),
        ("terminal", "text", "the locale is UTF-8"),
        ("agent", "agent", "none runs; calls work the same without it"),
        ("workspace", "waiting", "nothing waits for a person"),
        ("workspace", "folder", f"{clinic.workspace} (registered by a review)"),
        ("workspace", "tickets", "approved and unchanged, 3 operations"),
        ("profiles", "db/local-app", "sound; not tried"),
        ("profiles", "service/s", "sound, its secret in the file; not tried"),
        ("profiles", "mcp/m", "sound, its secret in the file; not tried"),
    ]
    checks = json.loads(done.out)["checks"]
    for check in checks:
        if check["name"] == "space":
            check["message"] = None
    assert checks == [
        {"area": area, "name": name, "status": "ok", "message": message, "next": None} for area, name, message in told
    ]
    assert clinic.look("--offline") == (0, [], "")


def test_a_home_that_is_not_there_is_well_and_stays_away(helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    found = Clinic(helm, tmp_path / "no" / "such" / "home", tmp_path / "here")
    assert helm("doctor", env={"HELM_CLI_HOME": str(found.home)}).status == 0
    lines = helm("doctor", env={**SURROUNDINGS, "HELM_CLI_HOME": str(found.home)}, cwd=found.workspace).out.splitlines()
    assert [line for line in lines if line.partition(": ")[2].startswith(("home", "state", "secrets", "profiles"))] == [
        f"ok: home: folder: {found.home} is made when it is first needed",
        "ok: home: config.toml: all is as usual",
        next(line for line in lines if line.startswith("ok: home: space: ")),
        "ok: state: state.db: there is none yet; it is made when it is first needed",
        "ok: secrets: store: new secrets go to credentials.json (HELM_CLI_CREDENTIALS is file)",
        "ok: profiles: profiles: there are none yet",
    ]
    assert not (tmp_path / "no").exists()


# What is done to a home -> the exit status and the last line, if any (`tests/broker/test_health_homes.py` has all).
SHOWN: Final[dict[str, tuple[int, str]]] = {
    "an open home": (0, ""),
    "a state that is none": (1, "1 problem: state.db; 4 warnings"),
    "no secrets at all": (0, ""),
    "secrets that are none": (1, "3 problems: credentials.json, service/s, mcp/m"),
    "a file as home": (1, "1 problem: folder"),
    "the socket of an agent that was killed": (0, ""),
    "a socket that is open to others": (0, ""),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_broken_home_is_told_and_left_as_it_is(clinic: Clinic, name: str) -> None:
    act, lines = {**BREAKAGES, **OF_AGENT}[name]
    act(clinic.home)
    found = clinic.look("--offline")
    status, last = SHOWN[name]
    assert (found.lines, found.last, found.status) == (lines, last, status)


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_folder_the_rest_is_still_told(helm: Helm, home: str) -> None:
    done = helm("doctor", "-o", "json", env={**SURROUNDINGS, "HOME": home, "HELM_CLI_HOME": None})
    told = [(check["area"], check["status"], check["next"]) for check in done.json["checks"]]
    assert told == [
        ("helm", "ok", None),
        ("helm", "ok", None),
        ("home", "broken", "export HELM_CLI_HOME=FOLDER"),
        ("terminal", "ok", None),
        ("terminal", "ok", None),
    ]
    assert (done.status, done.json["ok"]) == (1, False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "csv"), "helm: -o takes auto or json\n"),
        (("--workspace", "nowhere"), "helm: the workspace nowhere is not a folder; name one that exists\n"),
    ],
)
def test_what_cannot_be_asked_for_is_a_usage_error(clinic: Clinic, words: tuple[str, ...], told: str) -> None:
    done = clinic.run(*words)
    assert (done.status, done.out, done.err) == (2, "", told)
    assert clinic.run("--timeout", "0").status == 2


class TestPrograms:
    """Which `helm` is first in PATH."""

    def program(self, clinic: Clinic, folder: Path) -> tuple[str, str | None]:
        env = {"PATH": str(folder), "HELM_CLI_HOME": str(clinic.home)}
        done = clinic.helm("doctor", "--offline", "-o", "json", env=env)
        found = next(check for check in done.json["checks"] if check["name"] == "program")
        assert found["status"] == ("ok" if found["next"] is None else "warning")
        return found["message"], found["next"]

    def put(self, path: Path, content: str) -> None:
        path.write_text(content)
        path.chmod(0o755)

    def test_none(self, clinic: Clinic, tmp_path: Path) -> None:
        told = "there is no helm in PATH, so scripts and MCP clients do not find it by that name"
        step = f'export PATH={Path(sys.executable).parent}:"$PATH"'
        assert self.program(clinic, tmp_path) == (told, step)

    def test_the_kubernetes_tool(self, clinic: Clinic, tmp_path: Path) -> None:
        self.put(tmp_path / "helm", "\x7fELF")
        told = f"helm in PATH is another program, {tmp_path}/helm (the Kubernetes tool has this name)"
        own = Path(sys.executable).parent / "helm-cli"
        assert self.program(clinic, tmp_path) == (f"{told}; call this one helm-cli", f"{own} doctor")
        (tmp_path / "helm-cli").symlink_to(own)
        assert self.program(clinic, tmp_path) == (f"{told}; call this one helm-cli", "helm-cli doctor")

    def test_another_installation(self, clinic: Clinic, tmp_path: Path) -> None:
        self.put(tmp_path / "helm", "#!/opt/other/bin/python\nfrom helm_cli.__main__ import entry\n")
        told = f"helm in PATH is another installation of this program, {tmp_path}/helm"
        assert self.program(clinic, tmp_path) == (told, f"{tmp_path}/helm --version")

    def test_this_one_by_a_link_or_from_elsewhere(self, clinic: Clinic, tmp_path: Path) -> None:
        (tmp_path / "helm").symlink_to(Path(sys.executable).parent / "helm")
        assert self.program(clinic, tmp_path) == (f"helm in PATH is this one, {tmp_path}/helm", None)
        (tmp_path / "helm").unlink()
        self.put(tmp_path / "helm", f"#!{sys.executable}\nfrom helm_cli.__main__ import entry\n")
        assert self.program(clinic, tmp_path) == (f"helm in PATH is this one, {tmp_path}/helm", None)


def shown(clinic: Clinic, *words: str, size: tuple[int, int] = (100, 60), **env: str | None) -> tuple[int, list[str]]:
    """What a person sees at a terminal of this size, with names in the place of what differs from test to test."""
    told = {**SURROUNDINGS, "HELM_CLI_HOME": str(clinic.home), **env}
    words = (sys.executable, "-m", "helm_cli", "doctor", "--offline", "--workspace", str(clinic.workspace), *words)
    with at_terminal(*words, env=told, size=size) as screen:
        return screen.status(), screen.screen()


def test_a_person_sees_it_grouped_and_aligned(clinic: Clinic) -> None:
    (clinic.home / "state.db").chmod(0o644)
    status, lines = shown(clinic, size=(200, 60))
    at = lines.index("home")
    assert lines[at : at + 5] == [
        "home",
        f"  ok             folder            {clinic.home} is yours alone (mode 0700)",
        "  warning        files             state.db is open to other users",
        f"                 next: chmod -R go-rwx {clinic.home}",
        "  ok             config.toml       all is as usual",
    ]
    assert lines[lines.index("profiles") - 1 :][:4] == [
        "",
        "profiles",
        "  ok             db/local-app      sound; not tried",
        "  ok             service/s         sound, its secret in the file; not tried",
    ]
    assert lines[-2] == ""
    assert lines[-1].startswith("all is well; ")
    assert status == 0


@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(clinic: Clinic, width: int) -> None:
    (clinic.home / "credentials.json").chmod(0o644)
    status, lines = shown(clinic, size=(500, 90), COLUMNS=str(width))
    assert status == 0
    assert width - 20 < max(len(line) for line in lines if "next: " not in line) <= width
    told = " ".join(" ".join(lines).split())
    assert "not tried, for its secret is in credentials.json, which is open to other users" in told


def test_colours_are_left_out_where_nobody_wants_them(clinic: Clinic) -> None:
    for no_color, there in (("1", False), (None, True)):
        told = {**SURROUNDINGS, "HELM_CLI_HOME": str(clinic.home), "NO_COLOR": no_color}
        words = (sys.executable, "-m", "helm_cli", "doctor", "--offline", "--workspace", str(clinic.workspace))
        with at_terminal(*words, env=told) as screen:
            assert screen.status() == 0
            assert (b"\x1b[32mok" in screen.raw) is there


@pytest.mark.parametrize(
    ("env", "told", "step"),
    [
        ({"TERM": "dumb"}, "TERM is dumb", "export TERM=xterm-256color"),
        ({"TERM": None}, "TERM is not set", "export TERM=xterm-256color"),
        ({"HELM_CLI_NO_INPUT": "1"}, "HELM_CLI_NO_INPUT is set", "unset HELM_CLI_NO_INPUT"),
    ],
)
def test_what_keeps_a_person_from_being_asked_is_told(
    clinic: Clinic, env: dict[str, str | None], told: str, step: str
) -> None:
    _, lines = shown(clinic, "-o", "json", size=(4000, 60), **env)
    found = {check["name"]: check for check in json.loads("".join(lines))["checks"]}
    assert found["person"] == {
        "area": "terminal",
        "name": "person",
        "status": "warning",
        "message": f"nobody can be asked here, for {told}; writes and approvals wait for helm confirm",
        "next": step,
    }


def test_a_narrow_terminal_and_another_locale_are_told(clinic: Clinic) -> None:
    _, lines = shown(clinic, size=(40, 200), LC_ALL="POSIX")
    told = "".join("".join(lines).split())
    assert "displayitis40columnswide,andwhathelmshowsismadefor60andmorenext:makethewindowwider" in told
    assert "thelocaleisANSI_X3.4-1968,andhelmwritesUTF-8next:exportLC_ALL=C.UTF-8" in told


def test_an_agent_is_told_of(clinic: Clinic, home: Path) -> None:
    shutil.copytree(clinic.home, home)
    there = clinic._replace(home=home)
    with agents.agent(clinic.helm, home, {**SURROUNDINGS, "HELM_CLI_HOME": str(home)}) as agent:
        done = there.helm("doctor", "--offline", cwd=there.workspace, env=SURROUNDINGS)
        line = next(line for line in done.out.splitlines() if ": agent: " in line)
        assert line.startswith(f"ok: agent: agent: process {agent.pid} runs, idle for ")
        other = there.look("--offline", env={"HTTPS_PROXY": "http://127.0.0.1:1"})
        told = "but was started with another HTTPS_PROXY (next: helm agent stop && helm agent start)"
        assert [line.partition(" s, ")[2] for line in other.lines] == [told]
        agent.pause()
        found = there.look("--offline")
        told = f"the background agent (process {agent.pid}) does not answer here"
        line = f"not reachable: agent: agent: {told} (next: helm agent stop)"
        assert found == (10, [line], "1 problem: agent")
        agent.resume()
