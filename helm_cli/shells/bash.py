"""The completion of bash: tables of words for a shell that has neither descriptions nor tables of its own."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.model.command import Command, Option
from helm_cli.shells import frame, words
from helm_cli.shells.words import PROGRAMS

OTHER: Final = '# helm-cli is helm by another name.\nsource "${BASH_SOURCE[0]%/*}/helm"\n'

_WIDTH: Final = 116
_INDENT: Final = "    "


def script(tree: Command, programs: Iterable[str] = PROGRAMS) -> str:
    """The whole script, for helm under these names."""
    return frame.filled("bash", programs, commands="\n".join(_commands(tree)), places="\n".join(_places(tree)))


def _commands(tree: Command) -> Iterator[str]:
    for command in words.every(tree):
        options = f"options=({' '.join(_option(option) for option in words.options(command))})"
        below = f"commands=({' '.join(one.name for one in command.commands)}) " if command.commands else ""
        yield from _wrapped(f"'{' '.join(command.path)}') {below}{options} ;;", 1)


def _option(option: Option) -> str:
    return ",".join(option.names) + "+" * option.repeats


def _places(tree: Command) -> Iterator[str]:
    for kind, keys in words.by_kind(tree).items():
        yield from _wrapped(" | ".join(f"'{key}'" for key in keys) + ")", 1)
        yield from _wrapped(f"kind=({' '.join((kind.way, *kind.words))}) ;;", 2)


def _wrapped(text: str, levels: int) -> list[str]:
    """The lines of one shell command, those after the first a level deeper."""
    # A quoted path has spaces at which no line may end.
    lines = textwrap.wrap(_glued(text), _WIDTH - 4 * levels, break_long_words=False, break_on_hyphens=False)
    return [
        _INDENT * (levels + (at > 0)) + line.replace("\0", " ") + " \\" * (at < len(lines) - 1)
        for at, line in enumerate(lines)
    ]


def _glued(text: str) -> str:
    parts = text.split("'")
    return "'".join(part.replace(" ", "\0") if at % 2 else part for at, part in enumerate(parts))
