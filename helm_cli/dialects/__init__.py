"""Which dialects of manifests there are, how a folder tells which one it is written in, and who reads it."""

import json
import os.path
from importlib import import_module
from typing import Any, Final, NamedTuple

from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Extension, Fault

# Manifest file -> the module that reads it: build(content), read(content), effective(content), schema_text(),
# reference(), template(id).
DIALECTS: Final[dict[str, str]] = {
    "manifest.json": "helm_cli.dialects.manifest_json",
    "plugin.yaml": "helm_cli.dialects.plugin_yaml",
}

_MISNAMED: Final = {"manifest.jsonc": "manifest.json", "manifest.yaml": "manifest.json", "plugin.yml": "plugin.yaml"}


class Reading(NamedTuple):
    """What a folder says: an extension without faults, or faults (sorted by file, line, column) and none."""

    extension: Extension | None
    faults: tuple[Fault, ...]


def read(content: Content) -> Reading:
    """The extension in a folder's content, with every fault that its manifest has. Never raises."""
    present = manifests(content)
    if len(present) > 1:
        both = " and ".join(present)
        return _faulty(present[-1], f"the folder has both {both}; an extension has one manifest, so remove one")
    if not present:
        return _faulty(".", f"the folder has no manifest.json, and no plugin.yaml either{_misnamed(content)}")
    reading: Reading = _dialect(present[0]).read(content)
    return reading


def manifests(content: Content) -> list[str]:
    """The names of the manifests that a folder has: one, or it is no extension."""
    return [name for name in DIALECTS if name in content.files]


def build(content: Content) -> Extension:
    """The extension of an approved copy, quickly: it was found valid when it was approved.

    Raises HelmError("state") where it cannot be read, which grants nothing.
    """
    name = next((name for name in DIALECTS if name in content.files), None)
    try:
        if name is None:
            raise ValueError("the approved copy has no manifest")
        extension: Extension = _dialect(name).build(content)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = f"the approved copy of {name or 'the extension'} cannot be read; review the extension again"
        raise HelmError("state", message) from None
    return extension


def effective(content: Content) -> dict[str, Any] | None:
    """What the manifest of a valid extension says with every default filled in; None for a dialect without any."""
    for name in DIALECTS:
        if name in content.files:
            filled: dict[str, Any] | None = _dialect(name).effective(content)
            return filled
    return None


def schema_text(dialect: str = "manifest.json") -> str:
    """The JSON Schema that validates a dialect, as it stands in the package."""
    return str(_known(dialect).schema_text())


def reference(dialect: str = "manifest.json") -> str:
    """Every field of a dialect in Markdown tables, rendered from its JSON Schema."""
    return str(_known(dialect).reference())


def template(identifier: str, dialect: str = "manifest.json") -> dict[str, str]:
    """The files of a new extension that is valid as it stands: path -> text. HelmError("usage") for a bad id."""
    files: dict[str, str] = _known(dialect).template(identifier)
    return files


def packaged(name: str) -> str:
    """The text of a file that lies beside the dialects, such as a JSON Schema."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _known(dialect: str) -> Any:
    if dialect not in DIALECTS:
        raise HelmError("usage", f"there is no dialect {json.dumps(dialect)}; helm reads {', '.join(DIALECTS)}")
    return _dialect(dialect)


def _dialect(name: str) -> Any:
    return import_module(DIALECTS[name])


def _misnamed(content: Content) -> str:
    for name in content.files:
        meant = _MISNAMED.get(name.lower()) or next((known for known in DIALECTS if known == name.lower()), None)
        if meant is not None:
            return f"; {name} is not read, it must be named {meant}"
    return "; make a new extension with `helm plugin new`"


def _faulty(file: str, message: str) -> Reading:
    return Reading(None, (Fault(file, 1, 1, "", message),))
