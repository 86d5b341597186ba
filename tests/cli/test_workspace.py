"""The workspace: what is shown of it, and the TDT profile, which only a person at the terminal can widen."""

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.example import ready
from tests.program import Helm
from tests.rig.terminal import at_terminal

SET: Final = ("workspace", "set", "--tdt-profile")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "workspace"
    where.mkdir()
    monkeypatch.chdir(where)
    return where


def profile(helm: Helm) -> str | None:
    found: str | None = helm("workspace", "show", "-o", "json").json["tdt_profile"]
    return found


def test_a_workspace_shows_what_belongs_to_it(workspace: Path, helm: Helm, home: Path) -> None:
    fresh = helm("workspace", "show", "-o", "json").json
    assert fresh == {
        "path": str(workspace),
        "found": "the current folder",
        "registered": False,
        "extensions": [],
        "projects": [],
        "tdt_profile": None,
        "calls_per_minute": 60,
    }
    ready(helm, workspace)
    (workspace / "site").mkdir()
    (workspace / "gone").mkdir()
    for name in ("site", "gone"):
        assert helm("project", "add", name).status == 0
    (workspace / "gone").rmdir()
    (home / "config.toml").write_text("[limits]\ncalls_per_minute = 7\n")
    assert helm("workspace", "show").out.split("\n") == [
        f"path              {workspace}",
        "found             registered by a review",
        "registered        yes",
        "extensions        tickets",
        "projects          gone (missing), site",
        "calls_per_minute  7",
        "",
    ]
    assert helm("plugin", "disable", "tickets").status == 0
    shown = helm("workspace", "show", "-o", "json").json
    assert [(one["id"], one["enabled"], one["folder"]) for one in shown["extensions"]] == [
        ("tickets", False, str(workspace / "tickets"))
    ]
    assert "extensions        tickets (disabled)\n" in helm("workspace", "show").out
    named = helm("workspace", "show", "--workspace", str(workspace / "site"), "-o", "json").json
    assert (named["path"], named["found"]) == (str(workspace / "site"), "named by --workspace")


def test_only_a_person_enables_everyday(workspace: Path, helm: Helm) -> None:
    (workspace / ".tdt").mkdir()
    (workspace / ".tdt" / "config.json").write_text("{}")
    assert profile(helm) == "read-only"
    ended = helm(*SET, "everyday")
    assert (ended.status, profile(helm)) == (7, "read-only")
    assert ended.err == "helm: enabling the TDT profile everyday needs a person at the terminal; run it in one\n"
    with at_terminal(sys.executable, "-m", "helm_cli", *SET, "everyday") as screen:
        assert screen.status() == 0
    assert profile(helm) == "everyday"
    assert helm(*SET, "read-only").status == 0
    assert profile(helm) == "read-only"


def test_what_cannot_be_set(workspace: Path, helm: Helm) -> None:
    taken = "helm: --tdt-profile takes read-only or everyday\n"
    assert [helm(*SET, "all").err, helm("workspace", "set").err] == [taken, taken]
    ended = helm(*SET, "read-only")
    assert (ended.status, "is not one of TDT's" in ended.err) == (2, True)
