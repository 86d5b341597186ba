"""An HTTP call on the wire: exactly what is sent, and the envelope of whatever comes back."""

import json
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from helm_cli import __version__
from helm_cli.drivers import Answer, Limits, driver, kept
from helm_cli.drivers import http as http_driver
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Service
from tests.rig.http_server import Received, Script, answering, chunk, echoing, packed, response, sending, serving

TOKEN = "zq-canary-token"


def plan_of(
    service: Service, method: str = "GET", path: str = "/x", body: str | None = None, effect: Effect = "read"
) -> Plan:
    request: dict[str, Any] = {"method": method, "url": service.base_url + path}
    if body is not None:
        request["body"] = body
    return Plan(
        kind="http",
        effect=effect,
        extension="issues",
        connection="gh",
        operation="op",
        group="service",
        profile=service.name,
        driver="http",
        shape="json",
        title="Confirm request",
        verb="Send",
        noun="call",
        request=request,
    )


def run(service: Service, *, limits: Limits | None = None, secret: str | None = TOKEN, **call: Any) -> Any:
    answer = driver("http").run(plan_of(service, **call), service, secret, limits or Limits(5.0))
    assert isinstance(answer, Answer)
    return answer.envelope


def refusal(service: Service, **call: Any) -> HelmError:
    with pytest.raises(HelmError) as caught:
        run(service, **call)
    for told in (service.base_url, service.base_url.rpartition(":")[2], TOKEN):
        assert told not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


def of(error: HelmError) -> tuple[str, str, Mapping[str, Any], Mapping[str, Any]]:
    return error.code, error.message, error.members, error.outer


def test_its_limits() -> None:
    assert Limits(seconds=10.0, rows=1000, bytes=1024 * 1024) == http_driver.LIMITS


@pytest.mark.contract("C22", "C34")
def test_a_get_sends_this_and_nothing_else() -> None:
    with serving(answering()) as server:
        run(Service("github", server.url), path="/a%2Fb?q=1%20")
    assert server.received == [
        Received(
            "GET",
            "/a%2Fb?q=1%20",
            (
                ("Host", f"127.0.0.1:{server.port}"),
                ("Accept", "application/json"),
                ("Accept-Encoding", "gzip"),
                ("User-Agent", f"helm/{__version__}"),
                ("Authorization", f"Bearer {TOKEN}"),
            ),
            b"",
        )
    ]


@pytest.mark.contract("C45")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_body_is_sent_as_it_stands(method: str) -> None:
    body = '{"a":"\\u00e9 {b}",\n "c":  1}'
    with serving(echoing) as server:
        envelope = run(Service("github", server.url), method=method, body=body, effect="write")
    assert envelope == {
        "ok": True,
        "status": 200,
        "data": {"method": method, "target": "/x", "body": body},
        "error": None,
    }
    (received,) = server.received
    assert received.header("Content-Type") == ["application/json"]
    assert received.header("Content-Length") == [str(len(body))]


def test_a_write_without_a_body_has_none() -> None:
    with serving(answering(b"", "204 No Content")) as server:
        assert run(Service("github", server.url), method="DELETE", effect="write")["status"] == 204
    (received,) = server.received
    assert (received.body, received.header("Content-Type")) == (b"", [])


@pytest.mark.contract("C17", "C18")
@pytest.mark.parametrize(
    ("service", "secret", "header", "values"),
    [
        ({}, TOKEN, "Authorization", [f"Bearer {TOKEN}"]),
        ({"format": "raw"}, TOKEN, "Authorization", [TOKEN]),
        ({"header": "X-Api-Key", "format": "raw"}, TOKEN, "X-Api-Key", [TOKEN]),
        ({"header": "X-Api-Key"}, TOKEN, "X-Api-Key", [f"Bearer {TOKEN}"]),
        ({"header": "X-Api-Key", "format": "raw"}, TOKEN, "Authorization", []),
        ({}, None, "Authorization", []),
        ({"client_id": "me"}, TOKEN, "Authorization", [f"Bearer {TOKEN}"]),
    ],
)
def test_the_token_goes_into_one_header(
    service: dict[str, Any], secret: str | None, header: str, values: list[str]
) -> None:
    with serving(answering()) as server:
        run(Service("github", server.url, **service), secret=secret)
    (received,) = server.received
    assert received.header(header) == values
    assert str(received).count(TOKEN) == (secret is not None)
    assert received.header("Cookie") == []


