"""What a profile can be called that is made of another program's words."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_MOST: Final = 64


def made(text: str) -> str:
    """A valid name of a profile made of a text, "" where nothing of it can stand in one."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("._-")[:_MOST]


def numbered(names: Iterable[str]) -> Iterator[str]:
    """The names in their order, each that is taken by then with a number behind: a, a-2, a-3. "" stays so."""
    taken = set[str]()
    numbers: dict[str, int] = {}
    for wanted in names:
        name, number = wanted, numbers.get(wanted, 1)
        while name in taken:
            number += 1
            name = f"{wanted[: _MOST - len(str(number)) - 1]}-{number}"
        if name:
            numbers[wanted] = number
            taken.add(name)
        yield name
