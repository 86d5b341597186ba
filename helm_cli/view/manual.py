"""What the man pages say beside the commands: variables, files and exit statuses, each with what it means."""

from typing import Final, NamedTuple

from helm_cli.model.command import Command


class Variable(NamedTuple):
    """Variables of the environment that one sentence is about, and the commands (all: none named) that go by them."""

    names: tuple[str, ...]
    text: str
    commands: tuple[str, ...] = ()


# The commands that send to services and MCP servers, or start what does: the groups whole, for their own pages.
_SENDING: Final = ("call", "confirm", "mcp", "plugin review", "plugin check", "draft publish", "doctor", "agent start")

VARIABLES: Final = (
    Variable(("HELM_CLI_HOME",), "Where helm keeps everything; else the folder .helm in the home folder."),
    Variable(
        ("HELM_CLI_WORKSPACE",),
        "The workspace, where --workspace names none.",
        (
            *("call", "confirm", "history", "plugin", "draft", "project", "workspace", "oauth", "mcp serve"),
            *("mcp test", "mcp tools", "db tables", "db query", "db shell", "doctor"),
        ),
    ),
    Variable(
        ("HELM_CLI_CREDENTIALS",),
        "Where secrets are kept: keychain, file, or auto, which takes the keychain where one answers, else the file.",
        ("db", "service", "mcp", "oauth", "plugin settings", "config import", "doctor"),
    ),
    Variable(("HELM_CLI_NO_INPUT",), "If set, to whatever, helm asks nobody anything."),
    Variable(("NO_COLOR",), "If set and not empty, nothing is coloured."),
    Variable(("COLUMNS",), "How wide things are shown, from 60 to 200; else as wide as the terminal is."),
    Variable(("TERM",), "The kind of terminal. Where it is unset or dumb, nothing is coloured and nobody is asked."),
    Variable(
        ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"),
        "Which browser is opened to sign in, and whether there is a graphical one.",
        ("oauth connect",),
    ),
    Variable(
        ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        "The proxy on the way to services and MCP servers on other machines, also in lower case.",
        (*_SENDING, "service test", "oauth"),
    ),
    Variable(
        ("SSL_CERT_FILE", "SSL_CERT_DIR"),
        "The certificates of who may vouch for services; else those of the package certifi.",
        (*_SENDING, "service test", "oauth"),
    ),
    Variable(
        ("HOME", "LOGNAME", "PATH", "SHELL", "USER"),
        "What the command of an MCP server gets, besides TERM and the one variable of --token-env.",
        _SENDING,
    ),
    Variable(
        ("DATABASE_URL", "PGSERVICEFILE", "PGSYSCONFDIR", "PGPASSFILE"),
        "A connection URL, and the files of Postgres' own programs, from which profiles can be taken over.",
        ("db import",),
    ),
    Variable(
        ("GH_CONFIG_DIR", "NETRC"),
        "Where gh and .netrc keep the tokens that can be taken over.",
        ("service import",),
    ),
    Variable(
        ("BASH_COMPLETION_USER_DIR", "ZDOTDIR", "FPATH"),
        "Where bash and zsh look for completions.",
        ("completion",),
    ),
    Variable(
        ("XDG_CONFIG_HOME", "XDG_DATA_HOME"),
        "Where the settings and data of other programs are: of gh, fish and bash.",
        ("completion", "service import"),
    ),
    Variable(
        ("XDG_RUNTIME_DIR", "TMPDIR"),
        "Where the socket of the background agent is, if its path in the home is too long for one.",
        ("agent", "call", "confirm", "draft publish", "mcp serve", "doctor"),
    ),
)

FILES: Final = (
    ("~/.helm", "The home: everything that helm keeps. Only its owner may enter it."),
    ("~/.helm/config.toml", "Settings, which helm only reads: limits, the OAuth2 port, the agent, the history."),
    ("~/.helm/profiles/GROUP/NAME.toml", "One profile, of the group db, service or mcp. It holds no secret."),
    ("~/.helm/credentials.json", "Secrets, only where there is no keychain. Only its owner may read it."),
    ("~/.helm/state.db", "Approvals with the approved copy of each extension, waiting writes, and the history."),
    ("~/.helm/drafts", "Drafts that wait for review, unless config.toml names another folder."),
    ("~/.helm/run", "The socket and the log of the background agent."),
    ("~/.helm/shell-history", "The lines that were typed in helm db shell."),
)

STATUSES: Final = {
    0: "Done.",
    1: "A fault in helm itself, or a state that cannot be read or written.",
    2: "The command line was not understood, or something on it is missing.",
    3: "Refused: not declared, not approved, changed since its approval, or with wrong arguments.",
    4: "Something that it needs is not configured.",
    5: "Not authorized: nobody is signed in, or a token is refused or lacks a scope.",
    6: "Declined: a person said no, or cancelled.",
    7: "It waits for a person to confirm it. Nothing was sent.",
    8: "Over the limit of calls a minute.",
    9: "It took longer than it may.",
    10: "What it needs cannot be reached, started or signed in to, or the credential store is locked.",
    11: "The answer is too large, or not what such an answer may be.",
    12: "The service answered with an error.",
    13: "The tool answered with an error.",
    14: "The database refused the statement.",
    15: "Conflict: what was to be changed, or added, is another by now, or there already.",
    16: "The manifest of the extension is not valid.",
    17: "Not approved as it stands, and no person was there to ask.",
    130: "Ended by Ctrl-C; by another signal, 128 and its number.",
}

# What any command may end with, and what may come of a call that is sent.
_ALWAYS: Final = (0, 1, 2, 130)
_SENT: Final = (3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15)
# Command -> the statuses that a script is likely to ask about, beside those of every command.
_MATTER: Final[dict[str, tuple[int, ...]]] = {
    "call": (*_SENT, 8),
    "confirm": _SENT,
    "db": (4,),
    "db add": (6, 15),
    "db test": (4, 5, 9, 10),
    "db tables": (4, 7, 9, 10),
    "db query": (3, 4, 7, 9, 10, 11, 14),
    "db shell": (4, 7, 10),
    "service": (4,),
    "service add": (6, 15),
    "service test": (4, 5, 9, 10, 12),
    "mcp": (4,),
    "mcp add": (6, 15),
    "mcp test": (4, 5, 9, 10),
    "mcp tools": (4, 5, 9, 10),
    "oauth": (4,),
    "oauth connect": (4, 5, 9, 10),
    "oauth status": (4, 5),
    "plugin": (3,),
    "plugin review": (6, 7, 16, 17),
    "plugin validate": (16,),
    "plugin check": (3, 4, 10, 14),
    "plugin bind": (3, 6, 7),
    "draft": (3, 6, 7),
    "draft publish": (*_SENT, 8),
    "agent status": (10,),
    "doctor": (10,),
    "project": (3, 7),
}


def variables(command: Command) -> list[Variable]:
    """Those that a command goes by; all of them for helm itself."""
    return [one for one in VARIABLES if not command.path or (one.commands and _about(command, one.commands))]


def statuses(command: Command) -> list[int]:
    """Those that matter of a command; all of them for helm itself."""
    if not command.path:
        return [*STATUSES]
    words = " ".join(command.path)
    return sorted({*_ALWAYS, *_MATTER.get(words, _MATTER.get(command.path[0], ()))})


def _about(command: Command, named: tuple[str, ...]) -> bool:
    words = " ".join(command.path)
    return any(f"{words} ".startswith(f"{one} ") for one in named)
