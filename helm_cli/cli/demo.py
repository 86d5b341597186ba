"""`helm demo`: the whole way once, with real commands, in a home and a workspace that are thrown away."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
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

# The signals that end the demo, and how long a step that it runs may take to put the terminal in order then.
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE: Final = 2.0


@app.command("demo")
def command() -> int:
    """Show the whole way in a throw-away home.

    \b
    Examples:
      helm demo
      helm demo < /dev/null
    """
    place = here()
    with _thrown_away() as folder:
        workspace = folder / "workspace"
        _furnish(workspace)
        environment = _environment(folder / "home")
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


@contextmanager
def _thrown_away() -> Iterator[Path]:
    """A folder that is gone after every end but SIGKILL; a signal ends the process with 128+n.

    Raises HelmError "state" where there is no place for it.
    """
    # A signal between the folder's creation and the block would leave the folder.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        folder = tempfile.mkdtemp(prefix="helm-demo-")
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        reason = (error.strerror or "error").lower()
        raise HelmError("state", f"no temporary folder can be made: {reason}; see TMPDIR") from None
    before = {number: signal.signal(number, _end) for number in ENDING if not _ignored(number)}
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        yield Path(folder).resolve()
    finally:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignored(number: int) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def _end(number: int, frame: FrameType | None) -> None:
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


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
    place.streams.write(f"\n# {told}\n$ helm {' '.join(arguments)}\n")
    ended = _run([sys.executable, "-m", "helm_cli", *arguments], workspace, environment)
    if ended != ends and ends >= 0:
        raise HelmError(
            "internal", f"helm {arguments[0]} {arguments[1]} ended with {ended}, not {ends}; please report it"
        )


def _run(command: list[str], workspace: Path, environment: dict[str, str]) -> int:
    # The step takes Ctrl-C from its own first line on (`__main__`): before that Python would print a traceback.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        process = subprocess.Popen(command, cwd=workspace, env=environment)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    try:
        return process.wait()
    except SystemExit:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
