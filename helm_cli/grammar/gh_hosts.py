"""Which hosts and tokens GitHub's own command line keeps in its hosts.yml, and where their API is.

Source: gh's manual ("gh auth login") and the files of gh 2; a newer gh keeps its tokens in the keychain.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from helm_cli.grammar import profile_name, secret_words, token, url
from helm_cli.grammar.found import FoundService

_GITHUB: Final = "github.com"
_TENANT: Final = ".ghe.com"
# What is told of a host and its user is typed into a shell.
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,38}")


def found(value: Any) -> list[FoundService]:
    """The accounts of a file that was read as YAML, the one that gh uses of each host first.

    Raises ValueError, a lower-case clause, for what is no such file.
    """
    if value is None:
        return []
    if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
        raise ValueError("it is no list of hosts as gh keeps it")
    return [service for host, entry in value.items() for service in _host(host, entry)]


def api(host: str) -> str:
    """The base URL of a host's API: GitHub's own, that of a company there, or that of an Enterprise server."""
    if host in (_GITHUB, "localhost") or host.endswith(_TENANT):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def _host(host: str, entry: dict[str, Any]) -> Iterator[FoundService]:
    active = entry.get("user")
    users = entry.get("users")
    several = isinstance(users, dict)
    yield _account(host, active if isinstance(active, str) else "", entry, called=host, several=several)
    for user, own in users.items() if isinstance(users, dict) else ():
        if user != active:
            whole = own if isinstance(own, dict) else {}
            yield _account(host, f"{user}", whole, called=f"{host}-{user}", several=True)


def _account(host: str, user: str, entry: dict[str, Any], *, called: str, several: bool) -> FoundService:
    base_url = api(host.lower())
    if not _HOST.fullmatch(host) or url.base_fault(base_url):
        # It is not shown: a URL may stand there, with a token in it.
        return FoundService("", "a host", fault="its name is no host's")
    if user and (not _USER.fullmatch(user) or secret_words.in_command([user])):
        return FoundService("", host, fault="the name of its user is none that GitHub has")
    name = called.replace(_GITHUB, "github", 1) if host == _GITHUB else called
    made = FoundService(profile_name.made(name), f"{host}, {user}" if user else host, url.base(base_url))
    held = entry.get("oauth_token")
    if held is None or held == "":
        # Without both, gh gives the token of a variable, of another host, or of the account in use.
        of = f"--hostname {host}" + (f" --user {user}" if user and several else "")
        step = f"gh auth token {of} | helm service add {made.name} --base-url {made.base_url} --token-stdin"
        return made._replace(fault=f"gh keeps its token elsewhere, as in the keychain; take it with: {step}")
    if not isinstance(held, str) or token.bearer_fault(held):
        return made._replace(fault="its token is none that a header can carry")
    return made._replace(token=held)
