"""Tool calls over streamable HTTP: the token, the limits, and every status that a server may answer with."""

from collections.abc import Iterator
from typing import Any

import pytest

from helm_cli.drivers import Limits, kept, mcp
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from tests.rig.mcp_calls import SECRET, SOON, call, plan
from tests.rig.mcp_http import HttpServer, http_server

ARGUMENTS: dict[str, Any] = {"a": [1, None, 1.5], "text": "é"}
WEB = "the MCP server web"
UNKNOWN = "; it is unknown whether the write was applied: look before you repeat it"


@pytest.fixture
def other() -> Iterator[HttpServer]:
    """A server that nobody was sent to."""
    with http_server() as server:
        yield server


@pytest.fixture
def http(other: HttpServer) -> Iterator[HttpServer]:
    with http_server(other.port) as server:
        yield server


def web(url: str) -> Server:
    return Server("web", url=url, start_seconds=20)


def failure(url: str, effect: Any = "read", limits: Limits = SOON) -> HelmError:
    with pytest.raises(HelmError) as caught:
        call(web(url), "echo", ARGUMENTS, effect, limits)
    # Neither the token nor where it was sent.
    assert not any(text in str(vars(caught.value)) for text in (SECRET, "127.0.0.1", "://"))
    return caught.value


@pytest.mark.contract("C73", "C71")
@pytest.mark.parametrize("path", ["json", "sse", "moved"])
def test_a_call_carries_the_token_as_bearer(http: HttpServer, path: str) -> None:
    assert call(web(http.url(path)), "echo", ARGUMENTS) == ARGUMENTS
    assert {asked.headers["authorization"] for asked in http.asked} == {f"Bearer {SECRET}"}
    assert {asked.headers["accept-encoding"] for asked in http.asked} == {"identity"}
    (sent,) = [asked for asked in http.calls() if (asked.method, asked.path) != ("POST", "/moved")]
    assert sent.message["params"] == {"name": "echo", "arguments": ARGUMENTS}
    said = [
        asked.message.get("method", asked.method)
        for asked in http.asked
        if (asked.method, asked.path) != ("POST", "/moved")
    ]
    # No stream for what was not asked, no list of tools; and the server hears that it is over.
    assert said == ["server/discover", "initialize", "notifications/initialized", "tools/call", "DELETE"]


def test_a_token_is_not_sent_where_there_is_none(http: HttpServer) -> None:
    assert mcp.run(plan("echo", {}), web(http.url("json")), None, SOON) == {}
    assert not any("authorization" in asked.headers for asked in http.asked)


