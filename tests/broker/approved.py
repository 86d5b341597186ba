"""What tests of calls begin with: a clock that stands, and extensions that a person approved."""

from pathlib import Path
from typing import Any

from helm_cli.broker import approve, review
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope
from helm_cli.model.review import Review
from tests.broker.folders import write


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def workspace(folder: Path) -> Workspace:
    folder.mkdir(parents=True, exist_ok=True)
    return Workspace(str(folder), "named")


def approved(stores: Stores, here: Workspace, folder: Path) -> Review:
    """The yes of a person to what is in a folder, for this workspace."""
    found = review.review(stores, here, str(folder))
    assert isinstance(found, Review), found
    approve.by_person(stores, found)
    return found


def declared(stores: Stores, here: Workspace, manifest: dict[str, Any]) -> Review:
    """An extension in a folder of the workspace, approved."""
    return approved(stores, here, write(Path(here.path) / manifest["id"], manifest))


def code(envelope: Envelope) -> str | None:
    error = envelope["error"]
    return str(error["code"]) if isinstance(error, dict) else None
