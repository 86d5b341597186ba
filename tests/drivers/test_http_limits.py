"""10 s, 1 MiB and flat memory for an HTTP call, against servers that send slowly, too much, or never."""

import os
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import httpx
import pytest

from helm_cli.drivers import Limits
from helm_cli.drivers.deadline import Deadline
from helm_cli.drivers.http_line import Late, open_line
from helm_cli.model.profile import Service
from tests.drivers.test_http import LOOK, of, refusal, run
from tests.program import ROOT, environment
from tests.rig.http_server import Peer, Received, Script, answering, chunk, packed, response, sending, serving

MIB: Final = 1024 * 1024
BRIEF: Final = Limits(seconds=0.4, bytes=MIB)
# What the deadline's grace and a busy machine may add.
SLACK: Final = 1.5

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def in_time() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert BRIEF.seconds <= time.monotonic() - start < BRIEF.seconds + SLACK


def first(data: bytes, then: bytes = b"", size: int = 1) -> Script:
    """Sends the first part at once, drips the second, and then says nothing more."""

    def script(peer: Peer, request: Received) -> None:
        peer.send(data)
        peer.drip(then, size)
        peer.hold()

    return script


SLOW: Final[dict[str, Script]] = {
    "silence": first(b""),
    "a status line that drips": first(b"", HEAD),
    "headers that drip": first(HEAD, b"X-A: " + b"a" * 10_000),
    "headers without end": first(HEAD, b"X-A: b\r\n" * 1000, 8),
    "informational answers without end": first(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000, 28),
    "a body that drips": first(HEAD + b"Content-Length: 100000\r\n\r\n", b"[" + b" " * 10_000),
    "chunks that drip": first(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 1000, 6),
    "a body that stops": first(HEAD + b"Content-Length: 100\r\n\r\n{}"),
    "a body without length that stops": first(HEAD + b"\r\n{}"),
    "gzip that never gives a byte": first(
        HEAD + b"Content-Encoding: gzip\r\n\r\n" + packed(b"")[:10], b"\x00\x00\x00\xff\xff" * 1000, 5
    ),
}
# Answers that say that something went wrong, whose bodies are not whole in time.
TOLD: Final[dict[str, tuple[Script, str, int]]] = {
    "drips": (first(b"HTTP/1.1 500 No\r\nContent-Length: 100000\r\n\r\n", b"x" * 10_000), "http_error", 500),
    "stops": (first(b"HTTP/1.1 404 No\r\nContent-Length: 100\r\n\r\n{}"), "http_error", 404),
    "without length": (first(b"HTTP/1.1 404 No\r\n\r\n{}"), "http_error", 404),
    "chunks": (
        first(b"HTTP/1.1 302 No\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 1000, 6),
        "redirect",
        302,
    ),
}


@pytest.mark.contract("C38")
@pytest.mark.parametrize("name", SLOW)
def test_the_whole_call_ends_in_time(name: str) -> None:
    with serving(SLOW[name]) as server, in_time():
        error = refusal(Service("github", server.url), limits=BRIEF)
    assert of(error) == ("timeout", "the service took longer than 0.4 s", {}, {})


@pytest.mark.contract("C37", "C38", "C43")
@pytest.mark.parametrize("name", TOLD)
def test_a_status_that_came_is_told_whatever_its_body_does(name: str) -> None:
    script, code, status = TOLD[name]
    with serving(script) as server, in_time():
        error = refusal(Service("github", server.url), limits=BRIEF)
    assert (error.code, error.outer) == (code, {"status": status, "data": None})


@pytest.mark.contract("C38")
def test_a_write_that_got_no_answer_may_have_been_applied() -> None:
    with serving(SLOW["silence"]) as server, in_time():
        error = refusal(Service("github", server.url), limits=BRIEF, method="POST", body="1", effect="write")
    assert of(error) == ("timeout", "the service took longer than 0.4 s" + LOOK, {"applied": "unknown"}, {})
    assert len(server.received) == 1


@pytest.fixture
def mute() -> Iterator[int]:
    """The port of a server that lets everybody connect and never reads or says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def test_a_request_that_nobody_reads_ends_in_time(mute: int) -> None:
    service = Service("github", f"http://127.0.0.1:{mute}")
    with in_time():
        error = refusal(service, limits=BRIEF, method="POST", body="1" * 20_000_000, effect="write")
    assert error.code == "timeout"
    assert error.members == {"applied": "unknown"}


def test_tls_that_never_answers_ends_in_time_and_nothing_was_sent(mute: int) -> None:
    service = Service("github", f"https://127.0.0.1:{mute}")
    with in_time():
        error = refusal(service, limits=BRIEF, method="POST", body="1", effect="write")
    assert of(error) == ("timeout", "the service took longer than 0.4 s; nothing was sent", {}, {})


def test_a_proxy_that_never_answers_ends_in_time(mute: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{mute}")
    with in_time():
        error = refusal(
            Service("github", "https://api.example.test"), limits=BRIEF, method="POST", body="1", effect="write"
        )
    told = (
        "the proxy that HTTPS_PROXY names did not connect helm to the service within 0.4 s; check or unset it;"
        " nothing was sent"
    )
    assert of(error) == ("timeout", told, {}, {})


# Runs one call in a process whose look-up of names takes for ever, or that measures its memory.
CHILD: Final = """
import socket, sys, threading, time
from helm_cli.drivers import Limits, driver
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from tests.drivers.test_http import plan_of
from tests.rig.memory import peak
what, url, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
look_up = socket.getaddrinfo
if what == "slow-dns":
    socket.getaddrinfo = lambda *arguments, **more: time.sleep(600)
if what == "late-dns":
    socket.getaddrinfo = lambda *arguments, **more: time.sleep(1.2) or look_up(*arguments, **more)
module = driver("http")
service = Service("github", url)
before = peak()
try:
    module.run(plan_of(service, "POST", body="1", effect="write"), service, None, Limits(seconds, 1000, 1024 * 1024))
except HelmError as error:
    print(error.code, peak() - before, *error.members, error.message, sep="|")
if what == "late-dns":
    for thread in threading.enumerate():
        thread is threading.current_thread() or thread.join()
"""


def child(what: str, url: str, seconds: float = 5.0) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, what, url, str(seconds)],
        capture_output=True,
        check=True,
        timeout=30,
        env=environment({"PYTHONPATH": str(ROOT)}),
        text=True,
    )
    assert ended.stderr == ""
    return ended.stdout.strip().split("|")


@pytest.mark.contract("C38")
def test_a_look_up_of_the_host_that_hangs_ends_in_time() -> None:
    start = time.monotonic()
    told = child("slow-dns", "http://localhost:9", 0.4)
    assert (told[0], told[2:]) == ("timeout", ["the service took longer than 0.4 s; nothing was sent"])
    assert time.monotonic() - start < 10


def test_nothing_is_sent_once_the_time_is_over() -> None:
    with serving(answering()) as server:
        told = child("late-dns", server.url.replace("127.0.0.1", "localhost"), 0.2)
    assert told[2:] == ["the service took longer than 0.2 s; nothing was sent"]
    assert server.received == []


def test_nothing_is_sent_over_a_kept_connection_once_the_time_is_over() -> None:
    with serving(answering()) as server, closing(open_line(server.url)) as line:
        request = httpx.Request("GET", server.url)
        line.send(request, Deadline(time.monotonic() + 5)).read()
        late = Deadline(time.monotonic())
        with pytest.raises(Late):
            line.send(request, late)
        assert not late.committing
    assert len(server.received) == 1


@pytest.mark.contract("C40")
def test_exactly_1_mib_passes() -> None:
    text = b'"' + b"x" * (MIB - 2) + b'"'
    small = Limits(5.0, bytes=MIB)
    for sent in (
        response(text),
        HEAD + b"Connection: close\r\n\r\n" + text,
        response(chunk(text) + chunk(b""), headers={"Transfer-Encoding": "chunked"}),
        response(packed(text), headers={"Content-Encoding": "gzip"}),
    ):
        with serving(sending(sent)) as server:
            assert run(Service("github", server.url), limits=small)["data"] == "x" * (MIB - 2)


TOO_LARGE: Final = "the answer of the service is over 1,048,576 bytes; ask for less"


@pytest.mark.contract("C40")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_byte_more_is_too_large(method: str) -> None:
    text = b'"' + b"x" * (MIB - 1) + b'"'
    small = Limits(5.0, bytes=MIB)
    effect: Any = "read" if method == "GET" else "write"
    for sent in (
        response(text),
        HEAD + b"\r\n" + text,
        response(chunk(text), headers={"Transfer-Encoding": "chunked"}),
        response(packed(text), headers={"Content-Encoding": "gzip"}),
    ):
        with serving(first(sent)) as server:
            error = refusal(Service("github", server.url), limits=small, method=method, effect=effect)
        outer = {"status": 200, "data": None}
        expected: tuple[str, str, dict[str, str], dict[str, Any]] = ("too_large", TOO_LARGE, {}, outer)
        if effect == "write":
            expected = ("too_large", TOO_LARGE + LOOK, {"applied": "unknown"}, outer)
        assert of(error) == expected


def bomb(mib: int) -> bytes:
    """So many MiB of zeros, as gzip."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    zeros = bytes(MIB)
    return b"".join([*(packer.compress(zeros) for _ in range(mib)), packer.flush()])


@pytest.mark.contract("C40")
def test_a_bomb_costs_no_memory() -> None:
    with serving(answering(bomb(200), headers={"Content-Encoding": "gzip"})) as server:
        code, grown, applied, message = child("bomb", server.url)
    assert (code, applied, message) == ("too_large", "applied", TOO_LARGE + LOOK)
    # What the limit itself takes, twice, and the buffers of a connection.
    assert int(grown) < 6 * 1024


@pytest.mark.contract("C40")
def test_a_body_without_end_costs_no_memory() -> None:
    def endless(peer: Peer, request: Received) -> None:
        peer.send(HEAD + b"\r\n")
        while not peer.over.is_set():
            peer.send(bytes(MIB))

    with serving(endless) as server:
        code, grown, *_ = child("endless", server.url)
    assert code == "too_large"
    assert int(grown) < 6 * 1024


def test_no_thread_and_no_descriptor_is_left() -> None:
    def open_ones() -> int:
        return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    service_of = Service
    with serving(SLOW["headers that drip"]) as server:
        refusal(service_of("github", server.url), limits=BRIEF)
        before = open_ones()
        for _ in range(3):
            refusal(service_of("github", server.url), limits=BRIEF)
        # One end of each of the three is the server's own, which is still dripping.
        assert open_ones() - before <= 3
