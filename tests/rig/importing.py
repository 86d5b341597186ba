"""How a test takes profiles over: with a person at a terminal, or without one in this very process."""

import hashlib
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import pytest

from helm_cli import cli
from tests.program import HELM, Finished
from tests.rig.terminal import Terminal, at_terminal

FILE: Final = {"HELM_CLI_CREDENTIALS": "file"}


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Finished:
    """What helm says to nobody, for standard error is no terminal here."""
    status = cli.run([*words])
    out, err = capsys.readouterr()
    return Finished(status, out, err)


def at(*words: str, **changes: Any) -> AbstractContextManager[Terminal]:
    """A person before `helm WORDS`, wide enough that no line is folded."""
    return at_terminal(*HELM, *words, **{"env": FILE, "size": (200, 60), **changes})


def at_own(*words: str) -> AbstractContextManager[Terminal]:
    """The same, started anew, so that the arguments and the environment that the system shows are its own."""
    return at_terminal(sys.executable, "-B", "-m", "helm_cli", *words, env=FILE, size=(200, 60))


def profiles(home: Path, group: str) -> dict[str, str]:
    """The files of the profiles that are there, by name."""
    folder = home / "profiles" / group
    return {path.stem: path.read_text() for path in sorted(folder.iterdir())} if folder.exists() else {}


def leaks(home: Path, mark: str, *texts: bytes | str) -> list[str]:
    """Where a secret, which has this mark in it, has no business: what was said, and files but the credentials."""
    said = [text if isinstance(text, bytes) else text.encode() for text in texts]
    files = [path for path in home.rglob("*") if path.is_file() and path.name != "credentials.json"]
    return [
        *(f"text {number}" for number, text in enumerate(said) if mark.encode() in text),
        *(path.name for path in files if mark.encode() in path.read_bytes()),
    ]


def untouched(*paths: Path) -> list[tuple[str, int, int]]:
    """What files are, so that a change of any shows."""
    return [
        (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_mode) for path in paths
    ]
