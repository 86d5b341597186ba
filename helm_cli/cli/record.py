"""One command as plain words, read off Typer's objects: the only place that knows how those keep them."""

import inspect
import re
from typing import Any, Final

from helm_cli.model.command import Argument, Command, Option

_EXAMPLES: Final = "Examples:"


def of(path: tuple[str, ...], command: Any) -> Command:
    """The record of a command and of all below it; of one that is not imported yet, its summary alone."""
    text, _, examples = inspect.cleandoc(command.help or "").replace("\b\n", "").partition(_EXAMPLES)
    summary, *paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    return Command(
        path,
        summary,
        tuple(paragraphs),
        tuple(line.strip() for line in examples.splitlines() if line.strip()),
        tuple(_argument(one) for one in shown if one.param_type_name == "argument"),
        tuple(_option(one) for one in shown if one.param_type_name == "option"),
        tuple(of((*path, name), below) for name, below in getattr(command, "commands", {}).items() if not below.hidden),
        getattr(command, "topic", ""),
    )


def _argument(parameter: Any) -> Argument:
    name = (parameter.metavar or parameter.name.rstrip("_").upper()).strip("[]")
    return Argument(parameter.name, name, parameter.help or "", parameter.required, parameter.nargs == -1)


def _option(parameter: Any) -> Option:
    value = None if parameter.is_flag else parameter.metavar or parameter.name.upper()
    names = (*parameter.opts, *parameter.secondary_opts)
    # What a command's own function is not told of is not its own (`shared`).
    return Option(names, value, _with_bounds(parameter), parameter.multiple, shared=not parameter.expose_value)


def _with_bounds(parameter: Any) -> str:
    """The help of an option with what its value may be, and what it is where it is not given."""
    notes = []
    least, most = getattr(parameter.type, "min", None), getattr(parameter.type, "max", None)
    if least is not None:
        notes.append(f"{least} to {most}" if most is not None else f"{least} or more")
    if not parameter.is_flag and parameter.default not in (None, (), []):
        notes.append(f"else {parameter.default}")
    told = parameter.help or ""
    return f"{told.rstrip('.')} ({'; '.join(notes)})." if notes else told
