"""An MCP server over stdio that behaves as it is told: `python mcp_server.py MODE [LOG]`, in Python alone.

The MODE says how it treats the conversation, the tool that is called how it treats the call (`TOOLS`). Every line that
it gets is added to LOG, and the number of its process group before them.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Final

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
MODES: Final = (
    *("plain", "modern", "silent", "exits", "strict", "deaf", "stubborn", "bom", "noise", "nolist"),
    *("hanglist", "pages", "endless", "floods", "stops-reading", "late", "chatty"),
)
MODE: Final = sys.argv[1] if len(sys.argv) > 1 else "plain"
LOG: Final = sys.argv[2] if len(sys.argv) > 2 else os.devnull

Message = dict[str, Any]


def put(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def send(message: Message, end: bytes = b"\n") -> None:
    put(json.dumps({"jsonrpc": "2.0", **message}).encode() + end)


def text(value: str) -> Message:
    return {"content": [{"type": "text", "text": value}]}


def structured(value: Any) -> Message:
    return {"content": [{"type": "text", "text": "see structuredContent"}], "structuredContent": value}


def raw(template: str) -> Callable[[Message], None]:
    """A result written by hand, because no JSON library writes it."""
    return lambda asked: put((template % json.dumps(asked["id"])).encode() + b"\n")


def never(asked: Message) -> None:
    while True:
        time.sleep(60)


def dies(asked: Message) -> None:
    print("\x1b[31mpanic:\x1b[0m the disk is on fire, token", os.environ.get("SERVER_TOKEN"), file=sys.stderr)
    os._exit(3)


def forks(asked: Message) -> None:
    """Leaves a helper in its group that ignores what it can, and answers with the helper's number."""
    helper = os.fork()
    if helper == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        never(asked)
    send({"id": asked["id"], "result": text(str(helper))})


def asks(method: str, params: Message) -> Callable[[Message], None]:
    """Asks the client for something first, and answers with what came of it."""

    def ask(asked: Message) -> None:
        send({"id": "asking", "method": method, "params": params})
        reply = read()
        send({"id": asked["id"], "result": text(json.dumps(reply.get("error", reply)))})

    return ask


def bothers(asked: Message) -> None:
    while True:
        send({"id": "asking", "method": "ping"})


def tells(asked: Message) -> None:
    while True:
        send({"method": "notifications/message", "params": {"level": "info", "data": "noise"}})


def floods(asked: Message) -> None:
    """Answers, and then says more, though nobody asks."""
    send({"id": asked["id"], "result": text("hi")})
    tells(asked)


