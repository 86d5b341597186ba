"""How the messages of the SDK go through the pipes of a server that was started, and what is read of it besides."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from helm_cli.drivers.mcp_child import Child
from helm_cli.drivers.mcp_sdk import message
from helm_cli.drivers.mcp_watch import MOST_ASKED, MOST_TOLD, Watch
from helm_cli.drivers.mcp_wire import Lines, TooLarge, Unreadable, line
from helm_cli.drivers.mcp_wire import message as read_message

Incoming = MemoryObjectReceiveStream[message.SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[message.SessionMessage]

_PART = 65536
# How long after the end of its output a server's status and last words are waited for; and after its own end the rest
# of its output, which a process that it left behind may hold open for ever.
_ENDING_SECONDS = 0.5
_UNASKED = "kept writing though nothing was asked of it"


@asynccontextmanager
async def streams(child: Child, watch: Watch) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """What comes from the child and what goes to it; when the block is left, helm has let go of it and its pipes.

    Notifications are dropped, for helm waits for answers only.
    """
    for descriptor in (child.input, child.output, child.errors, child.reports):
        os.set_blocking(descriptor, False)
    coming, incoming = anyio.create_memory_object_stream[message.SessionMessage | Exception](0)
    outgoing, going = anyio.create_memory_object_stream[message.SessionMessage](0)
    ended, reading = anyio.Event(), anyio.CancelScope()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_read, child, coming, watch, ended, reading)
            group.start_soon(_write, child, going, coming, watch)
            group.start_soon(_hear, child, watch)
            group.start_soon(_follow, child, watch, ended, reading)
            try:
                yield incoming, outgoing
            finally:
                group.cancel_scope.cancel()
    finally:
        child.let_go(polite=watch.fault is None)
        child.close()
        for stream in (coming, incoming, outgoing, going):
            stream.close()


async def _read(
    child: Child,
    coming: MemoryObjectSendStream[message.SessionMessage | Exception],
    watch: Watch,
    ended: anyio.Event,
    reading: anyio.CancelScope,
) -> None:
    lines = Lines()
    with coming:
        try:
            with reading:
                while part := await _part(child.output):
                    if watch.unwanted(len(part)):
                        raise Unreadable(_UNASKED)
                    for text in lines.feed(part):
                        await _pass_on(read_message(text), coming, watch)
        except Unreadable as unreadable:
            watch.broken(str(unreadable), too_large=isinstance(unreadable, TooLarge))
            child.let_go(polite=False)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens any more
            return
        with anyio.move_on_after(_ENDING_SECONDS):
            await ended.wait()


async def _pass_on(
    found: types.JSONRPCMessage | None,
    coming: MemoryObjectSendStream[message.SessionMessage | Exception],
    watch: Watch,
) -> None:
    if found is None:
        return
    if isinstance(found, types.JSONRPCNotification):
        watch.told += 1
        if watch.told > MOST_TOLD:
            raise Unreadable("told helm more than it answered")
        return
    if isinstance(found, types.JSONRPCRequest):
        watch.asked.append(watch.safe(found.method))
        if len(watch.asked) > MOST_ASKED:
            raise Unreadable("asked helm for more than it answered")
    await coming.send(message.SessionMessage(found))


async def _write(
    child: Child,
    going: MemoryObjectReceiveStream[message.SessionMessage],
    coming: MemoryObjectSendStream[message.SessionMessage | Exception],
    watch: Watch,
) -> None:
    async for sent in going:
        if getattr(sent.message, "method", None) == "tools/call":
            watch.sent = True
        try:
            await _put(child.input, line(sent.message))
        except OSError:
            # Its output may stay open, but no answer can come to what it did not read.
            coming.close()
            return


async def _hear(child: Child, watch: Watch) -> None:
    while part := await _part(child.errors):
        watch.heard(part)
        if watch.unwanted(len(part)):
            watch.broken(_UNASKED)
            child.let_go(polite=False)


async def _follow(child: Child, watch: Watch, ended: anyio.Event, reading: anyio.CancelScope) -> None:
    while not ended.is_set():
        part = await _part(child.reports)
        watch.reports += part
        if watch.ending() is not None:
            ended.set()
        elif not part:
            watch.broken("was left without the process that guards it")
            _end(watch.group())
            ended.set()
    await anyio.sleep(_ENDING_SECONDS)
    reading.cancel()


def _end(group: int | None) -> None:
    """Does what a guardian would have done that somebody killed."""
    if group is not None:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)


async def _part(descriptor: int) -> bytes:
    """The next bytes, b"" at the end of them."""
    while True:
        await anyio.wait_readable(descriptor)
        try:
            return os.read(descriptor, _PART)
        except BlockingIOError:
            continue
        except OSError:
            return b""


async def _put(descriptor: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        await anyio.wait_writable(descriptor)
        with suppress(BlockingIOError):
            left = left[os.write(descriptor, left[:_PART]) :]
