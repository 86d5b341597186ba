"""A disk that becomes full at any step of any command that writes: done or not done, said in one line, nothing lost.

HELM_TEST_LONG=1 takes every step, and disks with room for a little more too.
"""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pytest

from tests import example
from tests.proofs import acts
from tests.rig import files, plugins, token_endpoint
from tests.rig.forks import Forks, How, Ran, forking

LONG: Final = os.environ.get("HELM_TEST_LONG") == "1"
# How many bytes the largest file may get; and how many of a command's steps are tried where time is short.
ROOMS: Final = (0, 100, 5_000) if LONG else (0,)
MOST_STEPS: Final = 10_000 if LONG else 3

SECRET: Final = "canary-disk-1"
NEW: Final = "canary-disk-2"
TOKENS: Final = {SECRET, "old-access", "old-refresh", "new-access", "new-refresh"}
TOKENS_OF_THE_SERVICE: Final = {token_endpoint.ACCESS, token_endpoint.REFRESH}
NOTE: Final = "a note\n" * 200
SERVER: Final = ("--host", "127.0.0.1", "--port", "1", "--database", "d", "--user", "u", "--password-stdin")
SERVICE: Final = ("--base-url", "http://127.0.0.1:1", "--oauth2", "--client-id", "me", "--client-secret-stdin")
# What matters of a row, where that is not all: when a file was looked at last changes without harm.
COLUMNS: Final = {"approvals": "workspace, extension, digest, enabled"}
DRAFTS: Final = [{"type": "draft", "kinds": ["blog"]}]
# What a failure may leave behind: locks, an empty folder, and a journal that the next process takes back.
LEFT: Final = ("credentials.lock", "state.db", "state.db-journal", ".signin")

ID: Final = re.compile(r"\b[a-z2-7]{8}\b")


class World(NamedTuple):
    """A home in which something of everything is, its workspace beside it, and a copy of both."""

    forks: Forks
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "live" / "home" / ".helm"

    @property
    def workspace(self) -> Path:
        return self.folder / "live" / "workspace"

    def helm(self, *words: str, stdin: str | bytes = b"", how: How = How(), **_: Any) -> Ran:  # noqa: B008  # a record
        env = {"HOME": str(self.home.parent), "HELM_CLI_CREDENTIALS": "file"}
        return self.forks(*words, stdin=stdin, env=env, cwd=self.workspace, how=how)

    def keep(self) -> None:
        shutil.copytree(self.folder / "live", self.folder / "kept", symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.folder / "live")
        shutil.copytree(self.folder / "kept", self.folder / "live", symlinks=True)

    def seen(self) -> dict[str, Any]:
        """All that matters of it: every file but those of LEFT, and every row but the history's."""
        found: dict[str, Any] = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted((self.folder / "live").rglob("*"))
            if path.is_file() and not path.name.endswith(LEFT)
        }
        if (self.home / "state.db").exists():
            found.update(rows(self.home / "state.db"))
        return found


