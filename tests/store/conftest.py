"""What tests of the store share."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.store import shared
from helm_cli.store.database import open_state


@pytest.fixture
def db(home: Path) -> Iterator[sqlite3.Connection]:
    """The open state of a fresh home."""
    with closing(open_state(home)) as state:
        yield state


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that several people may write to, and nobody may take another's file out of."""
    folder = tmp_path / "drafts"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def opened(place: Path) -> Iterator[int]:
    """Its descriptor."""
    with shared.opened(place) as folder:
        yield folder
