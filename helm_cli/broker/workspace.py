"""Which folder a command works for, and how that folder was found (design, section 4)."""

import os
from pathlib import Path
from typing import NamedTuple

from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.store import workspaces


class Workspace(NamedTuple):
    """A resolved folder; `found` says how it was found, as the end of the sentence "the workspace is …"."""

    path: str
    found: str


def find(stores: Stores, named: str | None, *, review: bool = False) -> Workspace:
    """The workspace of this command, resolved.

    Named by the option or HELM_CLI_WORKSPACE; else the nearest ancestor that has `.tdt/config.json` or that a
    review registered; else, for a review, the enclosing Git work tree; else the current folder. The root folder
    and the home folder are never taken unless named. Raises HelmError "usage".
    """
    if named:
        return Workspace(_folder(named), "named by --workspace")
    if told := os.environ.get("HELM_CLI_WORKSPACE"):
        return Workspace(_folder(told), "named by HELM_CLI_WORKSPACE")
    try:
        here = Path(os.getcwd()).resolve()
    except OSError:
        raise HelmError("usage", "the current folder is gone; change into one, or name it with --workspace") from None
    found = _from_here(stores, [folder for folder in (here, *here.parents) if not _never_taken(folder)], review)
    if found is not None:
        return found
    if _never_taken(here):
        raise HelmError("usage", f"{here} is never a workspace by itself; name a folder with --workspace")
    return Workspace(str(here), "the current folder")


def _from_here(stores: Stores, candidates: list[Path], review: bool) -> Workspace | None:
    for folder in candidates:
        # In a folder that this user cannot look into, there is neither (Path's own tests raise there).
        if os.path.isfile(folder / ".tdt" / "config.json"):
            return Workspace(str(folder), "a TDT workspace")
        if workspaces.is_registered(stores.db, str(folder)):
            return Workspace(str(folder), "registered by a review")
    for folder in candidates if review else ():
        if os.path.exists(folder / ".git"):
            return Workspace(str(folder), "the enclosing Git work tree")
    return None


def _folder(name: str) -> str:
    path = Path(os.path.realpath(os.path.expanduser(name)))
    if not os.path.isdir(path):
        raise HelmError("usage", f"the workspace {name} is not a folder; name one that exists")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise HelmError("usage", "the workspace's path is not UTF-8; rename the folder") from None
    return str(path)


def _never_taken(folder: Path) -> bool:
    if folder == Path(folder.anchor):
        return True
    home = os.path.expanduser("~")
    return os.path.isabs(home) and folder == Path(home).resolve()
