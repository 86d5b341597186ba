"""A token endpoint that answers as no service should, one way for each path, and remembers what it was sent."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

ACCESS: Final = "hostile-access-token"
REFRESH: Final = "hostile-refresh-token"
GOOD: Final[dict[str, Any]] = {
    "access_token": ACCESS,
    "refresh_token": REFRESH,
    "token_type": "Bearer",
    "expires_in": 3600,
    "scope": "a b",
}
_JSON: Final = "application/json"


class Answer(NamedTuple):
    """What one path answers: a status, a type, a body, and more headers."""

    status: int
    body: bytes
    type: str = _JSON
    headers: tuple[tuple[str, str], ...] = ()


def _good(*, without: str = "", status: int = 200, **changes: Any) -> Answer:
    members = {name: value for name, value in {**GOOD, **changes}.items() if name != without}
    return Answer(status, json.dumps(members).encode())


def _error(error: Any, status: int = 400) -> Answer:
    return Answer(status, json.dumps({"error": error, "error_description": f"about {REFRESH}"}).encode())


ANSWERS: Final[dict[str, Answer]] = {
    "good": _good(),
    "no-expires": _good(without="expires_in"),
    "expires-text": _good(expires_in="3600"),
    "expires-null": _good(expires_in=None),
    "expires-zero": _good(expires_in=0),
    "expires-negative": _good(expires_in=-5),
    "expires-words": _good(expires_in="soon"),
    "expires-true": _good(expires_in=True),
    "expires-half": _good(expires_in=90.5),
    "expires-huge": Answer(200, json.dumps(GOOD).replace("3600", "9" * 400).encode()),
    "no-scope": _good(without="scope"),
    "scope-null": _good(scope=None),
    "scope-fewer": _good(scope="a"),
    "scope-none": _good(scope=""),
    "scope-more": _good(scope="a b admin"),
    "scope-reordered": _good(scope="b  a b"),
    "scope-comma": _good(scope="a,b"),
    "scope-list": _good(scope=["a", "b"]),
    "scope-number": _good(scope=7),
    "scope-numbers": _good(scope=[7]),
    "type-lower": _good(token_type="bearer"),
    "type-missing": _good(without="token_type"),
    "type-mac": _good(token_type="mac"),
    "type-dpop": _good(token_type="DPoP"),
    "no-access": _good(without="access_token"),
    "access-empty": _good(access_token=""),
    "access-lines": _good(access_token=f"{ACCESS}\r\nX-Evil: 1"),
    "access-space": _good(access_token=f"{ACCESS} x"),
    "access-unicode": _good(access_token=f"{ACCESS}é"),
    "access-number": _good(access_token=7),
    "no-refresh": _good(without="refresh_token"),
    "refresh-null": _good(refresh_token=None),
    "refresh-empty": _good(refresh_token=""),
    "refresh-lines": _good(refresh_token=f"{REFRESH}\n"),
    "refresh-number": _good(refresh_token=7),
    "error-200": _error("invalid_grant", 200),
    "error-both": _good(error="temporarily"),
    "invalid-grant": _error("invalid_grant"),
    "invalid-grant-401": _error("invalid_grant", 401),
    "invalid-grant-500": _error("invalid_grant", 500),
    "invalid-grant-429": _error("invalid_grant", 429),
    "invalid-client": _error("invalid_client", 401),
    "invalid-scope": _error("invalid_scope"),
    "error-unknown": _error(f"no {REFRESH} here"),
    "error-object": _error({"code": 7}),
    "form": Answer(200, f"access_token={ACCESS}&token_type=bearer".encode(), "application/x-www-form-urlencoded"),
    "html-200": Answer(200, b"<html>sign in</html>", "text/html"),
    "html-502": Answer(502, b"<html>bad gateway</html>", "text/html"),
    "wrong-type": _good()._replace(type="text/html"),
    "array": Answer(200, json.dumps([GOOD]).encode()),
    "empty": Answer(200, b""),
    "twice": Answer(200, json.dumps(GOOD).encode()[:-1] + b', "scope": "admin"}'),
    "bom": Answer(200, b"\xef\xbb\xbf" + json.dumps(GOOD).encode()),
    "latin": Answer(200, json.dumps(GOOD).encode()[:-1] + b', "x": "\xe9"}'),
    "created": _good(status=201),
    "too-many": Answer(429, b"{}", headers=(("Retry-After", "7"),)),
    "broken": Answer(500, b'{"message": "broken"}'),
    "elsewhere": Answer(307, b"", headers=(("Location", "/good"),)),
    "large": Answer(200, json.dumps({**GOOD, "x": "x" * 65_536}).encode()),
    "bomb": Answer(200, gzip.compress(b" " * 20_000_000), headers=(("Content-Encoding", "gzip"),)),
}


class Endpoint(NamedTuple):
    """The running endpoint: `url("good")` is a token URL; `forms` are what came, each with its `path` and headers."""

    port: int
    forms: list[dict[str, str]]
    changes: dict[str, Callable[[], Answer]]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def answer(self, path: str, answers: Callable[[], Answer]) -> str:
        """Let a path answer what this function says at that moment; gives its token URL."""
        self.changes[path] = answers
        return self.url(path)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.ending = threading.Event()
        self.endpoint = Endpoint(self.server_address[1], [], {})


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
        path = self.path.lstrip("/")
        headers = {f"header {name.lower()}": value for name, value in self.headers.items()}
        self.server.endpoint.forms.append({"path": path, **headers, **form})
        with suppress(ConnectionError):
            self._answer(path)

    def do_GET(self) -> None:
        self.do_POST()

    def _answer(self, path: str) -> None:
        changed = self.server.endpoint.changes.get(path)
        if path == "silent":
            self.server.ending.wait(60)
        elif path == "trickle":
            self._trickle()
        elif changed is not None:
            self._whole(changed())
        elif path == "cut":
            self._whole(ANSWERS["good"], most=20)
        else:
            self._whole(ANSWERS[path])

    def _trickle(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.ending.wait(0.05):
            self.wfile.write(b" ")

    def _whole(self, answer: Answer, most: int | None = None) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body[:most])

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Also `silent`, which says nothing, `trickle`, which never gets done, and `cut`, which hangs up half way."""
    server = _Server()
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield server.endpoint
    finally:
        server.ending.set()
        server.shutdown()
        serving.join()
        server.server_close()
