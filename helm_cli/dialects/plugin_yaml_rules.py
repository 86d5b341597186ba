"""The rules of plugin.yaml that no schema can say: what depends on another field, on a grammar or on a file.

Every rule looks only at values of the right shape; a wrong shape is the schema's to tell.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from helm_cli.dialects import plugin_yaml_files
from helm_cli.dialects.faults import Path, Trouble, did_you_mean, quoted, subject
from helm_cli.grammar import cron, glob, tool_glob
from helm_cli.model import jsontext
from helm_cli.model.content import Content, covered

MOST_ALLOWED: Final = 500
# Of the globs of one server together: each is compared with the name of every tool that it has.
MOST_GLOB_CHARACTERS: Final = 2_000
_MOST_TOKENS: Final = 2**53 - 1
_MOST_PROFILE: Final = 64
_SCOPE: Final = re.compile(r"[!#-\[\]-~]+")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CRON: Final = re.compile(r"\S+(?: \S+){4}")

LineOf = Callable[[Path], int]


def troubles(document: Any, content: Content, line: LineOf) -> Iterator[Trouble]:
    """What the rules find wrong, in no order. `line` tells in which line the value at a path stands."""
    if not isinstance(document, dict):
        return
    yield from _description(document)
    yield from _settings(document, line)
    yield from _servers(document, line)
    yield from _named(document, line)
    yield from _triggers(document)
    yield from _publishes(document)
    yield from _budget(document)
    for section in ("agents", "skills"):
        yield from _globs(section, document.get(section), content)


def _description(document: Mapping[str, Any]) -> Iterator[Trouble]:
    told = document.get("description")
    if isinstance(told, str):
        if not told.strip():
            yield Trouble(("description",), '"description" must not be empty; say in one line what the plugin does')
        elif len(told.strip().splitlines()) > 1:
            yield Trouble(("description",), '"description" must be one line; say the rest in README.md')


def _settings(document: Mapping[str, Any], line: LineOf) -> Iterator[Trouble]:
    first: dict[str, Path] = {}
    for path, setting in _entries(document, "settings"):
        key, sort = setting.get("key"), setting.get("type")
        if isinstance(key, str):
            if key in first:
                told = f"the setting {quoted(key)} is there twice, first in line {line(first[key])}; keys are unique"
                yield Trouble((*path, "key"), told)
            first.setdefault(key, (*path, "key"))
        if sort in ("secret", "connection") and setting.get("sensitive") is False:
            told = f'a {sort} is always sensitive; leave "sensitive" out'
            yield Trouble((*path, "sensitive"), told)
        for place, scope in _texts((*path, "scopes"), setting.get("scopes")):
            if scope and not _SCOPE.fullmatch(scope):
                told = "must be one scope: printable ASCII without spaces, double quotes or backslashes"
                yield Trouble(place, f"{subject(place)} {told}")


def _servers(document: Mapping[str, Any], line: LineOf) -> Iterator[Trouble]:
    first: dict[bytes, Path] = {}
    allowed: list[tuple[str, str]] = []
    for path, entry in _entries(document, "tools"):
        if "ref" not in entry or "name" in entry:
            continue
        whole = jsontext.canonical(dict(entry))
        if whole in first:
            told = f"repeats, word for word, the entry that begins in line {line(first[whole])}; remove one of them"
            yield Trouble(path, f"{subject(path)} {told}")
        first.setdefault(whole, path)
        ref = entry["ref"]
        if isinstance(ref, str) and len(ref) > len("mcp:") + _MOST_PROFILE:
            yield Trouble((*path, "ref"), f'the id in "ref" is longer than the {_MOST_PROFILE} characters of a profile')
        for place, name in _texts((*path, "allow"), entry.get("allow")):
            allowed.append((str(ref), name))
            if name and (not name.isprintable() or name != name.strip()):
                yield Trouble(place, f"{subject(place)} must have only visible characters, and no space at its ends")
    yield from _too_many(allowed)


def _too_many(allowed: list[tuple[str, str]]) -> Iterator[Trouble]:
    """What is more than anybody reviews, of names and globs each with the server that it is for."""
    if len(allowed) > MOST_ALLOWED:
        told = f'"tools" allows {len(allowed)} names and globs; at most {MOST_ALLOWED} are read'
        yield Trouble(("tools",), told, at_key=True)
    characters = Counter[str]()
    for ref, name in allowed:
        characters[ref] += len(name) if tool_glob.is_glob(name) else 0
    for ref, long in characters.items():
        if long > MOST_GLOB_CHARACTERS:
            told = f"the globs of {quoted(ref)} have {long:,} characters; at most {MOST_GLOB_CHARACTERS:,} are read"
            yield Trouble(("tools",), told, at_key=True)


def _named(document: Mapping[str, Any], line: LineOf) -> Iterator[Trouble]:
    first: dict[str, Path] = {}
    for path, entry in _entries(document, "tools"):
        name = entry.get("name")
        if "ref" in entry or not isinstance(name, str):
            continue
        if name in first:
            told = f"the tool {quoted(name)} is there twice, first in line {line(first[name])}; names are unique"
            yield Trouble((*path, "name"), told)
        first.setdefault(name, (*path, "name"))


def _triggers(document: Mapping[str, Any]) -> Iterator[Trouble]:
    for path, trigger in _entries(document, "triggers"):
        when, form = trigger.get("cron"), trigger.get("form")
        if trigger.get("on") == "schedule" and isinstance(when, str) and _CRON.fullmatch(when):
            clause = cron.fault(when)
            if clause is not None:
                yield Trouble((*path, "cron"), f'"cron" {clause}')
        if trigger.get("on") == "manual" and isinstance(form, dict):
            for name in form:
                if name and (not name.isprintable() or name != name.strip() or "=" in name):
                    told = 'must have only visible characters, no "=", and no space at its ends'
                    yield Trouble((*path, "form", name), f"the name {quoted(name)} {told}", at_key=True)


def _publishes(document: Mapping[str, Any]) -> Iterator[Trouble]:
    tools = [entry for _, entry in _entries(document, "tools")]
    named = {entry["name"]: entry for entry in tools if "ref" not in entry and isinstance(entry.get("name"), str)}
    risks = {name: entry.get("risk") for name, entry in named.items()}
    for path, output in _entries(document, "outputs"):
        via = output.get("via")
        if output.get("type") != "publish" or not isinstance(via, str) or not _WORD.fullmatch(via):
            continue
        place = (*path, "via")
        if via not in risks:
            yield Trouble(place, f'"via" names {quoted(via)}, {_unnamed(via, tools, risks)}')
        elif risks[via] in ("read", "write"):
            told = f"a tool with risk: {risks[via]}; what publishes is consequential"
            yield Trouble(place, f'"via" names {quoted(via)}, {told}')
        elif named[via].get("kind") == "builtin":
            told = "a builtin tool, and helm has none that publishes; take one with kind: http"
            yield Trouble(place, f'"via" names {quoted(via)}, {told}')


def _unnamed(via: str, tools: list[Mapping[str, Any]], risks: Mapping[str, Any]) -> str:
    for entry in tools:
        if "name" not in entry and via in [name for _, name in _texts((), entry.get("allow"))]:
            return f'a tool of {quoted(str(entry.get("ref")))}; it must be one that "tools" lists by "name"'
    able = [name for name, risk in risks.items() if risk == "consequential"]
    guess = did_you_mean(via, able)
    return f'which "tools" does not list by "name"{guess or "; list it there with risk: consequential"}'


def _budget(document: Mapping[str, Any]) -> Iterator[Trouble]:
    budget = document.get("budget")
    tokens = budget.get("monthly_tokens") if isinstance(budget, dict) else None
    if isinstance(tokens, int) and tokens > _MOST_TOKENS:
        yield Trouble(("budget", "monthly_tokens"), f'"monthly_tokens" must be at most {_MOST_TOKENS}; 0 is no limit')


def _globs(section: str, globs: Any, content: Content) -> Iterator[Trouble]:
    valid = []
    for place, pattern in _texts((section,), globs):
        clause = glob.fault(pattern) or _absent(pattern, content)
        if clause is not None:
            yield Trouble(place, f"{subject(place)} {clause}")
        valid.append(pattern)
    try:
        plugin_yaml_files.matched(content, valid)
    except ValueError as error:
        yield Trouble((section,), f'"{section}" has {error}', at_key=True)


def _absent(pattern: str, content: Content) -> str | None:
    """Why a path names no file of the plugin, or a glob can name none, as a clause."""
    # Whatever its marks stand for, the rest of a segment is in the name.
    if not all(covered(segment.replace("*", "x").replace("?", "x")) for segment in pattern.split("/")):
        return "names a file that helm never reads: a name that begins with a dot, a backup or a cache"
    if set(pattern) & {"*", "?"} or pattern in content.files:
        return None
    guess = did_you_mean(pattern, [path for path in content.files if path.endswith(".md")])
    return f"names a file that the plugin does not have{guess}"


def _entries(document: Mapping[str, Any], section: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    entries = document.get(section)
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield (section, index), entry


def _texts(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, list):
        yield from (((*path, index), entry) for index, entry in enumerate(value) if isinstance(entry, str))
