"""Projects that helm was told of stand by workspace and id; TDT's own registry counts as a whole or not at all."""

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.store import projects
from helm_cli.store.projects import Registered
from tests.rig.failing import failing

SITE: Final = Registered("site", "/srv/site")
NO_ID: Final = "cannot be the id of a project: it takes 1 to 64 of a-z, 0-9 and hyphen, the first a letter or digit"


def test_a_project_is_of_its_workspace_until_it_is_removed(db: sqlite3.Connection) -> None:
    assert projects.add(db, "/w", SITE, 1.0)
    assert not projects.add(db, "/w", SITE._replace(path="/elsewhere"), 2.0)
    assert projects.add(db, "/w", Registered("app", "/srv/app"), 3.0)
    assert projects.add(db, "/v", SITE._replace(path="/elsewhere"), 4.0)
    assert projects.of(db, "/w") == [Registered("app", "/srv/app"), SITE]
    assert projects.find(db, "/w", "site") == SITE
    assert projects.find(db, "/v", "app") is None
    assert projects.remove(db, "/w", "site")
    assert not projects.remove(db, "/w", "site")
    assert projects.of(db, "/v") == [Registered("site", "/elsewhere")]


@pytest.mark.parametrize("id", ["", "A", "-a", "a b", "a_b", "é", "a\n", "a" * 65])
def test_what_cannot_be_an_id_is_told(db: sqlite3.Connection, id: str) -> None:
    with failing("usage", f"{id!r} {NO_ID}"):
        projects.add(db, "/w", Registered(id, "/srv"), 1.0)
    assert projects.of(db, "/w") == []


def test_what_tdt_calls_its_projects_is_never_free() -> None:
    for id in ("0" * 63, "g" * 64, "a-b"):
        projects.check_id(id)
    with failing("usage", "64 hexadecimal digits are what TDT calls its projects; take another id"):
        projects.check_id("0" * 64)


def entry(path: str, **changes: Any) -> dict[str, Any]:
    return {"id": hashlib.sha256(path.encode()).hexdigest(), "path": path, **changes}


def registry(workspace: Path, content: Any) -> Path:
    """A workspace of TDT's with this in its registry; a text as it is."""
    file = workspace / ".tdt" / "state" / "projects.json"
    file.parent.mkdir(parents=True)
    (workspace / ".tdt" / "config.json").write_text("{}")
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_the_projects_of_tdt_are_read_in_its_order(tmp_path: Path) -> None:
    entries = [entry("/b", status="archived"), entry("/a", status="active", more=1), entry("/c")]
    registry(tmp_path, entries)
    found = [Registered(each["id"], each["path"], each["path"] == "/b") for each in entries]
    assert projects.of_tdt(str(tmp_path)) == found


def test_what_is_no_workspace_of_tdts_has_none_whatever_lies_in_it(tmp_path: Path) -> None:
    assert projects.of_tdt(str(tmp_path)) == []
    file = registry(tmp_path, [entry("/a")])
    (tmp_path / ".tdt" / "config.json").unlink()
    assert projects.of_tdt(str(tmp_path)) == []
    (tmp_path / ".tdt" / "config.json").touch()
    assert len(projects.of_tdt(str(tmp_path))) == 1
    file.unlink()
    assert projects.of_tdt(str(tmp_path)) == []


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "{}",
        "[3]",
        '[{"id": 1, "path": 2}]',
        [{"path": "/a"}],
        [entry("/a", id="0" * 64)],
        [entry("relative")],
        [entry("/a\0b")],
        [entry("/a", status="gone")],
        [entry("/a"), entry("/b"), entry("/a", status="archived")],
    ],
)
def test_a_registry_that_tdt_would_not_take_counts_for_nothing(tmp_path: Path, content: Any) -> None:
    file = registry(tmp_path, content)
    with failing("state", f"{file} is not a registry of TDT's; look at it with: tdt project list"):
        projects.of_tdt(str(tmp_path))


def test_a_registry_that_is_no_file_holds_nobody(tmp_path: Path) -> None:
    file = registry(tmp_path, [])
    file.unlink()
    os.mkfifo(file)
    with failing("state", f"{file} is not a regular file; move it away"):
        projects.of_tdt(str(tmp_path))
