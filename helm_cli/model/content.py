"""How an extension's folder becomes one digest, and the limits of what a folder may hold."""

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

MOST_FILES: Final = 1_000
MOST_BYTES_A_FILE: Final = 4 * 1024 * 1024
MOST_BYTES: Final = 16 * 1024 * 1024


class Content(NamedTuple):
    """The covered files of an extension: path relative to its folder ("/" between segments) -> bytes."""

    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """`sha256:` and the SHA-256 of one line `<sha256>  <path>` a file, sorted by the bytes of the path.

        The same as `find`, `sha256sum` and `sort` give (design, section 6).
        """
        return digest_of({path: hashlib.sha256(data).hexdigest() for path, data in self.files.items()})


def digest_of(sums: Mapping[str, str]) -> str:
    """The digest of a folder whose files have these SHA-256 sums (lower-case hexadecimal), by path."""
    lines = (f"{sums[path]}  {path}\n" for path in sorted(sums, key=str.encode))
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def covered(name: str) -> bool:
    """Whether a file or folder of this name is read at all (design, section 6)."""
    return not (name.startswith(".") or name.endswith(("~", ".pyc")) or name in ("__pycache__", "node_modules"))
