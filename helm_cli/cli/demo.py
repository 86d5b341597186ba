"""`helm demo`: the whole way once, with real commands, in a home and a workspace that are thrown away."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from helm_cli import demo
from helm_cli.broker import content
from helm_cli.cli import group
from helm_cli.cli.here import Here, here
from helm_cli.model.errors import HelmError
from helm_cli.view.streams import person_present

app = group("")

TICKETS: Final = (
    ("Sign-in fails after a password change", "open"),
    ("Export to CSV drops the last row", "open"),
    ("Typo on the price page", "closed"),
    ("Dark mode for the dashboard", "open"),
)
READ: Final = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=10", "-o", "table")
WRITE: Final = ("call", "app", "close", "--arg", "id=1")


@app.command("demo")
def command() -> int:
    """Show the whole way in a throw-away home.

    \b
    Examples:
      helm demo
      helm demo < /dev/null
    """
    place = here()
    with tempfile.TemporaryDirectory(prefix="helm-demo-") as folder:
        workspace = Path(folder).resolve() / "workspace"
        _furnish(workspace)
        environment = _environment(Path(folder).resolve() / "home")
        digest = content.read(str(workspace / "tickets")).content.digest
        person = person_present(place.streams)

        def step(words: str, *arguments: str, ends: int = 0) -> None:
            _step(place, words, arguments, ends, workspace, environment)

        step(
            "A profile says where the database is.", "db", "add", "local-app", "--engine", "sqlite", "--path", "app.db"
        )
        step(
            "An extension declares its calls; a person reads them, and approves exactly this content.",
            *("plugin", "review", "tickets", "--approve", digest),
        )
        step("Reads run at once.", *READ)
        if person:
            step("Writes are asked for. Enter cancels; Down, then Enter, runs it.", *WRITE, ends=-1)
        else:
            step("Writes are shown exactly as they would be sent …", *WRITE, "--dry-run")
            step("… and wait for a person; no pipe can confirm them.", *WRITE, ends=7)
        step("So this is what the table holds now.", *READ)
    return 0


def _furnish(workspace: Path) -> None:
    workspace.mkdir()
    shutil.copytree(Path(demo.__file__).parent / "extension", workspace / "tickets")
    with closing(sqlite3.connect(workspace / "app.db")) as db, db:
        db.execute("CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL)")
        db.executemany("INSERT INTO tickets (title, status) VALUES (?, ?)", TICKETS)


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "HELM_CLI_WORKSPACE"}
    return {**kept, "HELM_CLI_HOME": str(home)}


def _step(
    place: Here, told: str, arguments: tuple[str, ...], ends: int, workspace: Path, environment: dict[str, str]
) -> None:
    place.streams.out.write(f"\n# {told}\n$ helm {' '.join(arguments)}\n")
    place.streams.out.flush()
    ended = subprocess.run([sys.executable, "-m", "helm_cli", *arguments], cwd=workspace, env=environment).returncode
    if ended != ends and ends >= 0:
        raise HelmError(
            "internal", f"helm {arguments[0]} {arguments[1]} ended with {ended}, not {ends}; please report it"
        )
