"""An approved extension that calls the tools of MCP servers, set up as a person would, for the whole program."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.program import Finished, Helm

# Where no keychain answers, the token goes to helm's own file without a word.
FILE = {"HELM_CLI_CREDENTIALS": "file"}


def connection(server: str, operations: Sequence[str], writes: Sequence[str] = ()) -> dict[str, Any]:
    """The connection `server` to the profile of the same name."""
    declared: dict[str, Any] = {"id": server, "kind": "mcp", "server": server, "operations": list(operations)}
    return {**declared, "writes": list(writes)} if writes else declared


def add(
    helm: Helm, name: str, command: Sequence[str], token: str | None = None, variable: str = "SERVER_TOKEN"
) -> None:
    """A profile for a command, with a token in its variable where one is given."""
    given = [] if token is None else ["--token-env", variable, "--token-stdin"]
    _well(helm("mcp", "add", name, *given, "--", *command, env=FILE, stdin=token or ""))


def add_url(helm: Helm, name: str, url: str, token: str | None = None) -> None:
    given = [] if token is None else ["--token-stdin"]
    _well(helm("mcp", "add", name, "--url", url, *given, env=FILE, stdin=token or ""))


def approve(helm: Helm, workspace: Path, *connections: Mapping[str, Any], id: str = "tools") -> None:
    """The extension of these connections, reviewed and approved in the workspace the way a fresh CI job does."""
    folder = workspace / id
    folder.mkdir(parents=True)
    manifest = {"id": id, "name": "Tools", "version": "1.0.0", "permissions": {"write": True}}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "connections": list(connections)}, indent=2))
    told = helm("plugin", "review", str(folder), "-o", "json", cwd=workspace, env=FILE)
    _well(helm("plugin", "review", str(folder), "--approve", told.json["digest"], cwd=workspace, env=FILE))


def _well(finished: Finished) -> None:
    assert finished.status == 0, finished
