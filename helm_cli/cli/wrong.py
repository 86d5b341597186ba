"""What is said to words that helm does not understand: what was probably meant, never a word that may be a secret."""

import re
from collections.abc import Collection
from typing import Any, Final

from helm_cli.model.errors import HelmError
from helm_cli.model.wording import meant

# What a command is called elsewhere -> what it is called here, in whichever group has it; the first that is there. What
# begins with helm is there everywhere.
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "accept": ("approve", "plugin review"),
    "add": ("review", "db add, service add or mcp add"),
    "api": ("call",),
    "apply": ("approve", "confirm", "plugin review"),
    "approve": ("review", "plugin review"),
    "auth": ("oauth", "helm oauth connect"),
    "authorize": ("connect", "oauth connect"),
    "autocomplete": ("completion",),
    "backup": ("config export",),
    "check": ("test", "doctor"),
    "check-health": ("doctor",),
    "completions": ("completion",),
    "conf": ("config",),
    "configure": ("config", "doctor"),
    "connect": ("shell", "test", "oauth connect"),
    "connection": ("db, service or mcp",),
    "connections": ("db, service or mcp",),
    "create": ("add", "new", "plugin new"),
    "credential": ("doctor",),
    "credentials": ("doctor",),
    "database": ("db",),
    "databases": ("db",),
    "delete": ("remove", "forget", "db remove, service remove or mcp remove"),
    "describe": ("show", "plugin show"),
    "diagnose": ("doctor",),
    "disable": ("plugin disable",),
    "dump": ("export", "config export"),
    "env": ("doctor",),
    "examples": ("demo",),
    "exec": ("query", "call", "helm call"),
    "execute": ("query", "call", "helm call"),
    "export": ("config export",),
    "ext": ("plugin",),
    "extension": ("plugin",),
    "extensions": ("plugin",),
    "forget": ("plugin forget",),
    "get": ("show", "db list, service list or mcp list"),
    "health": ("doctor",),
    "import": ("config import, db import, service import or mcp import",),
    "info": ("show", "doctor"),
    "init": ("new", "plugin new"),
    "inspect": ("show", "plugin show"),
    "install": ("review", "plugin review"),
    "invoke": ("call", "helm call"),
    "log": ("history",),
    "login": ("connect", "oauth connect", "helm oauth connect"),
    "logout": ("disconnect", "oauth disconnect", "helm oauth disconnect"),
    "logs": ("history",),
    "ls": ("list", "plugin list"),
    "list": ("plugin list",),
    "modify": ("edit",),
    "mv": ("add, then remove",),
    "new": ("add", "plugin new"),
    "pending": ("confirm --list",),
    "ping": ("test", "doctor"),
    "profile": ("db, service or mcp",),
    "profiles": ("db, service or mcp",),
    "psql": ("shell", "db shell"),
    "query": ("db query",),
    "refresh": ("connect", "review"),
    "register": ("add",),
    "reject": ("draft reject",),
    "remove": ("db remove, service remove or mcp remove",),
    "rename": ("add, then remove",),
    "request": ("call",),
    "restart": ("stop, then start", "agent stop, then agent start"),
    "revoke": ("disconnect", "forget", "plugin forget"),
    "rm": ("remove", "forget", "db remove, service remove or mcp remove"),
    "run": ("query", "start", "serve", "call", "helm call"),
    "secret": ("service edit or db edit",),
    "secrets": ("service edit or db edit",),
    "select": ("query", "db query"),
    "send": ("call",),
    "serve": ("mcp serve",),
    "server": ("mcp",),
    "servers": ("mcp",),
    "set": ("edit", "workspace set"),
    "setup": ("doctor", "demo"),
    "shell": ("db shell",),
    "sql": ("query", "db query"),
    "start": ("serve", "agent start"),
    "status": ("test", "list", "show", "doctor"),
    "token": ("service edit",),
    "tool": ("tools", "mcp tools"),
    "tools": ("mcp tools",),
    "stop": ("agent stop",),
    "try": ("test", "demo"),
    "tutorial": ("demo",),
    "uninstall": ("forget",),
    "update": ("edit", "review", "plugin review"),
    "upgrade": ("review", "plugin review"),
    "use": ("enable", "workspace"),
    "validate": ("plugin validate",),
    "verify": ("test", "validate", "doctor"),
    "view": ("show",),
    "whoami": ("status", "oauth status"),
}
# What takes something back elsewhere. Nothing that gives more is ever suggested for it, as `approve` for `remove`.
_TAKES_BACK: Final = (
    *("decline", "del", "delete", "deny", "disapprove", "discard", "drop", "erase", "forget", "purge", "reject"),
    *("remove", "revoke", "rm", "unapprove", "uninstall", "unreview", "untrust", "withdraw"),
)
_UNDOES: Final = (*_TAKES_BACK, "cancel", "clear", "disable", "disconnect", "kill", "reset", "stop", "undo", "unset")
# What that is called here, in whichever group has it.
_TAKEN_BACK: Final = ("remove", "forget", "reject", "disconnect")
# What an option is called elsewhere -> what it is called here, where the command has it.
_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "--data": ("--args",),
    "--db": ("--database",),
    "--dbname": ("--database",),
    "--field": ("--arg",),
    "--file": ("--path",),
    "--format": ("--output",),
    "--json": ("--output json",),
    "--no-confirm": ("--dry-run",),
    "--param": ("--arg",),
    "--password": ("--password-stdin",),
    "--pass": ("--password-stdin",),
    "--secret": ("--client-secret-stdin", "--token-stdin"),
    "--token": ("--token-stdin",),
    "--url": ("--base-url", "--from-env"),
    "--username": ("--user",),
    "-U": ("--user",),
    "-a": ("--arg",),
    "-d": ("--database", "--args"),
    "-f": ("--arg", "--path"),
    "-p": ("--port",),
}
# What skips a question elsewhere. Nothing does here.
_YES: Final = ("--yes", "-y", "--assume-yes", "--auto-approve", "--confirm", "--no-confirm")
# What lists the operations of a connection elsewhere.
_LISTS: Final = ("--list", "-l", "--ls")

