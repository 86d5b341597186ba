"""How an export is read back in another home: every fault of it is found before anything of it is used."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from helm_cli.broker.portable import SECRETS, VERSION, Entry, Extension, Portable, secret_of, telling
from helm_cli.model.profile import NAME, Profile
from helm_cli.store import config, profiles, tomltext
from helm_cli.store.groups import GROUPS, NOT_KEPT

_TOP: Final = ("version", "settings", *GROUPS, "extensions")
_HEADER: Final = re.compile(r"[ \t]*\[([^\]\n]*)\]")
_EXTENSION: Final = re.compile(r"[a-z0-9][a-z0-9/-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
# The parser's time grows with the square of a dotted key's parts, and no key that means something has more than three.
_CHAIN: Final = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*\.[ \t]*){64}""")
# Enough of a word that is not helm's to know it by.
_TOLD: Final = 40


class Fault(NamedTuple):
    """What is wrong, as a clause; with what it is about ("db/shop", "" for all) and its line, where that is known."""

    line: int | None
    about: str
    clause: str


def read(text: str) -> tuple[Portable, list[Fault]]:
    """What an export says, whole only where there are no faults.

    Raises ValueError with a clause where nothing of it can be judged: no TOML, no version, or one that is not known.
    """
    if _CHAIN.search(text):
        raise ValueError("a key of it has more than 64 parts, which none in an export has")
    found = tomltext.parsed(text.encode())
    _check_version(found)
    lines = _lines(text)
    faults = [Fault(None, "", tomltext.strange(_told(key), _TOP)) for key in found if key not in _TOP]
    entries = []
    for group in GROUPS:
        for name, members in _tables(found, group, faults):
            entry, wrong = _entry(group, name, members)
            line = lines.get(f"{group}.{name}")
            faults += [Fault(line, f"{group}/{_told(name)}", clause) for clause in wrong]
            entries += [entry] if entry is not None else []
    settings = _settings(found.get("settings", {}), faults)
    return Portable(tuple(entries), settings, tuple(_extensions(found.get("extensions", []), faults))), faults


def _check_version(found: dict[str, Any]) -> None:
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"it is no export of helm's: it has no line version = {VERSION}")
    if version > VERSION:
        raise ValueError(
            f"it is of version {version if version < 1000 else '…'}, and this helm knows {VERSION}; upgrade helm"
        )


def _lines(text: str) -> dict[str, int]:
    """Name of a table -> the line of its header, where it has one and writes it in the usual way."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        if header is not None:
            found.setdefault(re.sub(r"[\"' \t]", "", header[1]), number)
    return found


def _tables(found: dict[str, Any], group: str, faults: list[Fault]) -> Iterator[tuple[str, Any]]:
    tables = found.get(group, {})
    if isinstance(tables, dict):
        yield from tables.items()
    else:
        faults.append(Fault(None, "", f"{group} must be tables, each written [{group}.NAME]"))


def _entry(group: str, name: str, members: Any) -> tuple[Entry | None, list[str]]:
    if not re.fullmatch(NAME, name):
        return None, ["that cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore"]
    if not isinstance(members, dict):
        return None, [f"it must be a table, written [{group}.NAME]"]
    known = [field for field in GROUPS[group].record._fields if field not in (*NOT_KEPT, "credential")]
    strange = [tomltext.strange(_told(key), (*known, "secret")) for key in members if key not in (*known, "secret")]
    profile, wrong = profiles.made(group, name, {key: value for key, value in members.items() if key in known})
    secret = members.get("secret")
    if "secret" in members and secret not in SECRETS[group]:
        wrong.append("the value of secret must be " + " or ".join(f'"{one}"' for one in SECRETS[group]))
    elif profile is not None:
        wrong += _together(profile, secret)
    faults = strange + wrong
    return (None, faults) if profile is None or faults else (Entry(profile, secret), [])


def _together(profile: Profile, secret: str | None) -> Iterator[str]:
    """What does not go together in a profile that is sound in itself."""
    for name in telling(profile):
        yield f"{name} looks like a secret, which would stand open in the profile; take it out"
    if secret is None:
        return
    if getattr(profile, "engine", "") == "sqlite":
        yield "a SQLite file has no secret"
    elif secret != secret_of(profile):
        yield f'the value of secret must be "{secret_of(profile)}" for this profile'
    elif wrong := GROUPS[profile.group].fault(profile._replace(credential="file")):
        yield wrong


def _settings(settings: Any, faults: list[Fault]) -> dict[str, Any]:
    if not isinstance(settings, dict):
        faults.append(Fault(None, "settings", "it must be a table, written [settings]"))
        return {}
    try:
        config.understood(settings)
    except ValueError as error:
        faults.append(Fault(None, "settings", str(error)))
    return settings


def _extensions(extensions: Any, faults: list[Fault]) -> Iterator[Extension]:
    for one in extensions if isinstance(extensions, list) else [extensions]:
        fits = isinstance(one, dict) and one.keys() == {"id", "digest"}
        if fits and _matches(_EXTENSION, one["id"]) and _matches(_DIGEST, one["digest"]):
            yield Extension(one["id"], one["digest"])
        else:
            faults.append(Fault(None, "extensions", "each must be the id of an extension and its digest"))


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _told(word: str) -> str:
    return word if len(word) <= _TOLD else f"{word[:_TOLD]}…"
