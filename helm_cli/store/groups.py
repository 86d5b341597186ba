"""Which groups of profiles there are, and what is wrong with a profile of each, if anything."""

import os
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from helm_cli.grammar import url
from helm_cli.model.profile import ACTED_ON, SAFE_VARIABLES, VARIABLE, Database, Profile, Server, Service

# Members of a record that its file does not hold: its name is the file's, its folder is each call's own.
NOT_KEPT: Final = ("name", "folder")

# A list of hosts, a URL or a socket is none; `%` belongs to the zone of an IPv6 address.
_HOST: Final = re.compile(r"[\w.:%-]+")
# RFC 9110, 5.6.2, without the marks that no header is named with.
_HEADER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TAKEN: Final = (
    "accept",
    "accept-encoding",
    "connection",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
)
_TAKEN_BEGINNINGS: Final = ("content-", "proxy-", "x-forwarded-")
_PRINTABLE: Final = re.compile(r"[!-~]+")


class Group(NamedTuple):
    """One folder of profiles: its record, what such a profile is called, and what is wrong with one, if anything."""

    record: type[Profile]
    noun: str
    fault: Callable[[Any], str | None]


def _database(profile: Database) -> str | None:
    """What is wrong with a database profile, as a clause without any value of it; None where nothing is."""
    sqlite = profile.engine == "sqlite"
    needed = {"path"} if sqlite else {"database", "user", *(("host", "port") if profile.socket is None else ())}
    taken = needed | ({"engine", "credential"} if sqlite else _values(profile).keys() - {"path"})
    for key, value in _values(profile).items():
        if value is None and key in needed:
            return f"the engine {profile.engine} needs {key}" + (" (or socket)" if key == "host" else "")
        if value is not None and key not in taken:
            return f"the engine {profile.engine} takes no {key}"
        if isinstance(value, str) and not _text(value):
            return f"{key} must be a text in UTF-8 that is not empty and holds no NUL"
        if isinstance(value, str) and key in ("path", "socket", "tls_ca") and not os.path.isabs(value):
            return f"{key} must be absolute"
    return _place(profile)


def _place(profile: Database) -> str | None:
    if profile.host is not None and profile.socket is not None:
        return "it has both host and socket, of which only one can be used"
    if profile.host is not None and not _HOST.fullmatch(profile.host):
        return "host must be the name or the address of one host, not a URL"
    if profile.port is not None and not 1 <= profile.port <= 65_535:
        return "port must be from 1 to 65535"
    return None


def _service(profile: Service) -> str | None:
    """What is wrong with a service profile, as a clause without any value of it; None where nothing is."""
    wrong = url.base_fault(profile.base_url)
    if wrong is not None:
        return f"base_url {wrong}"
    if profile.base_url != url.base(profile.base_url):
        return "base_url must be written plainly: in lower case, without a default port or a / at its end"
    return _header(profile) or (_oauth2(profile) if profile.oauth2 else _token(profile))


def _header(profile: Service) -> str | None:
    name = profile.header.lower()
    if not _HEADER.fullmatch(profile.header):
        return "header must be the name of one header: letters, digits, - and _"
    if name in _TAKEN or name.startswith(_TAKEN_BEGINNINGS):
        return "header names one that helm or the connection itself sets; take another"
    return None


def _oauth2(profile: Service) -> str | None:
    if not profile.client_id or not _PRINTABLE.fullmatch(profile.client_id):
        return "client_id must be printable ASCII"
    if (profile.header, profile.format) != ("Authorization", "bearer"):
        return "with client_id, which means OAuth2, the token is always sent as Authorization: Bearer"
    if profile.redirect_port is not None and not 1 <= profile.redirect_port <= 65_535:
        return "redirect_port must be from 1 to 65535"
    if (profile.authorize_url is None) != (profile.token_url is None):
        return "authorize_url and token_url go together; give both or neither"
    for key, text, fault in (
        ("authorize_url", profile.authorize_url, url.authorize_fault),
        ("token_url", profile.token_url, url.token_fault),
    ):
        wrong = fault(text) if text is not None else None
        if wrong is not None:
            return f"{key} {wrong}"
    return None


def _token(profile: Service) -> str | None:
    for key in ("redirect_port", "authorize_url", "token_url"):
        if getattr(profile, key) is not None:
            return f"{key} goes with client_id, which means OAuth2"
    return None


def _mcp(profile: Server) -> str | None:
    """What is wrong with an MCP server's profile, as a clause without any value of it; None where nothing is."""
    if (profile.command is None) == (profile.url is None):
        return "it needs command or url, and only one of them"
    if not 1 <= profile.start_seconds <= 600:
        return "start_seconds must be from 1 to 600"
    if profile.url is not None:
        wrong = url.server_fault(profile.url)
        return f"url {wrong}" if wrong else _no_variable(profile)
    return _command(profile)


def _no_variable(profile: Server) -> str | None:
    return "token_env goes with a command; a URL gets its token as a header" if profile.token_env else None


def _command(profile: Server) -> str | None:
    if not profile.command or not profile.command[0]:
        return "command must name a program"
    if not all(_argument(word) for word in profile.command):
        return "command must be texts in UTF-8 that hold no NUL"
    if profile.token_env is not None and (wrong := _variable(profile.token_env)):
        return wrong
    if profile.credential is not None and profile.token_env is None:
        return "a token for a command needs token_env, the variable that gives it"
    return None


def _variable(name: str) -> str | None:
    if not re.fullmatch(VARIABLE, name):
        return "token_env must be the name of an environment variable"
    # To name one of these would take it from the server.
    if name in SAFE_VARIABLES:
        return "token_env must not be one of the variables that every server gets"
    if re.fullmatch(ACTED_ON, name.upper()):
        return "token_env must not be a variable that the loader, a shell, an interpreter or a library acts on"
    return None


def _values(profile: Database) -> dict[str, Any]:
    return {key: value for key, value in profile._asdict().items() if key not in NOT_KEPT}


def _text(value: str) -> bool:
    return bool(value) and _argument(value)


def _argument(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


# One line for each group; the folder's name is the key.
GROUPS: Final[dict[str, Group]] = {
    "db": Group(Database, "database", _database),
    "service": Group(Service, "service", _service),
    "mcp": Group(Server, "MCP server", _mcp),
}
