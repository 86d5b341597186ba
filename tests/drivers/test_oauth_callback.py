"""The way back from a sign-in: one redirect gets through, whatever else is sent to its port or pasted beside it."""

import os
import re
import socket
import struct
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import quote

import pytest

from helm_cli.drivers import oauth_page
from helm_cli.drivers.oauth_callback import Callback, Listener, listening, read, redirect_uri
from helm_cli.drivers.oauth_pasted import Pasted
from tests.rig.connecting import browse, free_port
from tests.rig.failing import failing

STATE: Final = "the-state_of-this-very-sign-in"
SECONDS: Final = 20.0
OTHERWISE: Final = "take another port"
MARKUP: Final = "<script>alert(1)</script>"


class Waiting(NamedTuple):
    """A listener that waits in another thread, for what comes to `url`."""

    listener: Listener
    port: int
    found: "Future[Callback | None]"

    @property
    def url(self) -> str:
        return redirect_uri(self.port)

    @property
    def good(self) -> str:
        return f"{self.url}?code=c0de&state={STATE}"


@contextmanager
def waiting(seconds: float = SECONDS, pasted: Pasted | None = None, port: int | None = None) -> Iterator[Waiting]:
    port = port or free_port()
    with ThreadPoolExecutor(1) as pool, listening(port, STATE, OTHERWISE) as listener:
        found = pool.submit(listener.wait, seconds, pasted)
        yield Waiting(listener, port, found)
        found.result(SECONDS)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (f"code=c&state={STATE}", Callback("c", None, None, None)),
        (f"state={STATE}&session_state=1&iss=https%3A%2F%2Fid.example&code=a%20b%2F", ("a b/", None, None, "https://id.example")),
        (f"error=access_denied&state={STATE}", (None, "access_denied", None, None)),
        (f"error=access_denied&error_description=no%3Cb%3E&state={STATE}", (None, "access_denied", "no<b>", None)),
        ("code=c", None),
        ("code=c&state=", None),
        ("code=c&state=another", None),
        (f"code=c&state={STATE}x", None),
        (f"code=c&state={STATE[:-1]}", None),
        (f"code=c&state={STATE.upper()}", None),
        ("code=c&state=%C3%A9", None),
        (f"code=c&state={STATE}&state={STATE}", None),
        (f"code=c&code=d&state={STATE}", None),
        (f"code=c&state={STATE}&iss=a&iss=b", None),
        (f"code=c&error=e&state={STATE}", None),
        (f"state={STATE}", None),
        (f"code=&state={STATE}", None),
        (f"code=a%0D%0Ab&state={STATE}", None),
        (f"code={'c' * 16_385}&state={STATE}", None),
        (f"error=&state={STATE}", None),
        (f"error=a%22b&state={STATE}", None),
        (f"error={'e' * 101}&state={STATE}", None),
        (f"code=%FF&state={STATE}", None),
        (f"code=c&state={STATE}" + "&a=1" * 40, None),
        ("", None),
    ],
)  # fmt: skip
def test_a_redirect_counts_only_with_the_state_and_one_answer(query: str, found: tuple[str | None, ...] | None) -> None:
    assert read(query, STATE) == found


@pytest.mark.contract("C54", "C56")
def test_the_redirect_gets_through_among_idle_and_forged_connections() -> None:
    with waiting() as here:
        idle = [socket.create_connection(("127.0.0.1", here.port)) for _ in range(3)]
        slow = socket.create_connection(("127.0.0.1", here.port))
        slow.sendall(b"GET /oauth/callback?code=")
        forged = [
            browse(f"http://127.0.0.1:{here.port}/favicon.ico"),
            browse(f"http://127.0.0.1:{here.port}/?code=c0de&state={STATE}"),
            browse(f"http://127.0.0.1:{here.port}/oauth/callback/?code=c0de&state={STATE}"),
            browse(f"{here.url}?code=c0de"),
            browse(f"{here.url}?code=c0de&state=another"),
            browse(f"{here.url}?error=access_denied&state=another"),
            browse(f"{here.good}&code=other"),
            browse(f"{here.good}&state={STATE}"),
            browse(f"{here.good}&error=access_denied"),
            browse(here.good, method="POST"),
            browse(here.good, method="HEAD"),
            browse(here.good, host="evil.example"),
            browse(here.good, host=f"localhost:{here.port}"),
            browse(here.good, host="127.0.0.1"),
            browse(f"{here.url}?error={quote(MARKUP)}&error_description={quote(MARKUP)}&state={quote(MARKUP)}"),
        ]
        raw = [
            _say(here.port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(128, 256)) + b"\r\n\r\n"),
            _say(here.port, b"GET " + here.good.partition(str(here.port))[2].encode() + b" HTTP/1.1\r\n\r\n"),
            _say(here.port, _get(here, b"Host: evil.example\r\n")),
            _say(here.port, _get(here, b"Host: 127.0.0.1:%d\r\n" % here.port)),
            _say(here.port, _get(here, b"no header at all\r\n")),
            _say(here.port, b"GET / HTTP/1.1\r\nA:" + b" " * 60_000 + b"\0\r\n\r\n"),
            _say(here.port, b"GET / HTTP/1.1\r\nCookie: " + b"x" * 70_000),
        ]
        assert not here.found.done()
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(browse, here.good)
            assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
            here.listener.conclude(oauth_page.CONNECTED)
            answer = coming.result(SECONDS)
        assert (answer.status_code, "You are signed in" in answer.text) == (200, True)
        assert {reply.status_code for reply in forged} == {400}
        strange = oauth_page.response(oauth_page.STRANGE).partition(b"\r\n\r\n")[2].decode()
        assert {reply.text for reply in forged if reply.request.method != "HEAD"} == {strange}
        assert {reply.partition(b"\r\n")[0] for reply in raw} == {b"HTTP/1.1 400 Bad Request"}
        for open_ in (*idle, slow):
            open_.close()