@pytest.mark.parametrize("secret", ["a\r\nX-Evil: 1", "a\0b", "a ", "a\n", "café", "a\x7f"])
def test_a_token_that_no_header_can_carry_is_not_sent(secret: str) -> None:
    with serving(answering()) as server:
        error = refusal(Service("github", server.url), secret=secret)
    assert of(error) == (
        "not_configured",
        "the token of github holds what no header can carry, such as a line end; enter it again with: helm service edit"
        " github --ask-token",
        {},
        {},
    )
    assert server.received == []


@pytest.mark.contract("C43")
@pytest.mark.parametrize(
    ("sent", "status", "data"),
    [
        (response(b'{"a": [1, null]}'), 200, {"a": [1, None]}),
        (response(b'"text"', "201 Created", {"Content-Type": "text/html"}), 201, "text"),
        (response(b'\xef\xbb\xbf{"a":"\xc3\xa9"}'), 200, {"a": "é"}),
        (response(b"123456789012345678901234567890"), 200, 123456789012345678901234567890),
        (response(b""), 200, None),
        (response(b"", "202 Accepted"), 202, None),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, None),
        (b"HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", 204, None),
        (b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", 205, None),
        (response(b"{}", "299 Fine"), 299, {}),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + response(b"1"), 200, 1),
        (response(packed(b"[1]"), headers={"Content-Encoding": "gzip"}), 200, [1]),
        (response(packed(b"[1]"), headers={"Content-Encoding": "X-GZIP"}), 200, [1]),
        (response(packed(b"[1") + packed(b"]"), headers={"Content-Encoding": "gzip"}), 200, [1]),
        (response(zlib.compress(b"[1]"), headers={"Content-Encoding": "deflate"}), 200, [1]),
        (response(b"[1]", headers={"Content-Encoding": "identity"}), 200, [1]),
        (response(b"[1]", headers={"Content-Encoding": ""}), 200, [1]),
        (response(b"", headers={"Content-Encoding": "br"}), 200, None),
        (response(chunk(b"[1") + chunk(b"]") + chunk(b""), headers={"Transfer-Encoding": "chunked"}), 200, [1]),
        (response(b'{"errors": ["no"]}'), 200, {"errors": ["no"]}),
    ],
)
def test_what_is_an_answer(sent: bytes, status: int, data: Any) -> None:
    with serving(lambda peer, request: peer.send(sent)) as server:
        envelope = run(Service("github", server.url))
    assert envelope == {"ok": True, "status": status, "data": data, "error": None}
    assert [*envelope] == ["ok", "status", "data", "error"]


NOT_JSON = "the answer of the service cannot be read as JSON: "


@pytest.mark.contract("C39")
@pytest.mark.parametrize(
    ("body", "headers", "reason"),
    [
        (b"<html>", {"Content-Type": "text/html"}, "not JSON: expecting value at line 1 column 1"),
        (b'{"a": 1', {}, "not JSON: expecting ',' delimiter at line 1 column 8"),
        (b"[1] [2]", {}, "not JSON: extra data at line 1 column 5"),
        (b" ", {}, "not JSON: expecting value at line 1 column 2"),
        (b"[NaN]", {}, "NaN is not JSON"),
        (b"[-Infinity]", {}, "-Infinity is not JSON"),
        (b"[1e999]", {}, "the number 1e999 is too large"),
        (b"[" * 200_000, {}, "the JSON is nested too deeply"),
        (b"[" * 300 + b"]" * 300, {}, "the JSON is nested too deeply"),
        (b"1" * 5000, {}, "an integer of 5000 digits is too long"),
        (b'"\xe9"', {}, "the JSON is not UTF-8"),
        ('{"a":1}'.encode("utf-16"), {}, "the JSON is not UTF-8"),
        (b"\xef\xbb\xbf\xef\xbb\xbf1", {}, None),
        (b'{"a":1,"a":2}', {}, "a key stands twice in one JSON object"),
        (
            packed(packed(b"1")),
            {"Content-Encoding": "gzip, gzip"},
            "its body is compressed in a way that helm did not ask for",
        ),
        (b"x", {"Content-Encoding": "br"}, "its body is compressed in a way that helm did not ask for"),
        (b"[1]", {"Content-Encoding": "gzip"}, "its body is not the gzip that it says it is"),
        (
            packed(b"1")[:-8] + b"\0" * 8,
            {"Content-Encoding": "gzip"},
            "its body is not the gzip that it says it is",
        ),
        (packed(b"1") + b"more", {"Content-Encoding": "gzip"}, "its body is not the gzip that it says it is"),
        (b"[1]", {"Content-Encoding": "deflate"}, "its body is not the deflate that it says it is"),
    ],
)
def test_what_is_not_json(body: bytes, headers: dict[str, str], reason: str | None) -> None:
    with serving(answering(body, headers=headers)) as server:
        error = refusal(Service("github", server.url))
    assert (error.code, error.members, error.outer) == ("not_json", {}, {"status": 200, "data": None})
    assert error.message == NOT_JSON + reason if reason else error.message.startswith(NOT_JSON)


