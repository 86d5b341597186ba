"""What a client of `helm mcp serve` sees of an offer and of an envelope: a tool, and a tool's result."""

from typing import Any

import mcp_types as types

from helm_cli.broker.offers import Offer
from helm_cli.model.envelope import Envelope
from helm_cli.model.jsontext import dump


def tool(offer: Offer) -> types.Tool:
    """The tool of one operation. Its hints say what helm knows: a read is one, and a write may destroy."""
    reads = offer.effect == "read"
    hints = types.ToolAnnotations(
        title=offer.title,
        read_only_hint=reads,
        destructive_hint=not reads,
        idempotent_hint=reads,
        open_world_hint=True,
    )
    schema: dict[str, Any] = offer.schema
    return types.Tool(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        input_schema=schema,
        annotations=hints,
    )


def result(envelope: Envelope) -> types.CallToolResult:
    """The result of a call: its envelope as structured content, and as one JSON text for clients that read no other."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=dump(envelope))],
        structured_content=envelope,
        is_error=envelope.get("ok") is not True,
    )
