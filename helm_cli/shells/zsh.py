"""The completion of zsh: every word with what it does, as `_describe` shows it."""

from collections.abc import Iterable, Iterator

from helm_cli.model.command import Command, Option
from helm_cli.shells import frame, words
from helm_cli.shells.words import PROGRAMS


def script(tree: Command, programs: Iterable[str] = PROGRAMS) -> str:
    """The whole script, for helm under these names."""
    return frame.filled("zsh", programs, commands="\n".join(_commands(tree)), places="\n".join(_places(tree)))


def _commands(tree: Command) -> Iterator[str]:
    for command in words.every(tree):
        yield f"    {_quoted(' '.join(command.path))})"
        if command.commands:
            yield from _list("commands_", [(below.name, below.summary) for below in command.commands])
        yield from _list("options_", [(_names(option), option.help) for option in words.options(command)])
        yield "        ;;"


def _names(option: Option) -> str:
    return ",".join(option.names) + "+" * option.repeats


def _list(name: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"        {name}=("
    yield from (f"            {_quoted(f'{word}:{about}' if about else word)}" for word, about in entries)
    yield "        )"


def _places(tree: Command) -> Iterator[str]:
    for kind, keys in words.by_kind(tree).items():
        yield f"    {' | '.join(_quoted(key) for key in keys)})"
        yield f"        kind=({' '.join((kind.way, *kind.words))})"
        yield "        ;;"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