def test_a_token_is_taken_with_its_scheme_too(http: HttpServer) -> None:
    mcp.run(plan("echo", {}), web(http.url("json")), f"bearer {SECRET}", SOON)
    assert http.asked[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_token_that_no_header_carries_is_not_sent(http: HttpServer) -> None:
    with pytest.raises(HelmError) as caught:
        mcp.run(plan("echo", {}), web(http.url("json")), "one\r\nX-Other: two", SOON)
    assert caught.value.code == "not_configured"
    assert http.asked == []


@pytest.mark.contract("C76")
@pytest.mark.parametrize(
    ("path", "code", "reason"),
    [
        ("500", "unavailable", "answered with the HTTP status 500"),
        ("hangs-up", "unavailable", "cannot be reached any more"),
        ("html", "unavailable", "did not answer as an MCP server does"),
        ("accepted", "unavailable", "did not answer as an MCP server does"),
        ("cut", "unavailable", "did not answer as an MCP server does"),
        ("surrogate", "unavailable", "did not answer as an MCP server does"),
        ("gzip", "unavailable", "answered in an encoding that helm did not ask for, so helm broke off"),
        ("huge", "too_large", "sent an answer over 4 MiB, so helm broke off"),
        ("huge-sse", "too_large", "sent an answer over 4 MiB, so helm broke off"),
    ],
)
def test_what_is_no_answer_is_told_with_whether_the_tool_may_have_run(
    http: HttpServer, path: str, code: str, reason: str
) -> None:
    read, write = failure(http.url(path)), failure(http.url(path), "write")
    may = "; the tool may have run" if code == "unavailable" else ""
    assert (read.code, read.message, read.members) == (code, f"{WEB} {reason}{may}", {})
    assert (write.code, write.message) == (code, f"{WEB} {reason}{UNKNOWN}")
    assert write.members == {"applied": "unknown"}
    assert len(http.calls()) == 2


@pytest.mark.parametrize("path", ["401", "refuses-all"])
def test_a_refused_token_is_told_and_nothing_ran(http: HttpServer, path: str) -> None:
    error = failure(http.url(path), "write")
    told = f"{WEB} refused the token (HTTP status 401); check it, and enter it anew where it expired"
    assert (error.code, error.message, error.members) == ("unavailable", told, {})


def test_a_token_is_sent_to_no_other_place(http: HttpServer, other: HttpServer) -> None:
    error = failure(http.url("elsewhere"))
    told = f"{WEB} sends its callers elsewhere (HTTP status 307), where helm does not follow with the token"
    assert (error.code, error.message) == ("unavailable", told)
    assert other.asked == []


@pytest.mark.contract("C76")
def test_an_answer_that_never_comes_is_given_up(http: HttpServer) -> None:
    error = failure(http.url("hangs"), "write", Limits(seconds=0.5))
    assert (error.code, error.members) == ("timeout", {"applied": "unknown"})


def test_where_nobody_listens_nothing_was_sent(free_port: int) -> None:
    error = failure(f"http://127.0.0.1:{free_port}/mcp", "write")
    assert (error.code, error.message, error.members) == ("unavailable", f"{WEB} cannot be reached", {})


def test_a_proxy_is_not_asked_for_this_machine(
    http: HttpServer, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    assert call(web(http.url("json")), "echo", ARGUMENTS) == ARGUMENTS


def test_one_session_serves_a_batch_and_is_begun_anew_when_it_expired(http: HttpServer) -> None:
    with kept.open_ones():
        for _ in range(4):
            assert call(web(http.url("expires")), "echo", ARGUMENTS) == ARGUMENTS
    began = [asked for asked in http.asked if asked.message.get("method") == "initialize"]
    # The third call is answered with 404, has not run, and is sent to a new session.
    assert (len(began), len(http.calls())) == (2, 5)
    sessions = [asked.headers.get("mcp-session-id") for asked in http.calls()]
    assert len(set(sessions[:3])) == 1
    assert len(set(sessions[3:])) == 1


def test_a_session_that_is_new_and_yet_unknown_is_told(http: HttpServer) -> None:
    with kept.open_ones():
        call(web(http.url("expires")), "echo")
    error = failure(http.url("unknown-session"), "write")
    told = f"{WEB} does not know the session any more (HTTP status 404){UNKNOWN}"
    assert (error.code, error.message, error.members) == ("unavailable", told, {"applied": "unknown"})
    assert len([asked for asked in http.calls() if asked.path == "/unknown-session"]) == 1


def test_a_read_is_made_once_more_where_the_server_was_started_anew(http: HttpServer) -> None:
    with kept.open_ones():
        for _ in range(3):
            assert call(web(http.url("restarts")), "echo", ARGUMENTS) == ARGUMENTS
    sessions = [asked.headers["mcp-session-id"] for asked in http.calls()]
    assert [sessions.index(session) for session in sessions] == [0, 0, 2, 2]


@pytest.mark.parametrize("path", ["expires", "restarts"])
def test_a_write_is_never_made_once_more(http: HttpServer, path: str) -> None:
    with kept.open_ones():
        for _ in range(2 if path == "expires" else 1):
            call(web(http.url(path)), "echo", ARGUMENTS)
        before = len(http.calls())
        error = failure(http.url(path), "write")
        assert len(http.calls()) == before + 1
        # The next call has a session of its own.
        assert call(web(http.url(path)), "echo", ARGUMENTS, "write") == ARGUMENTS
    status = 404 if path == "expires" else 400
    told = f"{WEB} does not know the session any more (HTTP status {status}){UNKNOWN}"
    assert (error.code, error.message, error.members) == ("unavailable", told, {"applied": "unknown"})


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        # What the tool itself answers, with whatever status.
        ("answers-404", "tool_error", "echo was answered with the error -32001: no such ticket"),
        # No session was given, so none can be unknown.
        ("without-session", "tool_error", "echo was answered with the error -32001: no such session"),
        ("404", "unavailable", f"{WEB} answered with the HTTP status 404"),
        ("mismatch", "tool_error", "echo was answered with the error -32020: backend row conflict"),
    ],
)
def test_what_may_be_the_tools_own_answer_is_no_reason_to_ask_again(
    http: HttpServer, path: str, code: str, message: str
) -> None:
    for effect in ("read", "write"):
        with kept.open_ones():
            call(web(http.url("json")), "echo", ARGUMENTS)
            before = len(http.calls())
            error = failure(http.url(path), effect)
        assert len(http.calls()) == before + 1
        may = "" if code == "tool_error" else "; the tool may have run"
        assert (error.code, error.message) == (code, message + (UNKNOWN if effect == "write" else may))
        assert error.members == ({"applied": "unknown"} if effect == "write" else {})


def test_what_a_refused_call_left_behind_is_no_word_on_the_next(http: HttpServer) -> None:
    with kept.open_ones():
        refused = failure(http.url("403"), "write")
        cut = failure(http.url("403"), "write")
    told = f"{WEB} refused the token (HTTP status 403); check it, and enter it anew where it expired"
    assert (refused.message, refused.members) == (told, {})
    assert (cut.message, cut.members) == (f"{WEB} cannot be reached any more{UNKNOWN}", {"applied": "unknown"})
    # The refused session was not kept.
    assert len([asked for asked in http.asked if asked.message.get("method") == "initialize"]) == 2


def test_a_server_of_the_newer_era_gets_its_headers_with_the_first_call(http: HttpServer) -> None:
    with kept.open_ones():
        for effect in ("write", "read"):
            assert call(web(http.url("modern")), "echo", {"text": "plain"}, effect) == {"text": "plain"}
    said = [asked.message.get("method") for asked in http.asked]
    assert said == ["server/discover", "tools/list", "tools/call", "tools/call"]
    assert [asked.headers["mcp-param-text"] for asked in http.calls()] == ["plain", "plain"]


def test_a_call_without_a_token_says_that_it_needs_one(http: HttpServer) -> None:
    with pytest.raises(HelmError) as caught:
        mcp.run(plan("echo", {}), web(http.url("refuses-all")), None, SOON)
    told = f"{WEB} needs a token (HTTP status 401); give it one with: helm mcp edit web --token-stdin"
    assert (caught.value.code, caught.value.message) == ("unavailable", told)


def test_no_cookie_is_kept(http: HttpServer) -> None:
    call(web(http.url("json")), "echo", ARGUMENTS)
    assert not any("cookie" in asked.headers for asked in http.asked)


def test_the_list_of_tools_and_the_probe(http: HttpServer) -> None:
    assert [tool.name for tool in mcp.tools(web(http.url("json")), SECRET)] == ["echo"]
    assert mcp.probe(web(http.url("sse")), SECRET, SOON) == "over-http 2.0, protocol 2025-11-25, 1 tool"
    mcp.prepare(plan("echo", {}), web(http.url("json")), SECRET, SOON)
    assert http.calls() == []


@pytest.fixture
def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with http_server() as server:
        return server.port
