"""MySQL keeps what every database driver keeps."""

import pytest

from tests.rig.mariadb import MariaDb
from tests.suites.driver import Bench, DriverSuite


class TestMysql(DriverSuite):
    """On a real MariaDB."""

    @pytest.fixture
    def bench(self, mariadb: MariaDb) -> Bench:
        return mariadb.bench()
