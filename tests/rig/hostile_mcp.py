"""An MCP server over stdio each of whose words is hostile: `python hostile_mcp.py WORDS [dies]`, in Python alone."""

import json
import sys
from typing import Any


def _answer(words: str, method: str, name: str) -> dict[str, Any]:
    if method == "initialize":
        about = {"name": words, "version": words, "title": words}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        tools = ("say", "fail", "shout", words)
        return {"tools": [{"name": tool, "description": words, "title": words, "inputSchema": {}} for tool in tools]}
    return {"content": [{"type": "text", "text": words}], "isError": name == "fail"}


def main(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
    if sys.argv[2:] == ["dies"]:
        sys.exit(3)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = _answer(words, asked["method"], asked.get("params", {}).get("name", ""))
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
