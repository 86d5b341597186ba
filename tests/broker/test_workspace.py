"""Which folder a command works for, from wherever it is given, and which it never takes by itself."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.broker import workspace
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.store import workspaces
from tests.rig.failing import failing


@pytest.fixture
def stores(home: Path) -> Iterator[Stores]:
    with closing(Stores(home)) as opened:
        yield opened


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, two levels below `top`."""
    folder = tmp_path / "top" / "middle" / "deep"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def tdt(folder: Path) -> None:
    (folder / ".tdt").mkdir()
    (folder / ".tdt" / "config.json").write_text("{}")


def test_a_named_folder_counts_before_all(stores: Stores, deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tdt(deep)
    top = deep.parent.parent
    (top / "link").symlink_to(deep.parent)
    monkeypatch.setenv("HELM_CLI_WORKSPACE", str(top / "link"))
    assert workspace.find(stores, None) == Workspace(str(deep.parent), "named by HELM_CLI_WORKSPACE")
    assert workspace.find(stores, str(top)) == Workspace(str(top), "named by --workspace")
    assert workspace.find(stores, "..") == Workspace(str(deep.parent), "named by --workspace")
    assert workspace.find(stores, "~") == Workspace(os.environ["HOME"], "named by --workspace")
    assert workspace.find(stores, "/") == Workspace("/", "named by --workspace")


def test_the_nearest_ancestor_that_is_one_is_found(stores: Stores, deep: Path) -> None:
    middle, top = deep.parent, deep.parent.parent
    (top / ".git").mkdir()
    assert workspace.find(stores, None) == Workspace(str(deep), "the current folder")
    assert workspace.find(stores, None, review=True) == Workspace(str(top), "the enclosing Git work tree")
    tdt(top)
    for review in (False, True):
        assert workspace.find(stores, None, review=review) == Workspace(str(top), "a TDT workspace")
    workspaces.register(stores.db, str(middle), 0.0)
    assert workspace.find(stores, None) == Workspace(str(middle), "registered by a review")


def test_a_review_outside_of_git_is_for_the_current_folder(stores: Stores, deep: Path) -> None:
    assert workspace.find(stores, None, review=True) == Workspace(str(deep), "the current folder")


@pytest.mark.parametrize("where", ["/", "HOME"])
def test_neither_the_root_nor_the_home_is_taken(stores: Stores, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ["HOME"] if where == "HOME" else where
    monkeypatch.chdir(folder)
    workspaces.register(stores.db, folder, 0.0)
    with failing("usage", f"{folder} is never a workspace by itself; name a folder with --workspace"):
        workspace.find(stores, None)


def test_a_folder_that_is_gone_or_none_or_has_no_name_in_text(stores: Stores, deep: Path) -> None:
    (deep / "file").touch()
    for name in ("file", "gone"):
        with failing("usage", f"the workspace {name} is not a folder; name one that exists"):
            workspace.find(stores, name)
    os.mkdir(b"\xff")
    with failing("usage", "the workspace's path is not UTF-8; rename the folder"):
        workspace.find(stores, os.fsdecode(b"\xff"))
    gone = deep / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    with failing("usage", "the current folder is gone; change into one, or name it with --workspace"):
        workspace.find(stores, None)
