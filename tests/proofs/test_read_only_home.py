"""A home that cannot be written, is another's, or is none: what needs none works, and a call is made by none."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests import example
from tests.rig.forks import Forks, Ran, forking
from tests.rig.team import NOBODY, as_user

RECENT: Final[tuple[str, ...]] = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
CLOSE: Final[tuple[str, ...]] = ("call", "app", "close", "--arg", "id=1")
PASSES: Final = "Ticket 199"

# What needs no home.
FREE: Final[tuple[tuple[str, ...], ...]] = (
    ("--version",),
    ("version",),
    ("--help",),
    ("help", "call"),
    ("plugin", "review", "--help"),
    ("plugin", "validate", "tickets"),
    ("plugin", "validate", "tickets", "-o", "json"),
    ("plugin", "schema"),
    ("plugin", "reference"),
    ("completion", "bash"),
)
# What only looks at profiles.
PROFILES: Final[tuple[tuple[str, ...], ...]] = (("db", "list"), ("service", "list"), ("mcp", "list"))
ONE: Final[tuple[tuple[str, ...], ...]] = (("db", "show", "local-app"), ("db", "test", "local-app"))
# What only looks at the state.
STATE: Final[tuple[tuple[str, ...], ...]] = (
    ("plugin", "list"),
    ("plugin", "show", "tickets"),
    ("plugin", "review", "tickets"),
    ("plugin", "review", "tickets", "--check"),
    ("history",),
    ("workspace", "show"),
    ("project", "list"),
    ("confirm", "--list"),
    ("oauth", "status"),
    (*RECENT, "--dry-run"),
)
# What has something to write down.
WRITING: Final[tuple[tuple[str, ...], ...]] = (
    RECENT,
    CLOSE,
    (*CLOSE, "--wait"),
    ("db", "add", "x", "--engine", "sqlite", "--path", "x.db"),
    ("project", "add", "docs"),
    ("plugin", "disable", "tickets"),
    ("draft", "list"),
    ("agent", "start"),
)
THERE: Final = (("db", "edit", "local-app", "--path", "y.db"), ("db", "remove", "local-app"))


class World(NamedTuple):
    """A user without rights, with a home and a workspace in `folder`."""

    forks: Forks
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "user" / ".helm"

    def helm(self, *words: str, env: Any = None, **_: Any) -> Ran:
        given = {"HOME": str(self.folder / "user"), "HELM_CLI_CREDENTIALS": "file", **(env or {})}
        return self.forks(*words, cwd=self.folder / "workspace", env=given)

    def seen(self) -> dict[str, Any]:
        """Every file, with what it holds, its owner, mode and times."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            held = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (held, status.st_mode, status.st_uid, status.st_mtime_ns)
        return found


@pytest.fixture(scope="module")
def made() -> Iterator[World]:
    """The home and the workspace as they should be, and a copy of the home."""
    umask = os.umask(0o022)
    # A folder of pytest's own would let nobody else in.
    folder = Path(tempfile.mkdtemp(prefix="helm-home-"))
    try:
        folder.chmod(0o755)
        for name in ("user", "workspace"):
            (folder / name).mkdir()
            own(folder / name)
        with forking(*as_user(user())) as forks:
            world = World(forks, folder)
            (folder / "workspace" / "docs").mkdir()
            example.ready(world.helm, folder / "workspace")  # type: ignore[arg-type]  # a Ran has what it looks at
            own(folder / "workspace")
            # What the approval knows of the files' owners is brought up to date.
            assert world.helm(*RECENT).status == 0
            shutil.copytree(world.home, folder / "kept")
            yield world
    finally:
        os.umask(umask)
        shutil.rmtree(folder)


@pytest.fixture
def world(made: World) -> Iterator[World]:
    """The same, and what a test does to the home is undone."""
    yield made
    (made.folder / "user").chmod(0o755)
    if made.home.is_symlink() or made.home.is_file():
        made.home.unlink()
    elif made.home.exists():
        closed(made.home, 0o700, 0o600)
        shutil.rmtree(made.home)
    shutil.copytree(made.folder / "kept", made.home)
    own(made.home)


