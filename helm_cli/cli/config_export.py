"""How an export is written: to standard output, or whole into a file that only the user can read."""

import os
import stat
from pathlib import Path
from typing import Final

from helm_cli.broker import portable
from helm_cli.cli.here import Here, note, tell
from helm_cli.model.errors import HelmError
from helm_cli.store import home as homes
from helm_cli.view.text import shown_lines

OUT: Final = "-"


def run(place: Here, file: str, without: list[str], *, force: bool) -> None:
    """Write what this home has, but for the profiles whose ids are `without`.

    What may be a secret is told. Raises HelmError "refused" where something is one for sure, "conflict" where the
    file is there and `force` is not given, "usage" where it cannot be written, and "state" where this home cannot be
    read.
    """
    found = portable.gathered(place.stores, without)
    _check(place, found)
    text = portable.render(found)
    if file == OUT:
        place.streams.write(shown_lines(text) if place.streams.out_terminal else text)
        return
    _write(file, text.encode(), force=force)
    needing = sum(entry.secret is not None for entry in found.entries)
    told = f"; {needing} of them need their secret there" if needing else ""
    note(place.streams, f"wrote {counted(len(found.entries))} to {file}{told}")


def counted(profiles: int) -> str:
    return "1 profile" if profiles == 1 else f"{profiles} profiles"


def _check(place: Here, found: portable.Portable) -> None:
    for entry in found.entries:
        if names := portable.doubtful(entry.profile):
            tell(place.streams, f"{entry.id} may hold a secret: {', '.join(names)}; look at it before you hand it on")
    telling = {entry: names for entry in found.entries if (names := portable.telling(entry.profile))}
    for entry, names in telling.items():
        tell(place.streams, f"{entry.id} holds what looks like a secret: {', '.join(names)}")
    if telling:
        first = next(iter(telling)).id
        raise HelmError(
            "refused",
            "nothing was exported, for that would stand open in it; give a command its secret by --token-env and a URL"
            f" by --token-stdin, or leave the profile out with --without {first}",
        )
    if names := portable.telling_settings(found.settings):
        told = f"nothing was exported, for {', '.join(names)} in config.toml holds what looks like a secret"
        raise HelmError("refused", f"{told}; take it out")


def _write(file: str, data: bytes, *, force: bool) -> None:
    try:
        # What is replaced is the file that a link leads to.
        path = Path(os.path.realpath(os.path.expanduser(file)))
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise HelmError("usage", f"{file} is not a regular file; name one, or - for standard output")
        placed = homes.put_private(path, data, over=force)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "no path").lower()
        raise HelmError("usage", f"{file} cannot be written ({reason}); name another file") from None
    if not placed:
        raise HelmError("conflict", f"{file} is there already; name another file, or replace it with --force")
