"""What single kinds add to the pipeline: a write that TDT completes, drafts that publish, an interrupted sending."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.broker import bindings, budget, call, plugin, profiles
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers import kept
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service
from helm_cli.store import history, outcomes, workspaces
from tests.broker.approved import Clock, approved, declared, workspace
from tests.rig import plugins
from tests.rig.failing import failing
from tests.rig.http_server import Peer, Received, serving
from tests.rig.tdt import Fake, tool

SERVICE: Final[dict[str, Any]] = {
    "id": "shop",
    "permissions": {"write": True},
    "connections": [
        {
            "id": "api",
            "kind": "http",
            "service": "shop",
            "calls": {"add": {"method": "POST", "path": "/items", "body": {"name": "{name}"}, "write": True}},
        }
    ],
}
BRAIN: Final[dict[str, Any]] = {
    "id": "brain",
    "permissions": {"write": True},
    "connections": [{"id": "tdt", "kind": "tdt-mcp", "operations": ["tdt_note_list"], "writes": ["tdt_note_save"]}],
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "here")


@pytest.fixture
def stores(home: Path, clock: Clock, told: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    with closing(Stores(home, clock=clock, notice=told.append)) as opened:
        yield opened


def test_an_interrupted_write_says_to_look_before_it_is_repeated(
    stores: Stores, here: Workspace, told: list[str]
) -> None:
    def interrupting(peer: Peer, request: Received) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        peer.hold()

    with serving(interrupting) as server:
        profiles.add(stores, Service("shop", server.url), "a-token", force=False)
        declared(stores, here, SERVICE)
        request = call.Request(here, "api", "add", {"name": "x"})
        asked = call.ask(stores, request, listed=True, awaited=True)
        assert server.received == []
        with pytest.raises(KeyboardInterrupt):
            call.perform(stores, request, asked.token, asked.entry)
        assert [(one.method, one.target, one.body) for one in server.received] == [("POST", "/items", b'{"name":"x"}')]
    assert told == ["interrupted while add was being sent; look before you repeat it"]
    assert [entry.outcome for entry in history.entries(stores.db)] == ["interrupted"]
    assert outcomes.outcome(stores.db, asked.id, stores.clock()) == failure(
        HelmError(
            "unavailable",
            "the process that confirmed this write ended while it sent it; look before you repeat it",
            {"applied": "unknown"},
        )
    )


@pytest.mark.contract("C117")
def test_a_write_of_tdt_is_completed_before_anybody_sees_it(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(tmp_path / "brain", monkeypatch)
    fake.offers([tool("tdt_note_list", read_only=True), tool("tdt_note_save", "user_instruction", read_only=False)])
    here = Workspace(str(fake.folder), "named")
    declared(stores, here, BRAIN)
    workspaces.set_tdt_profile(stores.db, here.path, "everyday", 0.0)
    with kept.open_ones():
        read = call.describe(stores, call.Request(here, "tdt", "tdt_note_list", {})).plan
        assert (read.open, read.request, fake.notes()) == (False, {"tool": "tdt_note_list", "arguments": {}}, [])
        write = call.describe(stores, call.Request(here, "tdt", "tdt_note_save", {"summary": "x"})).plan
    assert (write.open, list(write.request)) == (False, ["tool", "arguments", "user_instruction"])
    assert str(write.request["user_instruction"]).startswith("User confirmed tdt_note_save in Helm (request ")
    assert fake.calls() == []


def test_a_consequential_tool_runs_for_a_draft_alone_and_a_draft_needs_no_tokens(
    stores: Stores, here: Workspace
) -> None:
    profiles.add(stores, Service("news", "http://127.0.0.1:9"), None, force=False)
    folder = plugins.write(
        Path(here.path) / "plugin",
        tools=[plugins.named("send", "consequential")],
        budget={"monthly_tokens": 10},
    )
    approved(stores, here, folder)
    team = plugin.approved(stores, here, plugins.ID)
    bindings.bind(stores, team.approval, Bound("send", "news", "POST", "/letters", '{"text":"{text}"}'))
    request = call.Request(here, "_tools", "send", {"text": "It is out."})
    with failing("refused", "send is consequential, so it runs only for an approved draft: helm draft publish"):
        call.describe(stores, request)
    budget.add(stores, team, 10, None)
    with pytest.raises(HelmError, match="acme/marketing has used 10 of its 10 tokens of 2027-01"):
        call.describe(stores, request)
    assert call.describe(stores, request._replace(draft="abcdefgh")).plan.request == {
        "method": "POST",
        "url": "http://127.0.0.1:9/letters",
        "body": '{"text":"It is out."}',
    }


def operation(name: str, effect: Effect = "read") -> Operation:
    return Operation(name, effect, None, {})


@pytest.mark.contract("P23")
@pytest.mark.parametrize(
    ("names", "globs", "name", "told"),
    [
        ((), (), "list", "gh declares no operation list; it has none"),
        (("list", "get"), (), "drop", "gh declares no operation drop; it has list, get"),
        (("list", "get"), (), "lists", "gh declares no operation lists; did you mean list?"),
        (
            tuple(f"n{number:02}" for number in range(22)),
            (),
            "drop",
            f"gh declares no operation drop; it has {', '.join(f'n{number:02}' for number in range(20))} and 2 more",
        ),
        (("get_a",), (("list_*", "read"),), "drop", "gh declares no operation drop; it has get_a"),
        (
            ("get_a",),
            (("list_*", "read"),),
            "list_b",
            "gh declares no operation list_b; a glob of the plugin would let it in, but no person has seen it at a"
            " review where its server could be asked; review the plugin again in a terminal",
        ),
    ],
)
def test_an_operation_that_is_not_declared_is_refused_with_a_hint(
    names: tuple[str, ...], globs: tuple[tuple[str, str], ...], name: str, told: str
) -> None:
    connection = Connection("gh", "mcp", "mcp", "github", tuple(map(operation, names)), {"globs": globs})
    extension = Extension("x", "", "", "", "plugin.yaml", False, (connection,), ())
    with failing("refused", told):
        call.permitted(extension, connection, name)


def test_a_write_needs_the_extension_s_permission() -> None:
    drop = operation("drop", "write")
    connection = Connection("gh", "mcp", "mcp", "github", (drop,), {})
    extension = Extension("x", "", "", "", "manifest.json", False, (connection,), ())
    with failing("refused", "x lacks permissions.write, so gh drop cannot be called; review it"):
        call.permitted(extension, connection, "drop")
    assert call.permitted(extension._replace(write_permitted=True), connection, "drop") == drop
