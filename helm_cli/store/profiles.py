"""How a profile stands in its file, one TOML file each, which people may edit too."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, overload

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import NAME, Database, Profile, Server, Service
from helm_cli.model.wording import meant
from helm_cli.store import home as homes
from helm_cli.store import tomltext
from helm_cli.store.groups import GROUPS, NOT_KEPT

FOLDER: Final = "profiles"
_SUFFIX: Final = ".toml"
_NAME: Final = re.compile(NAME)


def names(home: Path, group: str) -> list[str]:
    """The names of the profiles that are there, sorted; nothing is read. Raises HelmError("state")."""
    folder = _folder(home, group)
    with homes.told(folder):
        try:
            found = os.listdir(folder)
        except FileNotFoundError:
            return []
    stems = (name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))
    return sorted(stem for stem in stems if _NAME.fullmatch(stem))


def exists(home: Path, group: str, name: str) -> bool:
    """Whether there is a profile of this name, sound or not. Raises HelmError("usage") for what is no name."""
    path = _path(home, group, name)
    with homes.told(path):
        try:
            os.lstat(path)
        except FileNotFoundError:
            return False
    return True


@overload
def load(home: Path, group: Literal["db"], name: str) -> Database: ...
@overload
def load(home: Path, group: Literal["service"], name: str) -> Service: ...
@overload
def load(home: Path, group: Literal["mcp"], name: str) -> Server: ...
@overload
def load(home: Path, group: str, name: str) -> Profile: ...
def load(home: Path, group: str, name: str) -> Profile:
    """The profile of this name.

    Raises HelmError("not_configured") where there is none, and HelmError("state") with the file and the reason where
    it cannot be understood.
    """
    path = _path(home, group, name)
    data = homes.read(path)
    kind = GROUPS[group]
    if data is None:
        close = meant(name, names(home, group))
        hint = f" (did you mean {close}?)" if close else ""
        raise HelmError(
            "not_configured", f"there is no {kind.noun} profile {name}{hint}; add it with: helm {group} add {name}"
        )
    return _understood(path, group, name, data)


# The calls of a batch, and of the agent, mostly find the file as it was.
@lru_cache(maxsize=32)
def _understood(path: Path, group: str, name: str, data: bytes) -> Profile:
    profile, faults = made(group, name, tomltext.table(data, path))
    if profile is None:
        raise tomltext.fault(path, faults[0])
    return profile


def made(group: str, name: str, found: Mapping[str, Any]) -> tuple[Profile | None, list[str]]:
    """The profile of a table as its file holds it; or None, and what is wrong with it, as clauses."""
    kind = GROUPS[group]
    fields = {field: kind.record.__annotations__[field] for field in kind.record._fields if field not in NOT_KEPT}
    faults = [
        f"the value of {key} must be {_allowed(fields[key])}" if key in fields else tomltext.strange(key, fields)
        for key, value in found.items()
        if key not in fields or not _fits(value, fields[key])
    ]
    missing = [field for field in fields if field not in found and field not in kind.record._field_defaults]
    faults += [f"the key {field} is missing" for field in missing]
    if faults:
        return None, faults
    profile = kind.record(name=name, **{key: _read(value) for key, value in found.items()})
    wrong = kind.fault(profile)
    return (None, [wrong]) if wrong else (profile, [])


def revision(home: Path, group: str, name: str) -> tuple[int, int] | None:
    """What is another after each change of a profile's file, also one that ends where it began; None without one."""
    path = _path(home, group, name)
    with homes.told(path):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return None
    return found.st_ino, found.st_ctime_ns


def create(home: Path, profile: Profile) -> bool:
    """Add a profile; of any number of one name at once, one is added. False if the name is taken.

    Raises HelmError("usage") for a profile that `load` would refuse, and HelmError("state").
    """
    path, data = _checked(home, profile)
    return homes.create_private(path, data)


