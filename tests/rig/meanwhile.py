"""What somebody else does at one exact moment of this process: just before it calls a function of the system."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def just_before(called: Callable[..., object], act: Callable[[], object], times: int = 1) -> Iterator[None]:
    """Before each of so many calls that this thread makes of a built-in function, such as `os.link`, the act is done.

    The block must make as many.
    """
    left = times

    def watch(_frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if event == "c_call" and function is called and left:
            left -= 1
            act()

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)
    assert left == 0, f"it was called {times - left} times"
