"""Whatever a peer writes, the conversation ends in time with an answer or one of our errors, and nothing leaks.

The peers are real: an HTTP service, a token endpoint, a browser at the callback's port, and the agent's other end.
"""

import json
import socket
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helm_cli.agent import wire
from helm_cli.drivers import Limits, http, oauth_callback, oauth_token
from helm_cli.drivers.oauth_callback import Callback
from helm_cli.drivers.oauth_token import Client, Grant
from helm_cli.model.envelope import JSON
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import dump
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Service
from tests.rig import http_server
from tests.rig.http_server import Server, sending

SECRET: Final = "the-secret-of-the-tests"
# What a whole answer may take, and how much longer an end may be noticed.
LIMITS: Final = Limits(seconds=1.0, bytes=4_096)
LATE: Final = 3.0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with http_server.serving(http_server.answering()) as running:
        yield running


# --- an HTTP service

FIRST: Final = st.sampled_from(
    (
        *(b"HTTP/1.1 200 OK", b"HTTP/1.1 204 No Content", b"HTTP/1.1 404 Not Found", b"HTTP/1.1 302 Found"),
        *(b"HTTP/1.1 100 Continue", b"HTTP/1.1 101 Switching", b"HTTP/1.1 999 \xff", b"HTTP/1.1 99 x", b"HTTP/1.0 200"),
        *(b"HTTP/1.1 503 Down", b"HTTP/1.1 2000 OK", b"ICY 200 OK", b"", b"\0", b"HTTP/1.1  200 OK"),
        *(b"HTTP/1.1 200 \x1b[2J", b"HTTP/2 200 OK"),
    )
)
HEADER: Final = st.sampled_from(
    (
        *(b"Content-Length: 2", b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999999999999"),
        *(b"Content-Length: 2, 2", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip", b"Connection: close"),
        *(b"Content-Encoding: gzip", b"Content-Encoding: br", b"Content-Encoding: gzip, gzip", b"Retry-After: 7"),
        *(b"Retry-After: never", b"Location: http://127.0.0.1:1/", b"Content-Type: text/html", b"X: " + b"x" * 9_000),
        *(b" folded", b"No colon", b": empty", b"X\0: y", b"X: \x1b]0;x\x07", b"Set-Cookie: a=b", b"X: \xff\xfe"),
    )
)
BODY: Final = st.sampled_from(
    (
        *(b"{}", b'{"a":1}', b"[", b"NaN", b"2\r\n{}\r\n0\r\n\r\n", b"2;x=y\r\n{}\r\n0\r\n\r\n", b"zz\r\n{}"),
        *(b"ffffffffffffffff\r\n{}", b"-1\r\n", b"2\r\n{}", b"", b"\xff\xff"),
        *(http_server.packed(b"{}"), http_server.packed(b" " * 10**5)),
        *(b'{"a":"\\ud800"}', b"[" * 300, b"9" * 5_000, b"{}" * 5_000, b"HTTP/1.1 200 OK\r\n\r\n{}"),
    )
)
ANSWERS: Final = st.builds(
    lambda first, headers, end, body: first + b"\r\n" + b"".join(header + b"\r\n" for header in headers) + end + body,
    FIRST,
    st.lists(HEADER, max_size=3),
    st.sampled_from([b"\r\n", b"\n", b""]),
    BODY,
) | st.binary(max_size=60)
CODES: Final = {"unavailable", "timeout", "too_large", "not_json", "redirect", "http_error"}


def plan(effect: Effect, url: str) -> Plan:
    request: dict[str, Any] = {"method": "GET", "url": f"{url}/x"}
    if effect == "write":
        request = {"method": "POST", "url": f"{url}/x", "body": "{}"}
    return Plan("http", effect, "e", "c", "o", "service", "s", "http", JSON, "Confirm request", "Send", "call", request)


@settings(max_examples=250)
@given(ANSWERS, st.sampled_from(["read", "write"]))
def test_any_answer_of_a_service_is_an_envelope_or_an_error(server: Server, answer: bytes, effect: Effect) -> None:
    server.script = sending(answer)
    began = time.monotonic()
    try:
        found = http.run(plan(effect, server.url), Service("s", server.url), SECRET, LIMITS)
    except HelmError as error:
        assert error.code in CODES, answer
        assert SECRET not in error.message and str(server.port) not in error.message
        assert error.code in ("redirect", "http_error") or effect == "read" or error.members["applied"] == "unknown"
        dump({**error.members, **error.outer}).encode()
    else:
        assert found.envelope["ok"] is True
        dump(found.envelope).encode()
    assert time.monotonic() - began < LIMITS.seconds + LATE


# --- a token endpoint

MEMBERS: Final = st.fixed_dictionaries(
    {},
    optional={
        "access_token": st.sampled_from(["access", "", "a b", "a\r\nX: y", "é", None, 7, ["access"], "\ud800"]),
        "refresh_token": st.sampled_from(["refresh", "", None, 7, "a\n", {}]),
        "token_type": st.sampled_from(["Bearer", "bearer", "mac", None, 1]),
        "expires_in": st.sampled_from([3600, "3600", -1, 1e300, 10**400, True, None, "soon", [], 0.5]),
        "scope": st.sampled_from(["a", "a b", "admin", "", None, 1, ["a"], [1], "a,b", "\x1b[2J"]),
        "error": st.sampled_from(["invalid_grant", "invalid_client", SECRET, None, 1, {"code": SECRET}]),
        "error_description": st.just(f"about {SECRET}"),
    },
)


@settings(max_examples=150)
@given(
    MEMBERS.map(lambda members: json.dumps(members).encode()) | BODY,
    st.sampled_from(["200 OK", "400 Bad Request", "401 No", "429 Slow", "500 Down", "302 Found"]),
)
@example(json.dumps({"access_token": "a", "token_type": "bearer"}).encode(), "200 OK")
def test_any_answer_of_a_token_endpoint_is_a_grant_or_an_error(server: Server, body: bytes, status: str) -> None:
    server.script = http_server.answering(body, status)
    client = Client(f"{server.url}/token", "id", SECRET)
    try:
        grant = oauth_token.renew(client, f"refresh-{SECRET}", asked=("a", "b"), now=0.0, limits=LIMITS)
    except HelmError as error:
        assert error.code in ("unavailable", "not_authorized")
        assert SECRET not in error.message
        assert error.message.isprintable()
        return
    assert isinstance(grant, Grant)
    assert status == "200 OK"
    assert grant.access_token.isascii() and grant.access_token.isprintable()
    assert grant.expires is None or 0 <= grant.expires <= 1e9


# --- the callback's port

STATE: Final = "the-state"
LINES: Final = st.sampled_from(
    (
        *(b"GET /oauth/callback?code=c&state=the-state HTTP/1.1", b"GET / HTTP/1.1", b"POST /oauth/callback HTTP/1.1"),
        *(b"GET /oauth/callback?code=c&state=other HTTP/1.1", b"GET /oauth/callback?state=the-state HTTP/1.1"),
        *(b"Host: 127.0.0.1", b"Host: evil.example.com", b"Host: localhost", b"", b"\0", b"\xff" * 9, b"x" * 70_000),
        *(b"GET http://127.0.0.1/oauth/callback?code=c&state=the-state HTTP/1.1", b"GET /oauth/callback?" + b"a&" * 99),
    )
)


@settings(max_examples=60)
@given(st.lists(LINES, max_size=4), st.sampled_from([b"\r\n", b"\n"]))
def test_nothing_that_comes_to_the_callback_blocks_the_right_one(lines: list[bytes], ends: bytes) -> None:
    with oauth_callback.listening(0, STATE, "") as listener:
        port = listener._port
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(ends.join([*lines, b"", b""]))
            one.shutdown(socket.SHUT_WR)
            # No host of these has the port, so none of it is the callback.
            assert listener.wait(0.005) is None
            with socket.create_connection(("127.0.0.1", port)) as other:
                asked = f"GET /oauth/callback?code=right&state={STATE} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
                other.sendall(asked.encode())
                assert listener.wait(5) == Callback("right", None, None, None)


WORDS: Final = ("code=", "state=", "the-state", "&", "c", "%00", "%zz", "+", ";", "error=", "iss=")


@settings(max_examples=200)
@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS)).map("".join))
@example("code=c&state=the-state")
@example("code=c&state=the-state&state=the-state")
@example("code=c&error=e&state=the-state")
def test_only_the_state_of_this_sign_in_makes_a_callback(query: str) -> None:
    found = oauth_callback.read(query, STATE)
    if found is not None:
        assert f"state={STATE}" in query
        assert (found.code is None) != (found.error is None)


# --- the agent's socket


@settings(max_examples=100)
@given(
    st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=9) | st.integers(), max_size=3), max_size=4),
    st.binary(max_size=30),
    st.lists(st.integers(1, 9), max_size=20),
)
def test_frames_are_read_however_they_are_cut_and_what_is_none_ends_it(
    messages: list[dict[str, Any]], garbage: bytes, sizes: list[int]
) -> None:
    data = b"".join(wire.packed(message) for message in messages) + garbage
    reader, found = wire.Reader(1_000), []
    try:
        for size in [*sizes, len(data)]:
            reader.feed(data[:size])
            data = data[size:]
            while (message := reader.take()) is not None:
                found.append(message)
    except wire.Gone:
        pass
    assert found[: len(messages)] == messages


@settings(max_examples=60)
@given(st.binary(max_size=40))
@example(b"\xff\xff\xff\xff")
@example(b"\x00\x00\x00\x02[]")
@example(b"\x00\x00\x00\x09{}")
def test_an_end_that_says_no_frame_is_left_at_once(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        reader = wire.Reader(1_000)
        began = time.monotonic()
        with pytest.raises(wire.Gone):
            while True:
                assert isinstance(wire.receive(ours, reader, 5), dict)
        assert time.monotonic() - began < LATE
