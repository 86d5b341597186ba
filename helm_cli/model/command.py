"""A command of the command line as plain words: what help, completions and man pages are all made from."""

from typing import NamedTuple


class Option(NamedTuple):
    """One option: its names as typed ("--output", "-o"), what a value is called (None: it takes none), its help.

    `shared` is one that every command has, which help tells of last.
    """

    names: tuple[str, ...]
    value: str | None
    help: str
    repeats: bool
    shared: bool = False


class Argument(NamedTuple):
    """One positional argument: its field in the code, its name as usage shows it, its help; `rest` takes all words."""

    field: str
    name: str
    help: str
    required: bool
    rest: bool


class Command(NamedTuple):
    """One command or group: the words that lead to it ("db", "add"), without the program's own name.

    `text` is the help between the summary and the examples, in paragraphs; an example is one line as it is pasted.
    `topic` is the heading that its group lists it under, if it has several.
    """

    path: tuple[str, ...]
    summary: str
    text: tuple[str, ...]
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    commands: tuple["Command", ...]
    topic: str = ""

    @property
    def name(self) -> str:
        """The last word of the path; "helm" for the root."""
        return self.path[-1] if self.path else "helm"
