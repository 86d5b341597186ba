"""A home and a workspace in which all is well, and how a test has helm look at them without leaving a trace."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from helm_cli.broker import approve as pinning
from helm_cli.broker import (
    health,
    health_home,
    health_profiles,
    health_secrets,
    health_state,
    health_workspace,
    profiles,
    review,
)
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.health import Check
from helm_cli.model.profile import Database, Profile, Server, Service
from helm_cli.model.review import Review
from helm_cli.view.health import MARKS
from tests import example
from tests.program import Finished, Helm
from tests.rig import mcp_calls

SECRET: Final = "canary-d0c7"
# The program of these tests is the first one in PATH, and no keychain is there.
SURROUNDINGS: Final = {"HELM_CLI_CREDENTIALS": "file", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


class Looked(NamedTuple):
    """What came of a look: the exit status, the lines that are not well, and the last line, "" where all is well."""

    status: int
    lines: list[str]
    last: str


class Clinic(NamedTuple):
    """A home to be broken, beside the workspace of its extension."""

    helm: Helm
    home: Path
    workspace: Path

    def run(self, *words: str, env: Mapping[str, str | None] | None = None) -> Finished:
        """`helm doctor` in the workspace; the home, and all beside it, is the same before and after."""
        before = tree(self.home.parent)
        told = {**SURROUNDINGS, "HELM_CLI_HOME": str(self.home), **(env or {})}
        done = self.helm("doctor", *words, cwd=self.workspace, env=told)
        assert tree(self.home.parent) == before
        assert SECRET not in done.out + done.err
        return done

    def look(self, *words: str, env: Mapping[str, str | None] | None = None) -> Looked:
        """What is not well, in a pipe."""
        done = self.run("-q", *words, env=env)
        assert done.err == "", done
        lines = done.out.splitlines()
        last = lines.pop() if done.status else ""
        return Looked(done.status, [line.replace(str(self.home), "HOME") for line in lines], last)


def asked(home: Path, workspace: Path | None, *, offline: bool = True, seconds: float | None = None) -> list[Check]:
    """What the checks themselves find, without a program around them; all beside the home is the same afterwards.

    Without a workspace, it is looked for as everywhere.
    """
    before = tree(home.parent)
    found = list(_asked(home, workspace, offline, seconds))
    assert tree(home.parent) == before
    assert not any(SECRET in f"{check.message} {check.next}" for check in found)
    return found


def _asked(home: Path, workspace: Path | None, offline: bool, seconds: float | None) -> Iterator[Check]:
    yield from health_home.checks(home)
    if not health_home.is_own(home):
        return
    subject = health.subject(home)
    vault = health_secrets.vault(subject)
    where = health_workspace.find(subject, None if workspace is None else str(workspace))
    done: list[None] = []
    trial = health_profiles.Trial(subject, vault, offline, seconds, str(home.parent), lambda: done.append(None))
    yield from health.guarded("state", "state.db", lambda: health_state.checks(subject))
    yield from health.guarded("secrets", "store", lambda: health_secrets.checks(subject, vault))
    yield from health.guarded("workspace", "workspace", lambda: health_workspace.checks(subject, where))
    tried = health.guarded("profiles", "profiles", lambda: health_profiles.checks(trial))
    # Each of them is counted as it is done.
    assert len(done) == sum("/" in check.name for check in tried)
    yield from tried
    subject.stores.close()


def told(checks: Sequence[Check], home: Path) -> list[str]:
    """A line for each as it stands in a pipe, with HOME in the place of its path."""
    lines = [f"{MARKS[check.status][0]}: {check.area}: {check.name}: {check.message}" for check in checks]
    steps = [f" (next: {check.next})" if check.next is not None else "" for check in checks]
    return [f"{line}{step}".replace(str(home), "HOME") for line, step in zip(lines, steps, strict=True)]


def ill(checks: Iterable[Check], home: Path) -> list[str]:
    """The lines that are not well."""
    return told([check for check in checks if check.status != "ok"], home)


def tree(folder: Path) -> dict[str, object]:
    """All that a program could change of what is in a folder.

    Not the time of the last change of a status: SQLite, as root, gives a journal to the owner that it has.
    """
    found: dict[str, object] = {}
    for where, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(where, name)
            status = path.lstat()
            kind = (status.st_mode, status.st_uid, status.st_ino, status.st_size, status.st_mtime_ns)
            found[str(path)] = (kind, path.read_bytes() if stat.S_ISREG(status.st_mode) else b"")
    return found


def well(place: Path) -> None:
    """In this folder: `home`, with a profile of each group and their secrets, and a `workspace` with its extension."""
    workspace = place / "workspace"
    (workspace / "tickets").mkdir(parents=True)
    example.database(workspace / "app.db")
    (workspace / "tickets" / "manifest.json").write_text(json.dumps(example.MANIFEST))
    with closing(Stores(place / "home")) as stores, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELM_CLI_CREDENTIALS", "file")
        add(stores, Database("local-app", "sqlite", path=str(workspace / "app.db")), None)
        add(stores, Service("s", "http://127.0.0.1:1"), SECRET)
        add(stores, Server("m", mcp_calls.command("plain"), token_env="SERVER_TOKEN"), SECRET)
        approve(stores, workspace, workspace / "tickets")


def add(stores: Stores, profile: Profile, secret: str | None) -> None:
    profiles.add(stores, profile, secret, force=False)


def approve(stores: Stores, workspace: Path, folder: Path) -> None:
    """An extension, approved as a fresh CI job does."""
    found = review.review(stores, Workspace(str(workspace), "the current folder"), str(folder))
    assert isinstance(found, Review), found
    pinning.by_pin(stores, found, found.digest, "a test")


def copied(place: Path, to: Path) -> Path:
    """The home of a place, to be broken in another."""
    shutil.copytree(place / "home", to / "home", symlinks=True)
    return to / "home"
