"""A team's plugin that is approved in this process, and the users who ask for drafts of it and decide about them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from helm_cli.broker import approve, drafts, plugin, review
from helm_cli.broker.drafts import Queued, Text
from helm_cli.broker.plugin import Team
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.draft import Draft, Said
from helm_cli.model.review import Review
from helm_cli.store import home as homes
from helm_cli.store.approvals import Approval
from tests.rig.team import DAEMON, ID, PLUGIN, ROOT, write

# 2027-01-15 08:00 UTC, a Friday.
NOW: Final = 1_800_000_000.0
TEXT: Final = Text("blog", "Version 2", "It is out.\n")


class Office:
    """`told` is what was said beside the answers, `now` what the clock says, `drafts` the folder that all share."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.folder = folder
        self.drafts = folder / "drafts"
        self.drafts.mkdir()
        self.drafts.chmod(0o1777)
        homes.prepare(home)
        (home / "config.toml").write_text(f'drafts_dir = "{self.drafts}"\n')
        self.now = NOW
        self.told: list[str] = []
        self.stores = Stores(home, notice=self.told.append, clock=lambda: self.now)
        # Another user would not get at it.
        assert self.stores.config.drafts_dir == str(self.drafts)
        self.here = Workspace(str(folder / "workspace"), "named by a test")

    @property
    def plugin(self) -> Path:
        return self.folder / "workspace" / "marketing"

    def approve(self, **sections: Any) -> Team:
        """The plugin with these sections in the place of its own, written and approved as it stands."""
        write(self.plugin, {**PLUGIN, **sections})
        found = review.review(self.stores, self.here, str(self.plugin))
        assert isinstance(found, Review), found
        approve.by_person(self.stores, found)
        return self.team()

    def team(self) -> Team:
        return plugin.find(self.stores, self.here, ID)

    def approval(self) -> Approval:
        return plugin.approved(self.stores, self.here, ID).approval

    def add(self, uid: int = DAEMON, text: Text = TEXT) -> Draft:
        """A draft that this user asks for."""
        team = self.team()
        with being(uid):
            return drafts.add(self.stores, team, text)

    def find(self, draft: Draft) -> Queued:
        return drafts.find(self.stores, self.here, draft.id)

    def say(self, uid: int, said: Said, draft: Draft) -> None:
        with being(uid):
            drafts.decide(self.stores, draft, said)

    def file(self, draft: Draft) -> Path:
        return self.drafts / f"{draft.id}.draft.json"

    def edit(self, draft: Draft) -> None:
        """Its text becomes another one."""
        self.file(draft).write_bytes(self.file(draft).read_bytes().replace(b"It is out.", b"Buy this!!"))


@contextmanager
def office(home: Path) -> Iterator[Office]:
    """One in a folder that every user gets into, where the plugin is approved."""
    # A folder of pytest's own would let nobody else in.
    folder = Path(tempfile.mkdtemp(prefix="helm-office-")).resolve()
    folder.chmod(0o755)
    opened = Office(home, folder)
    try:
        opened.approve()
        yield opened
    finally:
        opened.stores.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def being(uid: int) -> Iterator[None]:
    """This process does as another user, to whom the files that it makes belong."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(ROOT)
