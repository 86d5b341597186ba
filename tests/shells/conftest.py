"""What the tests of the scripts stand on: the tree, each script in a file of its own, a world with names in it."""

import os
import sys
from pathlib import Path

import pytest

from helm_cli.cli.tree import whole
from helm_cli.model.command import Command
from helm_cli.shells import SHELLS
from helm_cli.shells.words import PROGRAMS
from tests.rig.completing import World, world


@pytest.fixture(scope="session")
def tree() -> Command:
    return whole()


@pytest.fixture(scope="session")
def scripts(tree: Command, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Shell -> a file with its script."""
    folder = tmp_path_factory.mktemp("scripts")
    found = {}
    for name, shell in SHELLS.items():
        found[name] = folder / shell.file
        found[name].write_text(shell.script(tree, PROGRAMS))
    return found


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("known").resolve())


@pytest.fixture
def here(known: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world, from its workspace, with our `helm` first on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m helm_cli "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("HELM_CLI_HOME", str(known.home))
    monkeypatch.chdir(known.workspace)
    return known
