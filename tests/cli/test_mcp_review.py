"""A review at the terminal with a real MCP server: what it says is shown, approved, and watched from then on."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.broker.folders import manifest, write
from tests.program import Helm
from tests.rig.terminal import CTRL_C, DOWN, ENTER, ESC, at_terminal
from tests.rig.tool_server import command, tool

ASKED = "Any other key cancels"
YES = (DOWN, 0.3, ENTER)


class Offer:
    """What the server of this test offers, and what it noted."""

    def __init__(self, folder: Path) -> None:
        self.file, self.notes = folder / "offer.json", folder / "notes"

    def __call__(self, *offered: Any) -> None:
        self.file.write_text(json.dumps(offered))

    def starts(self) -> int:
        return self.notes.read_text().count("started\n") if self.notes.exists() else 0


@pytest.fixture
def offer(tmp_path: Path, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """A server, the profile of it, and an extension of it in the current folder."""
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    offered = Offer(tmp_path)
    offered(tool("list_issues", "Lists issues.", readOnlyHint=True), tool("create_issue", "Creates one."))
    assert helm("mcp", "add", "github", "--", *command(offered.file, offered.notes)).status == 0
    entry = {"id": "gh", "kind": "mcp", "server": "github", "operations": ["list_issues"], "writes": ["create_issue"]}
    write(Path("tickets"), manifest(permissions={"write": True}, connections=[entry]))
    return offered


def reviewing(*words: str) -> Any:
    command_ = (sys.executable, "-m", "helm_cli", "plugin", "review", "tickets", *words)
    return at_terminal(*command_, size=(100, 60))


def approve(*keys: bytes | float) -> str:
    """Review at the terminal; what was on the screen when helm asked."""
    with reviewing() as screen:
        screen.wait_for(ASKED)
        told = "\n".join(screen.screen())
        screen.send(*keys)
        assert screen.status() == (0 if keys == YES else 6)
    return told


@pytest.mark.contract("C9")
def test_the_page_shows_what_the_server_says_and_a_yes_is_to_that(helm: Helm, offer: Offer) -> None:
    told = approve(*YES)
    assert "asking the MCP server github what the tools do" in told
    assert "! gh: Helm cannot know which tools of a server write data." in told
    assert "    gh list_issues\n        the server says: read-only\n        Lists issues." in told
    assert "        the server says: nothing on whether it only reads\n        Creates one." in told
    with reviewing() as screen:
        assert screen.status() == 0
        assert b"tickets is approved as it stands; nothing to do" in screen.raw
    assert offer.starts() == 2


def test_a_changed_tool_is_shown_first_and_asked_about_while_calls_go_on(helm: Helm, offer: Offer) -> None:
    approve(*YES)
    digest = helm("plugin", "list", "-o", "json").json[0]["digest"]
    offer(tool("list_issues", "Lists issues. Now with more.", readOnlyHint=False), tool("create_issue", "Creates one."))
    for keys in ((ESC,), YES):
        told = approve(*keys)
        changed = told[told.index("Changed since it was approved") :]
        assert changed.index("no longer marks it as read-only") < changed.index("the server changed its description")
        assert "- Lists issues.\n" in changed and "+ Lists issues. Now with more.\n" in changed
        assert "! gh list_issues: the server says that this tool is not read-only, and it stands under" in told
        assert helm("call", "gh", "list_issues").status == 0
    assert helm("plugin", "list", "-o", "json").json[0]["digest"] == digest
    with reviewing() as screen:
        assert screen.status() == 0
        assert b"Changed since" not in screen.raw


def test_without_a_person_no_server_is_started(helm: Helm, offer: Offer) -> None:
    told = helm("plugin", "review", "tickets", "-o", "json")
    assert (told.status, "server" in told.json["connections"][0]) == (17, False)
    assert helm("plugin", "review", "tickets", "--check").status == 17
    assert helm("plugin", "review", "tickets", "--approve", told.json["digest"]).status == 0
    assert helm("plugin", "review", "tickets", "--check").status == 0
    assert helm("plugin", "validate", "tickets").status == 0
    with reviewing("--check") as screen:
        assert screen.status() == 0
    assert offer.starts() == 0


def test_what_was_shown_is_told_by_show_and_forgotten_with_the_extension(helm: Helm, offer: Offer) -> None:
    approve(*YES)
    offer()
    told = helm("plugin", "show", "tickets", "-o", "json").json
    assert told["connections"][0]["operations"][0]["tool"]["description"] == "Lists issues."
    assert "        the server says: read-only\n" in helm("plugin", "show", "tickets").out
    assert offer.starts() == 1
    assert helm("plugin", "forget", "tickets").status == 0
    offer(tool("list_issues", "Others.", readOnlyHint=True), tool("create_issue"))
    assert "Changed since" not in approve(*YES)


def test_an_approval_asked_for_elsewhere_is_shown_with_what_the_server_says(helm: Helm, offer: Offer) -> None:
    """In a home of a person a digest alone leaves a question, which `helm confirm` asks in full."""
    approve(ESC)
    told = helm("plugin", "review", "tickets", "-o", "json")
    left = helm("plugin", "review", "tickets", "--approve", told.json["digest"], "-o", "json")
    assert left.status == 7
    confirming = (sys.executable, "-m", "helm_cli", "confirm", left.json["error"]["confirmation"])
    with at_terminal(*confirming, size=(100, 60)) as screen:
        screen.wait_for(ASKED)
        assert "        the server says: read-only" in screen.screen()
        screen.send(*YES)
        assert screen.status() == 0
    shown = helm("plugin", "show", "tickets", "-o", "json").json
    assert shown["connections"][0]["operations"][0]["tool"]["read_only"] is True


def test_a_server_that_cannot_be_asked_stops_no_review(helm: Helm, offer: Offer) -> None:
    offer.file.write_text('"out of order"')
    told = approve(*YES)
    assert "! gh: its server could not be asked, so its tools are judged by their names alone:" in told
    assert helm("plugin", "review", "tickets", "--check").status == 0
    offer(tool("list_issues", readOnlyHint=True), tool("create_issue"))
    assert "gh: what its server says of its tools is seen for the first time" in approve(*YES)


def test_ctrl_c_ends_the_question_and_the_server(helm: Helm, offer: Offer) -> None:
    offer.file.write_text("600")
    with reviewing() as screen:
        ends = time.monotonic() + 20
        while not offer.starts() and time.monotonic() < ends:
            time.sleep(0.02)
        assert running(offer)
        screen.send(CTRL_C)
        assert screen.status() == 130
        assert b"Traceback" not in screen.raw
    while running(offer) and time.monotonic() < ends:
        time.sleep(0.02)
    assert running(offer) == []


def running(offer: Offer) -> list[str]:
    """The processes that have the server's offer among their words."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes()
        except OSError:
            continue
        if bytes(offer.file) in words:
            found.append(place.parent.name)
    return found
