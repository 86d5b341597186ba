"""`helm doctor` after what other commands did in a workspace (`tests/broker/test_health_workspace.py` has all)."""

from pathlib import Path

import pytest

from tests.program import HELM, Helm, run
from tests.rig import doctor
from tests.rig.doctor import SURROUNDINGS, Clinic


@pytest.fixture
def clinic(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    doctor.well(tmp_path)
    monkeypatch.chdir(tmp_path / "workspace")
    for name, value in {**SURROUNDINGS, "HELM_CLI_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    return Clinic(helm, tmp_path / "home", tmp_path / "workspace")


def test_what_happened_in_a_workspace_is_told(clinic: Clinic) -> None:
    assert clinic.look("--offline") == (0, [], "")
    assert clinic.helm("call", "app", "close", "--arg", "id=1").status == 7
    (clinic.workspace / "tickets" / "notes.txt").write_text("new")
    again = f"helm plugin review {clinic.workspace}/tickets"
    lines = [
        "warning: workspace: waiting: 1 write waits for a person (next: helm confirm)",
        f"warning: workspace: tickets: it changed since it was approved, so its calls are refused (next: {again})",
    ]
    assert clinic.look("--offline") == (0, lines, "")


def test_a_workspace_that_is_named_wrongly_by_the_environment_is_told(clinic: Clinic) -> None:
    told = "the workspace nowhere is not a folder (next: unset HELM_CLI_WORKSPACE)"
    found = clinic.look("--offline", env={"HELM_CLI_WORKSPACE": "nowhere"})
    assert found == (0, [f"warning: workspace: folder: {told}"], "")


def test_a_current_folder_that_is_gone_is_no_workspace(clinic: Clinic, tmp_path: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = run(["sh", "-c", script, "sh", *HELM, "doctor"], cwd=tmp_path)
    told = "ok: workspace: folder: the current folder is gone; change into one, or name it with --workspace"
    assert told.partition(";")[0] in done.out
    assert "ok: profiles: mcp/m: misbehaving 1.0, protocol 2025-11-25, 35 tools" in done.out.splitlines()
    assert (done.status, done.err) == (10, "")