def leaves(asked: Message) -> None:
    """Ends, and leaves somebody behind who holds its output open and is in a group of its own."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(30)
    os._exit(4)


def leaks(asked: Message) -> None:
    """Dies with its secret in its last words, and something invisible in the middle of that."""
    secret = os.environ["SERVER_TOKEN"]
    between = asked["params"]["arguments"]["message"]
    print("fatal:", secret[:5] + between + secret[5:], file=sys.stderr, flush=True)
    os._exit(3)


def descriptors(asked: Message) -> Message:
    """Which descriptors it has, and which its guardian."""
    own, guardian = os.listdir("/proc/self/fd"), f"/proc/{os.getppid()}/fd"
    # The listing itself has one.
    links = [os.readlink(f"{guardian}/{number}") for number in os.listdir(guardian)]
    return structured({"own": sorted(map(int, own))[:-1], "guardian": links})


def twice(asked: Message) -> None:
    for word in ("first", "second"):
        send({"id": str(asked["id"]), "result": text(word)})


def huge(asked: Message) -> None:
    put(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % asked["id"])
    while True:
        put(b"x" * 65536)


def closes(asked: Message) -> None:
    """Goes on, but will never say anything again."""
    os.close(1)
    never(asked)


ECHO: Final = {"type": "object", "properties": {"message": {"type": "string"}}}

TOOLS: Final[dict[str, Any]] = {
    "echo": lambda asked: {"content": [], "structuredContent": asked["params"].get("arguments")},
    "say": lambda asked: text(asked["params"]["arguments"]["message"]),
    "env": lambda asked: structured({"env": dict(os.environ), "folder": os.getcwd(), "session": os.getsid(0)}),
    "fails": lambda asked: {**text("no such issue\nnor any other"), "isError": True},
    "fails-structured": lambda asked: {**structured({"reason": "none"}), "isError": True},
    "big": lambda asked: structured("x" * asked["params"]["arguments"]["size"]),
    "unknown-block": lambda asked: {"content": [{"type": "hologram", "of": "a cat"}], "extra": 1},
    "array": lambda asked: structured([1, 2, 3]),
    "null": lambda asked: {**text("not null"), "structuredContent": None},
    "no-content": lambda asked: {"answer": 42},
    "wants-input": lambda asked: {"resultType": "input_required", "inputRequests": {}, "requestState": "x"},
    "task": lambda asked: {"task": {"taskId": "1", "status": "working"}},
    # As declared below, both break their own outputSchema.
    "badout": lambda asked: structured({"sum": "not a number"}),
    "noout": lambda asked: text("nothing structured"),
    "hangs": never,
    "dies": dies,
    "forks": forks,
    "huge": huge,
    "closes": closes,
    "twice": twice,
    "bothers": bothers,
    "tells": tells,
    "floods": floods,
    "leaves": leaves,
    "leaks": leaks,
    "descriptors": descriptors,
    "elicits": asks("elicitation/create", {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}),
    "samples": asks("sampling/createMessage", {"messages": [], "maxTokens": 1}),
    "roots": asks("roots/list", {}),
    "surrogate": raw(r'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a\ud800b"}]}}'),
    "nan": raw('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"a":NaN,"b":-Infinity}}}'),
    "digits": raw('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":[' + "7" * 5000 + "]}}"),
    "deep": raw('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":' + "[" * 500 + "]" * 500 + "}}"),
    "deeper": raw('{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":' + "[" * 10**5 + "]" * 10**5 + "}}"),
    "no-object": raw('{"jsonrpc":"2.0","id":%s,"result":[]}'),
}


def read() -> Message:
    line = sys.stdin.readline()
    if not line:
        if MODE == "stubborn":
            never({})
        sys.exit(0)
    with open(LOG, "a") as log:
        log.write(line)
    message: Message = json.loads(line)
    return message


def listed(asked: Message) -> Message:
    names = list(TOOLS)
    definitions: list[Message] = [
        {"name": name, "description": f"The tool {name}", "inputSchema": ECHO} for name in names
    ]
    for definition in definitions:
        if definition["name"] in ("badout", "noout"):
            schema = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
            definition["outputSchema"] = schema
        if definition["name"] in ("echo", "env"):
            definition["annotations"] = {"title": "Says again", "readOnlyHint": True, "destructiveHint": False}
            definition["x-own"] = 1
    if MODE == "chatty":
        definitions[0]["description"] += f" with \x1b[2J {os.environ['SERVER_TOKEN']}"
    cursor = (asked.get("params") or {}).get("cursor")
    if MODE == "endless":
        return {"tools": definitions[:1], "nextCursor": "again"}
    if MODE == "pages":
        at = int(cursor or 0)
        more = {"nextCursor": str(at + 5)} if at + 5 < len(definitions) else {}
        return {"tools": [*definitions[at : at + 5], "no tool at all", {"name": 7}], **more}
    return {"tools": definitions}


def called(asked: Message) -> None:
    name = asked["params"]["name"]
    if name not in TOOLS:
        unknown = {"code": -32602, "message": f"Unknown tool: {name}", "data": {"known": len(TOOLS)}}
        send({"id": asked["id"], "error": unknown})
        return
    result = TOOLS[name](asked)
    if result is not None:
        answer(asked, {"resultType": "complete", **result} if MODE in ("modern", "late") else result)


def answer(asked: Message, result: Message) -> None:
    if MODE == "noise":
        put(
            b"Server listening \x1b[2J\n\n[]\nnull\n{}\n\xff\xfe latin: \xe9\n"
            + b'{"jsonrpc":"2.0","id":99,"result":{}}\n'
        )
        send({"method": "notifications/message", "params": {"level": "info", "data": "noise"}}, b"\r\n")
    if MODE == "bom":
        put(b"\xef\xbb\xbf")
    send({"id": asked["id"], "result": result}, b"\r\n" if MODE == "noise" else b"\n")


def begun(asked: Message) -> None:
    method = asked["method"]
    modern = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "resultType": "complete"}
    about = {"name": "misbehaving", "version": "1.0"}
    if method == "server/discover" and MODE == "late" and asked["id"] == 1:
        return
    if method == "initialize" and MODE == "late":
        send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif method == "server/discover" and MODE in ("modern", "late"):
        stamp = {"_meta": {"io.modelcontextprotocol/serverInfo": about}, "ttlMs": 0, "cacheScope": "public"}
        answer(asked, {**modern, **stamp})
    elif method == "server/discover" and MODE != "deaf":
        send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif method == "initialize":
        answer(asked, {"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": about})
        if MODE == "stops-reading":
            never(asked)


def main() -> None:
    with open(LOG, "a") as log:
        log.write(f"{os.getpgid(0)}\n")
    start()
    first = True
    while True:
        asked = read()
        if MODE == "strict" and first and asked.get("method") != "initialize":
            sys.exit(1)
        first = False
        if MODE != "silent" and "id" in asked:
            reply(asked)


def start() -> None:
    if MODE == "exits":
        print("Traceback: no module named anything", file=sys.stderr)
        sys.exit(3)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while MODE == "floods":
        print("\x1b[2Jdrowning" * 100, file=sys.stderr)
        put(b"still starting\n")


def reply(asked: Message) -> None:
    if asked["method"] == "tools/call":
        called(asked)
    elif asked["method"] != "tools/list":
        begun(asked)
    elif MODE == "nolist":
        send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif MODE != "hanglist":
        answer(asked, listed(asked))


if __name__ == "__main__":
    main()