_SETTINGS: Final = "settings stand in config.toml in helm's home, which is yours to edit"
_OTHER_HELM: Final = "this helm makes calls for scripts and agents; the one of Kubernetes is another program"
# The group and the word, "" for helm itself -> what is said in place of a command that was meant.
_SAID: Final[dict[str, dict[str, str]]] = {
    "": {
        "uninstall": "helm plugin forget takes an extension back, and helm completion SHELL --uninstall the completion",
        **dict.fromkeys(
            ("chart", "dependency", "lint", "package", "pull", "repo", "rollback", "template"), _OTHER_HELM
        ),
    },
    "config": dict.fromkeys(("edit", "get", "list", "ls", "reset", "set", "show", "unset", "view"), _SETTINGS),
    "plugin": {"edit": "an extension is its folder, which is yours to edit; then helm plugin review it"},
}
# The same for a word where nothing is to follow.
_SAID_AFTER: Final[dict[str, dict[str, str]]] = {
    "helm history": {
        **dict.fromkeys(("ls", "list", "show"), "helm history alone lists the calls"),
        **dict.fromkeys(
            ("clear", "delete", "reset"), "the newest 10,000 calls are kept, and older ones go by themselves"
        ),
    },
}
# A word that names an option, and holds no secret: letters and hyphens.
_OPTION: Final = re.compile(r"-[A-Za-z]|--[a-z]+(?:-[a-z]+)*")
_MOST_OF_AN_OPTION: Final = 24


def told(error: Any) -> str:
    """One sentence about words that Typer refused, with where to read on; their values are not repeated."""
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    return _told(error, context) + hint


def asks_for_help(error: Any) -> bool:
    """Whether the word `help` stands where a command of a group should: who types it wants the help."""
    return _unknown(error) == "help"


def none_of(option: str, word: str, known: Collection[str]) -> HelmError:
    """What is raised for a value that is none of those that an option takes; it is not repeated."""
    *most, last = known
    close = meant(word, known)
    takes = f"{', '.join(most)} or {last}" if most else last
    return HelmError("usage", f"{option} takes {takes}" + (f"; did you mean {close}?" if close else ""))


def _told(error: Any, context: Any) -> str:
    kind = type(error).__name__
    if kind == "BadOptionUsage":
        takes = "does not take a value" not in error.format_message()
        return f"{error.option_name} {'needs a value' if takes else 'takes no value'}"
    if context is None:
        return "these words are not understood"
    if (word := _unknown(error)) is not None:
        return _unknown_command(word, context)
    if kind == "NoSuchOption":
        return _unknown_option(error.option_name, error.possibilities or (), context)
    if kind in ("MissingParameter", "BadParameter") and error.param is not None:
        name = _shown(error.param)
        return f"{name} is missing" if kind == "MissingParameter" else f"{name} takes {_value(error.param.type)}"
    if extra := re.match(r"Got unexpected extra argument\(s\) \((.*)\)", error.format_message(), re.DOTALL):
        return _extra(extra[1], context)
    return "these words are not understood"


