"""How two versions of a plugin differ: what it may do more stands first, whichever section says so."""

import json
from typing import Any

import pytest

from helm_cli import dialects
from helm_cli.broker import difference
from helm_cli.model.content import Content
from helm_cli.model.extension import Extension
from helm_cli.model.review import Change
from tests.rig.plugins import AGENT, allow, named

POST = named("post", "consequential")


def plugin(files: dict[str, str] | None = None, **sections: Any) -> Extension:
    top = {"name": "acme/a", "version": "1.0.0", "description": "Does.", **sections}
    texts = {"plugin.yaml": "".join(f"{name}: {json.dumps(value)}\n" for name, value in top.items())}
    texts |= {"agents/writer.md": AGENT} if files is None else files
    return dialects.build(Content({path: text.encode() for path, text in texts.items()}))


def told(old: Extension, new: Extension) -> list[tuple[str, str]]:
    return [(change.sort, change.message) for change in difference.between(old, new)]


def tools(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"tools": list(entries)}


def setting(key: str = "k", **members: Any) -> dict[str, Any]:
    return {"settings": [{"key": key, "type": "string", **members}]}


def oauth2(*scopes: str, provider: str = "oauth2") -> dict[str, Any]:
    return setting(type="connection", provider=provider, scopes=list(scopes))


def publish(**approval: Any) -> dict[str, Any]:
    return {"outputs": [{"type": "publish", "via": "post", "approval": approval}], **tools(POST)}


def schedule(cron: str) -> dict[str, Any]:
    return {"triggers": [{"on": "schedule", "cron": cron}]}


def manual(**form: Any) -> dict[str, Any]:
    return {"triggers": [{"on": "manual", "form": form}]}