def test_two_hundred_idle_connections_keep_nobody_out() -> None:
    with waiting() as here:
        idle = [socket.create_connection(("127.0.0.1", here.port)) for _ in range(200)]
        browser = threading.Thread(target=browse, args=(here.good,))
        browser.start()
        assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
        here.listener.conclude(oauth_page.CONNECTED)
        browser.join()
        for open_ in idle:
            open_.close()


def test_a_request_may_come_in_pieces_and_with_the_cookies_of_others() -> None:
    with waiting() as here, socket.create_connection(("127.0.0.1", here.port)) as browser:
        whole = _get(here, b"Cookie: " + b"c" * 30_000 + b"\r\n")
        for at in range(0, len(whole), 5_000):
            browser.sendall(whole[at : at + 5_000])
        assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
        here.listener.conclude(oauth_page.DENIED)
        assert _rest(browser) == oauth_page.response(oauth_page.DENIED)


def test_the_first_redirect_is_the_only_one() -> None:
    with socket.socket() as first, socket.socket() as second:
        with waiting() as here:
            first.connect(("127.0.0.1", here.port))
            first.sendall(_get(here))
            assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
            second.connect(("127.0.0.1", here.port))
            second.sendall(_get(here).replace(b"c0de", b"late"))
            assert here.listener.wait(SECONDS) == Callback("c0de", None, None, None)
            here.listener.conclude(oauth_page.CONNECTED)
            assert b"You are signed in" in _rest(first)
        assert b"You are signed in" not in _rest(second)


def test_a_sign_in_that_breaks_off_is_told_to_the_browser() -> None:
    """Whatever ends the block, the page does not say that it went well."""
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt):  # noqa: SIM117  # the answer comes when the inner block ends
            with waiting() as here:
                answer = pool.submit(browse, here.good)
                here.found.result(SECONDS)
                raise KeyboardInterrupt
        assert "You are not signed in yet" in answer.result(SECONDS).text


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_port_in_use_is_named_and_no_other_is_taken(address: str) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((address, 0))
        other.listen()
        port: int = other.getsockname()[1]
        told = f"the port {port}, to which a sign-in returns, is in use; take another port"
        with failing("unavailable", told), listening(port, STATE, OTHERWISE):
            raise AssertionError("it listens")


def test_a_port_is_free_again_at_once() -> None:
    port = free_port()
    for _ in range(3):
        with waiting(port=port) as here, ThreadPoolExecutor(1) as pool:
            answer = pool.submit(browse, here.good)
            here.found.result(SECONDS)
            here.listener.conclude(oauth_page.CONNECTED)
            assert answer.result(SECONDS).status_code == 200


def test_the_wait_ends_in_time() -> None:
    began = time.monotonic()
    with waiting(seconds=0.3) as here, socket.create_connection(("127.0.0.1", here.port)):
        assert here.found.result(SECONDS) is None
    assert 0.3 <= time.monotonic() - began < 5


def test_redirects_of_other_sign_ins_are_counted() -> None:
    with waiting() as here, ThreadPoolExecutor(1) as pool:
        browse(f"{here.url}?code=c&state=another")
        browse(f"http://127.0.0.1:{here.port}/favicon.ico")
        answer = pool.submit(browse, here.good)
        here.found.result(SECONDS)
        here.listener.conclude(oauth_page.CONNECTED)
        assert (here.listener.strange, answer.result(SECONDS).status_code) == (1, 200)


