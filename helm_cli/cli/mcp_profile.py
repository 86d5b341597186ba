"""How an MCP server profile is put together from options, and from questions where a person can be asked."""

import os
import re
import shlex
import shutil
from functools import partial
from typing import Final, NamedTuple

from helm_cli.cli.entry import asked, can_ask, check_new, piped_secret, typed_secret
from helm_cli.cli.given import check_filled
from helm_cli.cli.here import Here, note, tell
from helm_cli.grammar import secret_words
from helm_cli.grammar import token as tokens
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from helm_cli.store.groups import GROUPS

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=.*", re.DOTALL)


class Given(NamedTuple):
    """What the options said, None (for the command: nothing) where they said nothing."""

    name: str | None
    command: list[str]
    url: str | None
    token_env: str | None
    start_seconds: int | None


def complete(place: Here, given: Given, *, force: bool) -> Server:
    """A whole profile, still without its token; with `force` it may replace another.

    On a terminal what is missing is asked for; without one it is a usage error that names the option.
    Raises HelmError "usage" and "conflict", and "declined" where the person stops answering.
    """
    _check(given)
    asking = can_ask(place)
    new = partial(check_new, place, "mcp", force=force)
    name = given.name or asked(place, asking, "NAME", "Name of the profile", check=new)
    new(name)
    if not given.command and given.url is None:
        label, check = "Command or URL of the server", partial(_check_where, given)
        given = _from_text(given, asked(place, asking, "-- COMMAND or --url", label, check=check))
    return Server(name, _command(given), given.url, given.token_env, given.start_seconds or 30)


def token(place: Here, profile: Server, *, stdin: bool) -> str:
    """The token of a new profile, "" where it has none. Raises HelmError "usage" and "declined"."""
    if profile.url is None and profile.token_env is None:
        if stdin:
            told = "--token-stdin goes with --token-env VAR, the variable that gives a command its token"
            raise HelmError("usage", told)
        return ""
    if stdin:
        return _piped(profile)
    if can_ask(place):
        return _typed(place, profile, "empty for none")
    if profile.token_env is not None:
        raise HelmError("usage", "--token-stdin is missing; give it, or run this in a terminal to be asked")
    return ""


def changed(old: Server, given: Given) -> Server:
    """A profile with what was given in place of what it had. Raises HelmError "usage"."""
    _check(given)
    new = old
    if given.command:
        new = new._replace(command=_command(given), url=None)
    if given.url is not None:
        new = new._replace(command=None, url=given.url, token_env=None)
    if given.token_env is not None:
        new = new._replace(token_env=given.token_env)
    if given.start_seconds is not None:
        new = new._replace(start_seconds=given.start_seconds)
    return new


def new_token(place: Here, old: Server, new: Server, *, stdin: bool, ask: bool) -> str | None:
    """The token that a changed profile gets, "" for none, None where the former stays.

    A person is asked where the former was entered for another target. Raises HelmError "usage" and "declined".
    """
    if stdin and ask:
        raise HelmError("usage", "--token-stdin and --ask-token exclude each other; give one of them")
    if new == old and not stdin and not ask:
        options = "-- COMMAND, --url, --token-env, --start-seconds, --token-stdin or --ask-token"
        raise HelmError("usage", f"nothing to change; give {options}")
    if ask and not can_ask(place):
        raise HelmError("usage", "--ask-token needs a terminal; give --token-stdin")
    moved = old.credential is not None and new.secret_target_digest() != old.secret_target_digest()
    if not (stdin or ask or (moved and can_ask(place))):
        return None
    if new.url is None and new.token_env is None:
        raise HelmError("usage", "a token for a command needs --token-env VAR, the variable that gives it")
    if stdin:
        return _piped(new)
    if not ask:
        return _typed(place, new, "for its new target; empty to enter it later") or None
    return _typed(place, new, "empty takes it away" if old.credential is not None else "empty for none")


