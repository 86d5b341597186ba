"""Which folders a call may name as its project: who may add one, how each stands, and what is said where none does."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.broker import projects
from helm_cli.broker.projects import Project
from helm_cli.broker.stores import Stores
from helm_cli.model.profile import Root
from helm_cli.store import person
from tests.rig.failing import failing

OUTSIDE = (
    "a project outside the workspace widens what approved extensions may reach, so adding it needs a person at the"
    " terminal; run it in one"
)
NO_ID = "cannot be the id of a project: it takes 1 to 64 of a-z, 0-9 and hyphen, the first a letter or digit"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def stores(home: Path, told: list[str]) -> Iterator[Stores]:
    with closing(Stores(home, notice=told.append)) as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace, which is the current folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return str(tmp_path / "here")


def add(stores: Stores, here: str, path: str | Path, id: str | None = None, *, by_person: bool = False) -> Project:
    return projects.add(stores, here, str(path), id, by_person=by_person)


def of_tdt(here: str, *paths: Path, status: str = "active") -> list[str]:
    """TDT has these folders registered in the workspace; gives their ids."""
    ids = [hashlib.sha256(str(path).encode()).hexdigest() for path in paths]
    entries = [{"id": id, "path": str(path), "status": status} for id, path in zip(ids, paths, strict=True)]
    Path(here, ".tdt", "state").mkdir(parents=True, exist_ok=True)
    Path(here, ".tdt", "config.json").write_text("{}")
    Path(here, ".tdt", "state", "projects.json").write_text(json.dumps(entries))
    return ids


@pytest.mark.contract("C78")
def test_a_project_is_added_by_its_resolved_path_and_forgotten_again(stores: Stores, here: str, tmp_path: Path) -> None:
    site = tmp_path / "My Site (2)"
    site.mkdir()
    os.symlink(site, "link")
    added = Project("my-site-2", str(site), "available", "helm")
    assert add(stores, here, "link") == added
    # The same folder under the same id changes nothing, whoever says it.
    assert add(stores, here, site, "my-site-2") == added
    assert add(stores, here, ".", "own") == Project("own", here, "available", "helm")
    assert [one.id for one in projects.every(stores, here)] == ["my-site-2", "own"]
    assert projects.every(stores, str(tmp_path)) == []
    assert projects.root(stores, here, "my-site-2") == Root("my-site-2", str(site), True, str(stores.home))
    projects.remove(stores, here, "my-site-2")
    assert site.is_dir()
    with failing("usage", "the workspace has no project my-site-2; see helm project list"):
        projects.remove(stores, here, "my-site-2")


def test_the_users_own_folder_may_be_written_as_a_tilde(stores: Stores, here: str, home: Path) -> None:
    (home.parent / "notes").mkdir()
    assert add(stores, here, "~/notes").path == str(home.parent / "notes")


def test_an_id_is_made_of_the_folders_name_and_is_no_longer_than_64(stores: Stores, here: str) -> None:
    names = {"ab " * 30: ("ab-" * 30)[:64], "a" * 63 + " b": "a" * 63, "Ünïcode ☃": "n-code", "--9--": "9"}
    for name, id in names.items():
        Path(name).mkdir()
        assert add(stores, here, name).id == id


@pytest.mark.parametrize(
    ("path", "id", "message"),
    [
        ("", None, "the path is empty; name the project's folder"),
        ("nowhere", None, "nowhere is not a folder; name one that exists"),
        ("file", None, "file is not a folder; name one that exists"),
        (os.fsdecode(b"\xff"), None, "the path of the project is not UTF-8; rename the folder"),
        ("☃", None, "no id can be made from the name of that folder; give one with --id"),
        ("☃", "A", f"'A' {NO_ID}"),
        ("☃", "", f"'' {NO_ID}"),
        ("☃", "0" * 64, "64 hexadecimal digits are what TDT calls its projects; take another id"),
        ("☃", "taken", "the id taken belongs to the project in HERE/taken; take another, or remove that one"),
        (
            "taken/taken",
            None,
            "the id taken belongs to the project in HERE/taken; give it another with --id, or remove that one",
        ),
    ],
)
def test_what_cannot_be_added_is_told(stores: Stores, here: str, path: str, id: str | None, message: str) -> None:
    for name in (os.fsdecode(b"\xff"), "☃", "taken/taken"):
        Path(name).mkdir(parents=True)
    Path("file").touch()
    taken = add(stores, here, "taken")
    with failing("usage", message.replace("HERE", here)):
        add(stores, here, path, id)
    assert projects.every(stores, here) == [taken]


def test_outside_the_workspace_only_a_person_adds_once_one_has_answered(
    stores: Stores, here: str, tmp_path: Path
) -> None:
    for name in ("fresh", "later", "here/inside", "here-too"):
        (tmp_path / name).mkdir()
    os.symlink("../later", "way")
    fresh = add(stores, here, "../fresh")
    person.mark(stores.db)
    for path in ("../later", "way", "../here-too"):
        with failing("confirmation_required", OUTSIDE):
            add(stores, here, path)
    # What is registered is not widened by being said again.
    assert add(stores, here, "../fresh") == fresh
    assert add(stores, here, "inside").id == "inside"
    assert add(stores, here, "../later", by_person=True).id == "later"


def test_helms_own_home_is_no_project(stores: Stores, here: str, home: Path) -> None:
    (home / "writes").mkdir(parents=True)
    for path in (home, home / "writes"):
        told = f"{path} is in helm's own home, which nothing gets into; name another folder"
        with failing("usage", told):
            add(stores, here, path, by_person=True)
    # The folder around it may be one: what is in the home is kept from each call by itself.
    assert add(stores, here, home.parent, "around").state == "available"
    (id,) = of_tdt(here, home)
    assert projects.find(stores, here, id) == Project(id, str(home), "private", "tdt")
    with failing("refused", f"the folder of the project {id[:12]}… is in helm's own home, which nothing gets into"):
        projects.root(stores, here, id)


@pytest.mark.parametrize("how", ["moved", "a file", "a link"])
def test_a_folder_that_is_another_one_by_now_is_missing(stores: Stores, here: str, how: str) -> None:
    Path("site").mkdir()
    add(stores, here, "site")
    os.rename("site", "moved")
    if how == "a file":
        Path("site").touch()
    elif how == "a link":
        os.symlink("moved", "site")
    assert projects.find(stores, here, "site") == Project("site", f"{here}/site", "missing", "helm")
    told = "the folder of the project site is missing or was moved; see helm project list, and add it anew"
    with failing("refused", told):
        projects.root(stores, here, "site")
    # It can be added anew, and then is the other one.
    if how == "a link":
        projects.remove(stores, here, "site")
        assert add(stores, here, "site", "site").path == f"{here}/moved"


@pytest.mark.contract("C78")
def test_tdts_projects_stand_beside_helms_and_are_archived_there(stores: Stores, here: str, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    own = add(stores, here, outer, "own")
    (id,) = of_tdt(here, outer)
    assert projects.every(stores, here) == [own, Project(id, str(outer), "available", "tdt")]
    assert projects.root(stores, here, id) == Root(id, str(outer), True, str(stores.home))
    with failing("usage", f"the project {id[:12]}… is TDT's; archive it there: tdt project --help"):
        projects.remove(stores, here, id)
    of_tdt(here, outer, status="archived")
    assert projects.find(stores, here, id).state == "archived"
    with failing("refused", f"the project {id[:12]}… is archived in TDT; restore it there"):
        projects.root(stores, here, id)


@pytest.mark.parametrize(
    ("id", "shown"), [("nope", "nope"), ("a\nb", "'a\\nb'"), ("é" * 80, ascii("é" * 64)), ("0" * 64, f"{'0' * 12}…")]
)
def test_what_is_no_project_of_the_workspace_is_refused(stores: Stores, here: str, id: str, shown: str) -> None:
    of_tdt(here, Path(here))
    step = "register it with helm project add, or see helm project list"
    with failing("refused", f"the workspace has no project {shown}; {step}"):
        projects.find(stores, here, id)


def test_a_broken_registry_of_tdts_hides_nothing_of_helms(stores: Stores, here: str, told: list[str]) -> None:
    own = add(stores, here, ".", "own")
    of_tdt(here)
    registry = Path(here, ".tdt", "state", "projects.json")
    registry.write_text("{")
    said = f"{registry} is not a registry of TDT's; look at it with: tdt project list"
    assert projects.every(stores, here) == [own]
    assert told == [said]
    assert projects.find(stores, here, "own") == own
    # Whether it is one of TDT's, nobody can tell.
    with failing("state", said):
        projects.find(stores, here, "other")
