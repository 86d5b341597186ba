"""What the agent's tests stand on: a workspace with an extension that counts and waits, and no agent left behind."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import approve as pinning
from helm_cli.broker import call, review
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.jsontext import Json
from helm_cli.model.review import Review
from helm_cli.store import home as homes
from tests import example
from tests.program import Helm
from tests.rig import agents
from tests.rig.agents import Agent

# Takes about as long as it is asked to, in the file's own process.
SLOW: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) AS most FROM n"

MANIFEST: Final[dict[str, Any]] = {
    "id": "counting",
    "name": "Counting",
    "version": "1.0.0",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "count",
            "kind": "db",
            "service": "local-app",
            "engine": "sqlite",
            "queries": {
                "slow": {"sql": SLOW, "params": ["rows"]},
                "failing": {"sql": "SELECT * FROM nowhere", "params": []},
                "add": {"sql": "UPDATE counter SET n = n + 1", "params": [], "write": True},
            },
        }
    ],
}


@pytest.fixture
def app(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's database with a counter in it; the current folder is the workspace."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    file = example.ready(helm, workspace)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE counter AS SELECT 0 AS n")
    monkeypatch.chdir(workspace)
    approve(helm, MANIFEST)
    return file


@pytest.fixture
def unlimited(home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 100000\n")


@pytest.fixture(autouse=True)
def nothing_left(home: Path) -> Iterator[None]:
    """Ends what a test that failed left running."""
    yield
    agents.end(home)


@pytest.fixture
def agent(helm: Helm, home: Path, app: Path) -> Iterator[Agent]:
    with agents.agent(helm, home) as running:
        yield running


@pytest.fixture
def stores(home: Path, app: Path) -> Iterator[Stores]:
    """The stores of this process, which is a client of the agent too."""
    opened = Stores(home)
    yield opened
    opened.close()


def approve(helm: Helm, manifest: dict[str, Any]) -> None:
    """An extension in the current workspace, approved as a fresh CI job does, but for the two programs."""
    folder = Path(manifest["id"])
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with closing(Stores(homes.locate())) as stores:
        found = review.review(stores, Workspace(str(Path.cwd()), "the current folder"), str(folder))
        assert isinstance(found, Review)
        pinning.by_pin(stores, found, found.digest, "a test")


def request(connection: str, operation: str, **arguments: Json) -> call.Request:
    return call.Request(Workspace(str(Path.cwd()), "a test's"), connection, operation, arguments)


def counted(file: Path) -> int:
    with closing(sqlite3.connect(file, timeout=20)) as db:
        return int(db.execute("SELECT n FROM counter").fetchone()[0])
