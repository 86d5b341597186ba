"""The completion of PowerShell: tables by path, and one completer that walks the line.

It was written for PowerShell 7 and has not been run: no test of ours has one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.model.command import Command, Option
from helm_cli.shells import frame, words
from helm_cli.shells.words import PROGRAMS

# PowerShell takes the quotes of print for its own.
_QUOTES: Final = re.compile("(['\u2018\u2019\u201a\u201b])")


def script(tree: Command, programs: Iterable[str] = PROGRAMS) -> str:
    """The whole script, for helm under these names."""
    return frame.filled(
        "ps1",
        programs,
        between="', '",
        commands="\n".join(_commands(tree)),
        options="\n".join(_options(tree)),
        places="\n".join(_places(tree)),
    )


def _commands(tree: Command) -> Iterator[str]:
    for command in words.every(tree):
        if command.commands:
            yield from _table("commands", command, [(below.name, below.summary) for below in command.commands])


def _options(tree: Command) -> Iterator[str]:
    for command in words.every(tree):
        yield from _table("options", command, [(_names(option), option.help) for option in words.options(command)])


def _names(option: Option) -> str:
    return ",".join(option.names) + "+" * option.repeats


def _table(name: str, command: Command, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"    ${name}[{_quoted(' '.join(command.path))}] = @("
    yield ",\n".join(f"        {_quoted(f'{word}|{about}')}" for word, about in entries)
    yield "    )"


def _places(tree: Command) -> Iterator[str]:
    for kind, keys in words.by_kind(tree).items():
        listed = ", ".join(_quoted(word) for word in (kind.way, *kind.words))
        yield from (f"    $places[{_quoted(key)}] = @({listed})" for key in keys)


def _quoted(text: str) -> str:
    return "'" + _QUOTES.sub(r"\1\1", text) + "'"
