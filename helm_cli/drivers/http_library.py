"""How httpx is loaded without the command line that it brings along."""

import sys
from typing import Any, Final, cast

# httpx loads its own command line wherever click and rich happen to be installed: a third of its whole time. Where
# that module cannot be imported it does without, as it says itself; then the name is free again.
_COMMAND_LINE: Final = "httpx._main"

_loaded = cast(dict[str, Any], sys.modules)
_stands_in = "httpx" not in _loaded
if _stands_in:
    _loaded[_COMMAND_LINE] = None
try:
    import httpx
finally:
    if _stands_in:
        del _loaded[_COMMAND_LINE]

__all__ = ["httpx"]
