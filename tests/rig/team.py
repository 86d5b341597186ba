"""A team on one machine: several users, a folder that they share for drafts, and a plugin that each of them has."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.program import Finished, run
from tests.rig.terminal import DOWN, ENTER, Terminal, at_terminal

# Users that every machine has. The tests run as root, who is one of the team too.
ROOT, DAEMON, BIN, NOBODY = 0, 1, 2, 65534
NAMES: Final = {ROOT: "root", DAEMON: "daemon", BIN: "bin", NOBODY: "nobody"}

HELM: Final = (sys.executable, "-m", "helm_cli")
ASKED: Final = "Any other key cancels"
YES: Final[Sequence[bytes | float]] = (DOWN, 0.3, ENTER)
ID: Final = "acme/marketing"
# What the user's umask is: others may read.
_UMASK: Final = 0o022

AGENT: Final = "---\ndescription: Writes.\n---\n\nWrite what the brief says.\n"
PLUGIN: Final[dict[str, Any]] = {
    "name": ID,
    "version": "1.2.0",
    "description": "Writes posts.",
    "tools": [
        {"ref": "mcp:cms", "allow": ["list_posts"]},
        {"ref": "mcp:cms", "allow": ["save_post"], "risk": "write"},
        {"name": "send_post", "kind": "http", "risk": "consequential", "description": "Send a post out."},
        {"name": "send_letter", "kind": "http", "risk": "consequential"},
        {"name": "count_posts", "kind": "http", "risk": "read", "description": "How many posts there are."},
        {"name": "read_notes", "kind": "builtin", "risk": "read"},
    ],
    "outputs": [
        {"type": "draft", "kinds": ["blog", "email"]},
        {"type": "publish", "via": "send_post"},
        {"type": "publish", "via": "send_letter", "approval": {"role": "editor", "min": 2}},
    ],
}


class Team(NamedTuple):
    """`folder` is one that everybody gets into, `drafts` the one that they share, `workspace` has the plugin."""

    folder: Path
    drafts: Path
    workspace: Path

    def home(self, uid: int) -> Path:
        return self.folder / NAMES[uid]

    def environment(self, uid: int) -> dict[str, str]:
        home = str(self.home(uid))
        return {"HOME": home, "HELM_CLI_HOME": f"{home}/.helm", "HELM_CLI_CREDENTIALS": "file"}

    def command(self, uid: int, *words: str) -> tuple[str, ...]:
        return (*as_user(uid), *HELM, *words)

    def helm(self, uid: int, *words: str, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Finished:
        """The real program as one of the team runs it."""
        told = {**self.environment(uid), **(env or {})}
        return run([*self.command(uid, *words)], env=told, cwd=self.workspace, stdin=stdin)

    def terminal(self, uid: int, *words: str, size: tuple[int, int] = (300, 50)) -> AbstractContextManager[Terminal]:
        """The same at a terminal of theirs; the test's own folder has to be the workspace."""
        return at_terminal(*self.command(uid, *words), env=self.environment(uid), size=size)

    def answer(self, uid: int, *words: str, keys: Sequence[bytes | float] = YES) -> tuple[int, str]:
        """Run it at a terminal, answer its question, and give its status and what stood on the screen before."""
        with self.terminal(uid, *words) as screen:
            screen.wait_for(ASKED)
            shown = "\n".join(screen.screen())
            if keys == YES:
                confirm(screen)
            else:
                screen.send(*keys)
            return screen.status(), shown

    def refused(self, uid: int, *words: str) -> tuple[int, str]:
        """Run it at a terminal, where it asks nothing: its status, and what it said."""
        with self.terminal(uid, *words) as screen:
            status = screen.status()
            assert ASKED not in "\n".join(screen.screen())
            return status, screen.screen()[-1].removeprefix("helm: ")

    def add(self, uid: int, *options: str, text: str = "It is out.\n", title: str = "Version 2") -> str:
        """The id of a new draft that this user asked for."""
        words = ("draft", "add", "--plugin", ID, "--kind", "blog", "--title", title, *options)
        done = self.helm(uid, *words, stdin=text)
        assert done.status == 0, done
        return done.out.strip()

    def show(self, uid: int, id_: str) -> Any:
        return self.helm(uid, "draft", "show", id_, "-o", "json").json


def confirm(screen: Terminal) -> None:
    """Say yes to the question that is asked."""
    screen.send(0.3, DOWN)
    screen.wait_for("\n  Cancel")
    screen.send(0.3, ENTER)


def as_user(uid: int) -> tuple[str, ...]:
    """What runs a program as another user, who may read it wherever it is installed, and nothing more."""
    if uid == os.geteuid():
        return ()
    rights = ("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search")
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *rights, "--")


@contextmanager
def team(*members: int, plugin: Mapping[str, Any] = PLUGIN) -> Iterator[Team]:
    """A team of these users, each of whom has approved the plugin for the workspace."""
    os.umask(_UMASK)
    # A folder of pytest's own would let nobody else in.
    folder = Path(tempfile.mkdtemp(prefix="helm-team-"))
    try:
        folder.chmod(0o755)
        found = Team(folder, folder / "drafts", folder / "workspace")
        found.drafts.mkdir()
        found.drafts.chmod(0o1777)
        write(found.workspace / "marketing", plugin)
        for uid in members:
            _settle(found, uid)
        yield found
    finally:
        shutil.rmtree(folder)


def write(folder: Path, plugin: Mapping[str, Any]) -> None:
    """The files of a plugin; JSON is YAML too."""
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    (folder / "agents" / "writer.md").write_text(AGENT)
    (folder / "plugin.yaml").write_text(json.dumps(plugin, indent=2))


def approve(found: Team, uid: int) -> str:
    """Approve the plugin as it stands, in a home where nobody was asked before; its digest."""
    digest = str(found.helm(uid, "plugin", "review", "marketing", "-o", "json").json["digest"])
    done = found.helm(uid, "plugin", "review", "marketing", "--approve", digest)
    assert done.status == 0, done
    return digest


def _settle(found: Team, uid: int) -> None:
    home = found.home(uid) / ".helm"
    home.mkdir(parents=True, mode=0o700)
    (home / "config.toml").write_text(f'drafts_dir = "{found.drafts}"\n')
    for path in (found.home(uid), home, home / "config.toml"):
        os.chown(path, uid, uid)
    approve(found, uid)
