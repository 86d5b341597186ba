"""Calls of a TDT that answers as the test says: through the agent, beside it, and when it changed before the yes."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program import Helm
from tests.rig import agents
from tests.rig.agents import agent
from tests.rig.tdt import YES, Fake, envelope, everyday, extension, result, tool
from tests.rig.terminal import at_terminal

TOOLS = [
    tool("tdt_list", read_only=True),
    tool("tdt_save", "title", "user_instruction", read_only=False),
    tool("tdt_move_preview", "id", read_only=True),
    tool("tdt_move_apply", "id", "expected_sha256", "user_instruction", read_only=False),
]


def answers(hash_: str) -> dict[str, Any]:
    told = {"proposal_sha256": hash_, "replacements": {"a.md": f"text of {hash_}\n"}}
    return {
        "tdt_list": result(envelope([])),
        "tdt_save": result(envelope({"id": "x"})),
        "tdt_move_preview": result(envelope(told)),
        "tdt_move_apply": result(envelope({"status": "completed"})),
    }


@pytest.fixture
def fake(tmp_path: Path, helm: Helm, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    made = Fake(tmp_path / "workspace", monkeypatch)
    made.offers(TOOLS, **answers("h1"))
    monkeypatch.chdir(made.folder)
    extension(helm, made.folder, ["tdt_list"], ["tdt_save", "tdt_move_apply"])
    everyday()
    yield made
    agents.end(home)


def confirmed(*words: str, status: int = 0) -> str:
    """The dialog that was said yes to."""
    with at_terminal(sys.executable, "-m", "helm_cli", *words, size=(120, 50)) as screen:
        screen.wait_for("Any other key cancels")
        shown = "\n".join(screen.screen())
        screen.send(*YES)
        assert screen.status() == status, screen.screen()
    return shown


@pytest.mark.contract("C114")
def test_calls_through_the_agent_have_one_server_and_a_write_beside_it_another(
    fake: Fake, helm: Helm, home: Path
) -> None:
    with agent(helm, home):
        for _ in range(3):
            assert helm("call", "brain", "tdt_list").json == envelope([])
        assert len(fake.pids()) == 1
        kept = helm("agent", "status", "-o", "json").json["kept"]
        assert [(one["what"], one["calls"], one["busy"]) for one in kept] == [("tdt (everyday)", 3, False)]
        # The person's own helm takes the place of the agent's server, which only waits.
        confirmed("call", "brain", "tdt_save", "--arg", "title=a")
        assert len(fake.pids()) == 2
        assert helm("call", "brain", "tdt_list").json == envelope([])
        assert len(fake.pids()) == 3
    calls = [(note["tool"], note["pid"]) for note in fake.calls()]
    first, second, third = fake.pids()
    assert calls == [*[("tdt_list", first)] * 3, ("tdt_save", second), ("tdt_list", third)]


@pytest.mark.contract("C118")
def test_what_changed_before_the_yes_is_refused_and_waits_no_longer(fake: Fake, helm: Helm) -> None:
    move = ("call", "brain", "tdt_move_apply", "--args", json.dumps({"id": "p", "expected_sha256": "h1"}))
    shown = confirmed(*move)
    assert "  change of a.md: 1 line in; a new file\n    + text of h1\n" in shown
    applied = fake.calls()[-1]
    assert (applied["tool"], list(applied["arguments"])) == (
        "tdt_move_apply",
        ["id", "expected_sha256", "user_instruction"],
    )
    id_ = helm(*move).json["error"]["confirmation"]
    fake.offers(TOOLS, **answers("h2"))
    with at_terminal(sys.executable, "-m", "helm_cli", "confirm", id_, size=(120, 50)) as screen:
        assert screen.status() == 3
        assert "is meant for another state than TDT's" in "\n".join(screen.screen())
    assert helm("confirm", "--list", "-o", "json").json == []
    assert [note["tool"] for note in fake.calls()].count("tdt_move_apply") == 1


def test_a_write_that_is_declined_is_not_sent(fake: Fake) -> None:
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "brain", "tdt_save", "--arg", "title=a") as screen:
        screen.wait_for("Any other key cancels")
        screen.send(b"q")
        assert screen.status() == 6
    assert fake.calls() == []


def test_a_person_reads_what_tdt_left_out_beside_the_data(fake: Fake) -> None:
    coverage = {"truncated": True, "omissions": ["b.md"]}
    fake.offers(TOOLS, tdt_list=result(envelope([1], coverage=coverage, warnings=["an old index"])))
    with at_terminal(sys.executable, "-m", "helm_cli", "call", "brain", "tdt_list") as screen:
        assert screen.status() == 0
        assert screen.screen()[-3:] == [
            "helm: TDT did not tell all of it",
            "helm: left out: b.md",
            "helm: TDT warns: an old index",
        ]


def test_a_check_asks_tdt_once_for_its_tools(fake: Fake, helm: Helm) -> None:
    fake.offers(TOOLS[1:])
    finished = helm("plugin", "check", "brain", "-o", "json")
    assert [(found["operation"], found["result"]) for found in finished.json["operations"]] == [
        ("tdt_list", "refused"),
        ("tdt_save", "ok"),
        ("tdt_move_apply", "ok"),
    ]
    assert (len(fake.pids()), fake.calls()) == (1, [])
