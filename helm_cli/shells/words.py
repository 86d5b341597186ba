"""What may stand where on a command line: fixed words, files, or names that only the program itself knows here."""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from helm_cli.model.command import Argument, Command, Option
from helm_cli.model.errors import EXIT
from helm_cli.model.plugin import DRAFT_KINDS
from helm_cli.model.profile import ENGINES

PROGRAMS: Final = ("helm", "helm-cli")
SHELLS: Final = ("bash", "zsh", "fish", "powershell")
HELP: Final = Option(("--help", "-h"), None, "Show this help and leave.", False)
# No command takes more words than these one by one; of those that it takes without an end, so many are completed.
MOST_ARGUMENTS: Final = 9

Way = Literal["none", "words", "ask", "file", "folder", "at-file", "variable", "program"]


class Kind(NamedTuple):
    """What completes one value: `words` are the fixed ones, or for "ask" the one thing that the program is asked.

    "none" is a value that nobody but the person knows. "at-file" is a file after an @, "variable" the name of one of
    the environment, "program" a command of the system.
    """

    way: Way
    words: tuple[str, ...] = ()


class Place(NamedTuple):
    """One value on the command line of a command: what it is called there (an option's name, or which argument it is,
    from 0), and what completes it.
    """

    command: Command
    key: str
    kind: Kind


_FREE: Final = Kind("none")
_FILE: Final = Kind("file")
_FOLDER: Final = Kind("folder")


def _words(*words: str) -> Kind:
    return Kind("words", words)


def _ask(what: str) -> Kind:
    return Kind("ask", (what,))


_MANIFESTS: Final = _words("manifest.json", "plugin.yaml")
_OUTCOMES: Final = _words("ok", "failed", "running", *EXIT)

# What a value is called in the usage of a command -> what it is. Of formats those count that its help names.
NAMED: Final[dict[str, Kind]] = {
    "CODE": _OUTCOMES,
    "DIR": _FOLDER,
    "ENGINE": _words(*ENGINES),
    "FILE": _FILE,
    "FILE|-": _FILE,
    "FORMAT": _words(
        *("auto", "json", "pretty", "data", "table", "csv", "tsv", "ndjson", "text"), "bearer", "raw", "github"
    ),
    "GROUP/NAME": _ask("profile"),
    "JSON|@FILE|-": Kind("at-file"),
    "@FILE|-": Kind("at-file"),
    "KIND": _words(*DRAFT_KINDS),
    "M": _words("GET", "POST", "PUT", "PATCH", "DELETE"),
    "MODE": _words("disable", "require", "verify-full"),
    "PATH": _FILE,
    "PROFILE": _words("read-only", "everyday"),
    "RUN": _ask("run"),
    "S": _ask("service"),
    "SERVICE": _ask("service"),
    "SHELL": _words(*SHELLS),
    "VAR": Kind("variable"),
    **dict.fromkeys(
        ("CRON", "DIGEST", "HOST", "ID", "KEY", "N", "NAME", "NAME=VALUE", "P", "PORT", "ROLE", "SECONDS", "SQL"), _FREE
    ),
    **dict.fromkeys(("TEXT", "TITLE", "TOOL", "URL", "USER", "USER…", "VALUE", "WHEN", "-- COMMAND ARG…"), _FREE),
}

