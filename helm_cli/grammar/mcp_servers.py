"""How the configuration files of other MCP clients name their servers, and what of each helm can keep.

Read are `mcpServers` (Claude Desktop, Claude Code with its projects, Cursor and others), `servers` with `inputs`
(VS Code), and `mcp.servers` (VS Code's settings). Comments and trailing commas are allowed, as those clients do.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from helm_cli.grammar import profile_name, secret_words, token, url
from helm_cli.model.profile import ACTED_ON, SAFE_VARIABLES, VARIABLE

_TOKENS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMAS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?|,(?=[ \t\r\n]*[}\]])')
_PLACEHOLDER: Final = re.compile(r"\$\{[^{}]*\}")
_HTTP: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")


class Found(NamedTuple):
    """One server of such a file, and what helm would keep of it.

    `name` is what its profile would be called; `origin` how the file calls it. `variable` gives the command its token,
    `token` is that of the file, None where the file has none; `asked` is the placeholder that stands for it ("" where
    none does). `notes` are sentences on what is not kept. `fault` says why none of it is, "" where nothing is wrong.
    """

    name: str
    origin: str
    command: tuple[str, ...] | None = None
    url: str | None = None
    variable: str | None = None
    token: str | None = None
    asked: str = ""
    notes: tuple[str, ...] = ()
    fault: str = ""


def read(text: str) -> list[Found]:
    """The servers of a configuration file, in its order; those that are the same in several projects once.

    Raises ValueError with a lower-case clause, without anything of the file, where there is no such list in it.
    """
    value = _value(text)
    lists = list(_lists(value)) if isinstance(value, dict) else []
    if not lists:
        raise ValueError("it has no list of MCP servers: neither mcpServers nor servers")
    found = [_found(str(name), within, entry) for servers, within in lists for name, entry in servers.items()]
    return list(_apart(found))


def _value(text: str) -> Any:
    without = _TOKENS.sub(lambda found: found[0] if found[0].startswith('"') else "\n" * found[0].count("\n"), text)
    plain = _COMMAS.sub(lambda found: found[0] if found[0].startswith('"') else " ", without)
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: see line {error.lineno}") from None
    except (RecursionError, ValueError):
        raise ValueError("it is not JSON that can be read") from None


def _lists(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each list of servers with the folder that it is for, "" for all."""
    settings = value.get("mcp")
    for servers in (value.get("mcpServers"), value.get("servers"), _member(settings, "servers")):
        if isinstance(servers, dict):
            yield servers, ""
    projects = value.get("projects")
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        servers = _member(project, "mcpServers")
        if isinstance(servers, dict) and servers:
            yield servers, str(folder)


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _apart(found: list[Found]) -> Iterator[Found]:
    """Each server under a name of its own; one that is there already, from another project, is left out."""
    first: dict[Found, Found] = {}
    for one in found:
        first.setdefault(one._replace(origin=""), one)
    names = profile_name.numbered(one.name for one in first.values())
    for one, name in zip(first.values(), names, strict=True):
        yield one._replace(name=name)


def _found(called: str, within: str, entry: Any) -> Found:
    name = profile_name.made(called)
    found = Found(name, f"{called} of {within}" if within else called)
    if not name:
        return found._replace(fault="no name of a profile can be made from its name")
    if not isinstance(entry, dict):
        return found._replace(fault="it is no JSON object")
    address = next((entry[key] for key in ("url", "serverUrl", "httpUrl") if entry.get(key)), None)
    notes = ("it is disabled there",) if entry.get("disabled") is True else ()
    if entry.get("command") and address:
        return found._replace(fault="it has both a command and a URL")
    if entry.get("command"):
        return _command(found._replace(notes=notes), entry)
    if address:
        return _url(found._replace(notes=notes), entry, address)
    return found._replace(fault="it has neither a command nor a URL")


def _command(found: Found, entry: Mapping[str, Any]) -> Found:
    rest = entry.get("args") or []
    words = (entry["command"], *(rest if isinstance(rest, list) else (None,)))
    if not all(isinstance(word, str) for word in words):
        return found._replace(fault="its command is not made of texts")
    places = [place for word in words for place in _PLACEHOLDER.findall(word)]
    if places:
        told = f"its command has the placeholder {_bare(places[0])}, which helm does not fill in; add it by hand"
        return found._replace(fault=told)
    telling = secret_words.in_command(words)
    if telling:
        told = f"its command holds what looks like a secret ({telling[0]}), which would be no secret there"
        return found._replace(fault=f"{told}; give it to the server in a variable, with --token-env")
    if entry.get("cwd"):
        found = _noted(found, "its folder (cwd) is not kept: helm starts it in the workspace of each call")
    if entry.get("envFile"):
        found = _noted(found, "the variables of its envFile are not passed")
    return _variables(found._replace(command=words), entry.get("env") or {})


