"""How a profile stands in its file, one TOML file each, which people may edit too."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import NAME, Database, Profile
from helm_cli.store import home as homes
from helm_cli.store import tomltext

FOLDER: Final = "profiles"
_SUFFIX: Final = ".toml"
_NAME: Final = re.compile(NAME)
# A list of hosts, a URL or a socket is none; `%` belongs to the zone of an IPv6 address.
_HOST: Final = re.compile(r"[\w.:%-]+")


class Group(NamedTuple):
    """One folder of profiles: its record, what such a profile is called, and what is wrong with one, if anything."""

    record: type[Profile]
    noun: str
    fault: Callable[[Profile], str | None]


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


def load(home: Path, group: str, name: str) -> Profile:
    """The profile of this name.

    Raises HelmError("not_configured") where there is none, and HelmError("state") with the file and the reason where
    it cannot be understood.
    """
    path = _path(home, group, name)
    data = homes.read(path)
    kind = GROUPS[group]
    if data is None:
        raise HelmError(
            "not_configured", f"there is no {kind.noun} profile {name}; add it with: helm {group} add {name}"
        )
    found = tomltext.table(data, path)
    fields = {field: kind.record.__annotations__[field] for field in kind.record._fields if field != "name"}
    for key, value in found.items():
        if key not in fields:
            raise tomltext.unknown(path, key, fields)
        if not _fits(value, fields[key]):
            raise tomltext.fault(path, f"the value of {key} must be {_allowed(fields[key])}")
    missing = [field for field in fields if field not in found and field not in kind.record._field_defaults]
    if missing:
        raise tomltext.fault(path, f"the key {missing[0]} is missing")
    profile = kind.record(name=name, **found)
    wrong = kind.fault(profile)
    if wrong:
        raise tomltext.fault(path, wrong)
    return profile


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
    path, data = _checked(home, profile)
    former = homes.read(path)
    if former is not None:
        data = _revised(former, path, profile)
    homes.write_private(path, data)


def remove(home: Path, group: str, name: str) -> bool:
    """Remove a profile, sound or not. False if there is none. Raises HelmError("usage") or HelmError("state")."""
    return homes.remove(_path(home, group, name))


def render(profile: Profile) -> str:
    """The TOML text of a profile: a line for each value it has, in the record's order."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in _values(profile).items() if value is not None)


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


def _values(profile: Profile) -> dict[str, str | int | None]:
    return {key: value for key, value in profile._asdict().items() if key != "name"}


def _revised(former: bytes, path: Path, profile: Profile) -> bytes:
    before = tomltext.table(former, path)
    import tomlkit

    document = tomlkit.parse(former.decode("utf-8-sig"))
    values = _values(profile)
    for key in before:
        if values.get(key) is None:
            del document[key]
    for key, value in values.items():
        # A value that did not change keeps the way it was written.
        if value is not None and before.get(key) != value:
            document[key] = value
    return document.as_string().encode()


def _toml(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", text) + '"'


def _fits(value: Any, annotation: Any) -> bool:
    if isinstance(annotation, UnionType) or get_origin(annotation) not in (None, Literal):
        return any(_fits(value, one) for one in get_args(annotation))
    if get_origin(annotation) is Literal:
        return value in get_args(annotation)
    return type(value) is annotation


def _allowed(annotation: Any) -> str:
    if annotation in (str, int):
        return {str: "a text", int: "a whole number"}[annotation]
    return " or ".join(
        f'"{one}"' if isinstance(one, str) else _allowed(one) for one in get_args(annotation) if one is not type(None)
    )


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
    return _server(profile)


def _server(profile: Database) -> str | None:
    if profile.host is not None and profile.socket is not None:
        return "it has both host and socket, of which only one can be used"
    if profile.host is not None and not _HOST.fullmatch(profile.host):
        return "host must be the name or the address of one host, not a URL"
    if profile.port is not None and not 1 <= profile.port <= 65_535:
        return "port must be from 1 to 65535"
    return None


def _text(value: str) -> bool:
    try:
        return bool(value.encode()) and "\0" not in value
    except UnicodeEncodeError:
        return False


# One line for each group; the folder's name is the key.
GROUPS: Final[dict[str, Group]] = {"db": Group(Database, "database", _database)}
