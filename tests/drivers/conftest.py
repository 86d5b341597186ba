"""A SQLite file for each test."""

from pathlib import Path

import pytest

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