@pytest.mark.contract("C37")
@pytest.mark.parametrize(
    "status",
    ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"],
)
@pytest.mark.parametrize("located", [True, False])
def test_a_redirect_is_not_followed(status: str, located: bool) -> None:
    with serving(answering()) as target:
        headers = {"Location": f"{target.url}/y"} if located else {}
        with serving(answering(b"{}", status, headers)) as server:
            error = refusal(Service("github", server.url))
            written = refusal(Service("github", server.url), method="POST", body="1", effect="write")
        assert target.connections == 0
    told = f"the service answered {status}, and helm follows no redirect; check its base URL"
    outer = {"status": int(status[:3]), "data": None}
    assert of(error) == ("redirect", told, {}, outer)
    # A write that was done is often answered with where its result is.
    assert of(written) == ("redirect", told + LOOK, {"applied": "unknown"}, outer)


LOOK = "; it is unknown whether the write was applied: look before you repeat it"


@pytest.mark.contract("C41")
@pytest.mark.parametrize(
    ("sent", "status", "named", "data"),
    [
        (response(b'{"message": "no"}', "404 Not Found"), 404, "404 Not Found", {"message": "no"}),
        (response(b"oops", "500 Sorry"), 500, "500 Internal Server Error", None),
        (response(b"", "400 Bad Request"), 400, "400 Bad Request", None),
        (response(b"{}", "300 Multiple Choices", {"Location": "/y"}), 300, "300 Multiple Choices", {}),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", 304, "304 Not Modified", None),
        (response(b"1", "305 Use Proxy"), 305, "305 Use Proxy", 1),
        (response(b"1", "777 What"), 777, "777", 1),
        (response(b'"\xef\xbb\xbf"', "409 Conflict"), 409, "409 Conflict", "\ufeff"),
        (response(b"[NaN]", "409 Conflict"), 409, "409 Conflict", None),
        (response(b"x" * 2_000_000, "502 Bad Gateway"), 502, "502 Bad Gateway", None),
        (response(b"x", "502 Bad Gateway", {"Content-Encoding": "br"}), 502, "502 Bad Gateway", None),
        (b"HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\n{}", 503, "503 Service Unavailable", None),
        (
            response(packed(b"{}")[:-4], "503 No", {"Content-Encoding": "gzip"}),
            503,
            "503 Service Unavailable",
            None,
        ),
    ],
)
def test_another_status_is_an_http_error(sent: bytes, status: int, named: str, data: Any) -> None:
    with serving(sending(sent)) as server:
        error = refusal(Service("github", server.url))
        written = refusal(Service("github", server.url), method="PUT", body="1", effect="write")
    told = f"the service answered {named}"
    assert of(error) == ("http_error", told, {}, {"status": status, "data": data})
    unsettled = not 400 <= status < 500
    members = {"applied": "unknown"} if unsettled else {}
    assert of(written) == ("http_error", told + LOOK if unsettled else told, members, {"status": status, "data": data})


def test_a_401_says_what_to_look_at() -> None:
    with serving(answering(b"{}", "401 Unauthorized", {"WWW-Authenticate": "Bearer"})) as server:
        error = refusal(Service("github", server.url))
    assert error.message == "the service answered 401 Unauthorized; check the sign-in or the token of github"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("17", 17),
        (" 17 ", 17),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", range(2 * 10**11, 3 * 10**11)),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("9" * 30, None),
        ("Fri, 99 Dec 2030 23:59:59 GMT", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_retry_after_is_passed_on(status: str, value: str, seconds: Any) -> None:
    with serving(answering(b"{}", status, {"Retry-After": value})) as server:
        error = refusal(Service("github", server.url))
    told = error.members.get("retry_after")
    assert told in seconds if isinstance(seconds, range) else told == seconds
    waiting = "" if told is None else f"; wait {told} s before you ask again"
    assert error.message == f"the service answered {status}{waiting}"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "told", "members"),
    [
        ("429 Too Many Requests", "; wait 17 s before you ask again", {"retry_after": 17}),
        ("503 Service Unavailable", LOOK, {"applied": "unknown", "retry_after": 17}),
    ],
)
def test_a_write_is_not_advised_to_be_repeated_before_it_is_looked_at(
    status: str, told: str, members: dict[str, Any]
) -> None:
    with serving(answering(b"{}", status, {"Retry-After": "17"})) as server:
        error = refusal(Service("github", server.url), method="POST", body="1", effect="write")
    assert (error.message, error.members) == (f"the service answered {status}{told}", members)


