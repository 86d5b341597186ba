"""A `tdt` of the tests: `tdt --workspace DIR mcp serve --profile P`, which answers what `DIR/.tdt/fake.json` says."""

import json
import os
import sys
import time
from typing import Any

FOLDER = os.path.join(sys.argv[2], ".tdt")
ABOUT = {"name": "fake", "version": "1.0"}


def note(what: str, **more: Any) -> None:
    with open(os.path.join(FOLDER, "notes"), "a") as file:
        file.write(json.dumps({"what": what, "pid": os.getpid(), **more}) + "\n")


def offered() -> dict[str, Any]:
    with open(os.path.join(FOLDER, "fake.json")) as file:
        told: dict[str, Any] = json.load(file)
    return told


def answer(message: dict[str, Any], offer: dict[str, Any], given: dict[str, int]) -> dict[str, Any] | None:
    method, params = message["method"], message.get("params") or {}
    if method == "server/discover":
        stamp = {"_meta": {"io.modelcontextprotocol/serverInfo": ABOUT}, "ttlMs": 0, "cacheScope": "public"}
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete", **stamp}
    if method == "tools/list":
        return {"tools": offer["tools"], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
    name = params["name"]
    note(method, tool=name, arguments=params.get("arguments"))
    answers = offer["answers"].get(name)
    if isinstance(answers, list):
        at = given.get(name, 0)
        given[name] = at + 1
        answers = answers[min(at, len(answers) - 1)]
    if answers == "dies":
        print("the brain is on fire", file=sys.stderr, flush=True)
        os._exit(3)
    if answers == "hangs":
        time.sleep(600)
    if isinstance(answers, dict) and "after" in answers:
        time.sleep(answers["after"])
        return dict(answers["then"])
    return answers if isinstance(answers, dict) else None


def main() -> None:
    note("started", words=sys.argv[1:], environment=sorted(os.environ), folder=os.getcwd())
    if offered().get("tools") is None:
        sys.exit("no workspace here")
    given: dict[str, int] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            found = answer(message, offered(), given)
            told = {"result": found} if found is not None else {"error": {"code": -32601, "message": "unknown"}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}), flush=True)
    note("ended")


if __name__ == "__main__":
    main()
