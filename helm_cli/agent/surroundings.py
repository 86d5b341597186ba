"""Which of the caller's surroundings the agent keeps, and how a call tells whether its own are the same."""

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from helm_cli.model.jsontext import digest

# What the agent is started with. Everything else of the caller's environment may be a secret, or be read by a
# library: the rest of its life it would be there, in /proc too, for whoever looks. These are what helm itself reads
# (HELM_CLI_*), what MCP servers get (HOME to USER), where the keychain is (DBUS_*, XDG_*), how services are reached
# (proxies, SSL_CERT_*), and what decides about texts, times and temporary files.
_KEPT: Final = re.compile(
    r"HELM_CLI_[A-Z_]+|HOME|LOGNAME|PATH|SHELL|TERM|USER|DBUS_SESSION_BUS_ADDRESS|XDG_[A-Z_]+"
    r"|SSL_CERT_(FILE|DIR)|(?i:(https?|all|no|ftp)_proxy)|LANG|LANGUAGE|LC_[A-Z_]+|TZ|TMPDIR"
)

# What a call may depend on, whatever it calls.
_ALWAYS: Final = re.compile(
    r"HOME|HELM_CLI_CREDENTIALS|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|SSL_CERT_(FILE|DIR)|TZ"
    r"|(?i:(https?|all|no|ftp)_proxy)"
)
# What only a program that a call starts depends on. TERM is left out: a server talks to no terminal.
_STARTING: Final = ("LOGNAME", "PATH", "SHELL", "USER")
# The drivers that start one.
STARTING: Final = frozenset(("mcp", "tdt"))

# A umask is only told by changing it, for all threads.
_lock: Final = Lock()

# Processes that see other files, other hosts or other users under the same names.
_SPACES: Final = ("mnt", "net", "user")


def environment(home: Path) -> dict[str, str]:
    """The environment of an agent of this home that is started from here."""
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    kept.pop("HELM_CLI_WORKSPACE", None)  # each call says its own
    # Where each thread keeps what it frees to itself, as glibc does, memory grows with the number of threads.
    return {**kept, "HELM_CLI_HOME": str(home), "MALLOC_ARENA_MAX": "2"}


def always(home: Path) -> dict[str, str]:
    """What every call from here depends on, each as a short digest by its name: values are nobody else's business."""
    found = {name: value for name, value in os.environ.items() if _ALWAYS.fullmatch(name)}
    spaces = {f"namespace {name}": _space(name) for name in _SPACES}
    ids = " ".join(map(str, (os.geteuid(), os.getegid(), *sorted(os.getgroups()))))
    return _short({**found, **spaces, "user": ids, "file names": sys.getfilesystemencoding(), "home": str(home)})


def starting() -> dict[str, str]:
    """What a program that is started from here depends on beside that, likewise."""
    with _lock:
        umask = os.umask(0o077)
        os.umask(umask)
    found = {name: os.environ[name] for name in _STARTING if name in os.environ}
    return _short({**found, "umask": f"{umask:o}"})


def summary(parts: Mapping[str, str]) -> str:
    """One digest of them all."""
    return digest(dict(parts))


def differing(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """The names of what differs."""
    return sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))


def _short(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for name, value in values.items()
    }


def _space(name: str) -> str:
    with suppress(OSError):
        return os.readlink(f"/proc/self/ns/{name}")
    return ""
