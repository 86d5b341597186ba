"""Which URLs helm lets a person configure and an extension declare, and which paths stay under them.

Each `…_fault` gives a clause that follows the name of what is wrong ("must begin with https://"), or None. No
clause repeats the URL: it may hold credentials.
"""

import re
from typing import Final

from helm_cli.grammar import template

LOOPBACK: Final = ("127.0.0.1", "localhost")
# Far more than a URL that a person configures has, and far less than what is sent may have in all.
MOST_CHARACTERS: Final = 4_096

_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
)
_PRINTABLE: Final = re.compile(r"[!-\[\]-~]*")
# RFC 3986: pchar and "/", and for a query "?" too.
_PATH: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_QUERY: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS: Final = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
# A host whose last label is a number is an address to the resolver: 127.1 and 0x7f.1 are 127.0.0.1.
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_DEFAULT_PORT: Final = {"https": 443, "http": 80}
_MOST_DECODINGS: Final = 8
# ".", "..", and what some servers take for one: they end a segment at ";" (its parameters), at NUL, or trim blanks.
_DOTS: Final = re.compile(r"\.\.?(?:[;\x00-\x20\x7f-\xa0\s].*)?", re.DOTALL)


def base_fault(url: str) -> str | None:
    """Why a service cannot have this base URL (contract, HTTP): https, or http on 127.0.0.1 or localhost; no query."""
    fault = _fault(url)
    if fault is not None:
        return fault
    found = _parts(url)
    if found["query"]:
        return "must not contain a query"
    return _segments_fault(found["path"])


def base(url: str) -> str:
    """A valid base URL as it is kept: scheme and host in lower case, no default port, no "/" at its end."""
    found = _parts(url)
    scheme = found["scheme"].lower()
    host, _, port = found["authority"].lower().partition(":")
    shown = f":{int(port)}" if port and int(port) != _DEFAULT_PORT[scheme] else ""
    return f"{scheme}://{host}{shown}{found['path']}".rstrip("/")


def authorize_fault(url: str) -> str | None:
    """Why an extension cannot declare this authorizeUrl (contract, OAuth2). It may have a query."""
    return _fault(url)


def token_fault(url: str) -> str | None:
    """Why an extension cannot declare this tokenUrl (contract, OAuth2). It has no query."""
    fault = _fault(url)
    if fault is None and "?" in url:
        return "must not contain a query; only authorizeUrl can have one"
    return fault


def server_fault(url: str) -> str | None:
    """Why an MCP server cannot have this URL: as a base URL, but it may have a query."""
    return _fault(url)


def path_fault(path: str) -> str | None:
    """Why a call cannot have this path (contract, HTTP), placeholders included."""
    if not path.startswith("/") or path.startswith("//"):
        return 'must start with exactly one "/", because it is added to the base URL of the service'
    if "?" in path:
        return 'must not contain "?"; declare parameters under "query"'
    if "#" in path:
        return 'must not contain "#"'
    written = template.without(path)
    if "{" in written or "}" in written:
        return "has a brace that belongs to no {name} placeholder"
    # A placeholder after a "%" would make an escape of its value.
    return _segments_fault(path) or _characters_fault(template.fill(path, lambda name: "x"))


def climbs(path: str) -> bool:
    """Whether a path has a "." or ".." segment, as it stands or as a server sees it that decodes it again and again.

    A backslash divides segments too, as on Windows, and what follows the dots after a ";", a blank or a control
    character does not count.
    """
    for _ in range(_MOST_DECODINGS):
        if _has_dots(path):
            return True
        decoded = _decoded(path)
        if decoded == path:
            return False
        path = decoded
    return True


def _fault(url: str) -> str | None:
    if len(url) > MOST_CHARACTERS:
        return f"must have at most {MOST_CHARACTERS:,} characters"
    if not _PRINTABLE.fullmatch(url):
        return "must be ASCII without spaces, backslashes or control characters (percent-encode them; hosts as xn--…)"
    if not _URL.fullmatch(url):
        return "must be a whole URL, as in https://api.example.com"
    found = _parts(url)
    if "@" in found["authority"]:
        return "must not contain credentials"
    if "#" in url:
        return "must not contain a fragment"
    host, colon, port = found["authority"].partition(":")
    if not _safe_scheme(found["scheme"].lower(), host.lower()):
        return "must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)"
    return _authority_fault(host, port if colon else None) or _written_fault(found)


def _parts(url: str) -> dict[str, str]:
    found = _URL.fullmatch(url)
    return {name: part or "" for name, part in found.groupdict().items()} if found else {}


def _safe_scheme(scheme: str, host: str) -> bool:
    return scheme == "https" or (scheme == "http" and host in LOOPBACK)


def _authority_fault(host: str, port: str | None) -> str | None:
    if len(host) > 253 or not _HOST.fullmatch(host) or (_NUMBER.fullmatch(host) and not _ADDRESS.fullmatch(host)):
        return "must name a host: letters, digits, - and ., or an IPv4 address of four numbers"
    if port is not None and not (re.fullmatch(r"[0-9]{1,5}", port) and 1 <= int(port) <= 65_535):
        return "must have a port from 1 to 65535, or none"
    return None


def _written_fault(found: dict[str, str]) -> str | None:
    if not _QUERY.fullmatch(found["query"]):
        return "has a character in its query that must be percent-encoded"
    return _characters_fault(found["path"])


def _characters_fault(path: str) -> str | None:
    if not _PATH.fullmatch(path):
        return "has a character that must be percent-encoded"
    return None


def _segments_fault(path: str) -> str | None:
    return 'must have no "." or ".." segment' if climbs(path) else None


def _has_dots(path: str) -> bool:
    return any(_DOTS.fullmatch(segment) for segment in re.split(r"[/\\]", path))


def _decoded(path: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), path)
