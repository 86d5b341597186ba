"""Only what is needed of mysql.connector is loaded, and the whole of it can be had afterwards."""

import sys

from tests.program import run

LOADS = """
import sys
import helm_cli.drivers.mysql
for name in ("mysql.connector", "mysql.connector.pooling", "mysql.connector.connection_cext", "opentelemetry"):
    assert name not in sys.modules, name
import mysql.connector
import mysql.connector.opentelemetry.constants as tracing
assert mysql.connector.connect and tracing.OPTION_CNX_SPAN == "_span"
assert helm_cli.drivers.mysql_library.MySQLConnection is mysql.connector.MySQLConnection
"""
AFTERWARDS = """
import mysql.connector
import helm_cli.drivers.mysql_library as library
assert library.MySQLConnection is mysql.connector.MySQLConnection and library.Error is mysql.connector.Error
"""


def test_what_is_loaded() -> None:
    for program in (LOADS, AFTERWARDS):
        assert run([sys.executable, "-c", program]) == (0, "", "")
