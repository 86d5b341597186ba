"""Projects: registered by a person or by TDT, listed with where they come from, available or missing."""

import hashlib
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.store import database, person
from tests.program import Helm, environment
from tests.rig import peers
from tests.rig.terminal import at_terminal


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "workspace"
    where.mkdir()
    monkeypatch.chdir(where)
    return where


def listed(helm: Helm) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = helm("project", "list", "-o", "json").json
    return found


@pytest.mark.contract("C78")
def test_a_project_is_added_listed_shown_and_removed(workspace: Path, helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "My Site (2)").mkdir()
    os.symlink("My Site (2)", tmp_path / "link")
    real = str(tmp_path / "My Site (2)")
    ended = helm("project", "add", str(tmp_path / "link"))
    assert (ended.status, ended.out) == (0, "")
    told = f"helm: {real} is the project my-site-2 of the workspace {workspace} (the current folder)\n"
    assert ended.err == told
    assert helm("project", "add", "../link", "--id", "my-site-2").err == told
    assert helm("project", "add", ".", "--id", "own").status == 0
    site = {"id": "my-site-2", "path": real, "state": "available", "source": "helm"}
    own = {"id": "own", "path": str(workspace), "state": "available", "source": "helm"}
    assert listed(helm) == [site, own]
    assert helm("project", "list").out == f"my-site-2\t{real}\tavailable\thelm\nown\t{workspace}\tavailable\thelm\n"
    assert helm("project", "show", "own", "-o", "json").json == own
    assert helm("project", "show", "own").out == f"id      own\npath    {workspace}\nstate   available\nsource  helm\n"
    os.rename(real, tmp_path / "moved")
    assert listed(helm)[0] == {**site, "state": "missing"}
    assert (
        helm("project", "remove", "my-site-2").err == "helm: forgot the project my-site-2; its folder is left alone\n"
    )
    assert listed(helm) == [own]
    assert helm("project", "remove", "my-site-2").status == 2
    assert (tmp_path / "moved").is_dir()


def test_projects_belong_to_their_workspace(workspace: Path, helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert helm("project", "add", ".", "--workspace", str(tmp_path / "other")).status == 0
    assert listed(helm) == []
    assert [one["id"] for one in helm("project", "list", "-o", "json", cwd=tmp_path / "other").json] == ["workspace"]


def test_outside_the_workspace_it_takes_a_person_once_one_has_answered(
    workspace: Path, helm: Helm, tmp_path: Path, home: Path
) -> None:
    for name in ("fresh", "later", "linked", "workspace/inside"):
        (tmp_path / name).mkdir()
    os.symlink("../linked", workspace / "way")
    assert helm("project", "add", "../fresh").status == 0
    with closing(database.open_state(home)) as db:
        person.mark(db)
    for path in ("../later", "way"):
        ended = helm("project", "add", path)
        told = (
            "helm: a project outside the workspace widens what approved extensions may reach, so adding it needs a"
            " person at the terminal; run it in one\n"
        )
        assert (ended.status, ended.err) == (7, told)
    assert helm("project", "add", "inside").status == 0
    assert helm("project", "add", "../fresh").status == 0
    assert [one["id"] for one in listed(helm)] == ["fresh", "inside"]
    with at_terminal(sys.executable, "-m", "helm_cli", "project", "add", "../later") as screen:
        assert screen.status() == 0
    assert [one["id"] for one in listed(helm)] == ["fresh", "inside", "later"]


def test_helm_s_own_home_is_no_project(workspace: Path, helm: Helm, home: Path) -> None:
    assert helm("project", "add", ".").status == 0
    for path in (home, home / "writes"):
        path.mkdir(exist_ok=True)
        ended = helm("project", "add", str(path), "--id", "own")
        assert (ended.status, "is in helm's own home, which nothing gets into" in ended.err) == (2, True)
    (workspace / ".tdt" / "state").mkdir(parents=True)
    id_ = hashlib.sha256(str(home).encode()).hexdigest()
    (workspace / ".tdt" / "state" / "projects.json").write_text(json.dumps([{"id": id_, "path": str(home)}]))
    # Without TDT's own mark, its registry is any file.
    assert [one["source"] for one in listed(helm)] == ["helm"]
    (workspace / ".tdt" / "config.json").write_text("{}")
    assert [(one["source"], one["state"]) for one in listed(helm)] == [("helm", "available"), ("tdt", "private")]


@pytest.mark.contract("C78")
def test_the_projects_that_tdt_has_registered(workspace: Path, helm: Helm, tmp_path: Path) -> None:
    tdt = peers.program("tdt")

    def run(*words: str) -> str:
        done = subprocess.run([tdt, *words], env=environment({}), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
        return done.stdout

    for name in ("outer", "archived"):
        (tmp_path / name).mkdir()
    run("init", "--agent", "none", str(workspace))
    run("project", "add", str(tmp_path / "outer"))
    run("project", "add", str(tmp_path / "archived"))
    registry = workspace / ".tdt" / "state" / "projects.json"
    entries = json.loads(registry.read_text())
    next(entry for entry in entries if entry["path"].endswith("archived"))["status"] = "archived"
    registry.write_text(json.dumps(entries))
    ids = {name: hashlib.sha256(str(tmp_path / name).encode()).hexdigest() for name in ("outer", "archived")}
    assert helm("project", "add", str(tmp_path / "outer"), "--id", "own").status == 0
    assert [(one["id"], one["state"], one["source"]) for one in listed(helm)] == [
        ("own", "available", "helm"),
        (ids["outer"], "available", "tdt"),
        (ids["archived"], "archived", "tdt"),
    ]
    assert "is TDT's" in helm("project", "remove", ids["outer"]).err
    (tmp_path / "outer" / "a.md").write_text("hi")
    extension = workspace / "work" / "notes-extension"
    extension.mkdir(parents=True)
    connection = {"id": "site", "kind": "files", "root": "project", "paths": ["**"], "operations": ["list"]}
    (extension / "manifest.json").write_text(json.dumps({"id": "notes", "connections": [connection]}))
    digest = helm("plugin", "review", str(extension), "-o", "json").json["digest"]
    assert helm("plugin", "review", str(extension), "--approve", digest).status == 0
    call = ("call", "site", "list", "--arg-str")
    assert helm(*call, f"project={ids['outer']}").json["data"]["files"] == [{"path": "a.md", "size": 2}]
    archived = helm(*call, f"project={ids['archived']}")
    assert (archived.status, archived.json["error"]["message"]) == (
        3,
        f"the project {ids['archived'][:12]}… is archived in TDT; restore it there",
    )
    os.rename(tmp_path / "outer", tmp_path / "moved")
    assert "missing or was moved" in helm(*call, f"project={ids['outer']}").json["error"]["message"]


def test_a_broken_registry_of_tdt_hides_nothing_of_helm_s(workspace: Path, helm: Helm) -> None:
    (workspace / ".tdt" / "state").mkdir(parents=True)
    (workspace / ".tdt" / "config.json").write_text("{}")
    (workspace / ".tdt" / "state" / "projects.json").write_text("{")
    assert helm("project", "add", ".").status == 0
    ended = helm("project", "list", "-o", "json")
    assert (ended.status, [one["id"] for one in ended.json]) == (0, ["workspace"])
    assert "is not a registry of TDT's" in ended.err
    assert helm("project", "show", "other").status == 1
    assert helm("project", "show", "workspace").status == 0
