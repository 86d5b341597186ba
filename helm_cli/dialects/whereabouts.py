"""Where in the files of an extension that stands which a warning is about."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from helm_cli.dialects import json_places, manifests
from helm_cli.dialects.faults import Path
from helm_cli.model.content import Content
from helm_cli.model.plugin import TOOLS
from helm_cli.model.review import Caution, Placed

_JSON: Final = "manifest.json"
# The fields of a connection that name its operations.
_OPERATIONS: Final = ("operations", "writes", "queries", "calls", "allow", "name")


def placed(content: Content, cautions: Iterable[Caution]) -> tuple[Placed, ...]:
    """Each warning about a valid extension with its file, line and column, which count from 1.

    One that is about the whole of a file is at its first line.
    """
    (manifest,) = manifests(content)
    document = _Json(content.files[manifest]) if manifest == _JSON else _Yaml(content.files[manifest])
    return tuple(
        Placed(caution, caution.file, *_in_text(content.files[caution.file], caution.word))
        if caution.file
        else Placed(caution, manifest, *_in_manifest(document, caution))
        for caution in cautions
    )


class _Json:
    """A manifest.json: its value, and the place of a path in it."""

    def __init__(self, data: bytes) -> None:
        self._text = data.decode("utf-8")
        self.value: Any = json.loads(self._text)

    def place(self, path: Path, *, at_key: bool) -> tuple[int, int]:
        place = json_places.places(self._text, [path])[path]
        return json_places.line_column(self._text, place.key if at_key else place.value)

    def connections(self, name: str) -> Iterator[Path]:
        for index, entry in enumerate(self.value["connections"]):
            if entry["id"] == name:
                yield ("connections", index)


class _Yaml:
    """A plugin.yaml, in the same way; the entries for one server are a connection, and all the named tools."""

    def __init__(self, data: bytes) -> None:
        # A manifest.json is placed without what reads YAML.
        from helm_cli.dialects import yaml_document

        document = yaml_document.read(data.decode("utf-8"))
        self.value: Any = document.value
        self._places = document.places

    def place(self, path: Path, *, at_key: bool) -> tuple[int, int]:
        place = self._places[path]
        return place.key if at_key else place.value

    def connections(self, name: str) -> Iterator[Path]:
        for index, entry in enumerate(self.value.get("tools") or ()):
            if ("name" in entry) if name == TOOLS else entry.get("ref") == f"mcp:{name}":
                yield ("tools", index)


def _in_manifest(document: _Json | _Yaml, caution: Caution) -> tuple[int, int]:
    bases: list[Path] = [*document.connections(caution.connection)] if caution.connection else [()]
    if caution.operation:
        found = [(*base, field) for base in bases for field in _OPERATIONS if field in _at(document.value, base)]
        names = [hit for path in found for hit in _named(_at(document.value, path), path, caution.operation)]
    else:
        names = [hit for base in bases for hit in _named(_at(document.value, base), base, caution.word)]
    if names:
        path, at_key = names[0]
        return document.place(path, at_key=at_key)
    return document.place(bases[0], at_key=False) if bases and bases[0] else (1, 1)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _named(value: Any, path: Path, word: str) -> Iterator[tuple[Path, bool]]:
    """The paths of what is this word from here inwards, and whether it is a key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == word:
                yield (*path, key), True
            yield from _named(inner, (*path, key), word)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _named(inner, (*path, index), word)
    elif word and value == word:
        yield path, False


def _in_text(data: bytes, word: str) -> tuple[int, int]:
    text = data.decode("utf-8", "replace")
    return json_places.line_column(text, max(text.find(word), 0))
