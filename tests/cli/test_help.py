"""Every command's help: what it is for in a line, examples that can be pasted, and no line beyond the screen."""

import shlex
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest

from helm_cli import cli
from helm_cli.cli import COMMANDS, TOPICS, load, record, root
from helm_cli.cli.tree import whole
from helm_cli.model.command import Argument, Command, Option
from helm_cli.view import help
from tests.rig.terminal import at_terminal

ENDS: Final = frozenset(("|", "&&", "||", ";", "<", ">", ">>", "<(", ">(", ")"))
WIDTHS: Final = (60, 80, 120, 200)


def every(command: Command) -> Iterator[Command]:
    yield command
    for below in command.commands:
        yield from every(below)


TREE: Final = whole()
PATHS: Final = {" ".join(command.path): command for command in every(TREE)}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    for words, command in PATHS.items():
        for line in help.page(command, width).splitlines():
            # What cannot be broken may be: one word, with the option that it belongs to.
            assert len(line) <= width or len(line.rstrip("\\").split()) <= 2, (words, line)
            assert line == line.rstrip()


@pytest.mark.parametrize("words", PATHS)
def test_it_teaches(words: str) -> None:
    command = PATHS[words]
    assert command.summary.endswith(".") and "\n" not in command.summary
    assert len(command.examples) >= 2
    assert len(set(command.examples)) == len(command.examples)
    assert all(option.help.endswith(".") for option in command.options)
    for argument in command.arguments:
        assert argument.help.endswith(".")
        # A word to be replaced is written large; set|unset is typed as it is.
        assert argument.name != argument.name.lower() or "|" in argument.name
    if command.commands:
        # A group says in a sentence what it is for.
        assert command.text


