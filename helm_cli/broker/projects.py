"""Which folders of a workspace a call may name as its project, where each is known from, and whether it is there."""

import os
import re
from typing import Final, Literal, NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Root
from helm_cli.store import person, projects
from helm_cli.store.projects import Registered

State = Literal["available", "missing", "archived", "private"]
Source = Literal["helm", "tdt"]

_MOST: Final = 64
# Enough of an id to be told by, where one of TDT's has 64 digits.
_SHOWN: Final = 12


class Project(NamedTuple):
    """A project of a workspace. It can be called only while `state` is "available": its path is a folder, no link.

    "private" is one in helm's own home, which nothing gets into.
    """

    id: str
    path: str
    state: State
    source: Source


def every(stores: Stores, workspace: str) -> list[Project]:
    """Helm's projects by id, then TDT's. Raises HelmError "state"; says so where only TDT's registry is broken."""
    own = [_project(stores, found, "helm") for found in projects.of(stores.db, workspace)]
    try:
        return own + [_project(stores, found, "tdt") for found in projects.of_tdt(workspace)]
    except HelmError as error:
        stores.notice(error.message)
        return own


def find(stores: Stores, workspace: str, id: str) -> Project:
    """The project of this id. Raises HelmError "refused" where none is registered, and "state"."""
    own = projects.find(stores.db, workspace, id)
    if own is not None:
        return _project(stores, own, "helm")
    for found in projects.of_tdt(workspace):
        if found.id == id:
            return _project(stores, found, "tdt")
    raise HelmError(
        "refused",
        f"the workspace has no project {_told(id)}; register it with helm project add, or see helm project list",
    )


def root(stores: Stores, workspace: str, id: str) -> Root:
    """The folder that calls of this project work in. Raises HelmError "refused" where it is not available now."""
    project = find(stores, workspace, id)
    if project.state == "archived":
        raise HelmError("refused", f"the project {_told(id)} is archived in TDT; restore it there")
    if project.state == "missing":
        raise HelmError(
            "refused",
            f"the folder of the project {_told(id)} is missing or was moved; see helm project list, and add it anew",
        )
    if project.state == "private":
        raise HelmError(
            "refused", f"the folder of the project {_told(id)} is in helm's own home, which nothing gets into"
        )
    return Root(project.id, project.path, project=True, private=str(stores.home))


def add(stores: Stores, workspace: str, path: str, id: str | None, *, by_person: bool) -> Project:
    """Register a folder by its resolved path; its id is made from the folder's name where none is given.

    The same folder under the same id again changes nothing. One outside the workspace widens what an approved
    extension may reach, so only a person at the terminal adds it, as an approval is theirs to give; where no person has
    ever answered one of helm's questions, as in a CI job's fresh home, anybody may (design, sections 1 and 6). Raises
    HelmError "usage" for what is no folder, in helm's home, an id that is none, or one that another folder has, and
    "confirmation_required".
    """
    resolved = _folder(path)
    if _inside(resolved, str(stores.home)):
        raise HelmError("usage", f"{path} is in helm's own home, which nothing gets into; name another folder")
    wanted = Registered(id if id is not None else _id_of(resolved), resolved)
    known = projects.find(stores.db, workspace, wanted.id) is not None
    if not (by_person or known or _inside(resolved, workspace) or not person.seen(stores.db)):
        raise HelmError(
            "confirmation_required",
            "a project outside the workspace widens what approved extensions may reach, so adding it needs a person at"
            " the terminal; run it in one",
        )
    if not projects.add(stores.db, workspace, wanted, stores.clock()):
        _check_same(stores, workspace, wanted, named=id is not None)
    return _project(stores, wanted, "helm")


def remove(stores: Stores, workspace: str, id: str) -> None:
    """Forget a project of helm's; its folder is left alone. Raises HelmError "usage" where there is none."""
    if projects.remove(stores.db, workspace, id):
        return
    if any(found.id == id for found in projects.of_tdt(workspace)):
        raise HelmError("usage", f"the project {_told(id)} is TDT's; archive it there: tdt project --help")
    raise HelmError("usage", f"the workspace has no project {_told(id)}; see helm project list")


def _folder(path: str) -> str:
    if not path:
        raise HelmError("usage", "the path is empty; name the project's folder")
    resolved = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(resolved):
        raise HelmError("usage", f"{path} is not a folder; name one that exists")
    try:
        resolved.encode()
    except UnicodeEncodeError:
        raise HelmError("usage", "the path of the project is not UTF-8; rename the folder") from None
    return resolved


def _check_same(stores: Stores, workspace: str, wanted: Registered, *, named: bool) -> None:
    there = projects.find(stores.db, workspace, wanted.id)
    if there is None or there.path == wanted.path:
        return
    how = "give it another with --id" if not named else "take another"
    raise HelmError("usage", f"the id {wanted.id} belongs to the project in {there.path}; {how}, or remove that one")


def _id_of(path: str) -> str:
    """An id like the folder's name: `My Site (2)` is `my-site-2`."""
    made = re.sub("[^a-z0-9]+", "-", os.path.basename(path).lower()).strip("-")[:_MOST].rstrip("-")
    if not made:
        raise HelmError("usage", "no id can be made from the name of that folder; give one with --id")
    return made


def _project(stores: Stores, found: Registered, source: Source) -> Project:
    return Project(found.id, found.path, _state(found, str(stores.home)), source)


def _state(found: Registered, home: str) -> State:
    if found.archived:
        return "archived"
    # Where a link stands in the path by now, the folder is another one than was registered.
    if not os.path.isdir(found.path) or os.path.realpath(found.path) != found.path:
        return "missing"
    return "private" if _inside(found.path, home) else "available"


def _inside(path: str, folder: str) -> bool:
    """Whether a resolved path is this folder, or in it."""
    return os.path.commonpath([path, os.path.realpath(folder)]) == os.path.realpath(folder)


def _told(id: str) -> str:
    if not projects.ID.fullmatch(id):
        return ascii(id[:_MOST])
    return id if len(id) < _MOST else f"{id[:_SHOWN]}…"
