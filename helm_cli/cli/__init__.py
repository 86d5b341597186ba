"""The command line itself: the one table of commands, the options they share, and the error boundary."""

import os
import sys
import time
from collections.abc import Collection
from contextlib import ExitStack, suppress
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, Final, TypeVar

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from helm_cli import __version__
from helm_cli.cli import shared
from helm_cli.model.errors import EXIT, INTERRUPTED, HelmError
from helm_cli.view import streams

# Name -> summary. Each is the module helm_cli.cli.<name> with an `app`, imported when the command is used.
COMMANDS: Final[dict[str, str]] = {
    "call": "Call one operation of a connection, or a batch of them.",
    "confirm": "Decide about a write or an approval that waits for a person.",
    "db": "Keep database profiles, and look into databases.",
    "service": "Keep service profiles: a base URL, and a token or a sign-in.",
    "oauth": "Sign in to services by OAuth2.",
    "mcp": "Keep MCP server profiles, and serve approved operations to MCP clients.",
    "plugin": "Review, approve and list extensions.",
    "draft": "Review what plugins drafted, approve it and publish it.",
    "history": "Show which extension called what, when, and how it ended.",
    "project": "Register the folders that files connections may use as projects.",
    "workspace": "Show or set what belongs to this workspace.",
    "agent": "Keep connections warm in a background process.",
    "config": "Take profiles to another machine, without their secrets.",
    "doctor": "Check that everything helm needs is there and reachable.",
    "completion": "Complete helm's words and your names in bash, zsh, fish and PowerShell.",
    "demo": "Show the whole way in a throw-away home.",
}

Word = TypeVar("Word", bound=str)

BROKEN_PIPE: Final = 141

# Heading of `helm --help` -> the commands under it, in the order in which they are read; all others come last.
TOPICS: Final[dict[str, tuple[str, ...]]] = {
    "Calls": ("call", "confirm", "history"),
    "What calls may reach": ("db", "service", "oauth", "mcp", "project"),
    "Extensions": ("plugin", "draft", "workspace"),
}
OTHERS: Final = "helm itself"
SETTINGS: Final = {"help_option_names": ["-h", "--help"]}

WorkspaceOption = Annotated[
    str | None,
    typer.Option("--workspace", metavar="DIR", help="The workspace; else HELM_CLI_WORKSPACE, else found from here."),
]
OutputOption = Annotated[str, typer.Option("--output", "-o", metavar="FORMAT", help="auto or json.")]
ProfileArgument = Annotated[str, typer.Argument(metavar="NAME", help="The profile's name.")]
PluginArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of an approved plugin.")]
TokenOption = Annotated[bool, typer.Option("--token-stdin", help="Read the token from standard input.")]


def group(summary: str, text: str = "", examples: tuple[str, ...] = ()) -> typer.Typer:
    """A group of commands as every group of helm is: helm's own help, no completion of its own.

    `text` is what follows the summary, in paragraphs.
    """
    pasted = "\n".join(("Examples:", *(f"  {example}" for example in examples))) if examples else ""
    return typer.Typer(
        help="\n\n".join(filter(None, (summary, text, pasted))),
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings=SETTINGS,
    )


def listing_format(output: str) -> str:
    """The format of a command that lists or shows: "auto" or "json". Raises HelmError "usage"."""
    return one_of("-o", output, ("auto", "json"))


def one_of(option: str, word: str, known: Collection[Word]) -> Word:
    """The known word that an option was given. Raises HelmError "usage" for any other, which is not repeated."""
    for one in known:
        if one == word:
            return one
    from helm_cli.cli import wrong

    raise wrong.none_of(option, word, known)


