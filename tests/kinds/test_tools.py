"""How a bound tool becomes a request: as a declared HTTP call does, with texts as long as a draft's."""

import pytest

from helm_cli.kinds import tools
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Connection, Effect, Extension, Operation
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.plugin import Bound
from helm_cli.model.profile import Service

EXTENSION = Extension("acme/a", "acme/a", "1.0.0", "", "plugin.yaml", True, (), ())
SERVICE = Service("blog", "https://blog.example/api")


def operation(risk: str = "write", kind: str = "http") -> Operation:
    effect: Effect = "read" if risk == "read" else "write"
    return Operation("post", effect, None, {"kind": kind, "risk": risk, "description": "Posts."})


def to(method: str = "POST", path: str = "/posts", body: str | None = '{"t": "{title}"}') -> Bound:
    return Bound("post", "blog", method, path, body)


def plan(found: Operation, **arguments: Json) -> Plan:
    connection = tools.narrowed(Connection("_tools", "tools", None, None, (found,), {}), found)
    return tools.plan(EXTENSION, connection, found, arguments, SERVICE)


def test_a_bound_tool_is_planned_as_a_call() -> None:
    found = tools.bound(operation(), to("PUT", "/posts/{id}?draft={draft}&v=1", '{"a": ["{title}", "x{title}"]}'))
    assert found.params == ("id", "draft", "title")
    assert plan(found, id="a b", title="é", draft=None)._asdict() == {
        "kind": "http",
        "effect": "write",
        "extension": "acme/a",
        "connection": "_tools",
        "operation": "post",
        "group": "service",
        "profile": "blog",
        "driver": "http",
        "shape": "json",
        "title": "Confirm request",
        "verb": "Send",
        "noun": "tool",
        "request": {
            "method": "PUT",
            "url": "https://blog.example/api/posts/a%20b?v=1",
            "body": '{"a":["\\u00e9","x{title}"]}',
        },
        "previewed": False,
        "open": False,
    }
    assert tools.schema(Connection("_tools", "tools", None, None, (found,), {}), found)["required"] == ["id"]


def test_a_text_may_be_as_long_as_a_draft() -> None:
    found = tools.bound(operation(), to())
    assert len(str(plan(found, title="x" * tools.MOST_CHARACTERS).request["body"])) == tools.MOST_CHARACTERS + 8
    wrong: list[tuple[dict[str, Json], str]] = [
        ({"title": "x" * (tools.MOST_CHARACTERS + 1)}, "at most 262144 are allowed"),
        ({"title": ["x"]}, "the argument title is a list"),
        ({"name": "x"}, "post has no argument name; it takes title"),
    ]
    for arguments, told in wrong:
        with pytest.raises(HelmError, match=told) as raised:
            plan(found, **arguments)
        assert raised.value.code == "refused"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (operation(), "post is not bound to a service for what is approved; run helm plugin bind acme/a post"),
        (operation(kind="builtin"), "post is a builtin tool of CoderHelm, and this helm has none"),
        (tools.bound(operation("read"), to("DELETE")), "post cannot be called as it is bound: its risk is read"),
    ],
)
def test_what_cannot_be_called_says_why(found: Operation, told: str) -> None:
    with pytest.raises(HelmError, match=told) as raised:
        plan(found)
    assert raised.value.code == "refused"
    assert tools.schema(Connection("_tools", "tools", None, None, (found,), {}), operation()) == {"type": "object"}


@pytest.mark.parametrize(
    ("risk", "bound", "told"),
    [
        ("read", to("GET", body=None), None),
        ("read", to("POST"), None),
        ("read", to("POST", body=None), "its risk is read, and a POST that reads has a body"),
        ("read", to("PATCH"), "its risk is read, so it runs without asking, and a PATCH writes"),
        ("write", to("GET", body=None), "its risk is write, and a GET is for tools that only read"),
        ("consequential", to("DELETE", body=None), None),
        ("write", to("TRACE"), "TRACE is no method of these calls"),
        ("read", to("GET"), "a GET has no body"),
        ("write", to(path="/a?{x}=1"), "the names in the query of the path must hold no braces"),
        ("write", to(path="/a?x={1}"), "the query of the path has a brace that belongs to no {name} placeholder"),
        ("write", to(path="/a?x=1#y"), 'the query of the path must not contain "#"'),
        ("write", to(path="/a?x=%ff"), "the query of the path must be written name=value&name=value"),
        ("write", to(path="/%2e%2e/a"), 'the path must have no "." or ".." segment'),
        ("write", to(body='{"a": 1, "a": 2}'), "the body is no JSON"),
        ("write", to(path="/a?x=1&x=2"), "the query of the path has a name twice"),
        ("write", to(body="[" * 70 + "]" * 70), "the body must not be nested deeper than 64 levels"),
        ("write", to(body='{"a": ["{title}", 1, true, null], "b": {"c": ""}}'), None),
        (
            "write",
            to(body='{"a": ["by {name}, {title}"]}'),
            "the body would send {name} as it is written: only a whole",
        ),
        ("write", to(body='{"{title}": 1}'), "the body would send {title} as it is written: only a whole string of"),
    ],
)
def test_the_rules_of_a_binding(risk: str, bound: Bound, told: str | None) -> None:
    wrong = tools.fault(operation(risk), bound)
    assert (wrong is None) if told is None else (wrong is not None and wrong.startswith(told)), wrong


def test_a_builtin_tool_is_bound_to_nothing() -> None:
    told = "post is a builtin tool; only tools of kind http are bound"
    assert tools.fault(operation(kind="builtin"), to()) == told
