"""What a home keeps of secrets, and which of its files hold one."""

import json
from pathlib import Path


def kept(home: Path) -> dict[str, str]:
    """The secrets in the file, by account, without the digests that they carry."""
    file = home / "credentials.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    return {account: value.partition(" ")[2] for account, value in found.items()}


def holding(home: Path, secret: str) -> list[str]:
    """The names of the files that hold this very text."""
    return [path.name for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
