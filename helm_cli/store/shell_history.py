"""What a person typed in the database shell, kept for the next time: which lines, and for how long."""

import re
from pathlib import Path
from typing import Final

from helm_cli.model import jsontext
from helm_cli.store import home as homes

NAME: Final = "shell-history"
MOST_LINES: Final = 2_000
MOST_CHARACTERS: Final = 8_192
MOST_BYTES: Final = 1024 * 1024
WAIT_SECONDS: Final = 5.0

# Statements that set a secret, functions that take one, and URLs that hold one, in whichever engine. Rather one line
# too few than one secret on the disk.
_SECRET: Final = re.compile(
    r"passw|passphrase|pwd|identified|secret|token|credential|api_?key|private_?key|access_?key"
    r"|crypt|digest\s*\(|sha[12]?\s*\(|md5\s*\(|hmac"
    r"|(?:create|alter|set|drop)\s+(?:user|role|server|login|default\s+role|session\s+authorization)\b"
    r"|user\s+mapping|change\s+(?:master|replication)|dblink|create\s+subscription"
    r"|bearer|authorization|\b(?:re)?key\s*=?\s*x?['\"]|-----begin"
    r"|\bAKIA[0-9A-Z]|\bgh[pousr]_|\bgithub_pat_|\bsk[-_]|\bxox[abprs]-|\beyJ[\w-]+\."
    r"|[a-z][a-z0-9+.-]*://[^\s/@]+@",
    re.IGNORECASE,
)


def may_keep(text: str) -> bool:
    """Whether a line may be kept: none that begins with a space, is empty or huge, or may hold a secret."""
    return bool(text.strip()) and text[0] != " " and len(text) <= MOST_CHARACTERS and not _SECRET.search(text)


def load(home: Path) -> list[str]:
    """The kept lines, oldest first; what cannot be understood is left out. Raises HelmError("state")."""
    data = homes.read(home / NAME)
    return [] if data is None else list(filter(None, map(_line, data.split(b"\n"))))


def keep(home: Path, text: str) -> None:
    """Add a line that may be kept; the newest 2,000 stay. Several shells may do so at once. HelmError("state")."""
    if not may_keep(text):
        return
    homes.prepare(home)
    with homes.locked(home / f"{NAME}.lock", WAIT_SECONDS):
        lines = [line for line in load(home) if line != text]
        homes.write_private(home / NAME, _newest([*lines, text]))


def _newest(lines: list[str]) -> bytes:
    kept: list[bytes] = []
    size = 0
    for line in reversed(lines[-MOST_LINES:]):
        raw = jsontext.dump(line).encode("utf-8", "replace") + b"\n"
        size += len(raw)
        if size > MOST_BYTES:
            break
        kept.append(raw)
    return b"".join(reversed(kept))


def _line(raw: bytes) -> str | None:
    try:
        line = jsontext.parse(raw)
    except ValueError:
        return None
    return line if isinstance(line, str) else None
