"""What in a command, a URL or a name looks like a secret, so that a person is told before it is kept there."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET: Final = re.compile(
    "apikey|authorization|bearer|credentials?|jwt|key|passphrase|passwd|password|pat|pwd|secret|token"
)
# Names that end so tell where a secret is, or how much of something there may be.
_NO_SECRET: Final = re.compile("env|file|header|limit|name|path|type|url|var|variable")
_SHORTEST: Final = 6
_ASSIGNED: Final = re.compile(r"(-{0,2}[A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
# The shapes of well-known tokens, a bearer header, and a password in a URL.
_SHAPES: Final = re.compile(
    r"gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
    r"|AKIA[A-Z0-9]{16}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}|[Bb]earer +[!-~]{6,}|[Aa]uthorization: *[!-~]{6,}"
    r"|[a-z][a-z0-9+.-]{1,20}://[^/?#@:\s]*:[^/?#@\s]+@"
)
# An option whose value is a header, as curl and mcp-remote take it, and such a header.
_HEADER_OPTION: Final = re.compile(r"-H|--headers?")
_HEADER: Final = re.compile(r"([A-Za-z0-9-]+)\s*:\s*(.*)", re.DOTALL)
_PARAMETER: Final = re.compile(r"[?&]([^=&#?]+)=([^&#]+)")


def sounds_secret(name: str) -> bool:
    """Whether a variable, an option, a header or a query parameter of this name usually holds a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    return any(map(_SECRET.fullmatch, words)) and not _NO_SECRET.fullmatch(words[-1])


def in_command(words: Iterable[str]) -> list[str]:
    """What in a command looks like a secret: its options, variables and places, never their values."""
    arguments = list(words)
    following = arguments[1:]
    return list(dict.fromkeys(name for name in map(_told, arguments, _padded(following, len(arguments))) if name))


def in_url(url: str) -> list[str]:
    """The parameters of a URL's query that look like secrets, by their names."""
    return [name for name, value in _PARAMETER.findall(url) if sounds_secret(name) or _SHAPES.search(value)]


def _padded(words: list[str], length: int) -> Iterator[str]:
    return (word or "" for word, _ in zip_longest(words, range(length)))


def _told(word: str, following: str) -> str:
    """How one word of a command gives a secret away, "" where it does not."""
    assigned = _ASSIGNED.fullmatch(word)
    if assigned is not None and sounds_secret(assigned[1]):
        return assigned[1] if _value(assigned[2]) else ""
    option, _, inline = word.partition("=")
    header = _HEADER.fullmatch(inline or following) if _HEADER_OPTION.fullmatch(option) else None
    # What has the shape of a token is told as such.
    if header and sounds_secret(header[1]) and _value(header[2]) and not _SHAPES.search(header[0]):
        return f"the header {header[1]}"
    if word.startswith("-") and sounds_secret(word) and _value(following):
        return word
    if _SHAPES.search(word):
        return "a word with the shape of a token" if "://" not in word else "a URL with a password"
    return next(iter(in_url(word)), "") if "://" in word else ""


def _value(text: str) -> bool:
    """Whether this may be a secret itself: not an option, a path, or the name of a variable to be filled in."""
    return len(text) >= _SHORTEST and not text.startswith(("-", "/", "./", "~", "$", "{"))
