"""An MCP server over streamable HTTP that behaves as the path of its URL says, and remembers what it was asked."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any, Final, NamedTuple

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
LATE: Final = 30.0


class Asked(NamedTuple):
    """One request: its HTTP method, its path, its headers (lower-case names), and the message in it."""

    method: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any]


class HttpServer(NamedTuple):
    """Where it listens, what it was asked so far, and what ends those of its answers that never come."""

    port: int
    asked: list[Asked]
    over: threading.Event

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def calls(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.message.get("method") == "tools/call"]


@contextmanager
def http_server(elsewhere: int = 1) -> Iterator[HttpServer]:
    """The server, for the block; `/elsewhere` redirects to that port of this machine.

    Every answer is JSON, with a session, in the older era; under `/sse` it is an event stream. The others answer so
    until a tool is called: `/refuses-all` not even then, `/401` `/500` `/html` `/accepted` `/cut` `/huge` `/huge-sse`
    `/gzip` `/hangs` `/hangs-up` `/surrogate` as their names say, `/moved` after one redirect to `/json`, `/expires`
    with 404 for a session in which two calls were made, `/unknown-session` for every one, `/restarts` with 400 and an
    error of its own for the first session, `/answers-404` with the tool's own error, `/without-session` likewise where
    no session was given, `/404` with nothing there, `/403` once, `/mismatch` with the error -32020, as `/modern` of
    the newer era does where the header of the tool is missing.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    told = HttpServer(_port(server), [], threading.Event())
    vars(server)["told"], vars(server)["elsewhere"] = told, elsewhere
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield told
    finally:
        told.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._take()
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._take()
        self._send(200, b"")

    def do_POST(self) -> None:
        asked = self._take()
        how, method = self.path.strip("/"), asked.message.get("method")
        if how == "refuses-all":
            self._send(401, b"no such token")
        elif how in ("moved", "elsewhere"):
            port = vars(self.server)["elsewhere"] if how == "elsewhere" else _port(self.server)
            self._send(307, b"", {"Location": f"http://127.0.0.1:{port}/json"})
        elif "id" not in asked.message:
            self._send(202, b"")
        elif method == "tools/call" and hasattr(self, f"call_{how.replace('-', '_')}"):
            getattr(self, f"call_{how.replace('-', '_')}")(asked)
        else:
            self._answer(asked, how)

    def call_401(self, asked: Asked) -> None:
        error = {"jsonrpc": "2.0", "id": asked.message["id"], "error": {"code": -32001, "message": "Unauthorized"}}
        self._send(401, json.dumps(error).encode(), {"Content-Type": "application/json"})

    def call_403(self, asked: Asked) -> None:
        if len(self._told().calls()) == 1:
            self._send(403, b"not this time")
        else:
            self.close_connection = True

    def call_answers_404(self, asked: Asked) -> None:
        self._refuse(asked, 404, -32001, "no such ticket")

    def call_without_session(self, asked: Asked) -> None:
        self._refuse(asked, 404, -32001, "no such session")

    def call_404(self, asked: Asked) -> None:
        self._send(404, b"")

    def call_restarts(self, asked: Asked) -> None:
        first = next(call.headers["mcp-session-id"] for call in self._told().calls())
        if len(self._told().calls()) > 1 and asked.headers["mcp-session-id"] == first:
            self._refuse(asked, 400, -32000, "Bad Request: No valid session ID provided")
        else:
            self._answer(asked, "json")

    def call_mismatch(self, asked: Asked) -> None:
        self._refuse(asked, 200, -32020, "backend row conflict")

    def call_modern(self, asked: Asked) -> None:
        if asked.headers.get("mcp-param-text") is None:
            self._refuse(asked, 400, -32020, "the header of text is missing")
        else:
            self._answer(asked, "modern")

    def _refuse(self, asked: Asked, status: int, code: int, message: str) -> None:
        error = {"jsonrpc": "2.0", "id": asked.message["id"], "error": {"code": code, "message": message}}
        self._send(status, json.dumps(error).encode(), {"Content-Type": "application/json"})

    def call_500(self, asked: Asked) -> None:
        self._send(500, b"<h1>broken</h1>")

    def call_html(self, asked: Asked) -> None:
        self._send(200, b"<h1>hello</h1>", {"Content-Type": "text/html"})

    def call_accepted(self, asked: Asked) -> None:
        self._send(202, b"")

    def call_cut(self, asked: Asked) -> None:
        self._send(200, b": it begins\n\n", {"Content-Type": "text/event-stream"})

    def call_hangs(self, asked: Asked) -> None:
        self._told().over.wait(LATE)

    def call_hangs_up(self, asked: Asked) -> None:
        self.close_connection = True

    def call_huge(self, asked: Asked) -> None:
        self._endless("application/json", b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"')

    def call_huge_sse(self, asked: Asked) -> None:
        self._endless("text/event-stream", b"data: ")

    def call_gzip(self, asked: Asked) -> None:
        text = gzip.compress(json.dumps(self._result(asked)).encode())
        self._send(200, text, {"Content-Type": "application/json", "Content-Encoding": "gzip"})

    def call_surrogate(self, asked: Asked) -> None:
        text = json.dumps(self._result(asked)).replace(
            '"content": []', r'"content": [{"type": "text", "text": "\ud800"}]'
        )
        self._send(200, text.encode(), {"Content-Type": "application/json"})

    def call_expires(self, asked: Asked) -> None:
        session = asked.headers.get("mcp-session-id")
        if sum(call.headers.get("mcp-session-id") == session for call in self._told().calls()) > 2:
            self._send(404, b"")
        else:
            self._answer(asked, "json")

    def call_unknown_session(self, asked: Asked) -> None:
        self._send(404, b"")

    def _told(self) -> HttpServer:
        told: HttpServer = vars(self.server)["told"]
        return told

    def _take(self) -> Asked:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, json.loads(body) if body else {})
        self._told().asked.append(asked)
        return asked

    def _result(self, asked: Asked) -> dict[str, Any]:
        method = asked.message["method"]
        result: dict[str, Any]
        if method == "initialize":
            about = {"name": "over-http", "version": "2.0"}
            result = {"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": about}
        elif method == "tools/list":
            result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            result = {"content": [], "structuredContent": asked.message["params"].get("arguments")}
        else:
            error = {"code": -32601, "message": "Method not found"}
            return {"jsonrpc": "2.0", "id": asked.message["id"], "error": error}
        return {"jsonrpc": "2.0", "id": asked.message["id"], "result": result}

    def _answer(self, asked: Asked, how: str) -> None:
        text = json.dumps(self._result(asked)).encode()
        headers = {"Content-Type": "application/json"}
        if how == "sse" and asked.message["method"] == "server/discover":
            # As many servers of the older era do, with a code that others use otherwise.
            self._send(400, text.replace(b"-32601", b"-32000"), headers)
            return
        if how == "sse":
            text, headers = b"event: message\ndata: " + text + b"\n\n", {"Content-Type": "text/event-stream"}
        if how == "modern":
            text = self._newer(asked)
        if asked.message["method"] == "initialize":
            headers["Set-Cookie"] = "who=helm; Path=/"
        if asked.message["method"] == "initialize" and how not in ("404", "without-session"):
            headers["Mcp-Session-Id"] = f"session-{len(self._told().asked)}"
        self._send(200, text, headers)

    def _newer(self, asked: Asked) -> bytes:
        """As a server of the newer era says it: one argument of its tool is to stand in a header too."""
        method = asked.message["method"]
        if method == "server/discover":
            result: dict[str, Any] = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "text"}}}
            result = {"tools": [{"name": "echo", "inputSchema": schema}]}
        else:
            result = {"content": [], "structuredContent": asked.message["params"].get("arguments")}
        whole = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", **result}
        return json.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "result": whole}).encode()

    def _endless(self, kind: str, begin: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(begin)
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _port(server: BaseServer) -> int:
    found: int = vars(server)["socket"].getsockname()[1]
    return found
