"""The completion of fish: every word with what it does, a tab between the two."""

from collections.abc import Iterable, Iterator
from typing import Final

from helm_cli.model.command import Command, Option
from helm_cli.shells import frame, words
from helm_cli.shells.words import PROGRAMS

OTHER: Final = "# helm-cli is helm by another name.\nsource (status dirname)/helm.fish\n"


def script(tree: Command, programs: Iterable[str] = PROGRAMS) -> str:
    """The whole script, for helm under these names."""
    every = list(words.every(tree))
    return frame.filled(
        "fish",
        programs,
        commands="\n".join(_told((one, [(to.name, to.summary) for to in one.commands]) for one in every)),
        options="\n".join(_told((one, [(_names(to), to.help) for to in words.options(one)]) for one in every)),
        places="\n".join(_places(tree)),
    )


def _names(option: Option) -> str:
    return ",".join(option.names) + "+" * option.repeats


def _told(lists: Iterable[tuple[Command, list[tuple[str, str]]]]) -> Iterator[str]:
    for command, entries in lists:
        if entries:
            yield f"        case {_quoted(' '.join(command.path))}"
            yield "            printf '%s\\t%s\\n' \\"
            lines = [f"                {word} {_quoted(about)}" for word, about in entries]
            yield " \\\n".join(lines)


def _places(tree: Command) -> Iterator[str]:
    for kind, keys in words.by_kind(tree).items():
        yield f"        case {' '.join(_quoted(key) for key in keys)}"
        yield f"            printf '%s\\n' {' '.join((kind.way, *kind.words))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
