"""The part of each script that is the same whatever commands there are, and how the rest is put into it."""

import os
from collections.abc import Iterable

from helm_cli.shells.words import PROGRAMS


def filled(suffix: str, programs: Iterable[str] = PROGRAMS, between: str = " ", **parts: str) -> str:
    """The script of the shell whose files end so, each `@name@` in it replaced by that part.

    `between` stands between the names of the programs.
    """
    path = os.path.join(os.path.dirname(__file__), f"frame.{suffix}")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = tuple(programs)
    for name, part in {**parts, "programs": between.join(names), "program": names[0]}.items():
        text = text.replace(f"@{name}@", part)
    return text
