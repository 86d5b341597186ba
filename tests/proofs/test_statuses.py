"""Every code that helm ends with, reached by a real command: a code without such a way is one that nobody has seen."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from helm_cli.model.errors import EXIT
from tests import example
from tests.program import environment, run
from tests.rig import http_server, mcp_calls, mcp_extension
from tests.rig.calendar import oauth2
from tests.rig.forks import Forks, forking
from tests.rig.http_server import Peer, Received, response
from tests.rig.postgres import free_port
from tests.rig.terminal import ESC, at_terminal

PROGRAM: Final = (sys.executable, "-m", "helm_cli")
CLOSE: Final = ("call", "app", "close", "--arg", "id=1")
RECENT: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
ANSWERS: Final = {
    "/fine": response(b"{}"),
    "/moved": response(b"", "302 Found", {"Location": "/fine"}),
    "/broken": response(b"{}", "500 Internal Server Error"),
    "/page": response(b"<html>"),
    "/large": response(b"[" + b"1," * 600_000 + b"1]"),
}


class World(NamedTuple):
    """helm in a workspace that has something of everything."""

    forks: Forks
    folder: Path

    def helm(self, *words: str, **more: Any) -> Any:
        more["env"] = {**self.environment, **more.get("env", {})}
        return self.forks(*words, cwd=self.folder, **more)

    @property
    def environment(self) -> dict[str, str | None]:
        return {"HOME": str(self.folder / "home"), "HELM_CLI_CREDENTIALS": "file"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with forking() as forks, http_server.serving(_answer) as server:
        made = World(forks, tmp_path_factory.mktemp("statuses"))
        (made.folder / "home").mkdir()
        (made.folder / "latin.txt").write_bytes(b"caf\xe9")
        (made.folder / "note.txt").write_text("a note")
        (made.folder / "bad").mkdir()
        (made.folder / "bad" / "manifest.json").write_text("{}")

        def helm(*words: str, cwd: Path | None = None, stdin: str = "", env: Any = None) -> Any:
            return made.helm(*words, stdin=stdin)

        example.ready(helm, made.folder)
        mcp_extension.add(helm, "tools", mcp_calls.command("plain"))  # type: ignore[arg-type]  # it runs as Helm does
        for name, url in (("web", server.url), ("gone", f"http://127.0.0.1:{free_port()}")):
            assert made.helm("service", "add", name, "--base-url", url, "--no-token").status == 0
        signing = (
            "--base-url",
            "https://api.example",
            "--oauth2",
            "--client-id",
            "me",
            "--redirect-port",
            str(free_port()),
        )
        assert made.helm("service", "add", "cal", *signing).status == 0
        mcp_extension.approve(helm, made.folder, *CONNECTIONS)  # type: ignore[arg-type]  # likewise
        yield made


def _answer(peer: Peer, request: Received) -> None:
    peer.send(ANSWERS[request.target])


def http(name: str, *paths: str) -> dict[str, Any]:
    calls = {path: {"method": "GET", "path": f"/{path}"} for path in paths}
    return {"id": name, "kind": "http", "service": name, "calls": calls}


CONNECTIONS: Final[tuple[dict[str, Any], ...]] = (
    http("web", *(path[1:] for path in ANSWERS)),
    http("gone", "fine"),
    http("nobody", "fine"),
    {**http("cal", "fine"), "oauth2": oauth2("a")},
    mcp_extension.connection("tools", ["fails"]),
    {
        "id": "files",
        "kind": "files",
        "root": "workspace",
        "paths": ["*.txt"],
        "operations": ["read", "write"],
    },
    {
        "id": "wrong",
        "kind": "db",
        "service": "local-app",
        "engine": "sqlite",
        "queries": {"fails": {"sql": "SELECT abs(-9223372036854775808)", "params": []}},
    },
)


class Ended(NamedTuple):
    """How a process ended, as a shell says it, and the code of its envelope or of the review, where it told one."""

    status: int
    code: str | None


def calling(*words: str) -> Callable[[World], Ended]:
    """`helm call …`, which tells its code."""
    return lambda world: told(world.helm("call", *words))


def told(ran: Any) -> Ended:
    return Ended(ran.status, ran.json["error"]["code"] if ran.json["error"] else None)


def ending(*words: str) -> Callable[[World], Ended]:
    """A command whose status is all that it says."""
    return lambda world: Ended(world.helm(*words).status, None)


def internal(world: World) -> Ended:
    """An installation in which a module of Python's own is broken."""
    (world.folder / "broken").mkdir()
    (world.folder / "broken" / "sqlite3.py").write_text("1 / 0\n")
    path = os.pathsep.join([str(world.folder / "broken"), os.environ["PYTHONPATH"]])
    return told(run([*PROGRAM, *RECENT], cwd=world.folder, env={**world.environment, "PYTHONPATH": path}))


