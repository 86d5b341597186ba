"""`helm mcp serve` as the SDK's own client talks to it."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.program import environment

SERVE: Final = ("-m", "helm_cli", "mcp", "serve")

Steps = Callable[[Client], Awaitable[None]]


@asynccontextmanager
async def connected(*options: str) -> AsyncIterator[Client]:
    """A client of the current folder's workspace; what helm says goes to server.log."""
    server = StdioServerParameters(
        command=sys.executable, args=[*SERVE, *options], env=environment({}), cwd=os.getcwd()
    )
    with open("server.log", "w") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            yield client


def talk(steps: Steps, *options: str) -> None:
    """Have a client go through these steps."""

    async def whole() -> None:
        async with connected(*options) as client:
            await steps(client)

    anyio.run(whole)
