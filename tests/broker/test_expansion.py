"""Which of a server's tools the globs of a plugin let in: no more than a person reads, and with the highest risk."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import expansion
from helm_cli.model.extension import Connection, Extension, Operation
from helm_cli.model.review import Listed
from helm_cli.model.tool import tool
from helm_cli.store import tools
from tests.broker.office import office
from tests.rig.team import ID

GLOBS = (("get_*", "read"), ("*_post", "write"), ("*", "consequential"))
DECLARED = Operation("get_one", "read", None, {"risk": "read"})


def connection(*globs: tuple[str, str], id_: str = "cms") -> Connection:
    spec: dict[str, Any] = {"globs": globs} if globs else {}
    return Connection(id_, "mcp", "mcp", id_, (DECLARED,), spec)


def extension(*connections: Connection) -> Extension:
    return Extension("a/b", "a/b", "1.0.0", "", "plugin.yaml", True, connections, ())


def listed(names: Iterable[str], id_: str = "cms", problem: str = "") -> Listed:
    found = {name: tool({"name": name}) for name in names}
    return Listed(id_, {name: one for name, one in found.items() if one is not None}, tuple(found), problem)


def test_the_globs_that_let_a_tool_in() -> None:
    found = connection(*GLOBS)
    assert expansion.globs(found) == GLOBS
    assert expansion.globs(connection()) == ()
    assert expansion.matching(found, "get_post") == GLOBS
    assert expansion.matching(found, "list") == GLOBS[2:]
    assert expansion.matching(connection(), "list") == ()


@pytest.mark.parametrize(
    ("name", "fit"),
    [
        ("get", True),
        ("é" * 256, True),
        ("é" * 257, False),
        ("", False),
        (" a", False),
        ("a\x1b", False),
        ("a\n", False),
    ],
)
def test_what_nobody_can_read_never_gets_in(name: str, fit: bool) -> None:
    assert expansion.lets_in(connection(("*", "read")), name) is fit
    assert not expansion.lets_in(connection(("x*", "read")), name)


def test_a_tool_that_is_let_in_has_the_highest_risk_of_its_globs() -> None:
    servers = [listed(["save_post", "get_one", "get_two", "a\n"]), listed(["x"], "plain"), listed(["y"], "gone", "no")]
    connections = (connection(*GLOBS[:2]), connection(id_="plain"), connection(("*", "read"), id_="gone"))
    found = expansion.on_servers(extension(*connections), servers)
    assert found.connections == (
        connections[0]._replace(
            operations=(
                DECLARED,
                Operation("get_two", "read", None, {"risk": "read", "let_in_by": ("get_*",)}),
                Operation("save_post", "write", None, {"risk": "write", "let_in_by": ("*_post",)}),
            )
        ),
        *connections[1:],
    )


def test_what_was_seen_at_the_approval_is_let_in_and_what_a_server_has_since_is_not(home: Path) -> None:
    with office(home) as us:
        us.approve(tools=[{"ref": "mcp:cms", "allow": ["get_one", "get_*"]}], outputs=[])
        assert [one.name for one in us.team().extension.connections[0].operations] == ["get_one"]
        seen: Any = {"get_one": {"name": "get_one"}, "get_two": {"name": "get_two"}, "put": {"name": "put"}}
        tools.pin(us.stores.db, us.here.path, ID, {"cms": seen | {"get_none": None}}, ["cms"])
        assert us.team().extension.connections[0].operations[1:] == (
            Operation("get_two", "read", None, {"risk": "read", "let_in_by": ("get_*",)}),
        )


def test_the_highest_of_some_risks() -> None:
    assert expansion.highest(["write", "read"]) == "write"
    assert expansion.highest(["read", "consequential", "write"]) == "consequential"


def test_of_more_tools_than_anybody_reads_none_gets_in() -> None:
    names = [DECLARED.name, *(f"t{number}" for number in range(500))]
    most, over = listed(names), listed([*names, "one_more"])
    plain, other = listed([*names, "one_more"], "plain"), listed([*names, "one_more"], "other")
    whole = extension(connection(("*", "read")), connection(id_="plain"))
    told = "the globs of cms let in 501 of its tools, and at most 500 are taken: narrow them"
    assert expansion.bounded(whole, [most, plain, other]) == (most, plain, other)
    assert expansion.bounded(whole, [over, plain]) == (Listed("cms", {}, (), told), plain)
