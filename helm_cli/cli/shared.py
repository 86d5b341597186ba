"""What all commands have in common: how much helm says, `-q` and `-v` before or after the command, and their help."""

import re
from typing import Any, Final

from typer.core import TyperOption

from helm_cli.model.errors import HelmError
from helm_cli.view import streams

_VOICES: Final[dict[streams.Voice, tuple[str, str, str]]] = {
    "quiet": ("-q", "--quiet", "Say nothing but errors and what needs you."),
    "verbose": ("-v", "--verbose", "Say on standard error what helm does, and how long it took."),
}
# Any of them as it may be written: long, or the short ones together.
_OURS: Final = re.compile("-[qv]+|--quiet|--verbose")


def dressed(command: Any, path: tuple[str, ...]) -> Any:
    """A command, and each below it, with the options of all commands and with helm's own help page."""
    below = getattr(command, "commands", {})
    # A group takes them too, but its help is about its commands.
    command.params += [_option(voice, hidden=bool(below and path)) for voice in _VOICES]
    command.get_help = lambda context: _help(command, path)
    if any(one.nargs == -1 and (one.metavar or "").startswith("-- ") for one in command.params):
        command.parse_args = _told_apart(command.parse_args)
    for name, one in below.items():
        dressed(one, (*path, name))
    return command


def _option(voice: streams.Voice, *, hidden: bool) -> TyperOption:
    short, long, told = _VOICES[voice]

    def heard(context: Any, option: Any, given: bool) -> None:
        if given:
            streams.VOICE.set(voice)

    return TyperOption(
        param_decls=[short, long],
        is_flag=True,
        default=False,
        expose_value=False,
        is_eager=True,
        callback=heard,
        help=told,
        hidden=hidden,
    )


def _help(command: Any, path: tuple[str, ...]) -> str:
    from helm_cli.cli import record
    from helm_cli.view import help

    return help.page(record.of(path, command), streams.columns())


def _told_apart(parse: Any) -> Any:
    """Parsing for a command that takes another's words, whose own -q and -v must not be lost to ours."""

    def parsed(context: Any, words: list[str]) -> Any:
        at = words.index("--") if "--" in words else len(words)
        ours = [word for word in words[:at] if _OURS.fullmatch(word)]
        rest = parse(context, list(words))
        if ours and len(context.params.get("command") or ()) > len(words[at + 1 :]):
            raise HelmError("usage", f"{ours[0]} may be helm's or the server's; write -- before the server's command")
        return rest

    return parsed
