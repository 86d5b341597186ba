"""Connections of a batch: kept for a GET and for nothing else, and never the reason why a call fails."""

from typing import Any, Final

import httpx
import pytest

from helm_cli.drivers import Limits, driver, kept
from helm_cli.drivers.http_line import Line
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from tests.drivers.test_http import TOKEN, plan_of, refusal, run
from tests.rig.http_server import Peer, Received, Script, Server, answering, echoing, response, serving


def get(server: Server, path: str = "/x", **more: Any) -> Any:
    return run(Service("github", server.url), path=path, **more)["data"]


def test_without_anybody_who_wants_that_nothing_is_kept() -> None:
    with serving(answering()) as server:
        get(server)
        get(server)
        assert server.connections == 2


def test_a_batch_of_gets_takes_one_connection() -> None:
    with serving(echoing) as server, kept.open_ones():
        for number in range(5):
            assert get(server, f"/{number}")["target"] == f"/{number}"
        assert server.connections == 1


@pytest.mark.parametrize("call", [{"method": "POST", "body": "1"}, {"method": "PUT", "effect": "write"}])
def test_everything_else_takes_a_new_one(call: dict[str, Any]) -> None:
    with serving(echoing) as server, kept.open_ones():
        get(server)
        get(server, **call)
        get(server, **call)
        assert server.connections == 3
        get(server)
        assert server.connections == 3
    assert [request.method for request in server.received] == ["GET", call["method"], call["method"], "GET"]


def test_another_token_extension_or_target_takes_another() -> None:
    with serving(echoing) as server, kept.open_ones():
        get(server)
        get(server, secret="other")
        service = Service("github", server.url)
        driver("http").run(plan_of(service)._replace(extension="other"), service, TOKEN, Limits())
        get(server, secret=None)
        run(Service("gitlab", server.url))
        assert server.connections == 5
        get(server)
        assert server.connections == 5


def test_a_connection_that_its_server_closed_meanwhile_is_not_used() -> None:
    with serving(echoing) as server, kept.open_ones():
        get(server, "/1")
        server.hang_up()
        assert get(server, "/2")["target"] == "/2"
        assert server.connections == 2
        assert [request.target for request in server.received] == ["/1", "/2"]


def test_a_connection_that_its_server_announced_to_close_is_not_used() -> None:
    with serving(answering(headers={"Connection": "close"})) as server, kept.open_ones():
        get(server)
        get(server)
        assert server.connections == 2


def closing_at(second: Script) -> Script:
    """Answers the first request of each connection, and does something else about the second one."""
    known: set[int] = set()

    def script(peer: Peer, request: Received) -> None:
        number = peer.socket.getpeername()[1]
        if number in known:
            second(peer, request)
        else:
            known.add(number)
            echoing(peer, request)

    return script


@pytest.mark.parametrize("said", [b"", b"HTT", b"HTTP/1.1 408 Request Timeout\r\nContent-Le"])
def test_a_get_that_met_the_close_of_its_connection_is_asked_again(said: bytes) -> None:
    def close(peer: Peer, request: Received) -> None:
        peer.send(said)
        peer.close()

    with serving(closing_at(close)) as server, kept.open_ones():
        for number in range(4):
            assert get(server, f"/{number}")["target"] == f"/{number}"
    assert [request.target for request in server.received] == ["/0", "/1", "/1", "/2", "/2", "/3", "/3"]


def test_a_new_connection_that_breaks_is_not_tried_again() -> None:
    def close(peer: Peer, request: Received) -> None:
        peer.close()

    with serving(close) as server, kept.open_ones():
        error = refusal(Service("github", server.url))
        assert error.code == "unavailable"
    assert len(server.received) == 1


def test_an_answer_that_breaks_off_is_not_asked_for_again() -> None:
    def cut(peer: Peer, request: Received) -> None:
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
        peer.close()

    with serving(closing_at(cut)) as server, kept.open_ones():
        get(server)
        assert refusal(Service("github", server.url)).code == "unavailable"
    assert len(server.received) == 2


def test_a_kept_connection_ends_in_time_too() -> None:
    def hold(peer: Peer, request: Received) -> None:
        peer.hold()

    with serving(closing_at(hold)) as server, kept.open_ones():
        get(server)
        assert refusal(Service("github", server.url), limits=Limits(0.3)).code == "timeout"
        get(server)
        assert (server.connections, len(server.received)) == (2, 3)


SECOND: Final = response(b'"of the first"')


@pytest.mark.parametrize("more", [SECOND, b"{}", SECOND[:20]])
def test_what_a_server_says_unasked_is_no_answer_to_the_next_call(more: bytes) -> None:
    def chatty(peer: Peer, request: Received) -> None:
        peer.send(response(b'"%s"' % request.target.encode()) + more)

    with serving(chatty) as server, kept.open_ones():
        for number in range(4):
            assert get(server, f"/{number}") == f"/{number}"


def test_where_nothing_tells_what_was_said_unasked_no_connection_is_kept() -> None:
    another_transport: Any = httpx.MockTransport(lambda request: httpx.Response(200))
    assert not Line(another_transport, None).clean()


@pytest.mark.parametrize("body", [b"x" * 5000, b"<html>"])
def test_a_call_that_failed_leaves_the_next_one_alone(body: bytes) -> None:
    answers = [response(body), response(b"1")]
    with serving(lambda peer, request: peer.send(answers[len(server.received) - 1])) as server, kept.open_ones():
        with pytest.raises(HelmError):
            get(server, limits=Limits(5.0, bytes=1000))
        assert get(server, limits=Limits(5.0, bytes=1000)) == 1
