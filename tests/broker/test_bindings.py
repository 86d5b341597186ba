"""Where the calls of named tools go: only what a person was shown, and why a tool may be bound to nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.broker import bindings, profiles
from helm_cli.model.extension import Connection, Operation
from helm_cli.model.plugin import TOOLS, Bound
from helm_cli.model.profile import Service
from tests.broker.office import Office, office
from tests.rig.failing import failing
from tests.rig.team import ID

BLOG = Service("blog", "http://127.0.0.1:9/api")
COUNT = Bound("count_posts", "blog", "GET", "/count?of={blog}", None)
SEND = Bound("send_post", "blog", "POST", "/posts", '{"t": "{title}"}')


@pytest.fixture
def us(home: Path) -> Iterator[Office]:
    with office(home) as opened:
        profiles.add(opened.stores, BLOG, None, force=False)
        yield opened


def bind(us: Office, *to: Bound) -> None:
    for one in to:
        bindings.bind(us.stores, us.approval(), one)


def named(us: Office, tool: str) -> tuple[Connection, Operation]:
    connection = us.team().extension.connection(TOOLS)
    assert connection is not None
    operation = connection.operation(tool)
    assert operation is not None
    return connection, operation


def test_a_tool_is_bound_and_bound_anew_and_unbound(us: Office) -> None:
    bind(us, COUNT, SEND)
    bind(us, COUNT._replace(path="/number"))
    assert bindings.kept(us.stores, us.here.path, us.team().extension) == (COUNT._replace(path="/number"), SEND)
    assert named(us, "count_posts")[1].spec["path"] == "/number"
    assert [bindings.unbind(us.stores, us.approval(), "count_posts") for _ in range(2)] == [True, False]
    assert "path" not in named(us, "count_posts")[1].spec


def test_a_call_goes_to_the_service_that_its_tool_is_bound_to(us: Office) -> None:
    bind(us, COUNT)
    connection, operation = named(us, "count_posts")
    reached = bindings.reach(us.team().extension, connection, operation)
    assert reached == Connection(TOOLS, "tools", "service", "blog", (operation,), {})
    assert operation.params == ("blog",)


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (
            "read_notes",
            "read_notes is a builtin tool of CoderHelm, and this helm has none; leave it out, or declare it as http",
        ),
        (
            "count_posts",
            "count_posts is not bound to a service for what is approved; run helm plugin bind acme/marketing"
            " count_posts --service S --method M --path P",
        ),
    ],
)
def test_a_tool_that_goes_nowhere_says_why(us: Office, tool: str, told: str) -> None:
    with failing("refused", told):
        bindings.reach(us.team().extension, *named(us, tool))


def test_a_binding_holds_for_the_content_that_it_was_shown_with(us: Office) -> None:
    bind(us, COUNT, SEND)
    extension, digest = us.team().extension, us.approval().digest
    assert bindings.kept(us.stores, us.here.path, extension, digest) == (COUNT, SEND)
    assert bindings.kept(us.stores, us.here.path, extension, "sha256:other") == ()
    bound = bindings.filled(us.stores, us.here.path, extension, "sha256:other").connection(TOOLS)
    # A tool is bound only by what is approved now.
    assert bound == named(us, "count_posts")[0]
    # One that no longer fits its risk is none.
    us.approve(tools=[{"name": "count_posts", "kind": "http", "risk": "write"}], outputs=[])
    bind(us, COUNT)
    assert "path" not in named(us, "count_posts")[1].spec
    # That of a tool which is gone is nobody's.
    assert bindings.kept(us.stores, us.here.path, us.team().extension) == (COUNT,)


def test_a_plugin_without_named_tools_has_no_bindings(us: Office) -> None:
    bind(us, COUNT)
    us.approve(tools=[], outputs=[])
    extension = us.team().extension
    assert bindings.filled(us.stores, us.here.path, extension, None) == extension
    assert bindings.kept(us.stores, us.here.path, extension) == ()
    with failing("usage", f"{ID} has no named tool count_posts; it declares none"):
        bindings.check(us.stores, us.here.path, extension, COUNT)


def test_what_is_shown_of_a_binding_before_it_holds(us: Office) -> None:
    operation, service = bindings.check(us.stores, us.here.path, us.team().extension, COUNT)
    assert (service, operation.params, operation.effect) == (BLOG, ("blog",), "read")
    assert (operation.spec["method"], operation.spec["path"], operation.spec["query"]) == (
        "GET",
        "/count",
        {"of": "{blog}"},
    )
    assert bindings.kept(us.stores, us.here.path, us.team().extension) == ()


@pytest.mark.parametrize(
    ("to", "code", "told"),
    [
        (
            COUNT._replace(tool="count"),
            "usage",
            f"{ID} has no named tool count; it has send_post, send_letter, count_posts, read_notes",
        ),
        (
            COUNT._replace(method="PUT"),
            "usage",
            "count_posts cannot be bound so: its risk is read, so it runs without asking, and a PUT writes; a read is"
            " GET, or POST with a body",
        ),
    ],
)
def test_what_cannot_be_bound_is_said_before_anybody_is_asked(us: Office, to: Bound, code: str, told: str) -> None:
    with failing(code, told):
        bindings.check(us.stores, us.here.path, us.team().extension, to)


def test_a_service_that_is_not_there_is_named(us: Office) -> None:
    told = "there is no service profile blogg (did you mean blog?); add it with: helm service add blogg"
    with failing("not_configured", told):
        bindings.check(us.stores, us.here.path, us.team().extension, COUNT._replace(service="blogg"))
