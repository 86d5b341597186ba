"""The tables of faulty manifests: each a name, the manifest, and every fault that it has."""

from pathlib import Path
from typing import NamedTuple


class Case(NamedTuple):
    name: str
    manifest: str
    faults: str


def cases(file: str) -> list[Case]:
    """The cases of a text beside this module: `== NAME`, the manifest, `--`, and the faults, a line each."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    found = []
    for block in ("\n" + text).split("\n== ")[1:]:
        name, _, rest = block.partition("\n")
        manifest, _, faults = rest.partition("\n--\n")
        found.append(Case(name, manifest, faults.rstrip("\n")))
    return found
