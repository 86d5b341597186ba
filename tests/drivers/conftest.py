"""A SQLite file for each test."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm_cli.drivers import sqlite_worker
from tests.suites.driver import Bench
from tests.suites.sqlite import tickets_file


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A file `app.db`, alone in its folder, with the table `tickets`."""
    folder = tmp_path / "data"
    folder.mkdir()
    return tickets_file(folder / "app.db")


@pytest.fixture
def path(bench: Bench) -> Path:
    assert bench.profile.path is not None
    return Path(bench.profile.path)


@pytest.fixture
def fresh() -> Iterator[None]:
    """The next SQLite call is the first of its process, and the last one of the test is its last."""
    _end_idle_ones()
    yield
    _end_idle_ones()


def _end_idle_ones() -> None:
    for pid in sqlite_worker.idle():
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
