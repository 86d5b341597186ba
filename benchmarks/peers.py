"""The programs of others that helm is held against: from PyPI, in an environment of their own, and from npm."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.program import ROOT
from tests.rig import peers

# Environment -> what is in it. In one where httpx's own command line is there too, httpx is slower to import.
PYPI: Final = {"tools": ("httpie==3.2.4", "fastmcp==4.2.3"), "httpx": ("httpx==0.28.1",)}
_VENVS: Final = ROOT / ".cache" / "bench-peers"


def program(name: str, environment: str = "tools") -> str:
    """The path of a program of an environment in `PYPI`, which is made where it is not there, or is another."""
    venv = _VENVS / environment
    wanted = "\n".join((sys.version, *PYPI[environment]))
    made_of = venv / "made-of"
    if not made_of.exists() or made_of.read_text() != wanted:
        shutil.rmtree(venv, ignore_errors=True)
        print("installing", *PYPI[environment], "…", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, *PYPI[environment]], check=True)
        made_of.write_text(wanted)
    return str(venv / "bin" / name)


def httpie(folder: Path) -> tuple[str, dict[str, str]]:
    """HTTPie, and the variable that keeps it from looking for updates of itself; `folder` is for its settings."""
    folder.mkdir()
    (folder / "config.json").write_text('{"disable_update_warnings": true}')
    return program("http"), {"HTTPIE_CONFIG_DIR": str(folder)}


def everything() -> list[str]:
    """The command of npm's server-everything over stdio."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([str(ROOT / "tests" / "peers")], check=True, env={**os.environ, "PATH": path})
    return [peers.NODE, peers.script(peers.EVERYTHING)]


def fastmcp(server: list[str], tool: str, arguments: str) -> list[str]:
    """`fastmcp call` of a tool of this server."""
    words = ["--command", shlex.join(server), "--target", tool, "--input-json", arguments, "--json"]
    return [program("fastmcp"), "call", *words]
