"""What a call of each kind goes to, and what is said where that is not there."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import targets
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Brain, Database, Profile, Root, Server, Service
from helm_cli.store import profiles, projects, workspaces
from helm_cli.store.projects import Registered
from tests.broker.approved import workspace
from tests.rig.failing import failing


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "here")


@pytest.fixture
def stores(home: Path) -> Iterator[Stores]:
    with closing(Stores(home)) as opened:
        yield opened


def connection(kind: str, group: str | None = None, profile: str | None = None, **spec: Any) -> Connection:
    return Connection("it", kind, group, profile, (), spec)


TDT = connection("tdt-mcp")
PROJECT = connection("files", root="project", paths=("**",))


@pytest.mark.parametrize(
    ("kind", "profile"),
    [
        ("db", Database("x", "sqlite", path="/srv/x.db")),
        ("http", Service("x", "https://api.example.com")),
        ("tools", Service("x", "https://api.example.com")),
        ("mcp", Server("x", ("srv",))),
    ],
)
def test_a_profile_is_what_it_is_now(stores: Stores, here: Workspace, kind: str, profile: Profile) -> None:
    wanted = connection(kind, profile.group, "x")
    with pytest.raises(HelmError) as caught:
        targets.find(stores, here, wanted, {})
    assert caught.value.code == "not_configured"
    profiles.create(stores.home, profile)
    found = targets.find(stores, here, wanted, {})
    # A server's command is started in the workspace.
    assert found == (profile._replace(folder=here.path) if isinstance(profile, Server) else profile)


def test_a_kind_of_a_later_helm_goes_nowhere(stores: Stores, here: Workspace) -> None:
    with failing("refused", "this version of helm cannot call mail connections yet; update helm"):
        targets.find(stores, here, connection("mail"), {})


def test_files_are_those_of_the_workspace_or_of_a_named_project(
    stores: Stores, here: Workspace, tmp_path: Path
) -> None:
    home = str(stores.home)
    whole = connection("files", root="workspace", paths=("**",))
    assert targets.find(stores, here, whole, {}) == Root("workspace", here.path, private=home)
    needed = "every call of it needs the argument project, the id of a registered project; see helm project list"
    given: tuple[dict[str, Json], ...] = ({}, {"project": None}, {"project": ["site"]})
    for arguments in given:
        with failing("refused", needed):
            targets.find(stores, here, PROJECT, arguments)
    site = str(tmp_path / "here")
    projects.add(stores.db, here.path, Registered("site", site), 0.0)
    assert targets.find(stores, here, PROJECT, {"project": "site"}) == Root("site", site, project=True, private=home)


def test_tdt_is_that_of_the_workspace_with_the_profile_that_a_person_chose(stores: Stores, here: Workspace) -> None:
    told = (
        f"the workspace {here.path} (named) is not one of TDT's; run tdt init in it, or name another with --workspace"
    )
    with failing("not_configured", told):
        targets.find(stores, here, TDT, {})
    Path(here.path, ".tdt").mkdir()
    Path(here.path, ".tdt", "config.json").write_text("{}")
    locks = str(stores.home / "run")
    assert targets.find(stores, here, TDT, {}) == Brain(here.path, "read-only", locks)
    workspaces.set_tdt_profile(stores.db, here.path, "everyday", 0.0)
    assert targets.find(stores, here, TDT, {}) == Brain(here.path, "everyday", locks)
