"""An MCP server over stdio that offers what a file says, and notes each of its starts and calls in another."""

import json
import sys
import time
from pathlib import Path
from typing import Any, Final

VERSION: Final = "2025-11-25"


def command(offer: Path, notes: Path) -> tuple[str, ...]:
    """The command of a server that offers the tools in `offer`, a JSON list of definitions.

    A number there in place of the list is how many seconds it takes to answer anything, a text its last words.
    """
    return (sys.executable, "-I", str(Path(__file__)), str(offer), str(notes))


def tool(name: str, description: str = "", **hints: bool) -> dict[str, Any]:
    """A definition as servers send it."""
    told: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
    if description:
        told["description"] = description
    return {**told, "annotations": hints} if hints else told


def main() -> None:
    offer, notes = Path(sys.argv[1]), Path(sys.argv[2])
    _note(notes, "started")
    offered = json.loads(offer.read_text())
    if isinstance(offered, str):
        sys.exit(offered)
    if isinstance(offered, int):
        time.sleep(offered)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = _answer(message, offered, notes)
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


def _answer(message: dict[str, Any], offered: Any, notes: Path) -> dict[str, Any]:
    if message["method"] == "initialize":
        about = {"name": "rig", "version": "1"}
        return {"result": {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": about}}
    if message["method"] == "tools/list":
        return {"result": {"tools": offered}}
    if message["method"] == "tools/call":
        _note(notes, f"called {message['params']['name']}")
        return {"result": {"content": [{"type": "text", "text": "done"}]}}
    return {"error": {"code": -32601, "message": "unknown method"}}


def _note(notes: Path, what: str) -> None:
    with notes.open("a") as file:
        file.write(f"{what}\n")


if __name__ == "__main__":
    main()
