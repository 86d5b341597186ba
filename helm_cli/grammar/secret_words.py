"""What in a command, a URL or a name looks like a secret, so that a person is told before it is kept there."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from helm_cli.grammar import secret_shapes

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET: Final = re.compile(
    "apikey|authorization|bearer|credentials?|jwt|key|passphrase|passwd|password|pat|pwd|secret|token"
)
# Names that end so tell where a secret is, or what and how much of something there may be.
_NO_SECRET: Final = re.compile(
    "algorithm|budget|count|dir|endpoint|env|expiry|file|folder|format|header|issuer|length|limit|mode|name|path|prefix"
    "|provider|size|source|store|timeout|ttl|type|uri|url|var|variable"
)
# Keys that find something, and the one that is for everybody.
_OF_DATA: Final = re.compile(
    "cache|field|foreign|group|index|issue|join|map|object|partition|primary|project|public|publishable|range|routing"
    "|row|shard|sort|unique"
)
_CHOSEN: Final = re.compile("passphrase|passwd|password|pwd|secret")
_SHORTEST: Final = 6
_ASSIGNED: Final = re.compile(r"(-{0,2}[A-Za-z_][A-Za-z0-9_.-]{0,63})=(.*)", re.DOTALL)
_OPTION: Final = re.compile(r"-{1,2}[A-Za-z][\w.-]{0,63}")
# An option whose value is a header, as curl and mcp-remote take it, and such a header.
_HEADER_OPTION: Final = re.compile(r"-H|--headers?")
_HEADER: Final = re.compile(r"([A-Za-z0-9-]{1,64})\s*:\s*(.*)", re.DOTALL)
# Options for a user and a password in one, which container programs have for a user and a group.
_USER_OPTION: Final = re.compile(r"--(?:user|userpwd|proxy-user|auth|basic-auth|creds)")
_USER: Final = re.compile(r"[^\s:/$<{]{1,64}:(?![$<{]|[0-9]+\Z)[^\s/]+")
_CONTAINERS: Final = frozenset(("chroot", "docker", "kubectl", "nerdctl", "podman", "runuser", "setpriv"))
_PARAMETER: Final = re.compile(r"[?&]([^=&#?]{1,200})=([^&#]+)")
# A member of JSON, and a header in quotation marks.
_MEMBER: Final = re.compile(r"""["']([A-Za-z_][\w.-]{0,63})(?:["']\s*:\s*["']([^"']*)|\s*:\s*([^"'\s]+))["']""")
_ESCAPED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_SPACED: Final = re.compile(r"\s?=\s?")
_BETWEEN: Final = re.compile(r"[\s;,|&()]+")
# A variable or another store that it comes from, a file, an address, or a word that no secret is.
_ELSEWHERE: Final = re.compile(
    r"[-/~$<{]|\./|\*+\Z|https?://|(?:env|file|keychain|keyring|op|pass|secretsmanager|ssm|vault):"
    r"|(?:true|false|yes|no|on|off|none|null|ask|prompt|stdin)\Z"
    r"|[\w./-]{1,200}\.(?:conf|crt|env|ini|json|key|p12|pem|toml|txt|ya?ml)\Z",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey)\s+", re.IGNORECASE)
# How often a text in a text in a text is looked into.
_DEEPEST: Final = 4

TOKEN: Final = "a word with the shape of a token"
PASSWORD: Final = "a URL with a password"
PART: Final = "a part with the shape of a token"
RANDOM: Final = "a long random word"
# Those that stand for what has no name of its own.
UNNAMED: Final = (TOKEN, PASSWORD, PART, RANDOM)


class Sign(NamedTuple):
    """What looks like a secret, told without its value; where it is not `sure`, it may well be something else."""

    told: str
    sure: bool = True


def sounds_secret(name: str) -> bool:
    """Whether a variable, an option, a header or a query parameter of this name usually holds a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or _NO_SECRET.fullmatch(words[-1]):
        return False
    return any(
        _SECRET.fullmatch(word) and not (word == "key" and _OF_DATA.fullmatch(before))
        for before, word in pairwise(["", *words])
    )


def in_command(words: Iterable[str]) -> list[str]:
    """What in a command is a secret for sure: its options, variables and places, never their values."""
    return _sure(signs_in_command(words))


def in_url(url: str) -> list[str]:
    """The parameters of a URL's query that are secrets for sure, by their names, and what else in it is one."""
    return _sure(signs_in_url(url))


def signs_in_command(words: Iterable[str]) -> list[Sign]:
    """All that looks like a secret in a command, each once."""
    arguments = list(words)
    contained = any(word.rpartition("/")[2] in _CONTAINERS for word in arguments)
    return _once(_of_words(arguments, contained, _DEEPEST))


def signs_in_url(url: str) -> list[Sign]:
    """All that looks like a secret in a URL, each once."""
    return _once(_of_url(url))


def _sure(signs: list[Sign]) -> list[str]:
    return [sign.told for sign in signs if sign.sure]


def _once(signs: Iterable[Sign]) -> list[Sign]:
    found: dict[str, Sign] = {}
    for sign in signs:
        if sign.told not in found or sign.sure:
            found[sign.told] = sign
    return list(found.values())


def _of_words(words: list[str], contained: bool, deep: int) -> Iterator[Sign]:
    for word, following in pairwise([*words, ""]):
        named = list(_named(word, following, contained))
        yield from named
        # What is told by its name is not told once more.
        if not named:
            yield from _shaped(word, contained, deep)


def _named(word: str, following: str, contained: bool) -> Iterator[Sign]:
    """What an option, or the name of a variable, tells of its value."""
    assigned = _ASSIGNED.fullmatch(word)
    option, value = (assigned[1], assigned[2]) if assigned else (word, following)
    header = _header_of(word, option, value)
    if header is not None:
        # What has the shape of a token is told as such.
        if sounds_secret(header[1]) and _secret(header[2]) and not secret_shapes.token(header[0]):
            yield Sign(f"the header {header[1]}")
    elif assigned and sounds_secret(option):
        if _secret(value, 1 if _is_chosen(option) else _SHORTEST):
            yield Sign(option)
    elif _OPTION.fullmatch(option) and not assigned and sounds_secret(option):
        if _secret(value, 1 if _is_chosen(option) else _SHORTEST):
            yield Sign(option, sure=len(value) >= _SHORTEST)
    elif not contained and _USER_OPTION.fullmatch(option) and _USER.fullmatch(value):
        yield Sign(option)


def _header_of(word: str, option: str, value: str) -> re.Match[str] | None:
    if _HEADER_OPTION.fullmatch(option):
        return _HEADER.fullmatch(value)
    return _HEADER.fullmatch(word[2:]) if word.startswith("-H") else None


def _shaped(word: str, contained: bool, deep: int) -> Iterator[Sign]:
    """What a word itself looks like, and the words in it: of a shell, of a connection string, of JSON."""
    found = list(_of_url(word)) if "://" in word else []
    yield from (Sign(TOKEN) if sign.told == PART else sign for sign in found)
    if any(sign.sure for sign in found):
        return
    if secret_shapes.token(word):
        yield Sign(TOKEN)
        return
    yield from (Sign(name) for name, *texts in _MEMBER.findall(word) if sounds_secret(name) and _secret("".join(texts)))
    if secret_shapes.random(word):
        yield Sign(RANDOM, sure=False)
    if deep:
        assigned = _ASSIGNED.fullmatch(word)
        inner = [part.strip("'\"") for part in _BETWEEN.split(_SPACED.sub("=", word))]
        if assigned:
            yield from _of_words([assigned[2]], contained, deep - 1)
        elif len(inner) > 1:
            yield from _of_words(inner, contained, deep - 1)


def _of_url(url: str) -> Iterator[Sign]:
    if secret_shapes.password(url):
        yield Sign(PASSWORD)
    for escaped, value in _PARAMETER.findall(url):
        name = _plain(escaped)
        if (sounds_secret(name) and not _ELSEWHERE.match(value)) or secret_shapes.token(_plain(value)):
            yield Sign(name)
        elif secret_shapes.random(value):
            yield Sign(name, sure=False)
    path = _plain(_PARAMETER.sub("", url))
    if secret_shapes.token(path):
        yield Sign(PART)
    elif any(map(secret_shapes.random, path.split("/"))):
        yield Sign(RANDOM, sure=False)


def _plain(text: str) -> str:
    """A text of a URL with what is escaped in it, as far as that is ASCII."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if int(found[1], 16) < 128 else found[0], text)


def _is_chosen(name: str) -> bool:
    """Whether people choose what stands there, so that it may be as short as they like."""
    return any(_CHOSEN.fullmatch(word.lower()) for word in _WORD.findall(name))


def _secret(value: str, shortest: int = _SHORTEST) -> bool:
    """Whether this may be a secret itself, and not the place that it comes from."""
    bare = _SCHEME.sub("", value.strip("'\""), count=1)
    return len(bare) >= shortest and not _ELSEWHERE.match(bare)
