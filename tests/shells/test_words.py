"""What may stand where is known for every value of every command, and the real shells offer exactly that."""

from pathlib import Path

import pytest

from helm_cli.model.command import Command
from helm_cli.shells import words
from tests.rig.shells import SHELLS, completed


def test_every_value_has_a_kind(tree: Command) -> None:
    """What is new on the command line gets a row in NAMED or PLACED of `shells/words.py`."""
    assert words.unknown(tree) == []


def test_every_row_is_of_a_command(tree: Command) -> None:
    paths = {" ".join(command.path): command for command in words.every(tree)}
    for row in words.PLACED:
        path, _, key = row.rpartition(" ")
        command = paths[path]
        below = list(words.every(command))
        names = {name for one in below for option in one.options for name in option.names}
        assert key in names | {argument.name for one in below for argument in one.arguments}, row


def test_formats_are_those_that_the_help_names(tree: Command) -> None:
    kinds = words.by_kind(tree)
    formats = {kind.words for kind in kinds if kind.way == "words" and "json" in kind.words}
    assert ("auto", "json") in formats
    assert ("auto", "json", "table", "csv", "tsv", "ndjson") in formats
    assert all(kind.words for kind in kinds if kind.way == "words")


def expected(tree: Command) -> dict[str, set[str]]:
    """Line -> what stands in the tree for it: commands of each group, options of each command, fixed words."""
    found: dict[str, set[str]] = {}
    for command in words.every(tree):
        path = " ".join(("helm", *command.path))
        named = {name for option in command.options for name in option.names}
        found[f"{path} -"] = named | {"-h", "--help"}
        if command.commands:
            found[f"{path} "] = {below.name for below in command.commands}
        for place in words.places(command):
            if place.kind.way == "words" and place.key.startswith("-"):
                found[f"{path} {place.key} "] = set(place.kind.words)
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_word_of_helm(shell: str, tree: Command, scripts: dict[str, Path], tmp_path: Path) -> None:
    lines = expected(tree)
    assert len(lines) > 150
    found = completed(shell, scripts[shell], list(lines), tmp_path)
    assert dict(zip(lines, found, strict=True)) == lines
