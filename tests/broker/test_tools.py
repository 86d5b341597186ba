"""What a review learns from MCP servers: asked side by side, compared with the declaration and with what was shown."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import approve, profiles, review, tools
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.extension import Connection, Operation
from helm_cli.model.profile import Server
from helm_cli.model.review import Change, Listed, Review
from helm_cli.model.tool import Tool
from helm_cli.model.tool import tool as definition
from helm_cli.store import approvals
from helm_cli.store import tools as pins
from tests.broker.folders import manifest, write
from tests.rig import peers
from tests.rig.tool_server import command, tool

LONG = "d" * 100_000
UNCONFIRMED = "and it stands under operations: it runs without confirmation"
SECRET = "canary-77e1"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def stores(home: Path, told: list[str]) -> Iterator[Stores]:
    opened = Stores(home, notice=told.append)
    yield opened
    opened.close()


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    (tmp_path / "here").mkdir()
    return Workspace(str(tmp_path / "here"), "the current folder")


class Rig:
    """A server whose offer a test changes; `name` is its profile."""

    def __init__(self, stores: Stores, folder: Path, name: str, **members: Any) -> None:
        self.offer, self.notes = folder / f"{name}.json", folder / f"{name}.notes"
        self.notes.touch()
        profiles.add(stores, Server(name, command(self.offer, self.notes), **members), None, force=False)

    def offers(self, *offered: Any) -> None:
        self.offer.write_text(json.dumps(list(offered)))

    def noted(self) -> list[str]:
        return self.notes.read_text().split("\n")[:-1]


@pytest.fixture
def rig(stores: Stores, tmp_path: Path) -> Rig:
    return Rig(stores, tmp_path, "github")


def extension(folder: Path, operations: list[str], writes: list[str] | None = None, **members: Any) -> Path:
    entry: dict[str, Any] = {"id": "gh", "kind": "mcp", "server": "github"}
    entry |= {"operations": operations} if operations else {}
    entry |= {"writes": writes} if writes else {}
    declared = manifest(connections=[entry], **({"permissions": {"write": True}} if writes else {}))
    return write(folder / "tickets", {**declared, **members})


def of(stores: Stores, here: Workspace, folder: Path, *, ask: bool = True) -> Review:
    found = review.review(stores, here, str(folder), ask=ask)
    assert isinstance(found, Review), found
    return found


def cautions(found: Review) -> dict[str, str]:
    """The warnings by operation, "" for the connection's own but the contract's."""
    return {
        caution.operation: caution.message
        for caution in found.warnings
        if not caution.message.startswith("Helm cannot know")
    }


def test_tools_are_judged_by_what_the_server_says_of_them(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path, told: list[str]
) -> None:
    rig.offers(
        tool("list_issues", "Lists.", readOnlyHint=True),
        tool("get_issue", readOnlyHint=False),
        tool("delete_issue"),
        tool("find", readOnlyHint=True, destructiveHint=True),
        tool("unsaid"),
        tool("create_issue", "Creates.", readOnlyHint=False, destructiveHint=False),
        tool("other"),
    )
    reads = ["list_issues", "get_issue", "delete_issue", "find", "unsaid", "list_isues"]
    found = of(stores, here, extension(tmp_path, reads, ["create_issue"]))
    assert cautions(found) == {
        "get_issue": f"the server says that this tool is not read-only, {UNCONFIRMED}",
        "delete_issue": "by its name this tool writes data, and the server does not mark it as read-only,"
        f" {UNCONFIRMED}",
        "find": f"the server marks this tool as destructive, {UNCONFIRMED}",
        "unsaid": f"the server does not mark this tool as read-only, {UNCONFIRMED}",
        "list_isues": "the server has no such tool (did you mean list_issues?): every call will fail",
    }
    listed = found.listed(found.extension.connections[0])
    assert listed is not None
    assert list(listed.tools) == ["list_issues", "get_issue", "delete_issue", "find", "unsaid", "create_issue"]
    assert listed.offered[-1] == "other"
    assert (listed.tools["list_issues"].description, listed.tools["list_issues"].read_only) == ("Lists.", True)
    assert told == ["asking the MCP server github what the tools do"]


@pytest.mark.contract("C9")
def test_the_contracts_warning_is_there_whatever_the_server_says(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("list_issues", readOnlyHint=True))
    found = of(stores, here, extension(tmp_path, ["list_issues"]))
    assert [(caution.connection, caution.operation, caution.message) for caution in found.warnings] == [
        (
            "gh",
            "",
            "Helm cannot know which tools of a server write data. If a plugin lists a write tool under operations, "
            "Helm does not ask for confirmation. Check the list.",
        )
    ]


def test_unasked_a_server_is_not_started(stores: Stores, here: Workspace, rig: Rig, tmp_path: Path) -> None:
    rig.offers(tool("delete_issue", readOnlyHint=True))
    found = of(stores, here, extension(tmp_path, ["delete_issue"]), ask=False)
    assert cautions(found) == {"delete_issue": f"by its name this tool writes data, {UNCONFIRMED}"}
    assert (found.servers, rig.noted()) == ((), [])


def test_where_a_server_cannot_be_asked_the_names_count_and_it_says_why(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offer.write_text('"no licence\\u001b[31m"')
    found = of(stores, here, extension(tmp_path, ["delete_issue", "get_issue"]))
    warned = cautions(found)
    assert warned.keys() == {"", "delete_issue"}
    assert warned["delete_issue"] == f"by its name this tool writes data, {UNCONFIRMED}"
    assert warned[""].startswith("its server could not be asked, so its tools are judged by their names alone: ")
    assert "no licence" in warned[""]
    assert found.listed(found.extension.connections[0]) is None


def test_a_token_that_cannot_be_used_is_why(stores: Stores, here: Workspace, tmp_path: Path, home: Path) -> None:
    profile = Server("github", ("srv",), token_env="TOKEN", credential="file")
    (home / "profiles" / "mcp").mkdir(parents=True)
    (home / "profiles" / "mcp" / "github.toml").write_text(
        'command = ["srv"]\ntoken_env = "TOKEN"\ncredential = "file"\n'
    )
    assert profile.account == "mcp/github/token"
    found = of(stores, here, extension(tmp_path, ["get_issue"]))
    assert cautions(found) == {
        "": "its server could not be asked, so its tools are judged by their names alone: the secret of"
        " github is not in this home yet; enter its secret again with: helm mcp edit github --ask-token (or"
        " --token-stdin)"
    }


def test_missing_and_broken_profiles_are_told_once(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    found = of(stores, here, extension(tmp_path, ["get_issue"]))
    assert list(cautions(found)) == [""]
    assert "the profile github is missing" in cautions(found)[""]
    assert found.servers == ()


def test_servers_are_asked_side_by_side_and_each_once(
    stores: Stores, here: Workspace, tmp_path: Path, told: list[str]
) -> None:
    """Three that take a second each are not asked in turn; one that two connections use is asked once."""
    rigs = {name: Rig(stores, tmp_path, name) for name in ("a", "b", "c")}
    for each in rigs.values():
        each.offer.write_text("2")
    entries = [
        {"id": f"{name}-{number}", "kind": "mcp", "server": name, "operations": ["get"]}
        for name in rigs
        for number in (1, 2)
    ]
    began = time.monotonic()
    found = of(stores, here, write(tmp_path / "tickets", manifest(connections=entries)))
    # Each by itself takes two seconds and more before it says anything.
    assert time.monotonic() - began < 6
    assert [each.noted() for each in rigs.values()] == [["started"]] * 3
    assert [server.connection for server in found.servers] == ["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"]
    assert told == ["asking the MCP servers a, b, c what the tools do"]


def test_a_server_that_does_not_start_is_given_up(
    stores: Stores, here: Workspace, tmp_path: Path, told: list[str]
) -> None:
    Rig(stores, tmp_path, "github", start_seconds=1).offer.write_text("600")
    began = time.monotonic()
    found = of(stores, here, extension(tmp_path, ["get_issue"]))
    assert time.monotonic() - began < 10
    assert found.servers[0].problem


def test_a_command_is_started_in_the_workspace_with_its_token_and_nothing_else(
    stores: Stores, here: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    monkeypatch.setenv("UNLENT", "x")
    seen = tmp_path / "seen"
    script = "import json, os, sys; json.dump([os.getcwd(), dict(os.environ)], open(sys.argv[1], 'w'))"
    server = Server("github", (sys.executable, "-I", "-c", script, str(seen)), token_env="TOKEN")
    profiles.add(stores, server, SECRET, force=False)
    of(stores, here, extension(tmp_path, ["get_issue"]))
    folder, variables = json.loads(seen.read_text())
    assert folder == here.path
    assert variables.pop("TOKEN") == SECRET
    assert variables.keys() <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


def test_the_real_servers(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    everything = (peers.NODE, peers.script(peers.EVERYTHING))
    profiles.add(stores, Server("everything", everything), None, force=False)
    profiles.add(stores, Server("memory", (peers.NODE, peers.script(peers.MEMORY))), None, force=False)
    profiles.add(stores, Server("time", (peers.program("mcp-server-time"),)), None, force=False)
    entries = [
        {"id": "every", "kind": "mcp", "server": "everything", "operations": ["echo", "toggle-simulated-logging"]},
        {"id": "mem", "kind": "mcp", "server": "memory", "operations": ["read_graph", "delete_entities"]},
        {"id": "clock", "kind": "mcp", "server": "time", "operations": ["get_current_time", "get_curent_time"]},
    ]
    found = of(stores, here, write(tmp_path / "tickets", manifest(connections=entries)))
    assert [server.problem for server in found.servers] == ["", "", ""]
    assert cautions(found) == {
        "toggle-simulated-logging": f"the server says that this tool is not read-only, {UNCONFIRMED}",
        "delete_entities": f"the server marks this tool as destructive, {UNCONFIRMED}",
        "get_curent_time": "the server has no such tool (did you mean get_current_time?): every call will fail",
    }


def approved(stores: Stores, here: Workspace, folder: Path) -> None:
    approve.by_person(stores, of(stores, here, folder))


def test_an_approval_remembers_what_was_shown(stores: Stores, here: Workspace, rig: Rig, tmp_path: Path) -> None:
    listing = tool("list_issues", "Lists.", readOnlyHint=True)
    rig.offers(listing, tool("other"))
    folder = extension(tmp_path, ["list_issues", "absent"])
    before = of(stores, here, folder).digest
    approved(stores, here, folder)
    assert pins.pinned(stores.db, here.path, "tickets") == {"gh": {"absent": None, "list_issues": listing}}
    again = of(stores, here, folder)
    assert (again.standing, again.changes, again.digest) == (True, (), before)
    approval = approvals.find(stores.db, here.path, "tickets")
    assert approval is not None
    shown = review.approved(stores, approval)
    assert cautions(shown) == {"absent": "the server has no such tool: every call will fail"}
    assert len(rig.noted()) == 3


def test_a_changed_definition_is_a_change_of_a_content_that_stands(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(
        tool("a", "Old words.", readOnlyHint=True),
        tool("b", readOnlyHint=True, openWorldHint=False),
        tool("c", destructiveHint=True),
        tool("e"),
    )
    folder = extension(tmp_path, ["a", "b", "c", "d", "e"])
    approved(stores, here, folder)
    rig.offers(
        {**tool("a", "New words.", readOnlyHint=False), "title": "A", "_meta": {"x": 1}, "icons": []},
        tool("b", readOnlyHint=True, openWorldHint=True, destructiveHint=True),
        {**tool("c", readOnlyHint=True), "inputSchema": {"type": "object", "required": ["q"]}, "outputSchema": {}},
        tool("d"),
    )
    found = of(stores, here, folder)
    assert found.standing
    assert found.changes == (
        Change("widened", "gh a: the server no longer marks it as read-only"),
        Change("widened", "gh b: the server now marks it as destructive"),
        Change("widened", "gh b: the server now says that it reaches the outside"),
        Change("widened", "gh d: the server now has this tool"),
        Change("changed", "gh a: the server changed its description", "Old words.", "New words."),
        Change("changed", "gh a: the server changed its title", None, "A"),
        Change(
            "changed",
            "gh c: the server changed its input schema",
            '{"type":"object"}',
            '{"type":"object","required":["q"]}',
        ),
        Change("changed", "gh c: the server changed its output schema", None, "{}"),
        Change("narrowed", "gh c: the server now marks it as read-only"),
        Change("narrowed", "gh c: the server no longer marks it as destructive"),
        Change("narrowed", "gh e: the server no longer has this tool"),
    )
    approve.by_person(stores, found)
    assert of(stores, here, folder).changes == ()


def test_hints_without_a_line_of_their_own_are_a_change_too(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("a", idempotentHint=True))
    folder = extension(tmp_path, ["a"])
    approved(stores, here, folder)
    rig.offers(tool("a", idempotentHint=False))
    assert of(stores, here, folder).changes == (
        Change("changed", "gh a: the server changed its hints", '{"idempotentHint":true}', '{"idempotentHint":false}'),
    )


def test_a_definition_of_many_parts_cannot_flood_the_page(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("a"))
    folder = extension(tmp_path, ["a"])
    approved(stores, here, folder)
    rig.offers({**tool("a"), **{f"{number:02}" + "x" * 100: 1 for number in range(20)}})
    found = of(stores, here, folder).changes
    assert [change.message for change in found] == [
        *(f"gh a: the server changed its {number:02}{'x' * 38}" for number in range(8)),
        "gh a: the server changed 12 more parts of its definition",
    ]


def test_of_a_long_text_the_part_that_differs_is_told(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("a", "x" * 5_000 + "OLD" + "y" * 5_000))
    folder = extension(tmp_path, ["a"])
    approved(stores, here, folder)
    rig.offers(tool("a", "x" * 5_000 + "NEW" + "y" * 5_000))
    [change] = of(stores, here, folder).changes
    assert change.before == "…" + "x" * 100 + "OLD" + "y" * 1897 + "…"
    assert change.after == "…" + "x" * 100 + "NEW" + "y" * 1897 + "…"
    rig.offers(tool("a", "x" * 5_000 + "OLD" + "y" * 5_000 + "z"))
    [change] = of(stores, here, folder).changes
    assert (change.before, change.after) == ("…" + "y" * 100, "…" + "y" * 100 + "z")


def test_an_approval_without_its_servers_is_completed_by_the_next_review(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("a", readOnlyHint=True))
    folder = extension(tmp_path, ["a"])
    approve.by_person(stores, of(stores, here, folder, ask=False))
    assert pins.pinned(stores.db, here.path, "tickets") == {}
    found = of(stores, here, folder)
    assert found.changes == (Change("changed", "gh: what its server says of its tools is seen for the first time"),)
    approve.by_person(stores, found)
    assert (of(stores, here, folder).changes, of(stores, here, folder, ask=False).changes) == ((), ())


def test_what_was_shown_stays_where_the_server_is_silent_and_goes_with_the_connection(
    stores: Stores, here: Workspace, rig: Rig, tmp_path: Path
) -> None:
    rig.offers(tool("a", readOnlyHint=True))
    folder = extension(tmp_path, ["a"])
    approved(stores, here, folder)
    rig.offer.write_text('"gone"')
    extension(tmp_path, ["a"], version="2")
    approved(stores, here, folder)
    assert list(pins.pinned(stores.db, here.path, "tickets")) == ["gh"]
    write(tmp_path / "tickets", manifest())
    approved(stores, here, folder)
    assert pins.pinned(stores.db, here.path, "tickets") == {}


def test_a_new_connection_is_told_once(stores: Stores, here: Workspace, rig: Rig, tmp_path: Path) -> None:
    """And a tool that is declared anew is a change of the manifest, not of the server."""
    rig.offers(tool("a", readOnlyHint=True), tool("b", readOnlyHint=True))
    approved(stores, here, write(tmp_path / "tickets", manifest()))
    folder = extension(tmp_path, ["a"])
    assert [change.message for change in of(stores, here, folder).changes] == [
        "new connection gh (mcp, profile github), 1 read, 0 writes",
        "connection app (db, profile local-app), 1 read, 0 writes is gone",
    ]
    approved(stores, here, folder)
    extension(tmp_path, ["a", "b"])
    assert of(stores, here, folder).changes == (Change("widened", "gh: new tool b"),)


def test_nobody_is_asked_about_an_extension_without_servers(
    stores: Stores, here: Workspace, tmp_path: Path, told: list[str]
) -> None:
    found = of(stores, here, write(tmp_path / "tickets", manifest()))
    assert (found.servers, told) == ((), [])
    assert tools.remembered(found.extension.connections, {}) == ()


def test_what_is_remembered_is_bounded_and_still_tells_a_change() -> None:
    connection = Connection("gh", "mcp", "mcp", "github", (Operation("get", "read", None, {}),), {})

    def pinned(description: str, **more: Any) -> Any:
        found = definition({**tool("get", description), **more})
        assert found is not None
        return tools.seen(connection, Listed("gh", {"get": found}, ("get",)))

    before, after = pinned(LONG), pinned(LONG + "!", **{f"x{number}": number for number in range(1000)})
    assert all(len(json.dumps(pins["get"])) < 3000 for pins in (before, after))
    assert before == pinned(LONG)
    assert before["get"]["description"] != after["get"]["description"]
    assert before["get"]["description"].startswith("100,002 characters with the SHA-256 ")
    assert (before["get"]["name"], before["get"]["inputSchema"]) == ("get", {"type": "object"})


def test_a_definition_that_is_nested_too_deeply_is_no_tool() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"properties": deep}
    assert definition({**tool("get"), "inputSchema": deep}) is None


GLOBBED = Connection(
    "gh",
    "mcp",
    "mcp",
    "github",
    (
        Operation("get_issue", "read", None, {"risk": "read"}),
        Operation("list_a", "read", None, {"risk": "read", "let_in_by": ("list_*",)}),
        Operation("list_b", "write", None, {"risk": "write", "let_in_by": ("list_*", "*_b")}),
    ),
    {"globs": (("list_*", "read"), ("*_b", "write"))},
)


def offering(*names: str) -> Listed:
    return Listed("gh", {name: told for name in names if (told := definition(tool(name)))}, names)


def test_what_globs_let_in_now_and_before_is_told() -> None:
    pins: dict[str, Any] = {"gh": {"list_*": None, "get_issue": {"name": "get_issue"}, "list_a": tool("list_a")}}
    told = [change.message for change in tools.changes([GLOBBED], [offering("list_a", "list_b")], pins)]
    assert told == [
        "gh: new tool list_b of risk write, let in by list_*",
        "gh get_issue: the server no longer has this tool",
    ]
    gone: dict[str, Any] = {
        "gh": {**tools.seen(GLOBBED, offering("get_issue", "list_a", "list_b")), "list_c": tool("list_c"), "x": {}}
    }
    # What no glob lets in any more is a change of the manifest, and told as one.
    assert list(tools.changes([GLOBBED], [offering("get_issue", "list_a", "list_b")], gone)) == [
        Change("narrowed", "gh list_c: the server no longer has this tool")
    ]


def test_where_nobody_was_shown_anything_the_names_that_are_declared_keep_what_was_shown() -> None:
    before: dict[str, Any] = {"get_issue": {"name": "get_issue"}, "list_*": None, "list_c": {"name": "list_c"}}
    assert tools.unseen(GLOBBED, before) == {"get_issue": {"name": "get_issue"}}


def test_what_goes_wrong_while_a_server_is_asked_is_not_lost_in_its_thread() -> None:
    def broken() -> list[Tool]:
        raise ZeroDivisionError("of the one that asks")

    with pytest.raises(ZeroDivisionError, match="of the one that asks"):
        tools._side_by_side([lambda: "a problem", broken])
