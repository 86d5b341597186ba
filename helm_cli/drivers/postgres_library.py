"""How libpq is loaded through psycopg without the greater part of psycopg, which helm does not use."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg.errors import Error
    from psycopg.pq.abc import PGcancelConn, PGconn, PGresult

__all__ = ["Error", "PGcancelConn", "PGconn", "PGresult"]


def _load() -> tuple[Any, Any]:
    """`psycopg.pq` and `psycopg.errors`.

    `import psycopg` runs the whole package, which takes twice the time of these two. They need only its name and
    its folder, and so it stands there unexecuted while they load; then the name is free for whoever wants it whole.
    """
    spec = None if "psycopg" in sys.modules else find_spec("psycopg")
    if spec is not None:
        sys.modules["psycopg"] = module_from_spec(spec)
    try:
        return import_module("psycopg.pq"), import_module("psycopg.errors")
    finally:
        if spec is not None:
            del sys.modules["psycopg"]


if not TYPE_CHECKING:
    _pq, _errors = _load()
    Error = _errors.Error
    PGconn, PGresult, PGcancelConn = _pq.PGconn, _pq.PGresult, _pq.PGcancelConn
