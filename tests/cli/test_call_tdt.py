"""Calls of the real TDT, from the command line to its workspace: reads, confirmed writes, previews, one server."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.program import Finished, Helm, environment
from tests.rig import tdt
from tests.rig.tdt import YES
from tests.rig.terminal import at_terminal, uncounted

READS: Final = [
    *("tdt_workspace_status", "tdt_note_list", "tdt_project_relink_preview", "tdt_project_operation_status"),
    *("tdt_reminder_ack", "tdt_brain_searhc"),
]
WRITES: Final = ["tdt_note_save", "tdt_project_add", "tdt_project_relink_apply"]
SUMMARY: Final = {"title": "First idea", "kind": "fact", "body": "Body", "sources": ["helm"], "tags": ["idea"]}
ASKED: Final = "Any other key cancels"


class Brain:
    """The workspace that the tests of this module share, and the home in which its extension is approved."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.workspace = folder / "workspace"
        self.programs = tdt.real(self.workspace)
        self.outside = folder / "outside"
        self.outside.mkdir()
        self.ready = False


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Brain:
    return Brain(tmp_path_factory.mktemp("tdt").resolve())


@pytest.fixture
def brain(made: Brain, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Brain]:
    """The workspace as the current folder, with TDT's profile everyday; the extension is approved."""
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.chdir(made.workspace)
    tdt.on_path(monkeypatch, made.programs)
    if not made.ready:
        tdt.extension(helm, made.workspace, READS, WRITES)
        with_read_only(helm)
        tdt.everyday()
        made.ready = True
    yield made
    assert servers(made.workspace) == []


def with_read_only(helm: Helm) -> None:
    """What may be called before a person allows more, which is for good."""
    status, write, hidden = batch(helm, ("tdt_workspace_status", {}), ("tdt_note_save", {}), ("tdt_reminder_ack", {}))
    assert status["ok"] is True
    assert (write["error"]["code"], "helm workspace set --tdt-profile everyday" in write["error"]["message"]) == (
        "refused",
        True,
    )
    told = "TDT has no tool tdt_reminder_ack in its profile read-only; did you mean tdt_reminder_"
    assert (hidden["error"]["code"], hidden["error"]["message"].startswith(told)) == ("refused", True)