def warn(place: Here, profile: Server) -> None:
    """Tells what may go wrong with a profile as it is: a program that is not there, a path, a secret in the open."""
    if profile.url is not None:
        for sign in secret_words.signs_in_url(profile.url):
            named = sign.told if sign.told in secret_words.UNNAMED else f"the parameter {sign.told}"
            tell(place.streams, f"{named} of the URL {_looks(sign)}")
        return
    command = profile.command or ()
    if shutil.which(command[0]) is None:
        note(place.streams, f"there is no program {command[0]} here yet, or it may not be run")
    for word in command[1:]:
        if not os.path.isabs(word) and "/" in word and os.path.isfile(word):
            note(place.streams, f"{word} is sought in the workspace of each call; write it absolute to mean this file")
    for sign in secret_words.signs_in_command(command):
        tell(place.streams, f"{sign.told} in the command {_looks(sign)}")


def folder(place: Here, workspace: str | None) -> str:
    """Where a command is started to be tried: the workspace, or the current folder where that is none."""
    try:
        return place.workspace(workspace).path
    except HelmError:
        if workspace is not None:
            raise
        return os.getcwd()


def secret(profile: Server, entered: str) -> str:
    """A token as it is kept. Raises HelmError "usage" for what cannot be one."""
    if profile.url is None:
        if "\0" in entered:
            raise HelmError("usage", f"the token of {profile.name} holds a NUL, which no variable can")
        return entered
    bare = tokens.without_scheme(entered)
    wrong = tokens.bearer_fault(bare) if bare else None
    if wrong:
        raise HelmError("usage", f"the token of {profile.name} {wrong}")
    return bare


_OPEN: Final = (
    "and stands open in the profile's file and where it is used; a command gets a secret by --token-env, a URL by"
    " --token-stdin"
)


def _looks(sign: secret_words.Sign) -> str:
    return f"{'looks like' if sign.sure else 'may be'} a secret, {_OPEN}"


def _check(given: Given) -> None:
    check_filled(given._asdict())
    if given.command and given.url is not None:
        raise HelmError("usage", "a server is a command or a URL, and both were given; leave one out")
    if given.url is not None and given.token_env is not None:
        raise HelmError("usage", "--token-env goes with a command; a URL gets its token as a header, so leave it out")


def _from_text(given: Given, where: str) -> Given:
    if re.match(r"https?://", where, re.IGNORECASE):
        if given.token_env is not None:
            raise HelmError("usage", "--token-env goes with a command; a URL gets its token as a header")
        return given._replace(url=where)
    try:
        return given._replace(command=shlex.split(where))
    except ValueError:
        raise HelmError("usage", "the command has a quotation mark that is not closed; write it again") from None


def _check_where(given: Given, where: str) -> None:
    read = _from_text(given, where)
    wrong = GROUPS["mcp"].fault(Server("a", _command(read), read.url, read.token_env))
    if wrong:
        raise HelmError("usage", wrong)


def _command(given: Given) -> tuple[str, ...] | None:
    """The command as it is kept: a program that is named by a relative path is that of this folder."""
    if not given.command:
        return None
    program, *rest = given.command
    assigned = _ASSIGNMENT.fullmatch(program)
    if assigned:
        raise HelmError(
            "usage",
            f"{assigned[1]}=… is no program: a server gets one variable, --token-env {assigned[1]} with --token-stdin;"
            " what is no secret can stand in the command, as in -- env NAME=VALUE PROGRAM",
        )
    if "/" in program and not os.path.isabs(program):
        program = os.path.abspath(program)
    return (program, *rest)


def _piped(profile: Server) -> str:
    entered = secret(profile, piped_secret("the token", "--token-stdin"))
    if not entered:
        raise HelmError("usage", "the token on standard input is empty; leave --token-stdin out for none")
    return entered


def _typed(place: Here, profile: Server, hint: str) -> str:
    label = f"Token of {profile.name} ({hint})"
    return secret(profile, typed_secret(place, label, partial(secret, profile)))