def state(world: World) -> Ended:
    return told(world.helm(*RECENT, env={"HELM_CLI_HOME": str(world.folder / "note.txt")}))


def rate_limited(world: World) -> Ended:
    config = world.folder / "home" / ".helm" / "config.toml"
    config.write_text("[limits]\ncalls_per_minute = 1\n")
    try:
        assert world.helm(*RECENT).status in (0, 8)
        return told(world.helm(*RECENT))
    finally:
        config.unlink()


def declined(world: World) -> Ended:
    words = (*PROGRAM, *CLOSE, "--workspace", str(world.folder))
    with at_terminal(*words, stdout="pipe", env=world.environment, size=(120, 40)) as terminal:
        terminal.wait_for("Any other key cancels")
        terminal.send(ESC)
        status = terminal.status()
    return Ended(status, json.loads(terminal.out)["error"]["code"])


def signalled(number: int) -> Callable[[World], Ended]:
    """A call that waits, and is ended."""

    def end(world: World) -> Ended:
        process = subprocess.Popen(
            [*PROGRAM, *CLOSE, "--wait"], cwd=world.folder, env=environment(world.environment), stdout=-1, stderr=-1
        )
        assert process.stderr is not None and process.stderr.readline().startswith(b"helm: waiting for a person")
        process.send_signal(number)
        assert process.communicate(timeout=30) == (b"", b"")
        return Ended(process.returncode % 128 + 128 if process.returncode > 128 else 128 - process.returncode, None)

    return end


def unread(world: World) -> Ended:
    """Nobody reads what it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [*PROGRAM, *RECENT], cwd=world.folder, env=environment(world.environment), stdout=writing
    )
    os.close(writing)
    return Ended(process.wait(30), None)


WAYS: Final[dict[str, Callable[[World], Ended]]] = {
    "internal": internal,
    "state": state,
    "usage": calling("app"),
    "refused": calling("app", "nope"),
    "not_configured": calling("nobody", "fine"),
    "not_authorized": calling("cal", "fine"),
    "declined": declined,
    "confirmation_required": calling(*CLOSE[1:]),
    "rate_limited": rate_limited,
    "timeout": ending("oauth", "connect", "cal", "--no-browser", "--timeout", "1"),
    "unavailable": calling("gone", "fine"),
    "too_large": calling("web", "large"),
    "too_many_rows": calling("app", "endless"),
    "not_json": calling("web", "page"),
    "not_text": calling("files", "read", "--arg", "path=latin.txt"),
    "redirect": calling("web", "moved"),
    "http_error": calling("web", "broken"),
    "tool_error": calling("tools", "fails"),
    "query_failed": calling("wrong", "fails"),
    "conflict": calling(
        *("files", "write", "--arg", "path=note.txt", "--arg", "text=x", "--arg-str", f"expected_sha256={'0' * 64}")
    ),
    "invalid_manifest": ending("plugin", "validate", "bad"),
    "not_approved": ending("plugin", "review", "tickets/../tools", "--approve", f"sha256:{'0' * 64}"),
}
SILENT: Final = ("timeout", "invalid_manifest", "not_approved")
OTHERS: Final[dict[int, Callable[[World], Ended]]] = {
    0: calling(*RECENT[1:]),
    128 + signal.SIGINT: signalled(signal.SIGINT),
    128 + signal.SIGTERM: signalled(signal.SIGTERM),
    128 + signal.SIGPIPE: unread,
}


def test_every_code_has_a_way() -> None:
    assert WAYS.keys() == EXIT.keys()


@pytest.mark.parametrize("code", WAYS)
def test_a_real_command_ends_with_it(world: World, code: str) -> None:
    assert WAYS[code](world) == Ended(EXIT[code], None if code in SILENT else code)


@pytest.mark.parametrize("status", OTHERS)
def test_and_with_what_is_no_code(world: World, status: int) -> None:
    assert OTHERS[status](world) == Ended(status, None)