def servers(workspace: Path, seconds: float = 5.0) -> list[int]:
    """The TDT servers of this workspace that have not ended in time, by their numbers."""
    deadline = time.monotonic() + seconds
    while (found := running(workspace)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def running(workspace: Path) -> list[int]:
    return [pid for pid, words in commands() if "serve" in words and str(workspace) in words]


def commands() -> Iterator[tuple[int, list[str]]]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                yield int(entry.name), (entry / "cmdline").read_text(errors="replace").split("\0")


class Watcher:
    """Looks for the servers of a workspace until it is stopped."""

    def __init__(self, workspace: Path) -> None:
        # Those of earlier calls may be about to end.
        assert servers(workspace) == []
        self._workspace = workspace
        self._seen: set[int] = set()
        self._most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> int:
        """How many there were, never two at a time."""
        assert servers(self._workspace) == []
        self._over.set()
        self._thread.join()
        assert self._most == 1
        return len(self._seen)

    def _look(self) -> None:
        while not self._over.wait(0.05):
            found = running(self._workspace)
            self._seen |= set(found)
            self._most = max(self._most, len(found))


def call(helm: Helm, operation: str, **arguments: Any) -> Finished:
    return helm("call", "brain", operation, "--args", json.dumps(arguments))


def batch(helm: Helm, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Several calls by one helm, which is quicker."""
    lines = [{"connection": "brain", "operation": operation, "args": arguments} for operation, arguments in calls]
    finished = helm("call", "--batch", "-", stdin="\n".join(map(json.dumps, lines)))
    return [json.loads(line) for line in finished.out.splitlines()]


def confirmed(*words: str) -> tuple[list[str], Any, list[str]]:
    """What was shown before it was asked for, the envelope that came of a yes, and the screen at the end."""
    # Wide and high enough for a whole request.
    with at_terminal(sys.executable, "-m", "helm_cli", *words, stdout="pipe", size=(240, 80)) as screen:
        screen.wait_for("Any other key cancels")
        shown = [uncounted(line) for line in screen.screen() if line.strip()]
        screen.send(*YES)
        status = screen.status()
        answer = json.loads(screen.out)
        assert status == (0 if answer["ok"] else 13)
        return shown, answer, screen.screen()


def writing(operation: str, **arguments: Any) -> tuple[list[str], Any, list[str]]:
    return confirmed("call", "brain", operation, "--args", json.dumps(arguments))


@pytest.mark.contract("C114", "C115", "C117")
def test_reads_of_a_batch_give_the_envelopes_of_one_server(brain: Brain, helm: Helm) -> None:
    watcher = Watcher(brain.workspace)
    status, refused, write, typo, supplied = batch(
        helm,
        ("tdt_workspace_status", {}),
        ("tdt_note_list", {"limit": "1"}),
        ("tdt_reminder_ack", {}),
        ("tdt_brain_searhc", {}),
        ("tdt_note_save", {"summary": SUMMARY, "user_instruction": "User clicked Approve"}),
    )
    assert watcher.stop() == 1
    assert list(status) == ["api_version", "ok", "data", "coverage", "warnings", "error"]
    assert (status["coverage"], status["data"]["recovery_markers"]) == ({"truncated": False, "omissions": []}, [])
    error = {"code": "invalid_input", "message": "Arguments do not match the tool input schema", "retry": "reread"}
    assert refused == {**status, "ok": False, "data": None, "error": error}
    assert [told["error"] for told in (write, typo, supplied)] == [
        {
            "code": "refused",
            "message": "TDT does not say that tdt_reminder_ack only reads; declare it under writes, so that it is"
            " confirmed",
        },
        {
            "code": "refused",
            "message": "TDT has no tool tdt_brain_searhc in its profile everyday; did you mean tdt_brain_search?",
        },
        {
            "code": "refused",
            "message": "tdt_note_save takes no user_instruction from a caller: helm fills it in; leave it out",
        },
    ]


def test_a_failure_of_tdt_ends_the_call_as_that_of_a_tool(brain: Brain, helm: Helm) -> None:
    finished = call(helm, "tdt_note_list", limit="1")
    assert (finished.status, finished.json["error"]["code"]) == (13, "invalid_input")
    assert finished.err == "helm: Arguments do not match the tool input schema\n"


@pytest.mark.contract("C105", "C117")
def test_a_confirmed_write_has_helms_own_instruction(brain: Brain) -> None:
    watcher = Watcher(brain.workspace)
    shown, answer, _ = writing("tdt_note_save", summary=SUMMARY)
    assert watcher.stop() == 1
    words = shown[6].removeprefix("  user_instruction  ")
    assert shown == [
        "Confirm tool call",
        "  extension         brain",
        f"  workspace         {brain.workspace}",
        "  connection        brain",
        "  tool              tdt_note_save",
        f"  arguments         {json.dumps({'summary': SUMMARY}, separators=(',', ':'))}",
        f"  user_instruction  {words}",
        "> Cancel",
        "  Call",
        "Down, then Enter: Call. Any other key cancels.",
    ]
    assert words.startswith("User confirmed tdt_note_save in Helm (request ")
    assert answer["data"]["result"] == "saved"
    notes = [path.read_text() for path in (brain.workspace / "work" / "notes").iterdir()]
    assert [words in note for note in notes].count(True) == 1


@pytest.mark.contract("C117")
def test_a_write_asked_for_elsewhere_is_confirmed_whole(brain: Brain, helm: Helm) -> None:
    asked = call(helm, "tdt_note_save", summary={**SUMMARY, "title": "Asked elsewhere"})
    assert asked.status == 7
    shown, answer, _ = confirmed("confirm", asked.json["error"]["confirmation"])
    assert any(line.startswith("  user_instruction  User confirmed tdt_note_save in Helm") for line in shown)
    assert answer["data"]["result"] == "saved"


@pytest.mark.contract("C118")
def test_what_is_bound_to_a_hash_is_previewed_then_applied(brain: Brain, helm: Helm) -> None:
    old, new = brain.outside / "old", brain.outside / "new"
    for folder in (old, new):
        folder.mkdir()
    # It takes no user_instruction, and gets none.
    shown, answer, _ = writing("tdt_project_add", path=str(old))
    assert not any("user_instruction" in line for line in shown)
    id_ = answer["data"]["id"]
    assert id_ == hashlib.sha256(str(old).encode()).hexdigest()

    move = {"id": id_, "path": str(new)}
    wrong = ("tdt_project_relink_apply", {**move, "expected_sha256": "0" * 64})
    told, refused = batch(helm, ("tdt_project_relink_preview", move), wrong)
    assert refused["error"]["code"] == "refused"
    assert "is meant for another state than TDT's" in refused["error"]["message"]

    hash_ = told["data"]["proposal_sha256"]
    shown, answer, _ = writing("tdt_project_relink_apply", **move, expected_sha256=hash_)
    assert [line.split(": ")[0] for line in shown if line.startswith("  change of ")] == [
        f"  change of {path}" for path in told["data"]["replacements"]
    ]
    for sign, folder in (("-", old), ("+", new)):
        assert f"    {sign} Registered external directory: {folder}" in shown
        assert f'    {sign}     "path": "{folder}",' in shown
    assert any(
        line.startswith('      notice = "Note filenames and historical provenance are preserved.') for line in shown
    )
    assert answer["data"]["status"] == "completed"

    # What the hash stood for is no more.
    right = ("tdt_project_relink_apply", {**move, "expected_sha256": hash_})
    state, again = batch(helm, ("tdt_project_operation_status", {"proposal_sha256": hash_}), right)
    assert (state["data"]["status"], state["data"]["project_id"]) == ("completed", answer["data"]["project_id"])
    assert again["error"]["code"] == "refused"


@pytest.mark.contract("C116")
def test_tdt_asks_to_look_and_helm_says_with_what(brain: Brain) -> None:
    _, answer, screen = writing("tdt_note_save", summary={**SUMMARY, "tags": ["No Capitals"]})
    assert answer["error"]["retry"] == "inspect_outcome"
    assert screen[-1] == "helm: look what became of it with tdt_note_list before you repeat tdt_note_save"


@pytest.mark.contract("C114")
def test_calls_at_once_have_their_servers_one_after_the_other(brain: Brain, helm: Helm) -> None:
    watcher = Watcher(brain.workspace)
    with ThreadPoolExecutor(4) as pool:
        finished = list(pool.map(lambda _: call(helm, "tdt_workspace_status"), range(4)))
    assert [one.json["ok"] for one in finished] == [True] * 4
    assert watcher.stop() == 4


@pytest.mark.contract("C114")
def test_a_killed_helm_leaves_no_server(brain: Brain) -> None:
    words = [sys.executable, "-m", "helm_cli", "call", "brain", "tdt_workspace_status"]
    process = subprocess.Popen(words, env=environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not running(brain.workspace) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert servers(brain.workspace) == []


def test_a_workspace_that_is_none_of_tdts_is_told(brain: Brain, helm: Helm, tmp_path: Path) -> None:
    config = brain.workspace / ".tdt" / "config.json"
    os.rename(config, tmp_path / "config.json")
    try:
        finished = helm("call", "brain", "tdt_workspace_status", "--workspace", str(brain.workspace))
    finally:
        os.rename(tmp_path / "config.json", config)
    assert (finished.status, finished.json["error"]["code"]) == (4, "not_configured")
    assert "run tdt init in it" in finished.err


def test_a_dry_run_shows_the_whole_request(brain: Brain, helm: Helm) -> None:
    given = ("--args", json.dumps({"summary": SUMMARY}))
    finished = helm("call", "brain", "tdt_note_save", *given, "--dry-run")
    assert list(finished.json["data"]["request"]) == ["tool", "arguments", "user_instruction"]
