"""`helm call` on HTTP services, as a person types it: reads, writes at a real terminal, and what nobody gets to see."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.model import jsontext
from tests.program import Finished, Helm, environment
from tests.rig import peers
from tests.rig.http_server import Peer, Received, Server, answering, chunk, echoing, response, sending, serving
from tests.rig.postgres import free_port
from tests.rig.terminal import DOWN, ENTER, ESC, Terminal, at_terminal

HELM: Final = (sys.executable, "-m", "helm_cli")
TOKEN: Final = "zq-canary-token-5f2b"
# Longer than the pause that the dialog wants between Down and Enter.
YES: Final = (DOWN, 0.3, ENTER)

GRAPHQL: Final = "query($first: Int) { allPosts(page: 0, perPage: $first) { id title } }"
CALLS: Final[dict[str, Any]] = {
    "issues": {
        "method": "GET",
        "path": "/repos/{owner}/{repo}/issues",
        "query": {"per_page": "{limit}", "state": "open"},
    },
    "project": {"method": "GET", "path": "/projects/{id}"},
    "posts": {"method": "POST", "path": "/graphql", "body": {"query": GRAPHQL, "variables": {"first": "{limit}"}}},
    "search": {"method": "POST", "path": "/search", "body": {"text": "{text}", "as": "x{text}", "deep": [["{n}"]]}},
    "close": {
        "method": "PATCH",
        "path": "/repos/{owner}/{repo}/issues/{number}",
        "body": {"state": "closed", "comment": "{comment}"},
        "write": True,
    },
    "delete": {"method": "DELETE", "path": "/issues/{number}", "write": True},
}


def approve(helm: Helm, folder: Path, manifest: dict[str, Any]) -> None:
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    told = helm("plugin", "review", str(folder), "-o", "json")
    assert helm("plugin", "review", str(folder), "--approve", told.json["digest"]).status == 0


@pytest.fixture
def ready(helm: Helm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Adds the profile `github` with this base URL, and approves an extension that uses it, in the current folder."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)

    def at(base: str) -> None:
        added = helm("service", "add", "github", "--base-url", base, "--token-stdin", stdin=f"{TOKEN}\n")
        assert added.status == 0, added
        connection = {"id": "gh", "kind": "http", "service": "github", "calls": CALLS}
        approve(
            helm, workspace / "issues", {"id": "issues", "permissions": {"write": True}, "connections": [connection]}
        )

    return at


@pytest.fixture
def server(ready: Callable[[str], None]) -> Iterator[Server]:
    """An honest service that tells what it got; a test may give it another script."""
    with serving(echoing) as running:
        ready(f"{running.url}/api/v3")
        yield running


def terminal(*words: str) -> Any:
    return at_terminal(*HELM, *words, size=(200, 40))


def shown(screen: Terminal) -> dict[str, str]:
    """What the dialog on the screen says, by its labels."""
    lines = [line for line in screen.screen() if line.startswith("  ") and line.strip()]
    return {label: text.strip() for label, _, text in (line.strip().partition("  ") for line in lines)}


def nowhere_but_in_the_store(home: Path, workspace: Path, *printed: Finished) -> None:
    for ended in printed:
        assert TOKEN not in ended.out + ended.err
    for folder in (home, workspace):
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "credentials.json":
                assert TOKEN.encode() not in path.read_bytes(), path


ISSUES: Final = ("call", "gh", "issues", "--arg", "owner=me", "--arg", "repo=app")


@pytest.mark.contract("C22", "C27", "C36", "C43")
def test_a_read(helm: Helm, server: Server, home: Path) -> None:
    ended = helm(*ISSUES, "--arg", "limit=20")
    target = "/api/v3/repos/me/app/issues?per_page=20&state=open"
    assert ended == Finished(
        0, f'{{"ok":true,"status":200,"data":{{"method":"GET","target":"{target}","body":""}},"error":null}}\n', ""
    )
    (received,) = server.received
    assert received.header("Authorization") == [f"Bearer {TOKEN}"]
    assert str(received).count(TOKEN) == 1
    nowhere_but_in_the_store(home, Path.cwd(), ended, helm("history", "-o", "json"), helm("service", "show", "github"))


@pytest.mark.contract("C26")
@pytest.mark.parametrize("arguments", [(), ("--arg", "limit=null")])
def test_a_query_parameter_without_its_argument_is_not_sent(
    helm: Helm, server: Server, arguments: tuple[str, ...]
) -> None:
    assert helm(*ISSUES, *arguments).status == 0
    assert server.received[0].target == "/api/v3/repos/me/app/issues?state=open"


@pytest.mark.contract("C24")
@pytest.mark.parametrize(
    ("id_", "segment"), [("group/project", "group%2Fproject"), ("a/b?c#d é", "a%2Fb%3Fc%23d%20%C3%A9"), ("42", "42")]
)
def test_a_path_value_is_one_segment(helm: Helm, server: Server, id_: str, segment: str) -> None:
    assert helm("call", "gh", "project", "--arg", f"id={id_}").status == 0
    assert server.received[0].target == f"/api/v3/projects/{segment}"


@pytest.mark.contract("C28", "C29", "C30")
def test_the_body_of_a_read_keeps_its_types(helm: Helm, server: Server) -> None:
    assert helm("call", "gh", "search", "--arg", "n=20", "--arg", "text={n}").status == 0
    assert server.received[0].body == b'{"text":"{n}","as":"x{text}","deep":[[20]]}'


WRONG: Final[list[tuple[tuple[str, ...], str]]] = [
    (("call", "gh", "drop"), "gh declares no operation drop; it has issues, project, posts, search, close, delete"),
    (("call", "gh", "project"), "project needs the argument id, which is part of its path"),
    (("call", "gh", "project", "--arg", "id=null"), "project needs the argument id, which is part of its path"),
    (
        ("call", "gh", "project", "--arg", "id="),
        "the argument id is empty, but is part of the path; give it a text",
    ),
    *(
        (
            ("call", "gh", "project", "--arg", f"id={dots}"),
            'the arguments of project make a "." or ".." segment of its path, which is not allowed',
        )
        for dots in ("..", ".", "%2e%2e", "x/../y", "..\\x", "..;x", "..%00", ".. ", "..\t")
    ),
    (
        ("call", "gh", "project", "--args", '{"id":[1]}'),
        "the argument id is a list; pass a string, a number, true, false or null",
    ),
    (
        ("call", "gh", "project", "--arg", "id=" + "x" * 4097),
        "the argument id has 4097 characters; at most 4096 are allowed",
    ),
    ((*ISSUES, "--arg", "body=x"), "issues has no argument body; it takes owner, repo, limit"),
    (("call", "gh", "close", "--arg", "owner=.."), "close needs the argument repo, which is part of its path"),
]


@pytest.mark.contract("C3", "C23", "C25", "C31", "C32", "C34")
def test_incorrect_arguments_send_nothing(helm: Helm, server: Server) -> None:
    for words, message in WRONG:
        envelope: dict[str, Any] = {"ok": False, "data": None, "error": {"code": "refused", "message": message}}
        ended = helm(*words)
        assert ended == Finished(3, jsontext.dump(envelope) + "\n", f"helm: {message}\n")
    assert server.connections == 0


@pytest.mark.contract("C31")
def test_an_argument_of_4096_characters_passes(helm: Helm, server: Server) -> None:
    assert helm("call", "gh", "project", "--arg", "id=" + "x" * 4096).status == 0
    assert server.received[0].target == "/api/v3/projects/" + "x" * 4096


OUTCOMES: Final[list[tuple[bytes, int, dict[str, Any]]]] = [
    (response(b""), 0, {"ok": True, "status": 200, "data": None}),
    (
        response(b"{}", "302 Found", {"Location": "http://127.0.0.1:1/"}),
        11,
        {"status": 302, "data": None, "code": "redirect"},
    ),
    (
        response(b"<html>", headers={"Content-Type": "text/html"}),
        11,
        {"status": 200, "data": None, "code": "not_json"},
    ),
    (response(b"[" + b"1," * 600_000 + b"1]"), 11, {"status": 200, "data": None, "code": "too_large"}),
    (
        response(b'{"message":"Not Found"}', "404 Not Found"),
        12,
        {"status": 404, "data": {"message": "Not Found"}, "code": "http_error"},
    ),
    (response(b"oops", "500 Internal Server Error"), 12, {"status": 500, "data": None, "code": "http_error"}),
    (
        response(b"{}", "429 Too Many Requests", {"Retry-After": "30"}),
        12,
        {"status": 429, "data": {}, "code": "http_error", "retry_after": 30},
    ),
    (b"SSH-2.0-OpenSSH_9.2p1\r\n", 10, {"data": None, "code": "unavailable"}),
]


@pytest.mark.contract("C37", "C39", "C40", "C41", "C43")
def test_each_outcome_has_its_envelope_and_status(helm: Helm, server: Server, home: Path) -> None:
    for sent, status, envelope in OUTCOMES:
        server.script = sending(sent)
        ended = helm(*ISSUES)
        told = ended.json
        error = told.pop("error") or {}
        message = error.pop("message", None)
        assert {**told, **error} == {"ok": status == 0, **envelope}
        assert (ended.status, ended.err) == (status, f"helm: {message}\n" if message else "")
        assert f":{server.port}" not in ended.out + ended.err
        nowhere_but_in_the_store(home, Path.cwd(), ended)


@pytest.mark.contract("C42")
def test_a_service_that_is_not_there(helm: Helm, ready: Callable[[str], None]) -> None:
    ready(f"http://localhost:{free_port()}")
    ended = helm(*ISSUES)
    assert (ended.status, ended.json["error"]["code"]) == (10, "unavailable")


@pytest.mark.contract("C20")
def test_without_its_profile_a_call_is_not_configured(helm: Helm, server: Server) -> None:
    assert helm("service", "remove", "github").status == 0
    ended = helm(*ISSUES)
    assert (ended.status, ended.json["error"]["code"]) == (4, "not_configured")
    assert server.connections == 0


@pytest.mark.contract("C38")
def test_ten_seconds_are_for_the_whole_call(helm: Helm, server: Server) -> None:
    def drip(peer: Peer, request: Received) -> None:
        peer.drip(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 10_000)

    server.script = drip
    start = time.monotonic()
    ended = helm(*ISSUES)
    assert 10 <= time.monotonic() - start < 13
    assert (ended.status, ended.json["error"]) == (
        9,
        {"code": "timeout", "message": "the service took longer than 10 s"},
    )


@contextmanager
def graphql(folder: Path) -> Iterator[str]:
    """The GraphQL server of npm's json-graphql-server, with three posts."""
    data = folder / "db.js"
    data.write_text("module.exports = { posts: [1, 2, 3].map(id => ({ id, title: `Post ${id}` })) };")
    port = free_port()
    script = peers.script("json-graphql-server/bin/json-graphql-server.cjs")
    command = [peers.NODE, script, str(data), "-p", str(port), "-h", "127.0.0.1"]
    process = subprocess.Popen(command, env=environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                break
            except urllib.error.HTTPError as error:
                error.close()
                break
            except OSError:
                assert process.poll() is None, process.stderr and process.stderr.read()
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.contract("C28", "C29", "C33")
def test_a_graphql_query_with_typed_variables(helm: Helm, ready: Callable[[str], None], tmp_path: Path) -> None:
    with graphql(tmp_path) as url:
        ready(url)
        two = helm("call", "gh", "posts", "--arg", "limit=2")
        wrong = helm("call", "gh", "posts", "--arg-str", "limit=2")
    posts = [{"id": "1", "title": "Post 1"}, {"id": "2", "title": "Post 2"}]
    assert two.json == {"ok": True, "status": 200, "data": {"data": {"allPosts": posts}}, "error": None}
    # As text it is no Int: GraphQL says so in an answer that HTTP calls a success.
    assert "Int cannot represent non-integer value" in json.dumps(wrong.json["data"])


CLOSE: Final = ("call", "gh", "close", "--arg", "owner=me", "--arg", "repo=app", "--arg", "number=7")
# Everything that could be shown otherwise than it is sent.
COMMENT: Final = 'a "b" \\u{1b} \x1b[31m\u202e é \x7f\n  > Send'


@pytest.mark.contract("C45", "C46", "C111")
def test_the_dialog_shows_the_bytes_that_are_sent(server: Server) -> None:
    with terminal(*CLOSE, "--arg", f"comment={COMMENT}") as screen:
        screen.wait_for("Any other key cancels")
        assert screen.screen()[0].strip() == "" or "Confirm request" in "\n".join(screen.screen())
        told = shown(screen)
        assert server.connections == 0
        screen.send(*YES)
        assert screen.status() == 0
    (received,) = server.received
    assert told["extension"] == "issues"
    assert told["workspace"] == str(Path.cwd())
    assert told["connection"] == "gh"
    assert told["profile"] == "service/github"
    assert told["call"] == "close"
    assert told["method"] == received.method == "PATCH"
    assert told["url"] == f"{server.url}{received.target}" == f"{server.url}/api/v3/repos/me/app/issues/7"
    assert told["body"].encode() == received.body
    assert json.loads(received.body) == {"state": "closed", "comment": COMMENT}
    assert received.header("Content-Type") == ["application/json"]
    assert TOKEN.encode() not in screen.raw


@pytest.mark.contract("C44", "C46")
def test_a_delete_that_answers_nothing_went_well(server: Server) -> None:
    server.script = answering(b"", "204 No Content")
    with at_terminal(*HELM, "call", "gh", "delete", "--arg", "number=7", stdout="pipe", size=(200, 40)) as screen:
        screen.wait_for("Any other key cancels")
        assert "body" not in shown(screen)
        screen.send(*YES)
        assert screen.status() == 0
    assert json.loads(screen.out) == {"ok": True, "status": 204, "data": None, "error": None}
    (received,) = server.received
    assert (received.method, received.target, received.body) == ("DELETE", "/api/v3/issues/7", b"")


@pytest.mark.contract("C47")
@pytest.mark.parametrize("keys", [(ENTER,), (ESC,)])
def test_a_declined_write_sends_nothing(server: Server, keys: tuple[bytes, ...]) -> None:
    with at_terminal(*HELM, *CLOSE, stdout="pipe", size=(200, 40)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(*keys)
        assert screen.status() == 6
    told = json.loads(screen.out)
    assert (told["ok"], told["error"]["code"]) == (False, "declined")
    assert server.connections == 0


@pytest.mark.contract("C48")
def test_without_a_person_a_write_waits_and_sends_nothing(helm: Helm, server: Server, home: Path) -> None:
    ended = helm(*CLOSE)
    assert (ended.status, ended.json["error"]["code"]) == (7, "confirmation_required")
    assert server.url not in ended.out + ended.err
    assert server.connections == 0
    with terminal("confirm", ended.json["error"]["confirmation"]) as screen:
        screen.wait_for("Any other key cancels")
        assert shown(screen)["body"] == '{"state":"closed","comment":null}'
        screen.send(*YES)
        assert screen.status() == 0
    assert [request.body for request in server.received] == [b'{"state":"closed","comment":null}']
    nowhere_but_in_the_store(home, Path.cwd(), ended)


@pytest.mark.contract("C48", "C110")
def test_a_write_that_waits_is_not_shown_once_its_profile_changed(helm: Helm, server: Server) -> None:
    id_ = helm(*CLOSE).json["error"]["confirmation"]
    assert helm("service", "edit", "github", "--header", "X-Other").status == 0
    with at_terminal(*HELM, "confirm", id_, stdout="pipe", size=(200, 40)) as screen:
        assert screen.status() == 7
    assert json.loads(screen.out)["error"] == {
        "code": "confirmation_required",
        "message": "what would be sent now is not what was asked for: its profile or its extension changed; call again"
        " for a new one",
    }
    assert b"Any other key cancels" not in screen.raw
    assert server.connections == 0
    assert helm("confirm", "--list", "-o", "json").json == []


def test_a_write_that_is_cut_off_is_not_repeated(server: Server) -> None:
    server.script = lambda peer, request: peer.close()
    with at_terminal(*HELM, *CLOSE, stdout="pipe", size=(200, 40)) as screen:
        screen.wait_for("Any other key cancels")
        screen.send(*YES)
        assert screen.status() == 10
    error = json.loads(screen.out)["error"]
    assert (error["code"], error["applied"]) == ("unavailable", "unknown")
    assert error["message"].endswith("it is unknown whether the write was applied: look before you repeat it")
    assert len(server.received) == 1


def test_a_dry_run_tells_a_program_no_base_url(helm: Helm, server: Server) -> None:
    for words in (ISSUES, CLOSE):
        ended = helm(*words, "--dry-run")
        assert ended.status == 0
        assert f":{server.port}" not in ended.out + ended.err
        assert "/api/v3" not in ended.out + ended.err
    assert ended.json["data"] == {
        "kind": "http",
        "effect": "write",
        "extension": "issues",
        "connection": "gh",
        "operation": "close",
        "profile": "github",
        "request": {
            "method": "PATCH",
            "url": "/repos/me/app/issues/7",
            "body": '{"state":"closed","comment":null}',
        },
    }
    assert server.connections == 0


def test_a_dry_run_shows_a_person_what_would_be_sent(server: Server) -> None:
    with terminal(*CLOSE, "--dry-run") as screen:
        assert screen.status() == 0
        assert shown(screen) == {
            "extension": "issues",
            "workspace": str(Path.cwd()),
            "base url": f"{server.url}/api/v3",
            "connection": "gh",
            "profile": "service/github",
            "call": "close",
            "method": "PATCH",
            "url": f"{server.url}/api/v3/repos/me/app/issues/7",
            "body": '{"state":"closed","comment":null}',
        }
    with at_terminal(*HELM, *CLOSE, "--dry-run", size=(200, 40), env={"HELM_CLI_NO_INPUT": "1"}) as screen:
        assert screen.status() == 0
        told = shown(screen)
    assert (told["url"], "base url" in told) == ("/repos/me/app/issues/7", False)
    assert server.connections == 0


def test_a_batch_reads_over_one_connection(helm: Helm, server: Server, tmp_path: Path) -> None:
    lines = [{"connection": "gh", "operation": "project", "args": {"id": number}, "id": number} for number in range(9)]
    file = tmp_path / "calls.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    ended = helm("call", "--batch", str(file))
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert [(answer["id"], answer["data"]["target"]) for answer in answers] == [
        (number, f"/api/v3/projects/{number}") for number in range(9)
    ]
    assert server.connections == 1


def test_plugin_check_sends_nothing(helm: Helm, server: Server) -> None:
    ended = helm("plugin", "check", "issues", "-o", "json")
    assert ended.status == 0
    assert [(entry["operation"], entry["result"]) for entry in ended.json["operations"]] == [
        (name, "ok") for name in CALLS
    ]
    assert server.connections == 0
    assert helm("service", "remove", "github").status == 0
    ended = helm("plugin", "check", "issues", "-o", "json")
    assert (ended.status, {entry["result"] for entry in ended.json["operations"]}) == (4, {"not_configured"})


def test_what_a_service_answers_cannot_act_on_the_terminal(server: Server) -> None:
    server.script = answering(json.dumps({"a": "\x1b]0;evil\x07\u202e"}).encode())
    with terminal(*ISSUES) as screen:
        assert screen.status() == 0
    assert b"\x1b]0;" not in screen.raw
    assert "\u202e".encode() not in screen.raw


def test_a_chunked_answer_of_any_content_type(helm: Helm, server: Server) -> None:
    server.script = answering(
        chunk(b'{"a"') + chunk(b":1}") + chunk(b""),
        headers={"Transfer-Encoding": "chunked", "Content-Type": "text/plain"},
    )
    assert helm(*ISSUES, "-o", "data").out == '{"a":1}\n'
