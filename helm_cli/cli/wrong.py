"""What is said to words that helm does not understand: what they are, and what was probably meant."""

import re
from typing import Any, Final

from helm_cli.model.wording import meant

# What a command is called elsewhere -> what it is called here, in whichever group has it; the first that is there. What
# begins with helm is there everywhere.
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "accept": ("approve", "plugin review"),
    "add": ("db add, service add or mcp add",),
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
    "delete": ("remove", "forget"),
    "describe": ("show", "plugin show"),
    "diagnose": ("doctor",),
    "dump": ("export", "config export"),
    "env": ("doctor",),
    "examples": ("demo",),
    "exec": ("query", "call", "helm call"),
    "execute": ("query", "call", "helm call"),
    "export": ("config export",),
    "ext": ("plugin",),
    "extension": ("plugin",),
    "extensions": ("plugin",),
    "get": ("show", "call"),
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
    "refresh": ("connect",),
    "register": ("add",),
    "remove": ("db remove, service remove or mcp remove",),
    "rename": ("add, then remove",),
    "request": ("call",),
    "restart": ("stop, then start", "agent stop, then agent start"),
    "revoke": ("disconnect", "forget", "plugin forget"),
    "rm": ("remove", "forget"),
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
    "uninstall": ("forget", "plugin forget"),
    "update": ("edit", "plugin review"),
    "upgrade": ("review", "plugin review"),
    "use": ("enable", "workspace"),
    "validate": ("plugin validate",),
    "verify": ("test", "validate", "doctor"),
    "view": ("show",),
    "whoami": ("status", "oauth status"),
}
# What an option is called elsewhere -> what it is called here, where the command has it.
_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "--data": ("--args",),
    "--db": ("--database",),
    "--dbname": ("--database",),
    "--field": ("--arg",),
    "--file": ("--path",),
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

_OF_SETTINGS: Final = ("edit", "get", "list", "ls", "set", "show", "unset")


def told(error: Any) -> str:
    """One sentence about words that Typer refused, with where to read on."""
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    return _told(error, context) + hint


def _told(error: Any, context: Any) -> str:
    text: str = error.format_message()
    message = f"{text[:1].lower()}{text[1:].rstrip('.')}"
    if context is None:
        return message
    if unknown := re.match("no such command '([^']*)'", message):
        return _unknown_command(unknown[1], context)
    if (name := getattr(error, "option_name", None)) is not None and type(error).__name__ == "NoSuchOption":
        return _unknown_option(name, error.possibilities or (), context)
    if type(error).__name__ == "MissingParameter" and error.param is not None:
        return f"{_shown(error.param)} is missing"
    if extra := re.match(r"got unexpected extra argument\(s\) \((.*)\)", message):
        return _extra(extra[1], context)
    return message


def _unknown_command(word: str, context: Any) -> str:
    known = list(context.command.commands)
    group = context.parent is not None
    if word == "help":
        return f"there is no command help here; did you mean {context.command_path.removeprefix('helm ')} --help?"
    if context.command_path == "helm config" and word in _OF_SETTINGS:
        return f"there is no command {word}: settings stand in config.toml in helm's home, which is yours to edit"
    there = {*known, "helm"}
    close = next((name for name in SYNONYMS.get(word, ()) if re.split(r"[ ,]", name)[0] in there), None)
    close = close or meant(word, known) or (_elsewhere(word, context) if group else None)
    return f"there is no command {word}" + (f"; did you mean {close}?" if close else "")


def _elsewhere(word: str, context: Any) -> str | None:
    """A word that is no command of this group, but one of helm's."""
    root = context.find_root().command.commands
    return f"helm {word}" if word in root else None


def _unknown_option(name: str, possible: Any, context: Any) -> str:
    known = [one for parameter in context.command.params for one in parameter.opts]
    if name in _YES:
        return f"there is no option {name}: a write is confirmed by a person, in a terminal"
    named = [one for one in _OPTIONS.get(name, ()) if one.split()[0] in known]
    # The closest comes first.
    close = next(iter((*named, *possible)), None)
    return f"there is no option {name}" + (f"; did you mean {close}?" if close else "")


def _extra(text: str, context: Any) -> str:
    if context.command_path == "helm call" and "=" in text:
        return f"a call takes its arguments as options; did you mean --arg {text.split()[0]}?"
    return f"nothing is to follow here, and there is {text}"


def _shown(parameter: Any) -> str:
    name: str = parameter.metavar or parameter.opts[0].upper()
    return name.strip("[]")