@pytest.mark.contract("P41")
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (tools(allow("g", "a")), tools(allow("g", "a", "b")), [("widened", "g: new tool b of risk read")]),
        (tools(allow("g", "a", "b")), tools(allow("g", "a")), [("narrowed", "g: tool b is gone")]),
        (
            tools(allow("g", "a")),
            tools(allow("g", "a", risk="write")),
            [("widened", "g a: its risk was raised from read to write")],
        ),
        (
            tools(allow("g", "a", risk="write")),
            tools(allow("g", "a")),
            [("widened", "g a: its risk was lowered from write to read, so it runs without asking")],
        ),
        (
            tools(allow("g", "a", risk="consequential")),
            tools(allow("g", "a", risk="write")),
            [("changed", "g a: its risk was lowered from consequential to write")],
        ),
        (tools(allow("g", "a")), tools(allow("g", "a", "b*")), [("widened", "g: new glob b* of risk read")]),
        (
            tools(allow("g", "b*")),
            tools(allow("g", "b*", risk="write")),
            [("widened", "g b*: its risk was raised from read to write")],
        ),
        (tools(allow("g", "a", "b*")), tools(allow("g", "a")), [("narrowed", "g: glob b* is gone")]),
        (
            tools(allow("g", "*"), allow("g", "b*", risk="write")),
            tools(allow("g", "*")),
            [("widened", "g: glob b* (write) is gone, but * (read) still lets such tools in")],
        ),
        (
            tools(allow("g", "*", "b*")),
            tools(allow("g", "*")),
            [("changed", "g: glob b* (read) is gone, but * (read) still lets such tools in")],
        ),
        (
            tools(allow("g", "*"), allow("g", "b", risk="write")),
            tools(allow("g", "*")),
            [("widened", "g: tool b (write) is gone, but * (read) still lets it in")],
        ),
        (
            tools(allow("g", "b*", risk="write")),
            tools(allow("g", "b1"), allow("g", "c")),
            [
                ("widened", "g b1: its risk was lowered from write to read, so it runs without asking"),
                ("widened", "g: new tool c of risk read"),
                ("changed", "g: tool b1, so far let in by b*, is listed by its name"),
                ("narrowed", "g: glob b* is gone"),
            ],
        ),
        (
            tools(allow("g", "a")),
            tools(allow("g", "a"), allow("h", "x", "y*"), named("find")),
            [
                ("widened", "new connection h (mcp, profile h), 1 read, 0 writes, 1 glob"),
                ("widened", "new connection _tools (tools), 1 read, 0 writes"),
            ],
        ),
        (
            tools(POST),
            tools(named("post", "write")),
            [
                (
                    "widened",
                    "_tools post: its risk was lowered from consequential to write, so it needs no approved draft any"
                    " more",
                )
            ],
        ),
        (
            tools(named("find", description="A.")),
            tools(named("find", kind="builtin", description="B.")),
            [("changed", "_tools find: its kind changed"), ("changed", "_tools find: its description changed")],
        ),
        ({}, setting(), [("widened", "new setting k (string)")]),
        ({}, oauth2("a", "b"), [("widened", "new setting k (connection) with the scopes a b")]),
        (setting(), {}, [("narrowed", "setting k is gone")]),
        (
            oauth2("a", "b"),
            oauth2("b", "c"),
            [("widened", "setting k: new scope c"), ("narrowed", "setting k: scope a is gone")],
        ),
        (oauth2(), oauth2(provider="saml"), [("widened", "setting k: its provider changed")]),
        (
            setting(type="secret"),
            setting(),
            [
                ("widened", "setting k: its type changed from secret to string"),
                ("widened", "setting k: it is no longer sensitive, so a model may see it"),
            ],
        ),
        (setting(), setting(sensitive=True), [("narrowed", "setting k: it is sensitive now")]),
        (
            schedule("0 9 * * *"),
            schedule("0 * * * *"),
            [("widened", "new trigger schedule: 0 * * * *"), ("narrowed", "trigger schedule: 0 9 * * * is gone")],
        ),
        ({}, {"triggers": [{"on": "github.release"}]}, [("widened", "new trigger github.release")]),
        (
            manual(brief="text"),
            manual(brief="text", tone=["dry", "warm"]),
            [
                ("widened", "new trigger manual: brief (text), tone (dry | warm)"),
                ("narrowed", "trigger manual: brief (text) is gone"),
            ],
        ),
        (
            {"outputs": [{"type": "draft", "kinds": ["blog"]}]},
            {"outputs": [{"type": "draft", "kinds": ["email"]}]},
            [("widened", "new draft kind email"), ("narrowed", "draft kind blog is gone")],
        ),
        (
            tools(POST),
            publish(min=2),
            [("widened", "new publish through post, approved by 2 different people, never the one who asked for it")],
        ),
        (publish(min=2), publish(), [("widened", "publish through post: who approves changed")]),
        (publish(role="editor"), publish(role="boss"), [("widened", "publish through post: who approves changed")]),
        (publish(), publish(min=2, role="boss"), [("narrowed", "publish through post: who approves changed")]),
        (publish(), tools(POST), [("narrowed", "publish through post is gone")]),
        (
            {"budget": {"monthly_tokens": 1000}},
            {"budget": {"monthly_tokens": 2000}},
            [("widened", "the budget was raised from 1,000 to 2,000 tokens a month")],
        ),
        (
            {"budget": {"monthly_tokens": 2000}},
            {"budget": {"monthly_tokens": 1000}},
            [("narrowed", "the budget was lowered from 2,000 to 1,000 tokens a month")],
        ),
        (
            {"budget": {"monthly_tokens": 2000}},
            {"budget": {"monthly_tokens": 0}},
            [("widened", "the budget has no limit any more; it was 2,000 tokens a month")],
        ),
        ({}, {"budget": {"monthly_tokens": 5}}, [("narrowed", "the budget has a limit now: 5 tokens a month")]),
        ({"version": "1.0.0"}, {"version": "1.1.0"}, [("changed", "the version changed")]),
    ],
)
def test_every_difference_is_told(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert told(plugin(**old), plugin(**new)) == expected
    assert told(plugin(**new), plugin(**new)) == []


def test_instructions_are_compared_by_file() -> None:
    other = AGENT.replace("Write a post.", "Write two posts.").replace("Writes posts.", "Writes.")
    skill = {"skills/tone/SKILL.md": "---\nname: tone\ndescription: How.\n---\nBe kind.\n"}
    found = difference.between(plugin(), plugin({"agents/writer.md": other, "agents/b.md": AGENT, **skill}))
    assert found == (
        Change("widened", "new agent writer (agents/b.md)"),
        Change("widened", "new skill tone (skills/tone/SKILL.md)"),
        Change("changed", "agent writer (agents/writer.md): its description changed", "Writes posts.", "Writes."),
        Change("changed", "agent writer (agents/writer.md): its text changed", "Write a post.", "Write two posts."),
    )
    assert told(plugin({"agents/writer.md": AGENT, **skill}), plugin()) == [
        ("narrowed", "skill tone (skills/tone/SKILL.md) is gone")
    ]
