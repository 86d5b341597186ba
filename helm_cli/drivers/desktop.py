"""How the desktop is asked to tell the person something, where there is one: by the program that the platform has."""

import os
import shutil
import sys
from contextlib import suppress
from typing import Final

# All that such a program needs, and nothing of what else the caller's environment may hold.
_LENT: Final = (
    "PATH",
    "HOME",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "DBUS_SESSION_BUS_ADDRESS",
)
_SCRIPT: Final = ("on run told", "display notification (item 2 of told) with title (item 1 of told)", "end run")


def notify(title: str, text: str) -> None:
    """Show a notification, or do nothing where the platform has no way to; never waits, and never fails."""
    command = _command(title, text)
    if command is None:
        return
    import subprocess
    import threading

    try:
        process = subprocess.Popen(
            command,
            env={name: os.environ[name] for name in _LENT if name in os.environ},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return
    # Only so that a long-lived helm keeps no ended child.
    with suppress(RuntimeError):  # where no thread can be had
        threading.Thread(target=process.wait, daemon=True).start()


def _command(title: str, text: str) -> list[str] | None:
    if sys.platform == "darwin":
        script = [word for line in _SCRIPT for word in ("-e", line)]
        return ["/usr/bin/osascript", *script, title, text]
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return None
    program = shutil.which("notify-send")
    # The text, unlike the title, is taken for markup.
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return [program, "--app-name=helm", "--", title, plain] if program else None