def typed(example: str) -> list[list[str]]:
    """The helm commands of a shell line, each as its words after "helm"."""
    words = shlex.shlex(example, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    found: list[list[str]] = []
    inside = False
    for word in words:
        if word in ENDS:
            inside = False
        elif word == "helm" and not inside:
            inside = True
            found.append([])
        elif inside:
            found[-1].append(word)
    return found


def parse(words: list[str]) -> tuple[str, ...]:
    """Has the command that the words name understand the rest of them; its path."""
    while words[0] in ("-q", "-v"):
        words = words[1:]
    command: Any = load(words[0])
    path, rest = [words[0]], words[1:]
    while hasattr(command, "commands"):
        command, path, rest = command.commands[rest[0]], [*path, rest[0]], rest[1:]
    with command.make_context(" ".join(path), rest):
        return tuple(path)


@pytest.mark.parametrize(
    ("words", "example"), [(words, example) for words, command in PATHS.items() for example in command.examples]
)
def test_an_example_is_understood(words: str, example: str) -> None:
    commands = typed(example)
    assert commands, "it has no command of helm's"
    parsed = [parse(command) for command in commands]
    path = PATHS[words].path
    # It is about the command whose help it stands in.
    assert any(one[: len(path)] == path for one in parsed)


def test_an_example_that_is_wrong_is_found() -> None:
    for wrong in ("helm db add x --nope", "helm call a b c", "helm db query x", "helm history -n many"):
        with pytest.raises(Exception, match=r"No such option|unexpected|Missing|not a valid"):
            parse(typed(wrong)[0])
    with pytest.raises(KeyError):
        parse(typed("helm db nope")[0])


def test_the_first_page_teaches() -> None:
    page = help.page(record.of((), root()), 80)
    head = """\
Usage: helm [OPTIONS] COMMAND [ARGS]…

Let scripts, CI jobs and agents use your databases, services and tools through
calls you reviewed.

Begin with helm demo, which shows the whole way in a throw-away home. Then add
what calls may reach, review an extension, which declares the calls, and make
them.

Examples:
  helm demo
  helm db add local-app --engine sqlite --path ./app.db
  helm plugin review ./tickets
  helm call app recent --arg status=open --arg limit=20

Calls:
  call     Call one operation of a connection, or a batch of them.
  confirm  Decide about a write or an approval that waits for a person.
  history  Show which extension called what, when, and how it ended.

What calls may reach:
"""
    tail = """\
Options:
  -V, --version  Show the version and leave.
  -q, --quiet    Say nothing but errors and what needs you.
  -v, --verbose  Say on standard error what helm does, and how long it took.
  -h, --help     Show this help and leave."""
    assert page.startswith(head)
    assert page.endswith(tail)
    listed = [line.split()[0] for line in page.splitlines() if line.startswith("  ") and line[2] != " "]
    assert set(COMMANDS) <= set(listed)
    assert {name for names in TOPICS.values() for name in names} <= COMMANDS.keys()


def test_what_every_command_has_stands_last() -> None:
    for words, command in PATHS.items():
        options = help.page(command, 120).rpartition("\n\nOptions:\n")[2].splitlines()
        names = [line.split()[0] for line in options if line[2:3] == "-"]
        assert names[-3:] == ["-q,", "-v,", "-h,"] or command.commands, words
        assert names[-1] == "-h,"


WIDE: Final = Command(
    ("x", "y"),
    "Do something, which takes a while to say and so does not stand on one line of a narrow screen.",
    ("More of it.",),
    ("helm x y one --long-option 'a value' --other < file && helm x y two", "helm x y"),
    (
        Argument("name", "NAME", "What it is called.", True, False),
        Argument("rest", "-- COMMAND ARG…", "It.", False, True),
    ),
    (
        Option(("--output", "-o"), "FORMAT", "auto or json.", False),
        Option(("--an-option-that-is-long",), "A-VALUE", "Something.", True),
        Option(("--quiet", "-q"), None, "Say less.", False, shared=True),
    ),
    (),
)


def test_a_page() -> None:
    assert (
        help.page(WIDE, 60)
        == """\
Usage: helm x y [OPTIONS] NAME [-- COMMAND ARG…]

Do something, which takes a while to say and so does not
stand on one line of a narrow screen.

More of it.

Examples:
  helm x y one --long-option 'a value' --other < file && \\
      helm x y two
  helm x y

Arguments:
  NAME             What it is called.
  -- COMMAND ARG…  It.

Options:
  -o, --output FORMAT  auto or json.
  --an-option-that-is-long A-VALUE
                       Something.
  -q, --quiet          Say less.
  -h, --help           Show this help and leave."""
    )


@pytest.mark.parametrize("columns", [20, 30, 40, 60, 100])
def test_a_folded_line_is_the_same_to_a_shell(columns: int) -> None:
    for command in PATHS.values():
        for example in command.examples:
            folded = help.folded(example, columns)
            assert all(line.endswith(" \\") for line in folded[:-1])
            whole_again = " ".join(line.removesuffix(" \\").strip() for line in folded)
            assert shlex.split(whole_again) == shlex.split(example)


@pytest.mark.parametrize("words", ["", "db", "db add"])
def test_it_is_as_wide_as_it_is_told(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        assert cli.run([*words.split(), "--help"]) == 0
        expected = help.page(record.of((), root()) if not words else PATHS[words], width)
        assert capsys.readouterr() == (f"{expected}\n", "")


def test_in_a_pipe_it_is_as_wide_as_the_terminal_beside_it() -> None:
    with at_terminal("sh", "-c", f"{sys.executable} -m helm_cli --help | cat", size=(70, 50)) as screen:
        assert screen.status() == 0
        lines = screen.screen()
    assert "Begin with helm demo, which shows the whole way in a throw-away home." in lines


def test_help_is_had_of_each_group_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words, command in PATHS.items():
        if command.commands and command.path:
            assert cli.run(words.split()) == 2
            assert capsys.readouterr() == ("", f"{help.page(command, 100)}\n")