class Deferred(TyperCommand):
    """A command that is imported when it is run; until then only its name and summary are known."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        command: Any = load(self.name or "")
        return command.make_context(info_name, args, parent, **extra)


def load(name: str) -> Any:
    """The real command behind a row of COMMANDS, with the options that every command has."""
    command = shared.dressed(typer.main.get_command(import_module(f"helm_cli.cli.{name}").app), (name,))
    command.topic = _topic(name)
    return command


def root() -> Any:
    """The whole command tree, with every command deferred."""
    app = group(
        "Let scripts, CI jobs and agents use your databases, services and tools through calls you reviewed.",
        "Begin with helm demo, which shows the whole way in a throw-away home. Then add what calls may reach, review"
        " an extension, which declares the calls, and make them.",
        (
            "helm demo",
            "helm db add local-app --engine sqlite --path ./app.db",
            "helm plugin review ./tickets",
            "helm call app recent --arg status=open --arg limit=20",
        ),
    )

    @app.callback()
    def version(
        _: Annotated[
            bool, typer.Option("--version", "-V", help="Show the version and leave.", is_eager=True, callback=_version)
        ] = False,
    ) -> None: ...

    tree = shared.dressed(typer.main.get_command(app), ())
    for name, summary in COMMANDS.items():
        command: Any = Deferred(name, help=summary, context_settings=SETTINGS)
        command.topic = _topic(name)
        tree.add_command(command, name)
    return tree


def run(arguments: list[str]) -> int:
    """Run the command line and give its exit status; every failure is told here, in one line on stderr."""
    words = list(arguments)
    if _command(words) == "help":
        words = _asking(words)
    streams.VOICE.set("usual")
    streams.UNSAID.set(tuple(word for word in words if "://" in word))
    begun = time.monotonic()
    try:
        streams.settle()
        status = _invoke(words)
        sys.stdout.flush()
    except HelmError as error:
        status = _tell(words, error)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    except BrokenPipeError:
        status = BROKEN_PIPE
    except Exception as error:
        status = _tell(words, _surroundings(error) or HelmError("internal", _internal(error)))
    if streams.VOICE.get() == "verbose":
        _say(f"it took {round((time.monotonic() - begun) * 1000)} ms")
    return status


def _invoke(words: list[str]) -> int:
    tree = root()
    try:
        with ExitStack() as after, tree.make_context("helm", words) as context:
            streams.AFTER.set(after)
            status = tree.invoke(context)
            return status if isinstance(status, int) else 0
    except typer.Exit as exit_:
        return exit_.exit_code
    except TyperException as error:
        return _usage(words, error)


def _usage(words: list[str], error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError" and error.ctx is not None:
        print(error.ctx.get_help(), file=sys.stderr)
        return EXIT["usage"]
    from helm_cli.cli import wrong

    if wrong.asks_for_help(error):
        return _invoke(_asking(words))
    return _tell(words, HelmError("usage", wrong.told(error)))


def _asking(words: list[str]) -> list[str]:
    """The words of a command line with --help at their end in place of the command help."""
    at = words.index("help")
    return [*words[:at], *words[at + 1 :], "--help"]


def _tell(words: list[str], error: HelmError) -> int:
    error = HelmError(error.code, streams.unsaid(error.message), error.members, error.outer)
    _say(error.message)
    if _command(words) == "call" and _reads_envelopes(words):
        from helm_cli.model.envelope import failure
        from helm_cli.model.jsontext import dump

        with suppress(OSError, ValueError, HelmError):
            print(dump(failure(error)), flush=True)
    return error.exit_status


def _say(text: str) -> None:
    from helm_cli.view.text import shown

    # Where nobody reads standard error, the exit status still says it.
    with suppress(OSError, ValueError):
        print(f"helm: {shown(text)}", file=sys.stderr)


def _command(words: list[str]) -> str | None:
    """The command that words begin with, if any; none of the options before it takes a value."""
    return next((word for word in words if not word.startswith("-")), None)


def _topic(name: str) -> str:
    return next((heading for heading, names in TOPICS.items() if name in names), OTHERS)


def _reads_envelopes(words: list[str]) -> bool:
    """Whether who called `helm call` expects an envelope, as far as words that were not understood tell it."""
    if sys.stdout.isatty():
        return False
    named = [word for before, word in pairwise(words) if before in ("-o", "--output")]
    named += [word.partition("=")[2] for word in words if word.startswith("--output=")]
    return all(format_ in ("auto", "json", "pretty") for format_ in named)


def _surroundings(error: Exception) -> HelmError | None:
    """What is wrong with where helm was started, if that is what this comes from."""
    if not isinstance(error, OSError | UnicodeEncodeError):
        return None
    try:
        os.getcwd().encode()
    except OSError:
        return HelmError("usage", "the current folder is gone; change into one that exists")
    except UnicodeEncodeError:
        return HelmError("usage", "the name of the current folder is not UTF-8; rename it or change into another")
    if isinstance(error, UnicodeEncodeError):
        return HelmError("usage", "an argument is not UTF-8; write it in UTF-8")
    return None


def _internal(error: Exception) -> str:
    # The exception's own text may hold anything, so only its type and place are told.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "unknown place"
    if trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rsplit("/", 2)
        place = f"{'/'.join(file[-2:])}:{trace.tb_lineno}"
    return f"a fault in helm {__version__} itself: {type(error).__name__} at {place}; please report it"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"helm {__version__}")
        raise typer.Exit