# The same for one command: its path and the option or the argument -> what it is.
PLACED: Final[dict[str, Kind]] = {
    "call CONNECTION": _ask("connection"),
    "call OPERATION": _ask("operation"),
    "call --plugin": _ask("plugin"),
    "call --arg": _ask("argument"),
    "call --arg-str": _ask("argument"),
    "confirm ID": _ask("confirmation"),
    "draft add --plugin": _ask("team"),
    "draft add --run": _ask("run"),
    "draft ID": _ask("draft"),
    "draft publish --via": _ask("via"),
    "draft publish --arg": _ask("publish"),
    "history --plugin": _ask("plugin"),
    "history --connection": _ask("connection"),
    "history --operation": _ask("operation"),
    "mcp serve --run": _ask("run"),
    "plugin ID": _ask("plugin"),
    "plugin approvers ID": _ask("team"),
    "plugin approvers ROLE": _ask("role"),
    "plugin bind ID": _ask("team"),
    "plugin bind TOOL": _ask("tool"),
    "plugin new PATH": _FOLDER,
    "plugin new --dialect": _MANIFESTS,
    "plugin reference --dialect": _MANIFESTS,
    "plugin run ID": _ask("team"),
    "plugin run --arg": _ask("field"),
    "plugin run --event": _words("github.release"),
    "plugin run --schedule": _ask("schedule"),
    "plugin schema --dialect": _MANIFESTS,
    "plugin settings ID": _ask("team"),
    "plugin settings set|unset": _words("set", "unset"),
    "plugin settings KEY": _ask("setting"),
    "plugin settings --service": _ask("service"),
    "plugin usage ID": _ask("team"),
    "project ID": _ask("project"),
    "project PATH": _FOLDER,
    "db import SOURCE": _words("env", "pg-service", "pgpass", "my.cnf"),
    "service import SOURCE": _words("gh", "netrc"),
    "db NAME": _ask("db"),
    "db add NAME": _FREE,
    "service NAME": _ask("service"),
    "service add NAME": _FREE,
    "mcp NAME": _ask("mcp"),
    "mcp add NAME": _FREE,
}
_AFTER_DASHES: Final = "-- "


def every(command: Command) -> Iterator[Command]:
    """The command and all that stand under it, in the order of help."""
    yield command
    for below in command.commands:
        yield from every(below)


def options(command: Command) -> tuple[Option, ...]:
    """What may be typed with a hyphen after a command: its options, and the help that each has."""
    return (*command.options, HELP)


def places(command: Command) -> Iterator[Place]:
    """Every value on the command line of a command, options before arguments."""
    for option in command.options:
        if option.value is not None:
            kind = _kind(command, option.names, option.value, option.help)
            yield from (Place(command, name, kind) for name in option.names)
    for at, argument in enumerate(command.arguments):
        first, rest = _argument(command, argument)
        yield Place(command, str(at), first)
        if argument.rest:
            yield from (Place(command, str(later), rest) for later in range(at + 1, MOST_ARGUMENTS + 1))


def by_kind(tree: Command) -> dict[Kind, list[str]]:
    """What completes a value -> where: the path of a command, a space and the key of a `Place`."""
    found: dict[Kind, list[str]] = {}
    for command in every(tree):
        for place in places(command):
            found.setdefault(place.kind, []).append(" ".join((*command.path, place.key)))
    return found


def unknown(tree: Command) -> list[str]:
    """The values of which nothing here says what they are, by path and name."""
    values = (
        (command, key, name)
        for command in every(tree)
        for key, name in (
            *((option.names[0], option.value) for option in command.options if option.value is not None),
            *((argument.name, argument.name) for argument in command.arguments),
        )
    )
    return [" ".join((*command.path, key)) for command, key, name in values if _found(command, (key,), name) is None]


def _argument(command: Command, argument: Argument) -> tuple[Kind, Kind]:
    if argument.name.startswith(_AFTER_DASHES):
        return Kind("program"), _FILE
    kind = _kind(command, (argument.name,), argument.name, argument.help)
    return kind, kind


def _kind(command: Command, keys: tuple[str, ...], name: str, help_: str) -> Kind:
    kind = _found(command, keys, name) or _FREE
    if name != "FORMAT":
        return kind
    return kind._replace(words=tuple(word for word in kind.words if re.search(rf"\b{word}\b", help_)))


def _found(command: Command, keys: tuple[str, ...], name: str) -> Kind | None:
    for path in (command.path, command.path[:1]):
        for key in keys:
            if (kind := PLACED.get(" ".join((*path, key)))) is not None:
                return kind
    return NAMED.get(name)
