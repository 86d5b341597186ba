"""What every test stands on: a home of its own, pinned surroundings, the real program, and no test left out."""

import os
import re
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from tests.program import ROOT, Helm
from tests.rig import mariadb as mariadb_rig
from tests.rig.keyring_session import KeyringSession, keyring_session
from tests.rig.mariadb import MariaDb
from tests.rig.postgres import Postgres, running

# What the machine of whoever runs the tests must not lend them, but for their word that they want the long form.
NOT_LENT: Final = re.compile(
    r"HELM_(?!TEST_LONG$).*|PYTHON.*|XDG_.*|GIT_.*|PG.*|DBUS_.*|(?i:(https?|all|no|ftp)_proxy)|LANG|LANGUAGE|LC_.*"
    r"|DATABASE_URL|GH_CONFIG_DIR|NETRC"
    r"|NO_COLOR|(CLI)?COLOR.*|(CLICOLOR_)?FORCE_COLOR|TTY_.*|EDITOR|VISUAL|PAGER|LESS|BROWSER|DISPLAY|WAYLAND_DISPLAY|SSH_.*|GPG_.*"
)
PINNED: Final = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
CONTRACT_ITEM: Final = re.compile(r"[CP][1-9]\d*")

# Signals that were ignored where the tests were started (nohup, a job in the background) would be ignored by all of it.
for ignored in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# Fixtures of a module or of the session begin before a test has surroundings of its own.
for lent in filter(NOT_LENT.fullmatch, list(os.environ)):
    del os.environ[lent]
os.environ.update(PINNED, PYTHONPATH=str(ROOT))

hypothesis.settings.register_profile("house", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("house")


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fresh HOME and an empty current folder; nothing of the machine's settings; umask 022."""
    own = tmp_path_factory.mktemp("own")
    for folder in ("home", "here"):
        (own / folder).mkdir()
    for name in filter(NOT_LENT.fullmatch, list(os.environ)):
        monkeypatch.delenv(name)
    for name, value in PINNED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(own / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(own / "here")
    time.tzset()
    umask = os.umask(0o022)
    yield
    os.umask(umask)


@pytest.fixture
def home() -> Path:
    """Where helm keeps its state in this test: `.helm` in the fresh HOME, not created."""
    return Path(os.environ["HOME"]) / ".helm"


@pytest.fixture
def helm() -> Helm:
    """The real program, as a process: `helm("call", …, env=…, cwd=…, stdin=…) -> Finished(status, out, err)`."""
    return Helm()


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyringSession]:
    """A session with an unlocked GNOME Keyring, which this process and its children find."""
    (tmp_path / "keyring").mkdir()
    with keyring_session(tmp_path / "keyring") as session:
        for name, value in session.environment.items():
            monkeypatch.setenv(name, value)
        yield session


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    """A real MariaDB, likewise."""
    with mariadb_rig.running() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real Postgres server, started with the first test that asks for it."""
    with running() as server:
        yield server


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether what is generated is to be written anew, in place of being compared."""
    return bool(request.config.getoption("--update"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write completions/ and man/ anew, before they are compared")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuses a `contract` mark that names no item of the checklist, for it would prove nothing."""
    for item in items:
        for mark in item.iter_markers("contract"):
            if not mark.args or mark.kwargs or not all(_is_contract_item(name) for name in mark.args):
                raise pytest.UsageError(f"{item.nodeid}: contract{mark.args} must name items such as C22 or P4")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skipped, xfailed or xpassed test is a failed one: what cannot be tested here is not known to work."""
    report = yield
    if report.skipped or hasattr(report, "wasxfail"):
        _fail(report, getattr(report, "wasxfail", None))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A skipped module is a failed one, likewise."""
    report = yield
    if report.skipped:
        _fail(report, None)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport, reason: str | None) -> None:
    if reason is None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    vars(report).pop("wasxfail", None)
    report.outcome = "failed"
    report.longrepr = f"Every test must run and pass; this one was left out: {reason}"


def _is_contract_item(name: object) -> bool:
    return isinstance(name, str) and CONTRACT_ITEM.fullmatch(name) is not None
