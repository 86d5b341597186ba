"""The whole command tree as plain records, read off Typer's objects once for everything that is made from them."""

from helm_cli.cli import COMMANDS, load, record, root
from helm_cli.model.command import Command


def whole() -> Command:
    """Every command of helm, under the root. Imports all of them, so it is for what is made once, not for each call."""
    return record.of((), root())._replace(commands=tuple(record.of((name,), load(name)) for name in COMMANDS))
