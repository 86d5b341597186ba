"""How `--help` looks: one page for each command, made from its record, as wide as the terminal and no wider."""

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final

from helm_cli.model.command import Command, Option

HELP: Final = Option(("-h", "--help"), None, "Show this help and leave.", False, shared=True)

# A line of prose that is longer is hard to read, however wide the terminal is.
MOST_COLUMNS: Final = 100
# Where the names of options are longer, what they are for begins on the next line.
MOST_NAME: Final = 24
_INDENT: Final = 2
_GAP: Final = 2
# One word of a shell line: what stands in quotes is one with what it is stuck to.
_WORD: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")
_CONTINUED: Final = 4


def page(command: Command, columns: int) -> str:
    """The help of a command, without a line end at its end; nothing in it is wider than that but single words."""
    width = min(columns, MOST_COLUMNS)
    parts = [_usage(command, width), _prose(command.summary, width)]
    parts += [_prose(text, width) for text in command.text]
    if command.examples:
        lines = [line for example in command.examples for line in folded(example, columns - _INDENT)]
        parts.append(_section("Examples", [" " * _INDENT + line for line in lines]))
    for heading, below in by_topic(command).items():
        parts.append(_section(heading, _listed([(one.name, one.summary) for one in below], width)))
    if command.arguments:
        parts.append(_section("Arguments", _listed([(one.name, one.help) for one in command.arguments], width)))
    own = [option for option in command.options if not option.shared]
    shared = [*(option for option in command.options if option.shared), HELP]
    # In one column, of which the command's own options are the first.
    lines = _listed([(option_names(option), option.help) for option in (*own, *shared)], width)
    parts.append(_section("Options", lines))
    return "\n\n".join(parts)


def synopsis(command: Command) -> list[str]:
    """What follows the name of a command when it is typed: "[OPTIONS]", "NAME", "[-- COMMAND ARG…]"."""
    if command.commands:
        return ["COMMAND", "[ARGS]…"] if command.path else ["[OPTIONS]", "COMMAND", "[ARGS]…"]
    return ["[OPTIONS]", *(one.name if one.required else f"[{one.name}]" for one in command.arguments)]


def by_topic(command: Command) -> dict[str, list[Command]]:
    """The commands of a group under their headings, in the order in which the first of each stands."""
    found: dict[str, list[Command]] = {}
    for below in command.commands:
        found.setdefault(below.topic or "Commands", []).append(below)
    return found


def option_names(option: Option) -> str:
    """An option as it is listed, the short name first: "-o, --output FORMAT"."""
    names = ", ".join(sorted(option.names, key=len))
    return names if option.value is None else f"{names} {option.value}"


def folded(line: str, columns: int) -> list[str]:
    """A shell line on lines of at most so many columns, of which all but the last end with the shell's own mark."""
    if len(line) <= columns:
        return [line]
    lines = [""]
    for words in _together(_WORD.findall(line)):
        if lines[-1].strip() and len(lines[-1]) + len(f" {words} \\") > columns:
            lines[-1] += " \\"
            lines.append(" " * (_CONTINUED - 1))
        lines[-1] += f" {words}" if lines[-1] else words
    return lines


def _together(words: list[str]) -> list[str]:
    """The words of a shell line with each option and its value, and each redirection and its file, as one."""
    found: list[str] = []
    for word in words:
        before = found[-1] if found else ""
        taken = before in ("<", ">", "|") or (before.startswith("-") and " " not in before and before != "--")
        if taken and not word.startswith(("-", "<", ">", "|", "&")):
            found[-1] = f"{before} {word}"
        else:
            found.append(word)
    return found


def _usage(command: Command, width: int) -> str:
    begin = " ".join(("Usage: helm", *command.path))
    return "\n".join(wrap(" ".join((begin, *synopsis(command))), width, subsequent_indent=" " * len("Usage: ")))


def _prose(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join((f"{heading}:", *lines))


def _listed(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Names with what they are for, in two columns."""
    longest = max((len(name) for name, _ in rows if len(name) <= MOST_NAME), default=0)
    column = _INDENT + longest + _GAP
    lines = []
    for name, text in rows:
        told = wrap(text, width - column, break_long_words=False, break_on_hyphens=False) or [""]
        begin = f"{' ' * _INDENT}{name}"
        if len(name) <= longest:
            begin = f"{begin:<{column}}{told.pop(0)}"
        lines += [begin.rstrip(), *(f"{' ' * column}{line}" for line in told)]
    return lines
