"""Named tools of a plugin: they go where a person bound them, for what that person approved, and nowhere before."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program import Helm
from tests.rig.http_server import Server, echoing, serving
from tests.rig.plugins import ASKED, ID, agree, at_helm, named, review, write
from tests.rig.terminal import ESC

TOKEN = "canary-b1nd-70c3"
FILE = {"HELM_CLI_CREDENTIALS": "file"}
TOOLS = [
    named("find_posts", description="Finds posts."),
    named("save_draft", "write"),
    named("post_update", "consequential"),
    named("release_notes", kind="builtin"),
]
FIND = ("--method", "GET", "--path", "/posts/{blog}?q={text}&limit=20")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(echoing) as found:
        yield found


@pytest.fixture
def bound(tmp_path: Path, helm: Helm, server: Server, monkeypatch: pytest.MonkeyPatch) -> Helm:
    """helm in a workspace with an approved plugin of four named tools, and a service profile with a token."""
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    added = helm("service", "add", "blog", "--base-url", f"{server.url}/api", "--token-stdin", stdin=TOKEN)
    assert added.status == 0
    write(Path("plugin"), tools=TOOLS)
    review("plugin")
    return helm


def bind(tool: str, *words: str, service: str = "blog") -> str:
    """Bind at the terminal; what was on the screen when helm asked."""
    with at_helm("plugin", "bind", ID, tool, "--service", service, *words) as screen:
        screen.wait_for(ASKED)
        told = "\n".join(screen.screen())
        agree(screen, "Bind")
        assert screen.status() == 0, screen.raw
    assert TOKEN not in told
    return told


def message(done: Any) -> str:
    told: str = done.json["error"]["message"]
    return told


def test_a_read_runs_as_it_is_bound_and_a_write_is_asked_about(bound: Helm, server: Server) -> None:
    told = bind("find_posts", *FIND)
    url = f"{server.url}/api/posts/{{blog}}"
    assert told.split("\n")[:14] == [
        "",
        "Bind tool find_posts",
        "",
        "  extension  acme/marketing",
        f"  workspace  {Path.cwd()}",
        "  tool       find_posts",
        "  says       Finds posts.",
        "  risk       read: it runs without asking",
        "  service    blog, with its token",
        "  method     GET",
        f"  url        {url}",
        "  query      q = {text}",
        "  query      limit = 20",
        "  fills in   blog, text",
    ]
    arguments = ("--arg", "blog=a/b", "--arg", "text=x&y={z} é")
    done = bound("call", "_tools", "find_posts", "--plugin", ID, *arguments)
    assert (done.status, done.json["status"]) == (0, 200)
    assert done.json["data"]["target"] == "/api/posts/a%2Fb?q=x%26y%3D%7Bz%7D%20%C3%A9&limit=20"
    assert server.received[-1].header("authorization") == [f"Bearer {TOKEN}"]
    assert "q=" not in bound("call", "_tools", "find_posts", "--arg", "blog=a").json["data"]["target"]
    for words, reason in (
        ((), "find_posts needs the argument blog, which is part of its path"),
        (("--arg", "blog=.."), 'make a "." or ".." segment of its path'),
        (("--arg", "blog=a", "--arg", "other=1"), "find_posts has no argument other; it takes blog, text"),
    ):
        refused = bound("call", "_tools", "find_posts", *words)
        assert (refused.status, reason in message(refused)) == (3, True)

    body = '{"title": "{title}", "text": "{body}", "note": "not title", "tags": [1, "{tag}"]}'
    Path("body.json").write_text(body)
    bind("save_draft", "--method", "post", "--path", "/posts", "--body", "@body.json")
    long = "x" * 100_000
    given = json.dumps({"title": "T", "body": long, "tag": True})
    sent = len(server.received)
    assert bound("call", "_tools", "save_draft", "--args", "-", stdin=given).status == 7
    assert len(server.received) == sent
    with at_helm("call", "_tools", "save_draft", "--arg", "title=é", "-o", "data") as screen:
        screen.wait_for(ASKED)
        asked = "\n".join(screen.screen())
        agree(screen, "Send")
        assert screen.status() == 0
    assert f"  url         {server.url}/api/posts" in asked
    wire = '{"title":"\\u00e9","text":null,"note":"not title","tags":[1,null]}'
    assert wire in asked
    assert server.received[-1].body.decode() == wire


def test_a_consequential_tool_and_one_that_is_not_bound_are_refused(bound: Helm, server: Server) -> None:
    bind("post_update", "--method", "POST", "--path", "/posts", "--body", '{"t": "{title}"}')
    for tool, told in (
        ("post_update", "post_update is consequential, so it runs only for an approved draft: helm draft publish"),
        (
            "find_posts",
            "find_posts is not bound to a service for what is approved; run helm plugin bind acme/marketing find_posts"
            " --service S --method M --path P",
        ),
        (
            "release_notes",
            "release_notes is a builtin tool of CoderHelm, and this helm has none; leave it out, or declare it as http",
        ),
        (
            "find_post",
            "_tools declares no operation find_post; did you mean find_posts?",
        ),
    ):
        done = bound("call", "_tools", tool)
        assert (done.status, message(done)) == (3, told)
    assert not server.received


def test_a_binding_holds_for_the_approved_content_and_again_once_it_was_shown(bound: Helm, server: Server) -> None:
    bind("find_posts", "--method", "GET", "--path", "/posts")
    assert bound("call", "_tools", "find_posts").status == 0
    write(Path("plugin"), tools=TOOLS, version="1.1.0")
    assert bound("call", "_tools", "find_posts").status == 3
    shown = bound("plugin", "review", "plugin", "-o", "json").json
    assert shown["bindings"] == [
        {"tool": "find_posts", "service": "blog", "method": "GET", "path": "/posts", "body": None}
    ]
    told = review("plugin")
    assert "        bound to the service profile blog\n        GET /posts\n" in told
    assert bound("call", "_tools", "find_posts").status == 0
    # Pinned where no person looked: what was bound was not shown to anybody.
    write(Path("plugin"), tools=TOOLS, version="1.2.0")
    pinned = bound("plugin", "review", "plugin", "-o", "json").json
    left = bound("plugin", "review", "plugin", "--approve", pinned["digest"], "-o", "json")
    assert left.status == 7
    with at_helm("confirm", left.json["error"]["confirmation"]) as screen:
        screen.wait_for(ASKED)
        assert "        bound to the service profile blog" in screen.screen()
        agree(screen, "Approve")
        assert screen.status() == 0
    assert bound("call", "_tools", "find_posts").status == 0


def test_a_binding_that_no_longer_fits_the_risk_is_not_used(bound: Helm, server: Server) -> None:
    bind("save_draft", "--method", "DELETE", "--path", "/posts")
    write(Path("plugin"), tools=[named("save_draft")])
    told = review("plugin")
    assert "_tools save_draft: its risk was lowered from write to read, so it runs without asking" in told
    assert "not bound to a service: every call is refused until it is (helm plugin bind)" in told
    assert bound("call", "_tools", "save_draft").status == 3
    assert not server.received


def test_binding_needs_a_person_and_their_yes(bound: Helm) -> None:
    done = bound("plugin", "bind", ID, "find_posts", "--service", "blog", "--method", "GET", "--path", "/posts")
    assert (done.status, done.err) == (7, "helm: binding find_posts needs a person at the terminal; run it in one\n")
    with at_helm("plugin", "bind", ID, "find_posts", "--service", "blog", *FIND) as screen:
        screen.wait_for(ASKED)
        screen.send(ESC)
        assert screen.status() == 6
        assert b"cancelled; find_posts was not bound" in screen.raw
    assert bound("call", "_tools", "find_posts").status == 3


def test_a_binding_is_replaced_and_taken_away(bound: Helm) -> None:
    bind("find_posts", "--method", "GET", "--path", "/old")
    assert "  replaces   GET /old of the service profile blog" in bind(
        "find_posts", "--method", "GET", "--path", "/new"
    )
    assert bound("call", "_tools", "find_posts", "-o", "data").json["target"] == "/api/new"
    assert bound("plugin", "bind", ID, "find_posts", "--remove").status == 0
    assert bound("call", "_tools", "find_posts").status == 3
    told = bound("plugin", "bind", ID, "find_posts", "--remove").err
    assert told == "helm: find_posts is not bound, so nothing was changed\n"
    bind("find_posts", "--method", "GET", "--path", "/old")
    assert bound("plugin", "forget", ID).status == 0
    review("plugin")
    assert bound("call", "_tools", "find_posts").status == 3


IMPOSSIBLE: list[tuple[str, list[str], str]] = [
    (
        "find_posts",
        ["--method", "PUT", "--path", "/a"],
        "its risk is read, so it runs without asking, and a PUT",
    ),
    ("find_posts", ["--method", "POST", "--path", "/a"], "its risk is read, and a POST that reads has a body"),
    ("find_posts", ["--method", "GET", "--path", "/a", "--body", "{}"], "a GET has no body"),
    (
        "save_draft",
        ["--method", "GET", "--path", "/a"],
        "its risk is write, and a GET is for tools that only read",
    ),
    ("save_draft", ["--method", "HEAD", "--path", "/a"], "HEAD is no method of these calls"),
    ("save_draft", ["--method", "PUT", "--path", "a"], 'the path must start with exactly one "/"'),
    ("save_draft", ["--method", "PUT", "--path", "//evil.test/a"], 'the path must start with exactly one "/"'),
    ("save_draft", ["--method", "PUT", "--path", "/../a"], 'the path must have no "." or ".." segment'),
    ("save_draft", ["--method", "PUT", "--path", "/{a"], "a brace that belongs to no {name} placeholder"),
    ("save_draft", ["--method", "PUT", "--path", "/a?b"], "the query of the path must be written name=value"),
    ("save_draft", ["--method", "PUT", "--path", "/a?b=1&b=2"], "the query of the path has a name twice"),
    ("save_draft", ["--method", "PUT", "--path", "/a", "--body", "{"], "the body is no JSON"),
    ("save_draft", ["--method", "PUT", "--path", "/a", "--body", "@none"], "--body: none cannot be read"),
    *(
        ("save_draft", ["--method", "PUT", "--path", "/a", "--body", body], told)
        for body, told in (
            (
                '{"t": ["New: {title}"]}',
                "the body would send {title} as it is written: only a whole string of the body",
            ),
            (
                '"{a}{b}"',
                'the body would send {a} as it is written: only a whole string of the body is filled in: "{a}"',
            ),
            ('{"{title}": 1}', "the body would send {title} as it is written"),
        )
    ),
    ("save_draft", ["--method", "PUT"], "--path is missing"),
    ("save_draft", ["--remove", "--path", "/a"], "--remove goes alone"),
    ("release_notes", ["--method", "GET", "--path", "/a"], "only tools of kind http are bound"),
    ("none", ["--method", "GET", "--path", "/a"], "acme/marketing has no named tool none; it has find_posts"),
]


def test_what_cannot_be_bound_is_said_before_anybody_is_asked(bound: Helm) -> None:
    for tool, words, told in IMPOSSIBLE:
        service = [] if "--remove" in words else ["--service", "blog"]
        done = bound("plugin", "bind", ID, tool, *service, *words)
        assert (done.status, told in done.err) == (2, True), done.err


def test_a_service_that_is_not_there_is_named(bound: Helm) -> None:
    done = bound("plugin", "bind", ID, "find_posts", "--service", "other", *FIND)
    assert (done.status, "other" in done.err) == (4, True)
    folder = bound("plugin", "bind", "acme/other", "find_posts", "--service", "blog", *FIND)
    assert (folder.status, "acme/other is not approved" in folder.err) == (3, True)
    bind("find_posts", *FIND)
    assert bound("service", "remove", "blog").status == 0
    assert bound("call", "_tools", "find_posts", "--arg", "blog=1").status == 4
    write(Path("plugin"), tools=TOOLS, version="1.1.0")
    told = review("plugin")
    assert "! _tools: the profile blog is missing; add it with helm service add blog --base-url URL" in told
