"""How one conversation with an MCP server goes on and ends, asked from any thread while it lives in the loop."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Protocol, TypeVar

import anyio
import mcp_types as types
from pydantic import TypeAdapter, ValidationError

from helm_cli import __version__
from helm_cli.drivers import interrupts, mcp_era, mcp_faults, mcp_loop
from helm_cli.drivers.mcp_sdk import exceptions, jsonrpc_dispatcher, session
from helm_cli.drivers.mcp_watch import Watch
from helm_cli.model.jsontext import Json

Result = TypeVar("Result")
Streams = Callable[[Watch], AbstractAsyncContextManager[Any]]

# Of the newer era over HTTP: the headers of a call are not those that its tool wants.
_HEADER_MISMATCH: Final = -32020
_LIST_SECONDS: Final = 10.0
# Any, because the SDK wants models of those that it gives; a whole result is none.
_RAW: Final[Any] = TypeAdapter(dict[str, Any])
# How long the end of a conversation over HTTP, in which the server is told so, is waited for.
_FAREWELL_SECONDS: Final = 0.5
MOST_PAGES: Final = 100
MOST_TOOLS: Final = 5_000

# What the SDK has to say of a server goes into helm's own messages, where it matters.
for _name in ("client", "mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class Ending(Protocol):
    """What is left of a server's process: the way to end it. Nothing over HTTP."""

    def let_go(self, *, polite: bool) -> None: ...


class Session:
    """A conversation that stands. One call at a time; every method may be called from any thread.

    Whatever is raised where no answer came, `mcp_faults` says in words.
    """

    def __init__(self, name: str, streams: Streams, watch: Watch, child: Ending | None) -> None:
        self.name = name
        self.watch = watch
        self.about = ""
        self._child = child
        self._streams = streams
        self._stop: asyncio.Event | None = None
        self._life: Future[None] | None = None
        self._ready: Future[None] = Future()
        self._raw: dict[str, Any] = {}
        self._client: session.ClientSession | None = None
        self._closed = False
        self._mirrors = False

    def begin(self, seconds: float, *, older: bool = False) -> None:
        """Begins the conversation, within this time; `older` does without the question of the newer era."""
        self._life = mcp_loop.submit(self._live(older=older))
        self._waited(self._ready, seconds)
        self.watch.rest()

    def call(self, tool: str, arguments: dict[str, Json], seconds: float) -> dict[str, Any]:
        """The whole result of one tool call, as the server sent it. An answer that is an error is MCPError's."""
        params = types.CallToolRequestParams(name=tool, arguments=arguments)
        request = types.CallToolRequest(params=params)
        return self._answer(self._asked(request), seconds)

    def pages(self, seconds: float) -> list[Json]:
        """The server's list of its tools, entry by entry; ends at a page that it gave before, and after 100."""
        return self._answer(self._listed(), seconds)

    def usable(self) -> bool:
        """Whether another call may follow."""
        return not self._closed and self.watch.sound()

    def close(self, *, polite: bool = True) -> None:
        """Ends the conversation and its server; never waits for a process to end."""
        if self._closed:
            return
        self._closed = True
        if self._child is not None:
            self._child.let_go(polite=polite and self.watch.fault is None)
        if self._life is None:
            return
        mcp_loop.loop().call_soon_threadsafe(self._end)
        if self._child is None and polite:
            with suppress(Exception):
                self._life.result(_FAREWELL_SECONDS)

    def _end(self) -> None:
        if self._client is not None and self._stop is not None:
            self._stop.set()
        elif self._life is not None:
            self._life.cancel()

    def _answer(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        self.watch.begin()
        try:
            return self._waited(mcp_loop.submit(work), seconds)
        finally:
            self.watch.rest()

    def _waited(self, future: "Future[Result]", seconds: float) -> Result:
        awake = threading.Event()
        future.add_done_callback(lambda _: awake.set())
        try:
            with interrupts.waking(awake.set):
                awake.wait(max(0.0, seconds))
            if not future.done():
                interrupts.check()
                raise mcp_faults.Late
        except (mcp_faults.Late, KeyboardInterrupt, SystemExit):
            self.close(polite=False)
            future.cancel()
            raise
        return future.result()

    async def _live(self, *, older: bool) -> None:
        try:
            self._stop = asyncio.Event()
            async with self._streams(self.watch) as (coming, going):
                speaking = _Recorded(jsonrpc_dispatcher.JSONRPCDispatcher(coming, going), self)
                told = types.Implementation(name="helm", version=__version__)
                async with session.ClientSession(dispatcher=speaking, client_info=told) as client:
                    await mcp_era.agree(client, older=older)
                    self._client = client
                    self.about = mcp_era.about(client, self.watch)
                    self._ready.set_result(None)
                    await self._stop.wait()
        except BaseException as group:
            error = mcp_faults.leaf(group)
            if not self._ready.done():
                self._ready.set_exception(error if isinstance(error, Exception) else mcp_faults.Gone())
        finally:
            self.watch.closed = True

    async def _asked(self, request: types.CallToolRequest | types.ListToolsRequest) -> dict[str, Any]:
        client = self._client
        if client is None:
            raise mcp_faults.Gone
        if isinstance(request, types.CallToolRequest) and self.watch.http and client.discover_result is not None:
            await self._mirror(client)
        try:
            await self._sent(client, request)
        except exceptions.MCPError as error:
            # Whether its tool ran before it said so, nobody knows: the next session reads the list anew.
            self.watch.stale = self.watch.stale or error.code == _HEADER_MISMATCH
            raise
        return self._raw

    async def _mirror(self, client: session.ClientSession) -> None:
        """Has the SDK learn which arguments servers of the newer era want in headers too: their list of tools tells."""
        if self._mirrors:
            return
        self._mirrors = True
        cursor: str | None = None
        # One without a list wants none.
        with anyio.move_on_after(_LIST_SECONDS), suppress(exceptions.MCPError, ValidationError, RuntimeError):
            for _ in range(MOST_PAGES):
                page = await client.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
                if not page.next_cursor or page.next_cursor == cursor:
                    break
                cursor = page.next_cursor

    async def _sent(self, client: session.ClientSession, request: Any) -> None:
        # The SDK knows less of what a server may answer than helm passes on: what it recorded counts.
        with suppress(ValidationError):
            await client.send_request(request, _RAW)

    async def _listed(self) -> list[Json]:
        entries: list[Json] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
            page = await self._asked(types.ListToolsRequest(params=params))
            found = page.get("tools")
            entries += found if isinstance(found, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or cursor in seen or len(entries) > MOST_TOOLS:
                break
            seen.add(cursor)
        return entries

    def record(self, raw: dict[str, Any]) -> None:
        self._raw = raw


class _Recorded:
    """The SDK's dispatcher, with each result kept as it came, before the SDK compares it to its schemas."""

    def __init__(self, inner: "jsonrpc_dispatcher.JSONRPCDispatcher[Any]", owner: Session) -> None:
        self._inner = inner
        self._owner = owner

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> dict[str, Any]:
        raw = await self._inner.send_raw_request(method, params, opts)
        self._owner.record(raw)
        return raw

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        await self._inner.notify(method, params, opts)

    async def run(self, *handlers: Any, task_status: Any = anyio.TASK_STATUS_IGNORED) -> None:
        try:
            await self._inner.run(*handlers, task_status=task_status)
        finally:
            self._owner.watch.closed = True