def replace(home: Path, profile: Profile) -> None:
    """Write a profile over the one of its name, if any; comments and order of that file stay.

    Raises HelmError("usage") for a profile that `load` would refuse, and HelmError("state"), also where the former
    file is no TOML: it is left as it is.
    """
    with replacing(home, profile):
        pass


@contextmanager
def replacing(home: Path, profile: Profile) -> Iterator[None]:
    """The same around what belongs to it: it is on the disk before the block begins, and counts from its end on.

    Where the block raises, the former stands.
    """
    path, data = _checked(home, profile)
    former = homes.read(path)
    if former is not None:
        data = _revised(former, path, profile)
    with homes.replacing(path, data):
        yield


def remove(home: Path, group: str, name: str) -> bool:
    """Remove a profile, sound or not. False if there is none. Raises HelmError("usage") or HelmError("state")."""
    return homes.remove(_path(home, group, name))


def render(profile: Profile) -> str:
    """The TOML text of a profile: a line for each value it has, in the record's order."""
    return "".join(f"{key} = {toml(value)}\n" for key, value in _kept(profile).items() if value is not None)


def check_name(name: str) -> None:
    """Raises HelmError("usage") for what cannot be the name of a profile."""
    if not _NAME.fullmatch(name):
        raise HelmError(
            "usage",
            f"{name[:80]!r} cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore,"
            " the first a letter or digit",
        )


def _folder(home: Path, group: str) -> Path:
    return home / FOLDER / group


@lru_cache(maxsize=32)
def _path(home: Path, group: str, name: str) -> Path:
    check_name(name)
    return _folder(home, group) / f"{name}{_SUFFIX}"


def _checked(home: Path, profile: Profile) -> tuple[Path, bytes]:
    path = _path(home, profile.group, profile.name)
    wrong = GROUPS[profile.group].fault(profile)
    if wrong:
        raise HelmError("usage", f"the profile {profile.name} is not possible: {wrong}")
    data = render(profile).encode()
    for folder in (home, home / FOLDER, path.parent):
        homes.prepare(folder)
    return path, data


def _kept(profile: Profile) -> dict[str, Any]:
    """What is written down: a value that is the record's own default, for which nothing stands, is None."""
    defaults = profile._field_defaults
    return {
        key: None if value == defaults.get(key) else value
        for key, value in profile._asdict().items()
        if key not in NOT_KEPT
    }


def _read(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _revised(former: bytes, path: Path, profile: Profile) -> bytes:
    before = tomltext.table(former, path)
    import tomlkit

    document = tomlkit.parse(former.decode("utf-8-sig"))
    values, whole = _kept(profile), profile._asdict()
    for key in before:
        # A value that the record has anyway may be written down all the same.
        if values.get(key) is None and (whole.get(key) is None or _read(before[key]) != whole[key]):
            del document[key]
    for key, value in values.items():
        # A value that did not change keeps the way it was written.
        if value is not None and _read(before.get(key)) != value:
            document[key] = list(value) if isinstance(value, tuple) else value
    return document.as_string().encode()


def toml(value: str | int | tuple[str, ...]) -> str:
    """A value as TOML writes it."""
    if isinstance(value, tuple):
        return f"[{', '.join(toml(one) for one in value)}]"
    if isinstance(value, int):
        return str(value).lower()
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", text) + '"'


def _fits(value: Any, annotation: Any) -> bool:
    if isinstance(annotation, UnionType) or get_origin(annotation) not in (None, Literal, tuple):
        return any(_fits(value, one) for one in get_args(annotation))
    if get_origin(annotation) is Literal:
        return value in get_args(annotation)
    if get_origin(annotation) is tuple:
        return isinstance(value, list) and all(type(one) is str for one in value)
    return type(value) is annotation


def _allowed(annotation: Any) -> str:
    if annotation in (str, int, bool):
        return {str: "a text", int: "a whole number", bool: "true or false"}[annotation]
    if get_origin(annotation) is tuple:
        return "a list of texts"
    return " or ".join(
        f'"{one}"' if isinstance(one, str) else _allowed(one) for one in get_args(annotation) if one is not type(None)
    )
