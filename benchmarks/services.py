"""Calls of a service on this machine, held against a bare httpx script and HTTPie, and what hostile answers cost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from benchmarks import peers
from benchmarks.pairs import A_BATCH, By, Row, compared, each, side_by_side, start
from benchmarks.stage import Stage, stage
from tests.rig.http_server import Peer, Received, packed, response, serving

TOKEN: Final = "t0ken-of-the-service"
ISSUES: Final = [{"number": n, "title": f"Issue {n}", "state": "open", "labels": ["a", "b"]} for n in range(20)]
ANSWER: Final = response(json.dumps(ISSUES).encode(), headers={"Content-Type": "application/json"})
PATH: Final = "/api/repos/me/app/issues"
QUERY: Final = {"state": "open", "per_page": "{limit}"}
CALL: Final = ("gh", "issues", "--arg", "owner=me", "--arg", "repo=app", "--arg", "limit=20")
ARGUMENTS: Final = {"owner": "me", "repo": "app", "limit": 20}
AGAIN: Final = ("service", "edit", "github", "--token-stdin")
MORE: Final = 400
MIB: Final = 1024 * 1024
CLOCKS: Final[tuple[By, By]] = ("CPU", "wall")


def answer(peer: Peer, request: Received) -> None:
    """The issues for who asks as declared and has the token; else nothing that could be taken for them."""
    path, _, query = request.target.partition("?")
    asked = path == PATH and sorted(query.split("&")) == ["per_page=20", "state=open"]
    if path.endswith("/bomb"):
        peer.send(BOMB)
    elif path.endswith("/endless"):
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not peer.over.is_set():
            peer.send(bytes(65536))
    elif asked and request.header("Authorization") == [f"Bearer {TOKEN}"]:
        peer.send(ANSWER)
    else:
        peer.send(response(b"{}", "401 Unauthorized"))


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
            "bomb": {"method": "GET", "path": "/bomb"},
            "endless": {"method": "GET", "path": "/endless"},
        }
        on.approve("issues", {"id": "gh", "kind": "http", "service": "github", "calls": calls})
        yield on, f"{server.url}{PATH}"


def calls(rounds: int | None) -> Iterator[Row]:
    with service() as (on, url):
        ours = on.call(*CALL, data=right)
        script = on.script("service", url, data=right, stdin=TOKEN.encode())
        words = ("--ignore-stdin", "--timeout=10", "GET", url, f"Authorization: Bearer {TOKEN}")
        program, settings = peers.httpie(on.folder / "httpie")
        httpie = on.command(program, *words, "state==open", "per_page==20", right=_issues, **settings)
        only = script._replace(command=[peers.program("python", "httpx"), *script.command[1:]])
        alone, bare, barest, other = side_by_side(rounds or 20, ours, script, only, httpie)
        yield compared("helm call on a service : bare httpx script", alone, bare, 1.3)
        yield compared("and : that script where only httpx is installed", alone, barest, 1.3)
        yield compared("helm call on a service : HTTPie", alone, other, 0.8)
        yield _batch(on, url, rounds)
        twin = on.twin()
        twin.well(*AGAIN, stdin=TOKEN)
        without = twin.call(*CALL, data=right)
        with on.agent() as agent:
            through, alone = side_by_side(rounds or 20, ours, without)
            assert agent.calls() > len(through)
        yield compared("helm call on a service through the agent : without", through, alone, 1)


def _issues(out: bytes) -> bool:
    return right(json.loads(out))


def _batch(on: Stage, url: str, rounds: int | None) -> Row:
    line = json.dumps({"connection": "gh", "operation": "issues", "args": ARGUMENTS}) + "\n"
    counts = (1, 1 + MORE)
    bare = [on.script("service", url, str(count), data=right, stdin=TOKEN.encode()) for count in counts]
    with on.in_memory() as quick:
        quick.well(*AGAIN, stdin=TOKEN)
        ours = [quick.call("--batch", "-", data=right, stdin=line.encode() * count) for count in counts]
        one, many, one_bare, many_bare, nothing = side_by_side(rounds or 10, *ours, *bare, on.nothing())
    cpu, wall = (each(one, many, MORE, by) - each(one_bare, many_bare, MORE, by) for by in CLOCKS)
    what = "one more call in a batch on a service, beyond httpx's : python -c pass"
    return Row(what, cpu / start(nothing), "times", A_BATCH, f"by CPU; {cpu:.2f} ms, wall {wall:.2f} ms; {MORE} more")


def limits(rounds: int | None) -> Iterator[Row]:
    with service() as (on, _):
        little = on.peak(*CALL)
        for name, what in (("endless", "a body without end"), ("bomb", "200 MiB in a bomb")):
            much = on.peak("gh", name, code="too_large")
            told = f"{much:.1f} / {little:.1f} MiB"
            yield Row(f"{what} holds more than a small answer", much - little, "MiB", 8, told)
