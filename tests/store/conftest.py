"""What tests of the store share."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helm_cli.store.database import open_state


@pytest.fixture
def db(home: Path) -> Iterator[sqlite3.Connection]:
    """The open state of a fresh home."""
    with closing(open_state(home)) as state:
        yield state
