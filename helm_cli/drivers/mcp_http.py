"""How the messages of the SDK reach a streamable HTTP server: with its token, within its origin, and bounded."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import anyio
import httpx2

from helm_cli import __version__
from helm_cli.drivers import trust
from helm_cli.drivers.mcp_sdk import imported
from helm_cli.drivers.mcp_watch import Refusal, Watch
from helm_cli.drivers.mcp_wire import MOST_LINE
from helm_cli.grammar import token
from helm_cli.model.errors import HelmError

streamable_http: Final = imported("mcp.client.streamable_http")

# What a server may take to hear that a session is over, which it would notice by itself some day.
_FAREWELL: Final = dict.fromkeys(("connect", "read", "write", "pool"), 2.0)
# How long the body of a refusal is waited for.
_REFUSAL_SECONDS: Final = 3.0


@asynccontextmanager
async def streams(url: str, secret: str | None, watch: Watch) -> AsyncIterator[Any]:
    """What comes from the server and what goes to it; when the block is left, the server was told so.

    A proxy of the environment is asked for hosts that are not this machine (design, section 8).
    """
    local = trust.loopback(httpx2.URL(url).host)
    headers = {"Accept-Encoding": "identity", "User-Agent": f"helm/{__version__}"}
    if secret is not None:
        headers["Authorization"] = f"Bearer {_token(secret)}"
    hooks: dict[str, list[Any]] = {"request": [partial(_asking, watch)], "response": [partial(_answering, watch)]}
    async with (
        httpx2.AsyncClient(
            headers=headers,
            # Who the caller is, the token says, and which session it is, the protocol.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            # The whole of a call has its limit, and a session that is kept waits between two of them.
            timeout=None,
            trust_env=not local,
            # Only this machine itself may be asked without TLS.
            verify=not url.startswith("http:"),
            event_hooks=hooks,
        ) as client,
        streamable_http.streamable_http_client(url, http_client=client, max_sse_event_size=MOST_LINE) as both,
    ):
        yield both


async def _asking(watch: Watch, request: httpx2.Request) -> None:
    if request.method == "GET" and "last-event-id" not in request.headers:
        # What a server says unasked is nothing that helm waits for.
        raise httpx2.RequestError("helm opens no stream for what was not asked", request=request)
    if request.method == "DELETE":
        request.extensions = {**request.extensions, "timeout": _FAREWELL}
    if _message(request).get("method") == "tools/call":
        request.extensions = {**request.extensions, "trace": partial(_sending, watch)}


async def _sending(watch: Watch, event: str, info: object) -> None:
    if event.endswith(".send_request_headers.started"):
        watch.sent = True


async def _answering(watch: Watch, response: httpx2.Response) -> None:
    message = _message(response.request)
    method = message.get("method", "")
    watch.status[method] = response.status_code
    watch.session = watch.session or (method == "initialize" and "mcp-session-id" in response.headers)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        watch.broken("answered in an encoding that helm did not ask for")
        raise httpx2.StreamError("encoded")
    response.stream = _Bounded(response.stream, watch)
    if method == "tools/call" and response.status_code >= 400:
        watch.refusal = await _refused(response, message.get("id"))


async def _refused(response: httpx2.Response, number: Any) -> Refusal:
    """What an answer with an error's status means to the call of this number. The SDK reads its body once more."""
    found: Any = None
    with anyio.move_on_after(_REFUSAL_SECONDS), suppress(ValueError, RecursionError, httpx2.HTTPError):
        found = json.loads(await response.aread())
    answer = found if isinstance(found, dict) else {}
    error = answer.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return Refusal(
        response.status_code,
        own=("error" in answer or "result" in answer) and answer.get("id") == number,
        error=isinstance(error, dict) and response.headers.get("content-type", "").startswith("application/json"),
        message=message if isinstance(message, str) else "",
    )


class _Bounded(httpx2.AsyncByteStream):
    """The body of one answer, up to what helm reads of it."""

    def __init__(self, stream: Any, watch: Watch) -> None:
        self._stream = stream
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for part in self._stream:
            count += len(part)
            if count > MOST_LINE:
                self._watch.broken(f"sent an answer over {MOST_LINE // 1024 // 1024} MiB", too_large=True)
                raise httpx2.StreamError("too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _message(request: httpx2.Request) -> dict[str, Any]:
    """The message that a request carries, empty for none."""
    with suppress(ValueError, httpx2.RequestNotRead):
        found = json.loads(request.content)
        if isinstance(found, dict):
            return found
    return {}


def _token(secret: str) -> str:
    bare = token.without_scheme(secret)
    if token.bearer_fault(bare) is not None:
        raise HelmError("not_configured", "the token of this MCP server cannot be sent in a header; enter it again")
    return bare
