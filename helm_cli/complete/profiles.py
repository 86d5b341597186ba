"""The names of the profiles, each with a word of what it is, read as little as that takes."""

import os
import string
from collections.abc import Iterator
from typing import Final

GROUPS: Final = ("db", "service", "mcp")

_SUFFIX: Final = ".toml"
_FIRST: Final = frozenset(string.ascii_lowercase + string.digits)
_ALL: Final = _FIRST | frozenset("._-")
_MOST_CHARACTERS: Final = 64
_MOST_BYTES: Final = 4096


def named(home: str, group: str) -> Iterator[tuple[str, str]]:
    """Each profile of a group, sorted, and what it is in a word. Raises OSError."""
    folder = _folder(home, group)
    stems = (name.removesuffix(_SUFFIX) for name in os.listdir(folder) if name.endswith(_SUFFIX))
    for stem in sorted(filter(_is_name, stems)):
        yield stem, _about(group, _values(os.path.join(folder, stem + _SUFFIX)))


def every(home: str) -> Iterator[tuple[str, str]]:
    """Each profile of every group as GROUP/NAME. Raises OSError."""
    for group in GROUPS:
        if os.path.isdir(_folder(home, group)):
            yield from ((f"{group}/{name}", about) for name, about in named(home, group))


def _folder(home: str, group: str) -> str:
    return os.path.join(home, "profiles", group)


def _is_name(stem: str) -> bool:
    return 0 < len(stem) <= _MOST_CHARACTERS and stem[0] in _FIRST and _ALL.issuperset(stem)


def _about(group: str, values: dict[str, str]) -> str:
    if group == "db":
        return values.get("engine", "")
    if group == "mcp":
        return "over HTTP" if "url" in values else "a command" if "command" in values else ""
    return "OAuth2" if "client_id" in values else "token" if "credential" in values else ""


def _values(path: str) -> dict[str, str]:
    """What stands in plain lines at the top of a profile's file; no more is needed, and no more is understood."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, _MOST_BYTES).decode(errors="replace")
        finally:
            os.close(descriptor)
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}