def test_no_key_of_an_answer_is_lost_or_repeated_in_a_message() -> None:
    for body, data in (
        (b'{"\\ud800": 1, "\\udc00": 2, "\xef\xbf\xbd": 3}', {"\ufffd (2)": 1, "\ufffd (3)": 2, "\ufffd": 3}),
        (b'{"a\\ud800": {"\\ud801": 1}}', {"a\ufffd": {"\ufffd": 1}}),
    ):
        with serving(answering(body)) as server:
            assert run(Service("github", server.url))["data"] == data
    for name in (TOKEN, "a" * 500_000, "\\u001b[31m"):
        with serving(answering(f'{{"{name}": 1, "{name}": 2}}'.encode())) as server:
            error = refusal(Service("github", server.url))
        assert (error.code, error.message) == (
            "not_json",
            "the answer of the service cannot be read as JSON: a key stands twice in one JSON object",
        )


def test_cookies_are_never_sent_back() -> None:
    with serving(answering(b"{}", headers={"Set-Cookie": "a=b; Path=/"})) as server, kept.open_ones():
        for _ in range(2):
            run(Service("github", server.url))
    assert [request.header("Cookie") for request in server.received] == [[], []]


@pytest.mark.parametrize("path", ["/a b", "/é", "/a/../b", "", "x", "/\n", "/" + "a" * 70_000])
def test_a_url_that_would_go_out_otherwise_is_not_sent(path: str) -> None:
    with serving(answering()) as server:
        error = refusal(Service("github", server.url), path=path)
    assert of(error) == ("refused", "the URL of op cannot be sent as it stands; check its arguments", {}, {})
    assert server.connections == 0


def test_a_request_that_is_none_is_a_fault_of_helm() -> None:
    service = Service("github", "http://127.0.0.1:1")
    with pytest.raises(HelmError) as caught:
        driver("http").run(plan_of(service)._replace(request={"method": "GET"}), service, TOKEN, Limits())
    assert of(caught.value) == ("internal", "the request of op cannot be sent; report this", {}, {})


def test_a_request_is_prepared_without_being_sent() -> None:
    with serving(answering()) as server:
        service = Service("github", server.url)
        driver("http").prepare(plan_of(service), service, TOKEN, Limits())
        with pytest.raises(HelmError):
            driver("http").prepare(plan_of(service, path="/a b"), service, TOKEN, Limits())
        assert server.connections == 0


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (answering(), "the service answered 200 OK"),
        (answering(b"<html>", "404 Not Found"), "the service answered 404 Not Found"),
        (answering(b"", "302 Found", {"Location": "http://127.0.0.1:1/"}), "the service answered 302 Found"),
    ],
)
def test_a_probe_says_what_answered(script: Script, line: str) -> None:
    with serving(script) as server:
        assert driver("http").probe(Service("github", f"{server.url}/api"), TOKEN, Limits(5.0)) == line
    (received,) = server.received
    assert (received.method, received.target) == ("GET", "/api")
    assert received.header("Authorization") == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "500 Internal Server Error"])
def test_a_probe_that_was_not_let_in_fails(status: str) -> None:
    with serving(answering(json.dumps({"a": 1}).encode(), status)) as server, pytest.raises(HelmError) as caught:
        driver("http").probe(Service("github", server.url), TOKEN, Limits(5.0))
    assert caught.value.code == "http_error"
    assert status in caught.value.message


def test_half_a_character_in_an_answer_is_mended() -> None:
    with serving(answering(b'{"a\\ud800": ["\\ud83d\\ude00", "x\\udc00"]}')) as server:
        assert run(Service("github", server.url))["data"] == {"a\ufffd": ["\U0001f600", "x\ufffd"]}