def rows(file: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {
            f"table {name}": sorted(db.execute(f"SELECT {COLUMNS.get(name, '*')} FROM {name}").fetchall(), key=repr)
            for name in tables
            if name not in ("calls", "sqlite_sequence")
        }


def shape(seen: dict[str, Any]) -> list[str]:
    """What is there, whatever it is called or says."""
    return [
        f"{len(found)} {name}" if isinstance(found, list) else ID.sub("ID", name)
        for name, found in seen.items()
        # What a secret was for that is gone may be known for longer, and a question that nobody can answer too.
        if name not in ("table targets", "table confirmations", "table tokens")
    ]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with forking() as running:
        yield running


@pytest.fixture(scope="module")
def tokens() -> Iterator[token_endpoint.Endpoint]:
    with token_endpoint.endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def whole(forks: Forks, tokens: token_endpoint.Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world, made once."""
    world = World(forks, tmp_path_factory.mktemp("disk"))
    world.home.parent.mkdir(parents=True)
    world.workspace.mkdir()
    for folder in ("docs", "more"):
        (world.workspace / folder).mkdir()
    (world.workspace / "docs" / "a.md").write_text(NOTE)
    (world.workspace / "body").write_text("It is out.\n")
    (world.workspace / "taken.toml").write_text(EXPORTED)
    example.ready(world.helm, world.workspace)  # type: ignore[arg-type]  # a Ran has what it looks at
    manifest = {
        "id": "notes",
        "permissions": {"write": True},
        "connections": [
            {
                "id": "notes",
                "kind": "files",
                "root": "workspace",
                "paths": ["docs/*.md"],
                "operations": ["list", "read", "write"],
            }
        ],
    }
    (world.workspace / "notes").mkdir()
    (world.workspace / "notes" / "manifest.json").write_text(json.dumps(manifest))
    plugins.write(world.workspace / "plugin", settings=[{"key": "api_key", "type": "secret"}], outputs=DRAFTS)
    approve(world, "notes")
    approve(world, "plugin")
    well(world.helm("db", "add", "pg", "--engine", "postgres", *SERVER, stdin=SECRET))
    well(world.helm("service", "add", "cal", *SERVICE, stdin=SECRET))
    urls = ("https://id.example/auth", tokens.url("good"))
    well(world.helm("cal", *urls, "old-access", "old-refresh", "3600", how=How(act=named(acts.signed_in))))
    well(world.helm("plugin", "settings", plugins.ID, "set", "api_key", "--stdin", stdin=SECRET))
    well(world.helm("project", "add", "docs", "--id", "docs"))
    world.keep()
    yield world


@pytest.fixture
def world(whole: World) -> World:
    whole.restore()
    return whole


def approve(world: World, name: str) -> None:
    digest = world.helm("plugin", "review", name, "-o", "json").json["digest"]
    well(world.helm("plugin", "review", name, "--approve", digest))


def well(ran: Ran) -> None:
    assert ran.status == 0, ran


def named(act: Callable[..., int]) -> str:
    return f"{act.__module__}:{act.__name__}"


Harm = Literal["none", "digests", "part", "tokens", "question", "begun"]


EXPORTED: Final = """version = 1
[db.taken]
engine = "postgres"
host = "127.0.0.1"
port = 1
database = "d"
user = "u"
secret = "password"
"""
TAKEN: Final = json.dumps({"db/taken": NEW})


class Case(NamedTuple):
    """A command that writes; `status` is what it ends with where there is room, `act` what runs it, if not `helm`.

    `fresh` begins in a home that is not there yet. `full` are the statuses where there is no room, `harm` what a
    failure may leave: "digests": state.db says of a secret that it is for another target, which no secret is then;
    "part": some of what was to go is gone, and all of the rest there; "tokens": each is the old or new; "question": one
    that nobody has the token of; "begun": some of what was to come is there, and whole.
    """

    words: tuple[str, ...]
    stdin: str = ""
    status: int = 0
    act: Callable[..., int] | None = None
    fresh: bool = False
    harm: Harm = "none"
    full: tuple[int, ...] = (1,)


CASES: Final = {
    "the first db add": Case(("db", "add", "pg", "--engine", "postgres", *SERVER), SECRET, fresh=True, harm="digests"),
    "db add": Case(("db", "add", "pg2", "--engine", "postgres", *SERVER), NEW, harm="digests"),
    "db add over one": Case(("db", "add", "pg", "--engine", "sqlite", "--path", "x.db", "--force"), ""),
    "db edit of the password": Case(("db", "edit", "pg", "--password-stdin"), NEW),
    "db edit of the target": Case(("db", "edit", "pg", "--port", "2", "--password-stdin"), NEW, harm="digests"),
    "db remove": Case(("db", "remove", "pg"), harm="part"),
    "service add": Case(
        ("service", "add", "gh", "--base-url", "http://127.0.0.1:1", "--token-stdin"), NEW, harm="digests"
    ),
    "service edit": Case(("service", "edit", "cal", "--client-secret-stdin"), NEW),
    "service edit that ends a sign-in": Case(
        ("service", "edit", "cal", "--base-url", "http://127.0.0.1:2", "--client-secret-stdin"), NEW, harm="digests"
    ),
    "service remove": Case(("service", "remove", "cal"), harm="part"),
    "mcp add": Case(("mcp", "add", "m", "--token-env", "T", "--token-stdin", "--", "true"), NEW, harm="digests"),
    "oauth disconnect": Case(("oauth", "disconnect", "cal"), harm="part"),
    "a new sign-in": Case(
        ("cal", "https://id.example/auth", "TOKEN-URL", "new-access", "new-refresh", "3600"),
        act=acts.signed_in,
        harm="tokens",
    ),
    "a renewal": Case(("cal",), act=acts.renewed, harm="tokens"),
    "a review that approves": Case(("plugin", "review", "tickets", "--approve", "DIGEST"), fresh=True),
    "plugin disable": Case(("plugin", "disable", "tickets")),
    "plugin forget": Case(("plugin", "forget", plugins.ID), harm="part"),
    "a plugin's setting": Case(("plugin", "settings", plugins.ID, "set", "api_key", "--stdin"), NEW),
    "plugin run": Case(("plugin", "run", plugins.ID, "--arg", "brief=x")),
    "plugin usage": Case(("plugin", "usage", plugins.ID, "--add", "7")),
    "plugin new": Case(("plugin", "new", "started"), full=(2,)),
    "draft add": Case(("draft", "add", "@body", "--plugin", plugins.ID, "--kind", "blog", "--title", "T")),
    "project add": Case(("project", "add", "more", "--id", "more")),
    "project remove": Case(("project", "remove", "docs")),
    "config export": Case(("config", "export", "exported.toml"), full=(1, 2)),
    "config import": Case(("config", "import", "taken.toml", "--all", "--secrets-stdin"), TAKEN, harm="digests"),
    "completion": Case(("completion", "bash", "--install"), harm="begun"),
    "a read": Case(("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")),
    "a write that waits": Case(("call", "app", "close", "--arg", "id=1"), status=7),
    "a write": Case(("app", "close", '{"id": 1}'), act=acts.confirmed, harm="question", full=(1, 14)),
    "a file's write": Case(("notes", "write", "FILE"), act=acts.confirmed, harm="question", full=(1, 10)),
}


def filled(case: Case, world: World, tokens: token_endpoint.Endpoint) -> tuple[str, ...]:
    digest = world.helm("plugin", "review", "tickets", "-o", "json").json["digest"] if "DIGEST" in case.words else ""
    change = {"path": "docs/a.md", "expected_sha256": files.sha256(NOTE.encode()), "text": NOTE.upper()}
    places = {"DIGEST": digest, "FILE": json.dumps(change), "TOKEN-URL": tokens.url("good")}
    return tuple(places.get(word, word) for word in case.words)


def unharmed(before: dict[str, Any], after: dict[str, Any], done: dict[str, Any], harm: Harm, told: str) -> None:
    """That a failure left what it may."""
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if harm == "digests":
        changed.discard("table targets")
    if harm == "question":
        changed -= {"table confirmations", "table tokens"}
    for name in sorted(changed - {"table home"}):
        old, new = parts(before.get(name)), parts(after.get(name))
        if harm == "part" and name != "table signins":
            assert new <= old, f"{told}\n{name}: {new - old}"
        elif harm == "begun":
            assert new == parts(done[name]), f"{told}\n{name}: {new}"
        elif harm == "tokens" and name.endswith("credentials.json"):
            assert {value.rpartition(" ")[2] for _, value in new} <= TOKENS | TOKENS_OF_THE_SERVICE, f"{told}\n{new}"
        else:
            kept = harm in ("tokens", "part") and name in ("table signins", "table targets")
            assert kept or old == new, f"{told}\n{name}: {old} {new}"


def parts(found: Any) -> set[Any]:
    if isinstance(found, bytes) and found.startswith(b"{"):
        return set(json.loads(found).items())
    return set(found) if isinstance(found, list) else {found} - {None}


def steps(count: int) -> list[int]:
    """Which of a command's steps are tried: all, or some of each part of it; the first is before its beginning."""
    return sorted(
        {round(number * count / MOST_STEPS) for number in range(MOST_STEPS)} if count > MOST_STEPS else range(count)
    )


@pytest.mark.parametrize("name", CASES)
def test_a_command_on_a_disk_that_fills_up_is_done_or_not_done(
    whole: World, tokens: token_endpoint.Endpoint, name: str
) -> None:
    case = CASES[name]
    words = filled(case, whole, tokens)
    act = named(case.act) if case.act else None

    def begin() -> None:
        whole.restore()
        if case.fresh:
            shutil.rmtree(whole.home)

    def run(how: How) -> Ran:
        return whole.helm(*words, stdin=case.stdin, how=how._replace(act=act))

    begin()
    before = whole.seen()
    counted = run(How(room=2**40, full_at=2**40))
    assert counted.status == case.status, counted
    done = whole.seen()
    assert counted.steps > 3
    for room in ROOMS:
        for step in steps(counted.steps):
            begin()
            ran = run(How(room=room, full_at=step))
            told = f"{name}, full at step {step} of {counted.steps} but for {room} bytes: {ran}"
            assert ran.status in (case.status, *case.full), told
            assert "Traceback" not in ran.err and "a fault in helm" not in ran.err, told
            if ran.status in case.full:
                said = ran.out if act or words[0] == "call" else ran.err
                assert re.search(
                    r"cannot be (used|written|changed)|could not be written|cannot write down|disk", said
                ), told
                unharmed(before, whole.seen(), done, case.harm, told)
                assert run(How()).status == case.status, told
            assert shape(whole.seen()) == shape(done), told