def test_only_this_machine_is_listened_to() -> None:
    with waiting(seconds=0.1) as here, socket.socket() as other:
        # The port is free on every other address of the machine.
        other.bind(("127.0.0.2", here.port))


def test_a_pasted_address_is_as_good_and_its_end_ends_nothing() -> None:
    told: list[str] = []
    ours, theirs = os.pipe()
    try:
        with waiting(pasted=Pasted(ours, told.append)) as here:
            os.write(theirs, f"\n  \nhttps://evil.example/?code=c&state={STATE}\n".encode())
            os.write(theirs, f"{here.url}?code=c&state=another\n".encode())
            long = "c" * 9_000
            os.write(theirs, f' "{here.url}?code={long}&state={STATE}#_=_"'.encode())
            os.close(theirs)
            assert here.found.result(SECONDS) == Callback(long, None, None, None)
            here.listener.conclude(oauth_page.CONNECTED)
    finally:
        os.close(ours)
    wrong = "that is not the address at which this sign-in ended; paste the whole of it, as the browser shows it"
    assert told == [wrong, wrong]


def test_what_is_pasted_as_a_terminal_gives_it_is_understood() -> None:
    told: list[str] = []
    ours, theirs = os.pipe()
    try:
        with waiting(pasted=Pasted(ours, told.append)) as here:
            os.write(theirs, b"what was that\x15httq\x7f\x7ftp\x08p\x1b[200~" + here.good[4:].encode() + b"\x1b[201~\n")
            assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
    finally:
        os.close(ours)
        os.close(theirs)
    assert told == []


@pytest.mark.parametrize("text", [b"", b"x\n" * 100_000, b"x" * 1_000_000, b"\xff\xfe\x00\n" * 3])
def test_nothing_that_is_piped_in_keeps_the_browser_out(text: bytes) -> None:
    told: list[str] = []
    ours, theirs = os.pipe()

    def pipe_in() -> None:
        with os.fdopen(theirs, "wb", buffering=0) as pipe:
            try:
                pipe.write(text)
            except BrokenPipeError:
                return

    piping = threading.Thread(target=pipe_in)
    piping.start()
    with waiting(pasted=Pasted(ours, told.append)) as here, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(browse, here.good)
        assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
        here.listener.conclude(oauth_page.CONNECTED)
        assert answer.result(SECONDS).status_code == 200
    os.close(ours)
    piping.join()
    assert len(told) <= 11


def test_what_cannot_be_read_is_as_good_as_its_end() -> None:
    folder = os.open("/", os.O_RDONLY)
    with waiting(pasted=Pasted(folder, lambda _: None)) as here, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(browse, here.good)
        assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
        here.listener.conclude(oauth_page.CONNECTED)
        assert answer.result(SECONDS).status_code == 200
    os.close(folder)


def test_a_connection_that_is_torn_down_or_talks_on_changes_nothing() -> None:
    with waiting() as here, ThreadPoolExecutor(1) as pool:
        torn = socket.create_connection(("127.0.0.1", here.port))
        torn.sendall(b"GET /")
        torn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        torn.close()
        with socket.create_connection(("127.0.0.1", here.port)) as talker:
            talker.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert b"another sign&#8209;in" in _rest(talker)
            talker.sendall(_get(here).replace(b"c0de", b"late"))
            answer = pool.submit(browse, here.good)
            assert here.found.result(SECONDS) == Callback("c0de", None, None, None)
            here.listener.conclude(oauth_page.CONNECTED)
            assert answer.result(SECONDS).status_code == 200


@pytest.mark.parametrize(
    "page",
    [oauth_page.CONNECTED, oauth_page.DENIED, oauth_page.FAILED, oauth_page.STRANGE],
    ids=lambda page: page.heading,
)
def test_a_page_loads_nothing_runs_nothing_and_tells_nobody(page: oauth_page.Page) -> None:
    head, _, body = oauth_page.response(page).partition(b"\r\n\r\n")
    style = re.findall(rb"<style>(.*?)</style>", body, re.DOTALL)
    digest = b64encode(sha256(style[0]).digest()).decode()
    assert head.decode().split("\r\n") == [
        f"HTTP/1.1 {page.status}",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(body)}",
        f"Content-Security-Policy: default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    assert len(style) == 1
    assert not re.search(rb"<script|https?:|url\(|@import|\son\w+=|\sstyle=", body)
    assert body.count(b"{") == style[0].count(b"{"), "a placeholder is left"


def _get(here: Waiting, header: bytes = b"") -> bytes:
    target = here.good.partition(str(here.port))[2].encode()
    return b"GET " + target + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % here.port + header + b"\r\n"


def _say(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        connection.sendall(data)
        return _rest(connection)


def _rest(connection: socket.socket) -> bytes:
    connection.settimeout(SECONDS)
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)
