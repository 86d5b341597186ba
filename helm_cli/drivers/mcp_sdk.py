"""Which parts of the MCP SDK helm talks with, imported without its servers and web frameworks, which cost as much.

`import mcp` brings them all. So while a part is imported, two empty packages stand in for `mcp` and `mcp.client`; where
that fails, because another release of the SDK is laid out differently, the part is imported as anybody would.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.client import session as session
    from mcp.shared import exceptions as exceptions
    from mcp.shared import jsonrpc_dispatcher as jsonrpc_dispatcher
    from mcp.shared import message as message


def imported(name: str) -> ModuleType:
    """A module of the SDK by its whole name, with as little of the rest as possible; not while another imports it."""
    before = {known for known in sys.modules if known.partition(".")[0] == "mcp"}
    if "mcp" not in before:
        try:
            with _alone(), _unhindered():
                return import_module(name)
        except (ImportError, AttributeError):
            for known in [*sys.modules]:
                if known.partition(".")[0] == "mcp" and known not in before:
                    del sys.modules[known]
    return import_module(name)


@contextmanager
def _alone() -> Iterator[None]:
    """While the block runs, the SDK's packages are there, without what they import of themselves."""
    found = PathFinder.find_spec("mcp")
    if found is None or not found.submodule_search_locations:
        raise ImportError("the MCP SDK is no folder")
    place = found.submodule_search_locations[0]
    try:
        for name, path in (("mcp", place), ("mcp.client", f"{place}/client")):
            package = ModuleType(name)
            package.__path__ = [path]
            sys.modules[name] = package
        yield
    finally:
        # Whoever wants the whole SDK later gets it, with the modules that are there already.
        for name in ("mcp.client", "mcp"):
            sys.modules.pop(name, None)


@contextmanager
def _unhindered() -> Iterator[None]:
    """Without collections of garbage, of which an import that makes 300 classes has little and looks for it much."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


if not TYPE_CHECKING:
    session = imported("mcp.client.session")
    exceptions = sys.modules["mcp.shared.exceptions"]
    jsonrpc_dispatcher = sys.modules["mcp.shared.jsonrpc_dispatcher"]
    message = sys.modules["mcp.shared.message"]
