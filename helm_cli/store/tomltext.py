"""How the TOML files that people may edit are read, and how a fault in one of them is told."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from helm_cli.model.errors import HelmError
from helm_cli.model.wording import meant

# What helm itself writes: bare keys, plain strings, whole numbers. Reading that needs no parser, which would cost a
# call two milliseconds; anything else is left to tomllib.
_PLAIN: Final = re.compile(r'([A-Za-z_]{1,40}) = (?:"([^"\\\x00-\x1f\x7f]*)"|(0|[1-9][0-9]{0,8}))')
# Enough of a key that is not helm's to know it by.
_TOLD: Final = 60
_LONGEST: Final = 160
_IDLE: Final = re.compile(r"(?:#[^\x00-\x1f\x7f]*)?")


def table(data: bytes, path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises HelmError("state") that names the file and the place in it."""
    try:
        return parsed(data)
    except ValueError as error:
        raise fault(path, str(error)) from None


def parsed(data: bytes) -> dict[str, Any]:
    """The table of a TOML text. Raises ValueError with a clause that names the place in it."""
    try:
        # Some editors put a byte order mark in front.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    plain = _plain(text)
    if plain is not None:
        return plain
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        clause = str(error)
        if len(clause) > _LONGEST:
            # It repeats a key, and ends with the place.
            clause = f"{clause[:_TOLD]}…{clause[-_TOLD:]}"
        raise ValueError(f"it is no valid TOML: {clause[:1].lower()}{clause[1:]}") from None


def fault(path: Path, sentence: str) -> HelmError:
    """HelmError("state") for something wrong in a file; the sentence says what."""
    return HelmError("state", f"{path} cannot be used: {sentence}; correct the file")


def strange(key: str, known: Iterable[str]) -> str:
    """The clause for a key that means nothing there, with the likely one that was meant."""
    names = list(known)
    near = meant(key, names)
    hint = f"did you mean {near}?" if near else f"known are {', '.join(names)}" if names else "none is known there"
    return f"the key {key if len(key) <= _TOLD else f'{key[:_TOLD]}…'} is unknown ({hint})"


def _plain(text: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for line in text.split("\n"):
        if _IDLE.fullmatch(line):
            continue
        match = _PLAIN.fullmatch(line)
        if match is None or match[1] in found:
            return None
        found[match[1]] = int(match[3]) if match[3] else match[2]
    return found
