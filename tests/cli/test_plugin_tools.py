"""The tools of a team's plugin: exactly those that a person saw, each under the risk that the file gives it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.program import Helm
from tests.rig import peers
from tests.rig.plugins import ASKED, ID, agree, allow, at_helm, review, write
from tests.rig.terminal import ENTER, ESC
from tests.rig.tool_server import command, tool

ALL = (
    allow("github", "list_issues", "get_*"),
    allow("github", "create_issue", "get_secret", risk="write"),
    allow("github", "delete_repo", risk="consequential"),
)
OFFERED = ("list_issues", "get_issue", "get_secret", "create_issue", "delete_repo", "hidden")


class Offer:
    """What the server `github` of this test offers, and what it noted."""

    def __init__(self, folder: Path) -> None:
        self.file, self.notes = folder / "offer.json", folder / "notes"
        self.notes.touch()

    def __call__(self, *names: str) -> None:
        self.file.write_text(json.dumps([tool(name, f"Does {name}.", readOnlyHint=True) for name in names]))

    def broken(self) -> None:
        self.file.write_text('"out of order"')

    def called(self) -> list[str]:
        return [line.removeprefix("called ") for line in self.notes.read_text().splitlines() if line != "started"]


@pytest.fixture
def offer(tmp_path: Path, helm: Helm, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """The server, its profile, and the plugin in the current folder."""
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    offered = Offer(tmp_path)
    offered(*OFFERED)
    assert helm("mcp", "add", "github", "--", *command(offered.file, offered.notes)).status == 0
    write(Path("plugin"), tools=ALL)
    return offered


def call(helm: Helm, name: str) -> tuple[int, str]:
    """The exit status of a call, and what its envelope says went wrong."""
    done = helm("call", "github", name, "--plugin", ID)
    return done.status, "" if done.json["error"] is None else done.json["error"]["message"]


@pytest.mark.contract("P17", "P19", "P23")
def test_what_is_listed_is_called_and_nothing_else_exists(helm: Helm, offer: Offer) -> None:
    told = review("plugin")
    assert "Tools: a tool that is not listed here does not exist for this plugin" in told
    assert call(helm, "list_issues") == (0, "")
    status, message = call(helm, "hidden")
    assert (status, message) == (
        3,
        "github declares no operation hidden; it has list_issues, create_issue, get_secret, delete_repo, get_issue",
    )
    assert offer.called() == ["list_issues"]
    assert helm("call", "github", "list_issues").status == 0
    assert helm("plugin", "list", "-o", "json").json[0]["id"] == ID


@pytest.mark.contract("P22", "P18")
def test_the_risk_says_whether_a_person_is_asked_and_the_highest_holds(helm: Helm, offer: Offer) -> None:
    told = review("plugin")
    assert "        also let in by get_* (read); the highest risk holds" in told
    assert call(helm, "get_issue") == (0, "")
    for name in ("create_issue", "get_secret", "delete_repo"):
        assert call(helm, name)[0] == 7
    assert offer.called() == ["get_issue"]
    for _ in range(2):
        with at_helm("call", "github", "delete_repo", "-o", "json") as screen:
            agree(screen, "Call")
            assert screen.status() == 0
    with at_helm("call", "github", "delete_repo", "-o", "json") as screen:
        screen.wait_for(ASKED)
        screen.send(ESC)
        assert screen.status() == 6
    assert offer.called() == ["get_issue", "delete_repo", "delete_repo"]


def test_one_byte_of_the_folder_makes_every_call_refused_until_it_is_reviewed(helm: Helm, offer: Offer) -> None:
    skill = "---\nname: tone\ndescription: How we sound.\n---\nBe kind.\n"
    write(Path("plugin"), {"skills/tone/SKILL.md": skill, "notes.txt": "none\n"}, tools=ALL)
    review("plugin")
    for path in ("plugin.yaml", "notes.txt", "skills/tone/SKILL.md", "agents/writer.md"):
        before = Path("plugin", path).read_bytes()
        assert call(helm, "list_issues") == (0, "")
        Path("plugin", path).write_bytes(before.replace(b"n", b"m", 1))
        for name in ("list_issues", "get_issue", "create_issue"):
            status, message = call(helm, name)
            assert (status, message.split(";")[0].split(" for ")[0]) == (3, f"{ID} changed since it was approved")
        if path != "agents/writer.md":
            Path("plugin", path).write_bytes(before)
    assert helm("plugin", "review", "plugin", "--check").status == 17
    assert "file changed  agents/writer.md" in review("plugin")
    assert call(helm, "list_issues") == (0, "")


@pytest.mark.contract("P18", "P40")
def test_a_glob_lets_in_what_a_person_saw_and_what_comes_later_waits(helm: Helm, offer: Offer) -> None:
    told = review("plugin")
    assert "      glob get_* of risk read lets in get_issue\n" in told
    assert "    github get_issue\n        let in by the glob get_*\n        the server says: read-only\n" in told
    digest = helm("plugin", "list", "-o", "json").json[0]["digest"]
    shown = helm("plugin", "show", ID, "-o", "json").json["connections"][0]
    assert shown["globs"] == [{"glob": "get_*", "risk": "read", "lets_in": ["get_issue"]}]

    offer(*OFFERED, "get_new")
    assert call(helm, "get_new") == (
        3,
        "github declares no operation get_new; a glob of the plugin would let it in, but no person has seen it at a"
        " review where its server could be asked; review the plugin again in a terminal",
    )
    assert call(helm, "get_issue") == (0, "")
    told = review("plugin")
    assert "  widened       github: new tool get_new of risk read, let in by get_*\n" in told
    assert call(helm, "get_new") == (0, "")
    assert helm("plugin", "list", "-o", "json").json[0]["digest"] == digest

    offer(*(name for name in OFFERED if name != "get_issue"), "get_new")
    assert "  narrowed      github get_issue: the server no longer has this tool\n" in review("plugin")
    assert call(helm, "get_issue")[0] == 3
    with at_helm("plugin", "review", "plugin") as screen:
        assert screen.status() == 0
        assert f"{ID} is approved as it stands; nothing to do".encode() in screen.raw


def test_a_glob_that_lets_in_nothing_is_no_reason_to_ask_again(helm: Helm, offer: Offer) -> None:
    write(Path("plugin"), tools=[allow("github", "none_*")])
    told = review("plugin")
    assert "! github: the glob none_* lets in no tool of its server" in told
    with at_helm("plugin", "review", "plugin") as screen:
        assert screen.status() == 0
    # Whoever asks nobody is told what the server said at the review, and that it was asked at all.
    checked = helm("plugin", "review", "plugin", "--check")
    assert checked.status == 0
    assert "glob none_* of risk read lets in no tool that is not listed by its name" in checked.out
    told_json = helm("plugin", "review", "plugin", "--check", "-o", "json").json
    assert told_json["connections"][0]["globs"] == [{"glob": "none_*", "risk": "read", "lets_in": []}]


def test_globs_let_in_five_hundred_tools_and_no_more(helm: Helm, offer: Offer) -> None:
    write(Path("plugin"), tools=[allow("github", "list_issues", "get_*")])
    names = [f"get_{number:03}" for number in range(501)]
    offer("list_issues", *names)
    found = helm("plugin", "review", "plugin", "-o", "json").json
    assert found["connections"][0]["globs"] == [{"glob": "get_*", "risk": "read", "lets_in": None}]
    with at_helm("plugin", "review", "plugin") as screen:
        agree(screen, "Approve")
        assert screen.status() == 0
        told = "the globs of github let in 501 of its tools, and at most 500 are taken: narrow them"
        assert told in " ".join("\n".join(screen.screen()).split())
    assert call(helm, "list_issues") == (0, "")
    assert call(helm, "get_000")[0] == 3
    offer("list_issues", *names[:-1])
    with at_helm("plugin", "review", "plugin") as screen:
        screen.wait_for("Space")
        screen.send(b"G")
        screen.wait_for("Enter: answer")
        screen.send(ENTER)
        agree(screen, "Approve")
        assert screen.status() == 0
    assert call(helm, "get_000") == (0, "")
    told = call(helm, "other_tool_of_another_name")[1]
    shown = ", ".join(["list_issues", *names[:19]])
    assert told == f"github declares no operation other_tool_of_another_name; it has {shown} and 481 more"


def test_without_its_server_a_glob_lets_in_nothing_and_literal_names_work(helm: Helm, offer: Offer) -> None:
    offer.broken()
    told = review("plugin")
    assert "! github: what its globs let in is not known, so it is refused until the plugin is reviewed again" in told
    assert "glob get_* of risk read lets in nothing until its server was asked at a review" in told
    offer(*OFFERED)
    assert call(helm, "list_issues") == (0, "")
    assert call(helm, "get_issue")[0] == 3
    assert "github: what its server says of its tools is seen for the first time" in review("plugin")
    assert call(helm, "get_issue") == (0, "")
    # The next version is approved while nobody can say what its globs let in.
    offer.broken()
    write(Path("plugin"), tools=ALL, version="1.1.0")
    review("plugin")
    offer(*OFFERED)
    assert call(helm, "list_issues") == (0, "")
    assert call(helm, "get_issue")[0] == 3


def test_a_pinned_digest_lets_in_no_tool_that_nobody_saw(helm: Helm, offer: Offer) -> None:
    told = helm("plugin", "review", "plugin", "-o", "json").json
    assert told["connections"][0]["globs"] == [{"glob": "get_*", "risk": "read", "lets_in": None}]
    assert helm("plugin", "review", "plugin", "--approve", told["digest"]).status == 0
    assert call(helm, "list_issues") == (0, "")
    assert call(helm, "get_issue")[0] == 3


def test_a_name_that_nobody_could_read_is_let_in_by_no_glob(helm: Helm, offer: Offer) -> None:
    odd = ("get_\x1b[31m", "get_ ", "get_" + "x" * 300, "get_ok", "")
    offer(*odd)
    write(Path("plugin"), tools=[allow("github", "*")])
    assert "glob * of risk read lets in get_ok\n" in review("plugin")


@pytest.mark.contract("P41")
def test_a_changed_plugin_shows_first_what_it_may_do_more(helm: Helm, offer: Offer) -> None:
    setting = {"key": "drive", "type": "connection", "provider": "oauth2", "scopes": ["read"]}
    write(Path("plugin"), tools=ALL, settings=[setting])
    review("plugin")
    write(
        Path("plugin"),
        {"agents/writer.md": "---\nname: writer\ndescription: Writes posts.\n---\nWrite two posts.\n"},
        tools=[allow("github", "list_issues", risk="write"), allow("github", "get_*", "find_*")],
        settings=[{**setting, "scopes": ["read", "write"]}],
        triggers=[{"on": "schedule", "cron": "0 14 * * MON"}],
        budget={"monthly_tokens": 5},
    )
    told = review("plugin", ESC)
    first = told.index("Changed since it was approved")
    lines = [line.strip() for line in told[first:].split("\n\n")[0].split("\n")[1:]]
    assert lines == [
        "widened       github list_issues: its risk was raised from read to write",
        "widened       github: new glob find_* of risk read",
        "widened       github: tool get_secret (write) is gone, but get_* (read) still lets it in",
        "widened       setting drive: new scope write",
        "widened       new trigger schedule: 0 14 * * MON",
        "changed       agent writer (agents/writer.md): its text changed",
        "- Write a post.",
        "+ Write two posts.",
        "narrowed      github: tool create_issue is gone",
        "narrowed      github: tool delete_repo is gone",
        "narrowed      the budget has a limit now: 5 tokens a month",
        "file changed  agents/writer.md",
        "file changed  plugin.yaml",
    ]
    assert call(helm, "list_issues")[0] == 3


def test_ids_with_a_slash_work_in_every_command(helm: Helm, offer: Offer) -> None:
    review("plugin")
    assert helm("plugin", "show", ID).status == 0
    assert helm("plugin", "check", ID, "-o", "json").json["id"] == ID
    assert helm("plugin", "disable", ID).status == 0
    assert call(helm, "list_issues")[0] == 3
    with at_helm("plugin", "enable", ID) as screen:
        agree(screen, "Enable")
        assert screen.status() == 0
    assert call(helm, "list_issues") == (0, "")
    assert helm("history", "-o", "json").json[0]["extension"] == ID
    assert helm("plugin", "forget", ID).status == 0
    assert helm("plugin", "list", "-o", "json").json == []
    assert call(helm, "list_issues")[0] == 3


def test_the_servers_of_others(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    node: Any = peers.NODE
    memory = ("mcp", "add", "memory", "--", "env", f"MEMORY_FILE_PATH={tmp_path}/memory.json")
    assert helm(*memory, node, peers.script(peers.MEMORY)).status == 0
    assert helm("mcp", "add", "every", "--", node, peers.script(peers.EVERYTHING), "stdio").status == 0
    entries = [allow("memory", "read_*", "search_*"), allow("memory", "create_*", risk="write"), allow("every", "echo")]
    write(Path("plugin"), tools=entries)
    told = review("plugin")
    assert "glob read_* of risk read lets in read_graph\n" in told
    assert "glob create_* of risk write lets in create_entities, create_relations\n" in told
    assert helm("call", "memory", "read_graph").json["data"] == {"entities": [], "relations": []}
    assert helm("call", "every", "echo", "--arg", "message=hello").json["data"][0]["text"] == "Echo: hello"
    assert helm("call", "memory", "create_entities", "--args", '{"entities": []}').status == 7
    for connection, name in (("memory", "delete_entities"), ("every", "get-env")):
        assert helm("call", connection, name).status == 3