def _unknown(error: Any) -> str | None:
    """The word that stands where a command should, where that is what is wrong; "" for a strange one."""
    text = error.format_message()
    if not text.startswith("No such command "):
        return None
    found = re.match(r"No such command '([^']*)'", text)
    return found[1] if found else ""


def _unknown_command(word: str, context: Any) -> str:
    known = list(context.command.commands)
    group = context.command_path.removeprefix("helm").strip()
    if said := _SAID.get(group, {}).get(word):
        return f"there is no command {word}: {said}"
    there, verb = {*known, "helm"}, _undoing(word, known)
    close = next((name for name in SYNONYMS.get(verb or word, ()) if re.split(r"[ ,]", name)[0] in there), None)
    if close is None and verb in _TAKES_BACK:
        close = next((name for name in _TAKEN_BACK if name in known), None)
    close = close or meant(word, [name for name in known if verb is None or name in _UNDOES])
    close = close or (_elsewhere(word, context) if group else None)
    if close is None:
        return "there is no such command"
    return f"there is no command {word}; did you mean {close}?"


def _undoing(word: str, known: list[str]) -> str | None:
    """Which verb that takes something back a word is, as it stands or nearly; a command of the group is nearer."""
    close = meant(word, (*known, *SYNONYMS, *_UNDOES))
    if close in known and word in (f"un{close}", f"dis{close}"):
        return "undo"
    return close if close in _UNDOES and close not in known else None


def _elsewhere(word: str, context: Any) -> str | None:
    """A word that is no command of this group, but one of helm's."""
    root = context.find_root().command.commands
    return f"helm {word}" if word in root else None


def _unknown_option(name: str, possible: Any, context: Any) -> str:
    known = [one for parameter in context.command.params for one in parameter.opts]
    if name in _YES:
        return f"there is no option {name}: a write is confirmed by a person, in a terminal"
    calls = context.command_path == "helm call"
    if calls and name in _LISTS:
        return f"there is no option {name}: helm call alone names the connections, and helm call CONNECTION its calls"
    named = [one for one in _OPTIONS.get(name, ()) if one.split()[0] in known]
    # The closest comes first.
    close = next(iter((*named, *possible)), None)
    plain = name in _OPTIONS or (_OPTION.fullmatch(name) and len(name) <= _MOST_OF_AN_OPTION)
    what = f"there is no option {name}" if plain else "there is no such option"
    if close is None and calls:
        what += f"; an argument of the operation is --arg {name.lstrip('-') if plain else 'NAME'}=VALUE"
    return what + (f"; did you mean {close}?" if close else "")


def _extra(text: str, context: Any) -> str:
    path, options = context.command_path, {one for parameter in context.command.params for one in parameter.opts}
    if said := _SAID_AFTER.get(path, {}).get(text):
        return f"nothing is to follow here; {said}"
    if path == "helm call" and "=" in text:
        return "a call takes its arguments as options; did you mean --arg NAME=VALUE?"
    arguments = [_shown(one) for one in context.command.params if one.param_type_name == "argument"]
    told = f"nothing is to follow {arguments[-1] if arguments else 'here'}, and there is a word more"
    if "://" in text and "--from-env" in options:
        return f"{told}; a connection URL is read from a variable, --from-env VAR"
    if "://" in text and "--base-url" in options:
        return f"{told}; a URL is given with --base-url URL"
    secret = next((one for one in ("--token-stdin", "--password-stdin") if one in options), None)
    return told + (f"; a secret is piped in, {secret}" if secret else "")


def _value(type_: Any) -> str:
    """What a value must be, in words."""
    least, most = getattr(type_, "min", None), getattr(type_, "max", None)
    number = "a whole number" if type_.name.startswith("int") else "a number"
    if least is None:
        return number
    return f"{number} from {least:g} to {most:g}" if most is not None else f"{number} from {least:g} on"


def _shown(parameter: Any) -> str:
    name: str = parameter.metavar or parameter.opts[0].upper()
    if parameter.param_type_name == "option":
        name = max(parameter.opts, key=len)
    return name.strip("[]")
