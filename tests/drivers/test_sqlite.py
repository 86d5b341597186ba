"""SQLite keeps what every database driver keeps."""

import pytest

from helm_cli import drivers
from helm_cli.model.errors import HelmError
from tests.suites.driver import DriverSuite


class TestSqlite(DriverSuite):
    """The bench is that of this folder's conftest."""


def test_a_driver_that_is_not_there_is_refused() -> None:
    with pytest.raises(HelmError, match=r"^this version of helm cannot call oracle yet; update helm$"):
        drivers.driver("oracle")
