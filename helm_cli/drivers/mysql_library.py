"""How mysql.connector's own Python code is loaded without the parts of it that helm does not use."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mysql.connector.connection import MySQLConnection
    from mysql.connector.constants import ClientFlag, ServerCmd
    from mysql.connector.errors import Error

__all__ = ["ClientFlag", "Error", "MySQLConnection", "ServerCmd"]

_PACKAGE: Final = "mysql.connector"
_TRACING: Final = "mysql.connector.opentelemetry.constants"


def _load() -> tuple[Any, Any, Any]:
    """`connection`, `constants` and `errors`.

    `import mysql.connector` also looks for its C library, which helm never uses, and for pools and option files;
    and it loads OpenTelemetry where another package brought that, a fifth of the whole time. So the package stands
    there unexecuted, and its tracing as switched off, while the three load; then their names are free again.
    """
    stand_ins = {}
    spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
    if spec is not None:
        stand_ins = {_PACKAGE: module_from_spec(spec), _TRACING: _no_tracing()}
        sys.modules.update(stand_ins)
    try:
        connection, constants, errors = (
            import_module(f"{_PACKAGE}.{name}") for name in ("connection", "constants", "errors")
        )
    finally:
        for name in stand_ins:
            del sys.modules[name]
    return connection, constants, errors


def _no_tracing() -> ModuleType:
    stand_in = ModuleType(_TRACING)
    # The other names in it are only used where tracing is on.
    vars(stand_in).update(OTEL_ENABLED=False, __getattr__=lambda name: name)
    return stand_in


if not TYPE_CHECKING:
    _connection, _constants, _errors = _load()
    MySQLConnection, Error = _connection.MySQLConnection, _errors.Error
    ClientFlag, ServerCmd = _constants.ClientFlag, _constants.ServerCmd
