"""CONTRIBUTING's lists and paths, compared with the code: who follows them must find what they say."""

import re
from typing import Final

import pytest

from tests.program import ROOT

TEXT: Final = (ROOT / "CONTRIBUTING.md").read_text()
PACKAGE: Final = ROOT / "helm_cli"


def naming(word: str) -> set[str]:
    """Every file of the package that has the word as a string of its own."""
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".json")]
    return {str(path.relative_to(PACKAGE)) for path in files if f'"{word}"' in path.read_text()}


@pytest.mark.parametrize(
    ("word", "own"),
    [("tdt-mcp", r"kinds/"), ("mysql", r"drivers/"), ("plugin.yaml", r"dialects/(__init__|plugin_yaml)")],
)
def test_whoever_names_a_kind_an_engine_or_a_dialect_is_listed(word: str, own: str) -> None:
    part = TEXT[TEXT.index(f'`"{word}"`:') :]
    listed = re.findall(r"`([\w./]+)`", part.split("\n\n")[1])
    assert set(listed) == {name for name in naming(word) if not re.match(own, name)}


def test_every_file_it_names_is_there() -> None:
    folders = [PACKAGE, PACKAGE / "drivers", PACKAGE / "kinds", ROOT]
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|md|json))`", TEXT))
    assert len(named) > 50
    missing = [name for name in named if not any((folder / name).is_file() for folder in folders)]
    assert sorted(missing) == []


def test_every_folder_it_names_is_there() -> None:
    named = set(re.findall(r"`((?:[\w.-]+/)+)`", TEXT))
    assert named
    assert [name for name in sorted(named) if not ((PACKAGE / name).is_dir() or (ROOT / name).is_dir())] == []


def test_the_way_of_a_call_has_ten_steps_in_the_order_of_the_code() -> None:
    assert re.findall(r"^(\d+)\. ", TEXT, re.M) == [str(number) for number in range(1, 11)]
