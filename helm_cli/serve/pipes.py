"""What a client of `helm mcp serve` says and is told, line by line, in a way that never holds helm at its end."""

import os
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from helm_cli.drivers.mcp_wire import Lines, TooLarge
from helm_cli.model import jsontext
from helm_cli.model.envelope import failure
from helm_cli.model.errors import HelmError
from helm_cli.serve import offered

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_PART: Final = 65536
# A client that reads no more is not waited for.
_LAST_WORDS_SECONDS: Final = 2.0


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Standard input and output, for the block; what others read or write there meanwhile leads nowhere.

    A request that is no JSON as helm takes it (RFC 8259, no number that overflows, no lone surrogate, no key twice) is
    answered here: a call of a tool with an envelope, `refused`, any other with an error of JSON-RPC.
    """
    source, sink = _claimed(0, os.open(os.devnull, os.O_RDONLY)), _claimed(1, os.dup(2))
    coming, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, going = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        reading = anyio.CancelScope()
        group.start_soon(_read, source, coming, outgoing.clone(), reading)
        group.start_soon(_write, sink, going)
        try:
            yield incoming, outgoing
        finally:
            reading.cancel()
            outgoing.close()
            incoming.close()
            group.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_SECONDS


async def _read(
    source: int, coming: MemoryObjectSendStream[SessionMessage | Exception], back: Outgoing, reading: anyio.CancelScope
) -> None:
    lines = Lines()
    with coming, back, reading, suppress(anyio.BrokenResourceError, TooLarge):
        while part := await _part(source):
            for line in lines.feed(part):
                message, answer = understood(line)
                if message is not None:
                    await coming.send(SessionMessage(message))
                if answer is not None:
                    await back.send(SessionMessage(answer))


async def _write(sink: int, going: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with going:
        async for sent in going:
            text = sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            try:
                await _put(sink, text)
            except OSError:  # nobody reads any more; the end of what comes ends it all
                return


def understood(line: bytes) -> tuple[types.JSONRPCMessage | None, types.JSONRPCMessage | None]:
    """The message of a line, or what is to be answered to it; neither where it is nothing that waits for an answer."""
    try:
        return types.jsonrpc_message_adapter.validate_python(jsontext.parse(line), by_name=False), None
    except ValidationError:
        reason = "it is no message of JSON-RPC"
    except ValueError as error:
        reason = str(error)
    return None, _answer(line, reason)


def _answer(line: bytes, reason: str) -> types.JSONRPCMessage | None:
    found = _loosely(line)
    number, method = found.get("id"), found.get("method")
    if not isinstance(number, str | int) or isinstance(number, bool) or not isinstance(method, str):
        return None
    if method != "tools/call":
        error = types.ErrorData(code=types.INVALID_REQUEST, message=f"the request cannot be read: {reason}")
        return types.JSONRPCError(jsonrpc="2.0", id=_sound(number), error=error)
    refused = failure(HelmError("refused", f"the call cannot be read: {reason}"))
    result = offered.result(refused).model_dump(by_alias=True, exclude_none=True)
    return types.JSONRPCResponse(jsonrpc="2.0", id=_sound(number), result={"resultType": "complete", **result})


def _loosely(line: bytes) -> dict[str, Any]:
    """What can be made of a line that is no JSON in the strict sense."""
    import json

    with suppress(ValueError, RecursionError):
        found = json.loads(line.decode("utf-8", "replace"))
        if isinstance(found, dict):
            return found
    return {}


def _sound(number: str | int) -> str | int:
    return number if isinstance(number, int) else str(jsontext.repaired(number))


def _claimed(descriptor: int, instead: int) -> int:
    """A descriptor of its own for what stands at this one, in whose place something else stands from now on."""
    own = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return own


async def _part(descriptor: int) -> bytes:
    """The next bytes, b"" at the end of them."""
    with suppress(PermissionError):  # a file needs no waiting for
        await anyio.wait_readable(descriptor)
    try:
        return os.read(descriptor, _PART)
    except OSError:
        return b""


async def _put(descriptor: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        with suppress(PermissionError):
            await anyio.wait_writable(descriptor)
        with suppress(BlockingIOError):
            # What a pipe that can be written to takes at once.
            left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]
