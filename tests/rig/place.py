"""A home and a workspace beside it that can be put back as they were, and what is to be true of them at any moment."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from helm_cli.store.schema import STEPS
from tests.rig import http_server
from tests.rig.http_server import Server
from tests.rig.stepped import Job, Ran, Stepped

# What the server of a place does until a test says something else.
QUIET: Final = http_server.answering(b"{}")
DB: Final = "state.db"
JOURNAL: Final = "state.db-journal"
CREDENTIALS: Final = "credentials.json"
UNFINISHED: Final = ".new"
# Those that are for a team are for others to read.
DRAFTS: Final = "drafts"
# What each run writes anew, whatever it is killed at: a line for each try.
GROWING: Final = ("calls", "confirmations", "tokens", "runs")


class Place(NamedTuple):
    """`root` has `home` (HELM_CLI_HOME), `workspace`, where the program runs, and `user`, which is its HOME.

    `drafts` is a folder that a team shares.
    """

    stepped: Stepped
    root: Path
    server: Server

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def _kept(self) -> Path:
        return self.root.with_name("kept")

    def run(self, job: Job, step: int | None = None, **how: Any) -> Ran:
        return self.stepped.run(job, step, env=self._environment, cwd=self.workspace, **how)

    def together(self, jobs: Iterable[Job], *, real: bool = False) -> list[Ran]:
        """All of them at one moment."""
        return self.stepped.together([*jobs], env=self._environment, cwd=self.workspace, real=real)

    def at_terminal(self, *words: str, size: tuple[int, int] = (200, 100)) -> Ran:
        """At a terminal whose person cancels whatever they are asked; `out` is all that it was sent."""
        # The terminal's own size counts.
        env = {**self._environment, "COLUMNS": None, "LINES": None}
        return self.stepped.at_terminal(Job(words), size, env=env, cwd=self.workspace)

    @property
    def _environment(self) -> dict[str, str]:
        return {"HELM_CLI_HOME": str(self.home), "HELM_CLI_CREDENTIALS": "file", "HOME": str(self.root / "user")}

    def helm(self, *words: str, stdin: str = "") -> Ran:
        return self.run(Job(words, stdin))

    def well(self, *words: str, stdin: str = "") -> Ran:
        """The same, which has to succeed."""
        ran = self.helm(*words, stdin=stdin)
        assert ran.status == 0, ran
        return ran

    def act(self, name: str, *words: str) -> Any:
        """What an act of `said_yes` gives."""
        ran = self.run(yes(name, *words))
        assert ran.status == 0, ran
        return ran.json

    def keep(self) -> None:
        """As it is now, `put_back` makes it again."""
        _copy(self.root, self._kept)

    def put_back(self) -> None:
        shutil.rmtree(self.root)
        _copy(self._kept, self.root)

    def approve(self, folder: str, manifest: Mapping[str, Any]) -> Job:
        """Writes an extension; what approves it, pinned as a CI job does."""
        (self.workspace / folder).mkdir(exist_ok=True)
        (self.workspace / folder / "manifest.json").write_text(json.dumps(manifest))
        return self.pinned(folder)

    def pinned(self, folder: str) -> Job:
        digest = self.helm("plugin", "review", folder, "-o", "json").json["digest"]
        return Job(("plugin", "review", folder, "--approve", digest))

    def found(self) -> dict[str, Any]:
        """What each file but the database says, and each secret, without what that is bound to."""
        found: dict[str, Any] = {}
        for path in sorted(self.home.rglob("*")):
            if path == self.home / CREDENTIALS:
                secrets = json.loads(path.read_bytes()).items()
                found |= {f"{CREDENTIALS} {account}": secret.partition(" ")[2] for account, secret in secrets}
            elif path.is_file() and path.name not in (DB, JOURNAL):
                found[str(path.relative_to(self.home))] = os.fsdecode(path.read_bytes())
        for path in sorted((self.root / "user").rglob("*")):
            if path.is_file():
                found[f"~/{path.relative_to(self.root / 'user')}"] = os.fsdecode(path.read_bytes())
        return found

    def rows(self) -> dict[str, int]:
        """How many rows each table has that a repeated command leaves as they are."""
        if not (self.home / DB).exists():
            return {}
        with closing(sqlite3.connect(self.home / DB)) as db:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {
                name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names if name not in GROWING
            }

    def faults(self, *secrets: str) -> list[str]:
        """What must never be: files open to others, secrets elsewhere, a database that is not whole."""
        told = []
        for path in (self.home, *self.home.rglob("*")) if self.home.exists() else ():
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode != (0o700 if path.is_dir() else 0o644 if path.parent.name == DRAFTS else 0o600):
                told.append(f"{path.name} has the mode {mode:o}")
        for path in self.root.rglob("*"):
            secret_place = path.parent == self.home and (path.name == CREDENTIALS or path.name.endswith(UNFINISHED))
            if path.is_file() and not secret_place:
                data = path.read_bytes()
                told += [f"{path.name} has a secret" for secret in secrets if secret.encode() in data]
        return told + self._database_faults()

    def _database_faults(self) -> list[str]:
        """Of a copy, for to open it is to repair it."""
        copy = self.root.with_name("copy")
        copy.mkdir()
        for name in (DB, JOURNAL):
            if (self.home / name).exists():
                shutil.copy(self.home / name, copy / name)
        try:
            if not (copy / DB).exists():
                return []
            with closing(sqlite3.connect(copy / DB)) as db:
                whole = db.execute("PRAGMA integrity_check").fetchall()
                strays = db.execute("PRAGMA foreign_key_check").fetchall()
                (version,) = db.execute("PRAGMA user_version").fetchone()
        finally:
            shutil.rmtree(copy)
        told = [] if (whole, strays) == ([("ok",)], []) else [f"{DB}: {whole} {strays}"]
        return told if version in (0, len(STEPS)) else [*told, f"{DB} has the form {version}"]


def yes(name: str, *words: str) -> Job:
    """An act of `said_yes`."""
    return Job(words, act=f"tests.rig.said_yes:{name}")


def new_place(stepped: Stepped, folder: Path, server: Server) -> Place:
    place = Place(stepped, folder / "place", server)
    place.root.mkdir()
    place.home.mkdir(mode=0o700)
    place.workspace.mkdir()
    for name in ("drafts", "user"):
        (place.root / name).mkdir()
    (place.root / "drafts").chmod(0o1777)
    return place


def _copy(source: Path, target: Path) -> None:
    def with_owner(old: str, new: str) -> None:
        shutil.copy2(old, new)
        os.chown(new, os.stat(old).st_uid, -1)

    shutil.copytree(source, target, symlinks=True, copy_function=with_owner)
