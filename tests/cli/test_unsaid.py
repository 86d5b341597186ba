"""What stands on a command line where nothing, or something else, belongs is not repeated: it may be a secret."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from helm_cli import cli
from helm_cli.cli import COMMANDS
from helm_cli.cli.tree import whole
from helm_cli.model.command import Command
from helm_cli.shells import words
from helm_cli.view import streams

SECRET: Final = "Canary4711"
URL: Final = f"postgres://joe:{SECRET}@h/db"
# What these take is a name that is looked up; that it is not there is told with it.
NAMES: Final = frozenset(("DIR", "FILE", "FILE|-", "GROUP/NAME", "ID", "NAME", "PATH", "PROFILE", "RUN", "S", "VAR"))

Run = Callable[[list[str]], str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """What helm says to some words, on standard error and as an envelope."""
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")

    def run(line: list[str]) -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        cli.run(line)
        out, err = capsys.readouterr()
        return err + (out if '"ok":false' in out else "")

    return run


def strange(command: Command) -> Iterator[list[str]]:
    """Lines of a command with the secret where nothing of the command stands."""
    path, filled = [*command.path], ["x"] * len(command.arguments)
    if command.commands:
        yield from ([*path, word, *more] for word in (SECRET, URL, f"it's {SECRET}") for more in ([], ["x"]))
        yield from ([*path, option] for option in (f"--{SECRET}", f"--frob={SECRET}", f"-Z{SECRET}"))
        return
    for word in (SECRET, URL, f"{SECRET}=="):
        if not any(argument.rest for argument in command.arguments):
            yield [*path, *filled, word]
            yield [*path, *filled, word, "another"]
        yield [*path, *filled, "--frobnicate", word]
        yield [*path, *filled, f"--password={word}"]
    yield from ([*path, *filled, option] for option in (f"--{SECRET}", f"-Z{SECRET}", f"--{SECRET.lower()}=x"))


def wrong(command: Command) -> Iterator[list[str]]:
    """Lines of a command with the secret in the place of a value: as a URL in any, else where no name belongs."""
    path, filled = [*command.path], ["x"] * len(command.arguments)
    for option in command.options:
        if option.value is None:
            yield [*path, *filled, f"{option.names[0]}={SECRET}"]
            continue
        yield [*path, *filled, option.names[0], URL]
        if option.value not in NAMES:
            yield [*path, *filled, option.names[0], SECRET]
    for at, argument in enumerate(command.arguments):
        if not argument.name.startswith("-- "):
            yield [*path, *filled[:at], URL, *filled[at + 1 :]]


def of(name: str) -> Iterator[Command]:
    return words.every(next(command for command in whole().commands if command.name == name))


@pytest.mark.contract("C14")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_repeats_a_word_that_may_be_a_secret(name: str, told: Run) -> None:
    lines = [line for command in of(name) for line in (*strange(command), *wrong(command))]
    assert lines
    for line in lines:
        said = told(line)
        assert SECRET.lower() not in said.lower(), line


@pytest.mark.contract("C14")
def test_helm_itself_does_not_either(told: Run) -> None:
    for line in ([SECRET], [URL], [f"--{SECRET}"], [f"-q{SECRET}"], ["-v", URL], ["help", SECRET], ["db", "help", URL]):
        said = told(line)
        assert said.startswith("helm: there is no ") and SECRET not in said, line


def test_what_stands_in_the_place_of_a_url(told: Run) -> None:
    cases = {
        "db show": "'postgres://***' cannot be the name of a profile",
        "db import": "postgres://*** cannot be read",
        "plugin show": "postgres://*** is not approved",
        "call x y --workspace": "the workspace postgres://*** is not a folder",
    }
    for line, message in cases.items():
        said = told([*line.split(), URL])
        assert said.startswith(f"helm: {message}")
        # Likewise in the envelope of a call.
        assert line[:4] != "call" or f'"message":"{message}' in said


def test_a_url_is_unsaid_also_in_part_and_as_a_path() -> None:
    """A message may cut it short, and a path has one slash less; another URL is left alone, as is one of no secret."""
    streams.UNSAID.set((URL, "--to=https://h/?token=abc", "https://h/plain"))
    assert streams.unsaid(f"{URL[:20]!r} is none; {URL}, too") == "'postgres://***' is none; postgres://***, too"
    assert streams.unsaid("/tmp/postgres:/joe:Canary4711@h/db is gone") == "/tmp/postgres:/*** is gone"
    assert streams.unsaid("https://h/?token=abc and https://other/x") == "https://*** and https://other/x"
    assert streams.unsaid("postgres://elsewhere/db") == "postgres://elsewhere/db"
    streams.UNSAID.set(("https://h/plain",))
    assert streams.unsaid("https://h/plain") == "https://h/plain"


def test_a_call_of_a_url_is_not_kept_in_the_history(told: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["call", URL, "recent"], ["call", "app", URL], ["call", URL]):
        assert SECRET not in told(line)
    assert cli.run(["history", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
