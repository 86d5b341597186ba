"""What each failure of the network, of TLS, of a proxy and of a server that is none is called."""

import socket
import ssl
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli.drivers import Limits
from helm_cli.drivers.exchange import Sent, exchange
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Service
from tests.drivers.test_http import LOOK, TOKEN, of, refusal, run
from tests.program import Finished
from tests.program import run as run_program
from tests.rig.http_server import (
    Peer,
    Received,
    answering,
    authority,
    echoing,
    packed,
    response,
    sending,
    serving,
    tunnelling,
)

ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.contract("C42")
@pytest.mark.parametrize("effect", ["read", "write"])
def test_nobody_there(effect: Any) -> None:
    error = refusal(Service("github", f"http://127.0.0.1:{free_port()}"), effect=effect, method="POST", body="1")
    told = "nothing answers at the port of the service; start it, or check its base URL"
    assert of(error) == ("unavailable", told + ("; nothing was sent" if effect == "write" else ""), {}, {})


def test_no_such_host() -> None:
    error = refusal(Service("github", "https://nowhere.invalid"))
    assert of(error) == (
        "unavailable",
        "the host of the service was not found; check its base URL and the network",
        {},
        {},
    )


BROKE: Final = "the connection to the service broke before its answer was whole"
OFF: Final = "the answer of the service broke off, or is not HTTP"


@pytest.mark.contract("C42")
@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", OFF),
        (b"HTTP/1.1", OFF),
        (b"220 smtp.example.test ESMTP\r\n", OFF),
        (b"\x15\x03\x01\x00\x02\x02\x50", OFF),
        (b"HTTP/1.1 abc\r\n\r\n", OFF),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", OFF),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", OFF),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\n", OFF),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", OFF),
        (b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n{}", OFF),
        (b"HTTP/2 200\r\n\r\n", OFF),
        (ANSWER + b"{}", OFF),
        (
            response(packed(b"[1, 2, 3]")[:-9], headers={"Content-Encoding": "gzip"}),
            "the answer of the service broke off",
        ),
        (
            response(packed(b"[1]")[:5], headers={"Content-Encoding": "gzip"}),
            "the answer of the service broke off",
        ),
    ],
)
def test_what_is_no_whole_answer(sent: bytes, message: str) -> None:
    with serving(sending(sent)) as server:
        error = refusal(Service("github", server.url))
        written = refusal(Service("github", server.url), method="PATCH", body="1", effect="write")
    assert of(error) == ("unavailable", message, {}, {})
    assert of(written) == ("unavailable", message + LOOK, {"applied": "unknown"}, {})
    assert len(server.received) == 2


def test_a_connection_that_is_reset() -> None:
    def reset(peer: Peer, request: Received) -> None:
        # Closed at once, with what was not read thrown away, it is reset and not ended.
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.send(ANSWER)
        peer.socket.detach()

    def script(peer: Peer, request: Received) -> None:
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        with socket.socket(fileno=peer.socket.detach()):
            pass

    with serving(script) as server:
        error = refusal(Service("github", server.url), method="POST", body="1", effect="write")
    assert of(error) == ("unavailable", BROKE + LOOK, {"applied": "unknown"}, {})
    assert len(server.received) == 1


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    return authority(tmp_path, "DNS:localhost,IP:127.0.0.1,DNS:api.example.test")


UNTRUSTED: Final = (
    "the certificate of the service is not one that this machine trusts; check its base URL, or name the file of its"
    " authority in SSL_CERT_FILE"
)


