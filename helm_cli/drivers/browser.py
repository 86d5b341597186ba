"""How an address is shown in the person's own browser: a graphical one, or the one that BROWSER names, and no other."""

import os
import sys
from collections.abc import Iterator
from typing import Final

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")
_OPENERS: Final = (["xdg-open"], ["gio", "open"], ["x-www-browser"])


def show(address: str) -> bool:
    """Start a browser on this address, without waiting for it. False where there is none to start.

    What is started gets no terminal, so that a browser in text can do nothing in it.
    """
    import shutil
    import subprocess

    for command in _commands(address):
        if shutil.which(command[0]) is None:
            continue
        try:
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            continue
        return True
    return False


def _commands(address: str) -> Iterator[list[str]]:
    """What to try, in order. An editor's remote terminal has no display, but a BROWSER that reaches the person."""
    import shlex

    for text in os.environ.get("BROWSER", "").split(os.pathsep):
        try:
            words = shlex.split(text)
        except ValueError:
            continue
        if words:
            yield [word.replace("%s", address) for word in words] if "%s" in text else [*words, address]
    if sys.platform == "darwin":
        yield ["/usr/bin/open", address]
    elif any(os.environ.get(name) for name in _DISPLAYS):
        yield from ([*opener, address] for opener in _OPENERS)
