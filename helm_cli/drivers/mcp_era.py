"""Which protocol helm and an MCP server speak with each other: the newest that both know, of either of its two eras."""

from typing import Final

import anyio
from pydantic import ValidationError

from helm_cli.drivers.mcp_sdk import exceptions, session
from helm_cli.drivers.mcp_watch import Watch

# What a server of the older era may take to say that it does not know the question of the newer one; some are silent.
_DISCOVER_SECONDS: Final = 3.0
_UNSUPPORTED: Final = -32022


async def agree(client: session.ClientSession, *, older: bool) -> None:
    """Agrees on the newest protocol that both sides speak; the older era where the server does not know the newer."""
    waited = False
    if not older:
        with anyio.move_on_after(_DISCOVER_SECONDS) as patience:
            if await _discovered(client):
                return
        waited = patience.cancelled_caught
    try:
        await client.initialize()
    except exceptions.MCPError as error:
        # A slow one answered the first question too late, and that settled the era.
        if not waited and error.code != _UNSUPPORTED:
            raise
        await client.discover()


async def _discovered(client: session.ClientSession) -> bool:
    try:
        await client.discover()
    except (exceptions.MCPError, ValidationError, RuntimeError):
        # Whatever it says, it does not know the question; where it hung up, the next one finds out.
        return False
    return True


def about(client: session.ClientSession, watch: Watch) -> str:
    """What the server calls itself, in one short line without its secret, and the protocol that both speak."""
    info = client.server_info
    named = watch.safe(f"{info.name} {info.version}") if info is not None else "a server that does not say its name"
    return f"{named}, protocol {client.protocol_version}"