def user() -> int:
    """Somebody for whom modes count."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


def own(folder: Path) -> None:
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user(), user())


def closed(folder: Path, mode: int, file: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode if path.is_dir() else file)


def read_only(world: World) -> None:
    closed(world.home, 0o500, 0o400)


def missing(world: World) -> None:
    shutil.rmtree(world.home)
    world.home.parent.chmod(0o500)


def a_file(world: World) -> None:
    shutil.rmtree(world.home)
    world.home.write_text("a file")


def dangling(world: World) -> None:
    shutil.rmtree(world.home)
    world.home.symlink_to("nowhere")


def anothers(world: World) -> None:
    """A folder of somebody else's, which has nothing in it."""
    shutil.rmtree(world.home)
    world.home.symlink_to("/proc/1" if os.geteuid() else world.folder / "kept")


class Situation(NamedTuple):
    """What was done to a home, which commands work all the same, and which others do not, with these words."""

    done: Callable[[World], None]
    works: tuple[tuple[str, ...], ...]
    fails: tuple[tuple[str, ...], ...]
    told: str


DENIED: Final = "cannot be used: permission denied; make it"
FILE: Final = "move it away or name another home in HELM_CLI_HOME"
SITUATIONS: Final = {
    "read-only": Situation(read_only, (*FREE, *PROFILES, *ONE, *STATE), (*WRITING, *THERE), "cannot be used: "),
    "missing": Situation(missing, (*FREE, *PROFILES), (*STATE, *WRITING), DENIED),
    "a file": Situation(a_file, FREE, (*PROFILES, *ONE, *STATE, *WRITING, *THERE), FILE),
    "a dangling link": Situation(
        dangling, (*FREE, *PROFILES), (*STATE, *WRITING), "no such file or directory; look at"
    ),
    "another's": Situation(anothers, FREE, (*STATE, *WRITING), " belongs to another user; name a folder of your own"),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_can_be_done_in_such_a_home(world: World, name: str) -> None:
    done, works, fails, told = SITUATIONS[name]
    done(world)
    before = world.seen()
    for words in (*works, ("agent", "stop")):
        ran = world.helm(*words)
        assert (ran.status, "Traceback" in ran.err) == (0, False), (words, ran)
    for words in fails:
        ran = world.helm(*words)
        assert (ran.status, ran.err.count("\n")) == (1, 1), (words, ran)
        assert told in ran.err, (words, ran)
        if words[0] == "call" and "--dry-run" not in words:
            assert ran.json["error"]["code"] == "state"
            assert PASSES not in ran.out
    assert world.seen() == before


def test_a_home_that_is_not_there_yet_is_made_by_the_first_who_needs_it(world: World) -> None:
    shutil.rmtree(world.home)
    for words in (*FREE, *PROFILES):
        assert world.helm(*words).status == 0
    assert not world.home.exists()
    assert world.helm(*RECENT).status == 3
    assert (world.home.stat().st_mode & 0o777, world.home.stat().st_uid) == (0o700, user())


def test_a_link_to_a_folder_of_ones_own_is_a_home(world: World) -> None:
    elsewhere = world.folder / "user" / "elsewhere"
    world.home.rename(elsewhere)
    world.home.symlink_to(elsewhere)
    for words in (*FREE, *PROFILES, *ONE, *STATE, RECENT, WRITING[3]):
        assert world.helm(*words).status == 0, words
    assert world.home.is_symlink()
    world.home.unlink()
    shutil.rmtree(elsewhere)


@pytest.mark.parametrize("given", ["", "relative", None])
def test_without_a_known_home_what_needs_none_works(world: World, given: str | None) -> None:
    env = {"HOME": given}
    before = world.seen()
    for words in FREE:
        assert world.helm(*words, env=env).status == 0, words
    if given is not None or user() == NOBODY:
        # What the system says where HOME does not is, of this user, a folder that nobody can make.
        for words in (RECENT, CLOSE, *STATE, WRITING[3]):
            ran = world.helm(*words, env=env)
            assert (ran.status, ran.err.count("\n")) == (1, 1), (words, ran)
    assert world.seen() == before


def test_a_home_named_by_the_variable_goes_first(world: World) -> None:
    env = {"HOME": "", "HELM_CLI_HOME": str(world.home)}
    assert PASSES in world.helm(*RECENT, env=env).out
