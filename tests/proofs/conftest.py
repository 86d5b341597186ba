"""What the proofs share: the process that forks the program, and a place for each test."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig import http_server, place, stepped
from tests.rig.place import Place
from tests.rig.stepped import Stepped


@pytest.fixture(scope="session")
def stepping() -> Iterator[Stepped]:
    with stepped.stepping() as running:
        yield running


@pytest.fixture
def here(stepping: Stepped) -> Iterator[Place]:
    """An empty home and an empty workspace, beside a server that answers `{}` to everything."""
    # A folder of pytest's own would let no other user in.
    with tempfile.TemporaryDirectory(prefix="helm-place-") as folder, http_server.serving(place.QUIET) as server:
        Path(folder).chmod(0o755)
        yield place.new_place(stepping, Path(folder), server)
