"""Calls of a service on this machine, held against a bare httpx script and HTTPie, and what hostile answers cost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from benchmarks import peers
from benchmarks.pairs import Row, batch, compared, side_by_side
from benchmarks.stage import Stage, stage
from tests.rig.http_server import Peer, Received, packed, response, serving

TOKEN: Final = "t0ken-of-the-service"
ISSUES: Final = [{"number": n, "title": f"Issue {n}", "state": "open", "labels": ["a", "b"]} for n in range(20)]
ANSWER: Final = response(json.dumps(ISSUES).encode(), headers={"Content-Type": "application/json"})
PATH: Final = "/api/repos/me/app/issues"
QUERY: Final = {"state": "open", "per_page": "{limit}"}
CALL: Final = ("gh", "issues", "--arg", "owner=me", "--arg", "repo=app", "--arg", "limit=20")
AGAIN: Final = ("service", "edit", "github", "--token-stdin")
LINE: Final = {"connection": "gh", "operation": "issues", "args": {"owner": "me", "repo": "app", "limit": 20}}
MIB: Final = 1024 * 1024


def answer(peer: Peer, request: Received) -> None:
    """The issues for who asks as declared and has the token; else nothing that could be taken for them."""
    path, _, query = request.target.partition("?")
    asked = path == PATH and sorted(query.split("&")) == ["per_page=20", "state=open"]
    if path.endswith("/whole"):
        peer.send(WHOLE)
    elif path.endswith("/bomb"):
        peer.send(BOMB)
    elif path.endswith("/endless"):
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not peer.over.is_set():
            peer.send(bytes(65536))
    elif asked and request.header("Authorization") == [f"Bearer {TOKEN}"]:
        peer.send(ANSWER)
    else:
        peer.send(response(b"{}", "401 Unauthorized"))


# With the quotes, 1 MiB.
WHOLE: Final = response(b'"' + b"x" * (MIB - 2) + b'"', headers={"Content-Type": "application/json"})
BOMB: Final = response(packed(b'"' + bytes(200 * MIB) + b'"'), headers={"Content-Encoding": "gzip"})


def right(data: Any) -> bool:
    return bool(data == ISSUES)


@contextmanager
def service() -> Iterator[tuple[Stage, str]]:
    """A stage with the profile and the extension, and the URL that its call has."""
    with stage() as on, serving(answer) as server:
        on.well("service", "add", "github", "--base-url", f"{server.url}/api", "--token-stdin", stdin=TOKEN)
        calls = {
            "issues": {"method": "GET", "path": "/repos/{owner}/{repo}/issues", "query": QUERY},
            "whole": {"method": "GET", "path": "/whole"},
            "bomb": {"method": "GET", "path": "/bomb"},
            "endless": {"method": "GET", "path": "/endless"},
        }
        on.approve("issues", {"id": "gh", "kind": "http", "service": "github", "calls": calls})
        yield on, f"{server.url}{PATH}"


def calls(rounds: int | None) -> Iterator[Row]:
    with service() as (on, url):
        loop = on.loop("service", url, data=right, stdin=TOKEN.encode())
        # Where httpx's own command line is installed, as in helm's environment, httpx is slower to import.
        only = on.script("service", url, data=right, stdin=TOKEN.encode())
        only = only._replace(command=[peers.program("python", "httpx"), *only.command[1:]])
        words = ("--ignore-stdin", "--timeout=10", "GET", url, f"Authorization: Bearer {TOKEN}")
        program, settings = peers.httpie(on.folder / "httpie")
        httpie = on.command(program, *words, "state==open", "per_page==20", right=_issues, **settings)
        twin = on.twin()
        twin.well(*AGAIN, stdin=TOKEN)
        ours, without = (place.call(*CALL, data=right) for place in (on, twin))
        with on.agent() as agent:
            alone, through, bare, other = side_by_side(rounds or 12, without, ours, only, httpie)
            assert agent.calls() > len(through)
        yield compared("cold : a bare httpx script", alone, bare, 1.3)
        yield compared("cold : HTTPie", alone, other, 0.8)
        yield compared("through the agent : that script", through, bare, 1)
        with on.in_memory() as quick:
            quick.well(*AGAIN, stdin=TOKEN)
            yield batch(rounds, quick.batch(LINE, right), loop, on.nothing())


def _issues(out: bytes) -> bool:
    return right(json.loads(out))
