"""Every row of the tables that name modules: each loads, and is what its row says."""

from importlib import import_module
from typing import Any

import pytest

from helm_cli.cli import COMMANDS, load
from helm_cli.dialects import DIALECTS
from helm_cli.drivers import DRIVERS, driver
from helm_cli.kinds import KINDS, kind
from helm_cli.model import extension


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_summary_is_its_help(name: str) -> None:
    command: Any = load(name)
    assert (command.help or "").partition("\n\n")[0] == COMMANDS[name]


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_loads(name: str) -> None:
    # The tools that a plugin names itself are no connection of a manifest.json.
    assert name in (*extension.KINDS, "tools")
    assert callable(kind(name).plan)
    assert callable(kind(name).schema)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_loads(name: str) -> None:
    assert callable(driver(name).run)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_loads(name: str) -> None:
    module = import_module(DIALECTS[name])
    assert callable(module.read)