def _variables(found: Found, env: Any) -> Found:
    if not isinstance(env, dict):
        return found._replace(fault="its env is no JSON object")
    given = {name: _plain(value) for name, value in env.items() if value is not None}
    own = sorted(given.keys() & set(SAFE_VARIABLES))
    if own:
        found = _noted(found, f"{_and(own)} of its env {_are(own)} not kept: the server gets those of helm itself")
    acted = sorted(name for name in given if re.fullmatch(ACTED_ON, name.upper()))
    if acted:
        told = f"{_and(acted)} of its env {_are(acted)} not kept: the program that runs the server acts on"
        found = _noted(found, f"{told} {'it' if len(acted) == 1 else 'them'}, so that no token may be in it")
    wanted = {name: value for name, value in given.items() if name not in (*SAFE_VARIABLES, *acted)}
    secret = [name for name in wanted if secret_words.sounds_secret(name)]
    if len(wanted) > 1 and len(secret) != 1:
        told = f"it has {len(wanted)} variables ({', '.join(sorted(wanted))}), and helm passes only one"
        return found._replace(fault=told)
    if not wanted:
        return found
    kept = secret[0] if len(wanted) > 1 else next(iter(wanted))
    left = sorted(wanted.keys() - {kept})
    if left:
        told = f"{_and(left)} {_are(left)} not passed, for helm passes one variable; a server that needs more fails"
        found = _noted(found, told)
    if not re.fullmatch(VARIABLE, kept):
        return found._replace(fault="the name of its variable is none")
    return _token(found._replace(variable=kept), wanted[kept])


def _url(found: Found, entry: Mapping[str, Any], address: Any) -> Found:
    if entry.get("type") not in (None, *_HTTP):
        told = (
            "it speaks SSE, the transport before streamable HTTP" if entry["type"] == "sse" else "its type is unknown"
        )
        return found._replace(fault=f"{told}; helm speaks streamable HTTP")
    if not isinstance(address, str):
        return found._replace(fault="its URL is no text")
    if places := _PLACEHOLDER.findall(address):
        return found._replace(
            fault=f"its URL has the placeholder {_bare(places[0])}, which helm does not fill in; add it by hand"
        )
    if wrong := url.server_fault(address):
        return found._replace(fault=f"its URL {wrong}")
    if telling := secret_words.in_url(address):
        return found._replace(
            fault=f"its URL holds what looks like a secret ({telling[0]}), which would be no secret there"
        )
    return _headers(found._replace(url=address), entry.get("headers") or {})


def _headers(found: Found, headers: Any) -> Found:
    if not isinstance(headers, dict):
        return found._replace(fault="its headers are no JSON object")
    others = sorted(name for name in headers if name.lower() != "authorization")
    secret = [name for name in others if secret_words.sounds_secret(name)]
    if secret:
        return found._replace(fault=f"it has the header {secret[0]}, and helm sends a token as Authorization: Bearer")
    if others:
        told = f"{_and(others)} {_are(others)} not sent, for helm sends no header but the token's; a server that needs"
        found = _noted(found, f"{told} more fails")
    value = next((_plain(value) for name, value in headers.items() if name.lower() == "authorization"), "")
    if not value:
        return found
    bare = token.without_scheme(value)
    if bare == value:
        return found._replace(fault="its Authorization header is no bearer token, and helm sends no other")
    return _token(found, bare)


def _token(found: Found, value: str) -> Found:
    if places := _PLACEHOLDER.findall(value):
        return found._replace(asked=_bare(places[0]))
    wrong = token.bearer_fault(value) if found.url is not None else None
    return found._replace(fault=f"its token {wrong}") if wrong else found._replace(token=value or None)


def _bare(place: str) -> str:
    """A placeholder without the value that it has where its variable is not set: that may be the secret."""
    name, default, _ = place.removeprefix("${").removesuffix("}").partition(":-")
    return f"${{{name}{':-…' if default else ''}}}"


def _plain(value: Any) -> str:
    """A value as the variable or header gets it: clients write numbers and true or false as they stand."""
    return value if isinstance(value, str) else json.dumps(value)


def _noted(found: Found, note: str) -> Found:
    return found._replace(notes=(*found.notes, note))


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
