"""One tool call as a script makes it with the SDK: `python tool.py TOOL ARGUMENTS COMMAND…`."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    tool, arguments, command, *words = sys.argv[1:]
    server = StdioServerParameters(command=command, args=words)
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool(tool, json.loads(arguments))
    content = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
    data = result.structured_content or content
    print(json.dumps({"ok": not result.is_error, "data": data, "error": None}))


anyio.run(main)
