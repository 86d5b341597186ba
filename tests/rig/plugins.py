"""Folders of a team's plugin, written in few words, and how a person reviews one at a terminal."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.rig.terminal import DOWN, ENTER, Terminal, at_terminal

ID: Final = "acme/marketing"
ASKED: Final = "Any other key cancels"
AGENT: Final = "---\nname: writer\ndescription: Writes posts.\n---\nWrite a post.\n"


def allow(server: str, *names: str, risk: str = "read") -> dict[str, Any]:
    """An entry of `tools` for an MCP server."""
    return {"ref": f"mcp:{server}", "allow": list(names), "risk": risk}


def named(name: str, risk: str = "read", kind: str = "http", **members: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "risk": risk, **members}


def write(folder: Path, files: Mapping[str, str] = {}, **sections: Any) -> Path:
    """A plugin of these sections with one agent; a section takes the place of what it says of itself."""
    top = {"name": ID, "version": "1.0.0", "description": "Writes the posts of a release.", **sections}
    folder.mkdir(parents=True, exist_ok=True)
    # JSON is YAML too.
    text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in top.items())
    for path, content in {"plugin.yaml": text, "agents/writer.md": AGENT, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder


def at_helm(*words: str, **terminal: Any) -> Any:
    """helm with these arguments at a terminal that is large enough for every page."""
    return at_terminal(sys.executable, "-m", "helm_cli", *words, **{"size": (110, 130), **terminal})


def agree(screen: Terminal, verb: str) -> None:
    """Say yes to a question, with the pause after its mark moved that a person makes."""
    screen.wait_for(ASKED)
    screen.send(DOWN)
    screen.wait_for(f"> {verb}")
    screen.send(0.2, ENTER)


def review(folder: Path | str, *keys: bytes | float) -> str:
    """Review at the terminal and answer with these keys, else with a yes; what was on the screen when helm asked."""
    with at_helm("plugin", "review", str(folder)) as screen:
        screen.wait_for(ASKED)
        told = "\n".join(screen.screen())
        if keys:
            screen.send(*keys)
        else:
            agree(screen, "Approve")
        assert screen.status() == (6 if keys else 0), screen.raw
    return told
