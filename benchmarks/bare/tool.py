"""Tool calls as a script makes them with the SDK, in one session: `python tool.py TOOL ARGUMENTS COMMAND… N`."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    tool, arguments, command, *words, count = sys.argv[1:]
    server = StdioServerParameters(command=command, args=words)
    async with Client(stdio_client(server)) as client:
        for _ in range(int(count)):
            result = await client.call_tool(tool, json.loads(arguments))
            content = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
            data = result.structured_content or content
            print(json.dumps({"ok": not result.is_error, "data": data, "error": None}), flush=True)


anyio.run(main)
