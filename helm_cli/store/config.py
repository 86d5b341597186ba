"""The settings of `config.toml`, which a person writes and helm only reads."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from helm_cli.store import home as homes
from helm_cli.store import tomltext

NAME: Final = "config.toml"


class Config(NamedTuple):
    """What can be set, with what holds where it is not."""

    calls_per_minute: int = 60
    oauth_port: int = 8914
    keep_arguments: bool = False
    notify: bool = True
    drafts_dir: str | None = None
    agent_idle_minutes: int = 15


class _Setting(NamedTuple):
    field: str
    kind: type
    allowed: str
    least: int = 0
    most: int = 0


# Section ("" is the file's top) -> key -> what it sets.
_SETTINGS: Final[dict[str, dict[str, _Setting]]] = {
    "": {"drafts_dir": _Setting("drafts_dir", str, "the absolute path of a folder, or one that begins with ~/")},
    "limits": {"calls_per_minute": _Setting("calls_per_minute", int, "a whole number from 1 to 100000", 1, 100_000)},
    "oauth": {"port": _Setting("oauth_port", int, "a whole number from 1 to 65535", 1, 65_535)},
    "confirm": {"notify": _Setting("notify", bool, "true or false")},
    "history": {"keep_arguments": _Setting("keep_arguments", bool, "true or false")},
    "agent": {"idle_minutes": _Setting("agent_idle_minutes", int, "a whole number from 1 to 10080", 1, 10_080)},
}


def load(home: Path) -> Config:
    """The settings, all as usual where there is no file. Raises HelmError("state") with the file and the fault."""
    path = home / NAME
    try:
        return understood(table(home))
    except ValueError as error:
        raise tomltext.fault(path, str(error)) from None


def table(home: Path) -> dict[str, Any]:
    """What the file says, as it is written, {} where there is none. Raises HelmError("state") for what is no TOML."""
    data = homes.read(home / NAME)
    return {} if data is None else tomltext.table(data, home / NAME)


def understood(table: Mapping[str, Any]) -> Config:
    """The settings of such a table. Raises ValueError with a clause that says what is wrong in it."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key in _SETTINGS and key:
            found |= _section(key, value)
        elif key in _SETTINGS[""]:
            found |= _one(key, value, _SETTINGS[""][key])
        else:
            raise ValueError(tomltext.strange(key, [*filter(None, _SETTINGS), *_SETTINGS[""]]))
    return Config(**found)


def _section(section: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{section} must be a section, written [{section}]")
    found: dict[str, Any] = {}
    for key, one in value.items():
        setting = _SETTINGS[section].get(key)
        if setting is None:
            raise ValueError(
                tomltext.strange(f"{section}.{key}", [f"{section}.{known}" for known in _SETTINGS[section]])
            )
        found |= _one(f"{section}.{key}", one, setting)
    return found


def _one(key: str, value: Any, setting: _Setting) -> dict[str, Any]:
    fits = type(value) is setting.kind
    if fits and setting.kind is int:
        fits = setting.least <= value <= setting.most
    elif fits and setting.kind is str:
        value = os.path.expanduser(value)
        fits = os.path.isabs(value)
    if not fits:
        raise ValueError(f"the value of {key} must be {setting.allowed}")
    return {setting.field: value}