@pytest.mark.contract("C16")
def test_a_certificate_of_a_trusted_authority(
    tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    with serving(echoing, tls[0]) as server:
        assert run(Service("github", server.url))["data"]["target"] == "/x"


# Connects to an https server in two ways: as helm does, and as Python does where nobody sees to it.
CONNECTING: Final = """
import socket, ssl, sys
from urllib.parse import urlsplit
if sys.argv[1] == "helm":
    from helm_cli.drivers import driver
    from helm_cli.model.profile import Service
    http = driver("http")
    http.probe(Service("s", sys.argv[2]), "token", http.LIMITS)
else:
    where = urlsplit(sys.argv[2])
    with socket.create_connection((where.hostname, where.port)) as opened:
        ssl.create_default_context().wrap_socket(opened, server_hostname=where.hostname).close()
"""


def test_no_variable_has_the_keys_of_a_connection_written_down(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    variables = {"SSL_CERT_FILE": str(tls[1]), "SSLKEYLOGFILE": str(keys)}
    written = {}
    with serving(echoing, tls[0]) as server:
        for who in ("helm", "python"):
            ended = run_program([sys.executable, "-c", CONNECTING, who, server.url], env=variables)
            assert ended == Finished(0, "", "")
            written[who] = keys.exists()
    assert written == {"helm": False, "python": True}


def test_another_certificate_gets_no_token(tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(answering(), tls[0]) as server:
        error = refusal(Service("github", server.url), method="POST", body="1", effect="write")
    assert of(error) == ("unavailable", UNTRUSTED + "; nothing was sent", {}, {})
    assert server.received == []


def test_a_certificate_of_another_name_gets_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, file = authority(tmp_path, "DNS:other.example.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(answering(), context) as server:
        assert refusal(Service("github", server.url)).message == UNTRUSTED
    assert server.received == []


def test_a_server_without_tls() -> None:
    with serving(answering()) as server:
        error = refusal(Service("github", server.url.replace("http:", "https:")))
    assert error.message == "the service does not speak TLS as helm does; check its base URL"
    assert TOKEN.encode() not in server.garbage


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
@pytest.mark.parametrize("value", ["/nonexistent/ca.pem", __file__])
def test_authorities_that_cannot_be_read(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, value)
    error = refusal(Service("github", "https://127.0.0.1:9"))
    if name == "SSL_CERT_FILE":
        assert of(error) == (
            "unavailable",
            "SSL_CERT_FILE cannot be read as certificates; correct it or unset it",
            {},
            {},
        )
    # A folder is looked into later, and one that is none has no authorities.
    assert error.code == "unavailable"
    with serving(answering()) as server:
        # Without TLS nobody looks at it.
        assert run(Service("github", server.url))["ok"] is True


PROXIES: Final = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_proxy_sees_a_call_to_this_machine(
    host: str, tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    with serving(answering()) as proxy, serving(answering()) as plain, serving(answering(), tls[0]) as safe:
        for name in PROXIES:
            monkeypatch.setenv(name, proxy.url)
        for server in (plain, safe):
            assert run(Service("github", server.url.replace("127.0.0.1", host)))["ok"] is True
            assert len(server.received) == 1
        assert proxy.connections == 0


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_carries_a_call_elsewhere_and_sees_no_token(
    name: str, scheme: str, tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    with serving(echoing, tls[0]) as server, serving(tunnelling(server.port)) as proxy:
        monkeypatch.setenv(name, f"{scheme}127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1,.other.test")
        assert run(Service("github", "https://api.example.test"))["data"]["target"] == "/x"
        (connecting,) = proxy.received
        assert (connecting.method, connecting.target) == ("CONNECT", "api.example.test:443")
        assert TOKEN not in str(connecting)
        assert server.received[0].header("Authorization") == [f"Bearer {TOKEN}"]


ODD: Final = ("[::1]", "::1/128", "fe80::/10", "[", "*.[", "10.0.0.0/8", "http://", "://", " , ,", "\u00e9", "x" * 5000)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_exception_from_the_proxy_is_survived(
    odd: str, tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    monkeypatch.setenv("NO_PROXY", odd)
    with serving(echoing, tls[0]) as server, serving(tunnelling(server.port)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert run(Service("github", "https://api.example.test"))["ok"] is True
        assert proxy.connections == 1
        assert run(Service("github", server.url))["ok"] is True


@pytest.mark.parametrize(
    "exception", ["api.example.test", ".example.test", "example.test", "*", "x,api.example.test:443"]
)
def test_an_exception_goes_past_the_proxy(exception: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", exception)
    with serving(answering()) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        error = refusal(Service("github", "https://api.example.test"))
        assert proxy.connections == 0
    assert error.message == "the host of the service was not found; check its base URL and the network"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "all_proxy"])
@pytest.mark.parametrize("value", ["socks5://127.0.0.1:9", "ftp://127.0.0.1", "http://a:b:c", "://"])
def test_a_proxy_that_is_none_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    error = refusal(Service("github", "https://api.example.test"), method="POST", body="1", effect="write")
    assert of(error) == (
        "unavailable",
        f"{name} is no proxy that helm can use; write it as http://HOST:PORT or unset it; nothing was sent",
        {},
        {},
    )
    with serving(answering()) as server:
        assert run(Service("github", server.url))["ok"] is True


@pytest.mark.parametrize(
    "value", ["http://[", "nowhere.invalid:3128", "http://h.invalid:99999", "http://a..b:1", "http://127.0.0.1:1"]
)
def test_a_proxy_that_does_not_answer_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", value)
    error = refusal(Service("github", "https://api.example.test"), method="POST", body="1", effect="write")
    told = "all_proxy names a proxy that does not answer; check or unset it; nothing was sent"
    assert of(error) == ("unavailable", told, {}, {})


@pytest.mark.parametrize("status", ["403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"])
def test_a_proxy_that_refuses(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answering(b"", status)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        error = refusal(Service("github", "https://api.example.test"), method="POST", body="1", effect="write")
        assert TOKEN not in str(proxy.received)
    told = "the proxy that HTTPS_PROXY names did not connect helm to the service; check or unset it; nothing was sent"
    assert of(error) == ("unavailable", told, {}, {})


def test_a_url_that_no_request_can_have_is_told() -> None:
    with pytest.raises(HelmError) as caught:
        exchange(Sent("GET", "https://example.com/" + "a" * 70_000, {}, None), Limits(5.0))
    told = "the URL of the service cannot be sent; check its base URL"
    assert of(caught.value) == ("not_configured", told, {}, {})


def test_an_exchange_says_itself_what_may_have_been_sent() -> None:
    def close(peer: Peer, request: Received) -> None:
        peer.close()

    with serving(close) as server, pytest.raises(HelmError) as caught:
        exchange(Sent("POST", f"{server.url}/token", {"Accept": "application/json"}, b"a=b"), Limits(5.0))
    assert of(caught.value) == ("unavailable", OFF, {"applied": "unknown"}, {})
    with pytest.raises(HelmError) as caught:
        exchange(Sent("POST", f"http://127.0.0.1:{free_port()}/token", {}, b"a=b"), Limits(5.0))
    assert (caught.value.code, caught.value.members) == ("unavailable", {})
