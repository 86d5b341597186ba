"""The man pages, made from the command tree: one for helm, one for each group and each command, all of one shape."""

from collections.abc import Iterator
from typing import Final

from helm_cli import __version__
from helm_cli.model.command import Argument, Command, Option
from helm_cli.view import help, manual, mdoc

# Of the release; a page changes with helm, not with the day on which it is made.
DATE: Final = "November 30, 2026"
_EXAMPLE_COLUMNS: Final = 66
_SHARED_FILES: Final = 1


def pages(tree: Command) -> dict[str, str]:
    """The text of every page by its file's name, "helm-db-add.1", for the tree of the whole program."""
    return {f"{_name(command)}.1": "\n".join(_page(tree, command)) + "\n" for command in _every(tree)}


def _every(command: Command) -> Iterator[Command]:
    yield command
    for below in command.commands:
        yield from _every(below)


def _page(tree: Command, command: Command) -> Iterator[str]:
    yield r".\" Made from the commands themselves: see CONTRIBUTING.md."
    yield from (f".Dd {DATE}", f".Dt {_name(command).upper()} 1", f".Os helm {__version__}", ".Sh NAME")
    yield from (f".Nm {_name(command)}", f".Nd {mdoc.prose(_uncapped(command.summary))}", ".Sh SYNOPSIS")
    yield from _synopsis(command)
    yield from (".Sh DESCRIPTION", *_description(command))
    yield from (".Sh OPTIONS", *_options(command))
    if command.commands:
        yield from (".Sh COMMANDS", *_commands(command))
    yield from (".Sh ENVIRONMENT", *_environment(command))
    yield from (".Sh FILES", *_files(command))
    yield from (".Sh EXIT STATUS", *_statuses(command))
    if command.examples:
        yield from (".Sh EXAMPLES", *_examples(command))
    yield from (".Sh SEE ALSO", *_see(tree, command))


def _name(command: Command) -> str:
    return "-".join(("helm", *command.path))


def _uncapped(summary: str) -> str:
    return (summary[:1].lower() + summary[1:]).rstrip(".")


def _synopsis(command: Command) -> Iterator[str]:
    yield ".Nm helm"
    if command.path:
        yield f".Cm {' '.join(command.path)}"
    if command.commands:
        if not command.path:
            yield from (f".Op {_option(option, short=True)}" for option in command.options)
        yield from (".Ar command", ".Op Ar arguments ...")
        return
    for option in command.options:
        yield f".Op {_option(option, short=True)}" + (" ..." if option.repeats else "")
    for one in command.arguments:
        yield f".{_argument(one)}" if one.required else f".Op {_argument(one)}"


def _option(option: Option, *, short: bool = False) -> str:
    """An option in macros: all its names, or for a synopsis one, the longest where it takes a value."""
    names = sorted(option.names, key=len)
    if short:
        names = names[:1] if option.value is None else names[-1:]
    told = " , ".join(f"Fl {mdoc.code(name[1:])}" for name in names)
    return told if option.value is None else f"{told} Ar {mdoc.argument(option.value)}"


def _argument(argument: Argument) -> str:
    name = argument.name.replace("…", " ...")
    if name.startswith("-- "):
        return f"Fl \\- Ar {name.removeprefix('-- ')}"
    return f"Ar {mdoc.argument(name)}" if " " not in name else f"Ar {name}"


def _description(command: Command) -> Iterator[str]:
    for number, text in enumerate((command.summary, *command.text)):
        if number:
            yield ".Pp"
        yield from mdoc.paragraph(text)
    if command.arguments:
        yield from (".Pp", "The arguments are as follows:")
        yield from mdoc.tagged((_argument(one), one.help) for one in command.arguments)


def _options(command: Command) -> Iterator[str]:
    yield from mdoc.tagged((_option(option), option.help) for option in (*command.options, help.HELP))


def _commands(command: Command) -> Iterator[str]:
    for heading, below in help.by_topic(command).items():
        if not command.path:
            yield f".Ss {heading}"
        yield from mdoc.tagged((f"Xr {_name(one)} 1", one.summary) for one in below)


def _environment(command: Command) -> Iterator[str]:
    rows = [(" , ".join(f"Ev {name}" for name in one.names), one.text) for one in manual.variables(command)]
    if rows:
        yield from (*mdoc.tagged(rows), *([".Pp"] if command.path else ()))
    if command.path:
        yield from ("What every command goes by is told of in", ".Xr helm 1 .")


def _files(command: Command) -> Iterator[str]:
    files = manual.FILES if not command.path else manual.FILES[:_SHARED_FILES]
    yield from mdoc.tagged((f"Pa {mdoc.code(path)}", text) for path, text in files)
    if command.path:
        yield from (".Pp", "What is in it is told of in", ".Xr helm 1 .")


def _statuses(command: Command) -> Iterator[str]:
    yield from mdoc.tagged((str(status), manual.STATUSES[status]) for status in manual.statuses(command))
    if command.path:
        yield from (".Pp", "For all of them, see", ".Xr helm 1 .")


def _examples(command: Command) -> Iterator[str]:
    yield from mdoc.literal(line for one in command.examples for line in help.folded(one, _EXAMPLE_COLUMNS))


def _see(tree: Command, command: Command) -> Iterator[str]:
    """The page above, those beside it, and those below."""
    above = [tree, *(one for one in _every(tree) if one.path and one.path == command.path[:-1])]
    beside = above[-1].commands if len(command.path) > 1 else ()
    named = {_name(one) for one in (*above, *beside, *command.commands)} - {_name(command)}
    *most, last = sorted(named)
    yield from (f".Xr {name} 1 ," for name in most)
    yield f".Xr {last} 1"
