"""What the sentences about a plugin.yaml's shape have of their own."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from helm_cli.dialects import schema_faults
from helm_cli.dialects.faults import Numeral, Path, Trouble, did_you_mean, echoed, one_of, quoted, subject

_SHAPES: Final = 'an entry is tools of an MCP server ("ref" and "allow") or one tool ("name", "kind" and "risk")'
# What the shapes of an entry are called in a sentence, by their definitions in the schema.
_CALLED: Final = {
    "tool-server": 'an entry with "ref"',
    "tool-named": 'an entry with "name"',
    "trigger-manual": "on: manual",
    "trigger-schedule": "on: schedule",
    "trigger-release": "on: github.release",
    "output-draft": "type: draft",
    "output-publish": "type: publish",
}
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER: Final = re.compile(r"[-+.0-9][-+.0-9_,eExo]*")


def troubles(schema: str, document: Any) -> Iterator[Trouble]:
    """What the schema of plugin.yaml (its text) finds wrong, in no order, found as it is asked for."""
    definitions = json.loads(schema)["$defs"]
    sentences = {"anyOf": _neither, "not": _both, "enum": _enum}
    wording = schema_faults.Wording(
        "a mapping", _hint, sentences, lambda here, name: _elsewhere(definitions, here, name)
    )
    return schema_faults.troubles(schema, document, wording)


def _hint(value: Any, wanted: list[str]) -> str:
    if wanted == ["string"] and isinstance(value, bool | int | Numeral):
        return quoting(value)
    if "integer" in wanted and isinstance(value, Numeral):
        return f"; write digits alone, as in 2, not {quoted(value.written)}"
    if "integer" in wanted and isinstance(value, str):
        if _INTEGER.fullmatch(value):
            return "; take the quotes away"
        if _NUMBER.fullmatch(value):
            return f"; write digits alone, as in 2, not {quoted(value)}"
    return ""


def quoting(value: bool | int | Numeral) -> str:
    """The end of a sentence about a value that YAML takes for no text, and its writer for one."""
    return f"; put it in quotes: {quoted(value.written if isinstance(value, Numeral) else json.dumps(value))}"


def _elsewhere(definitions: Mapping[str, Any], here: Any, name: str) -> str:
    """Where a field belongs that this shape of an entry does not have."""
    own = next((key for key, about in definitions.items() if about == here), "")
    family = own.partition("-")[0]
    if family == "trigger" and name.lower() == "true":
        return '; did you mean "on"? programs of YAML 1.1 write it so'
    others = [
        called
        for key, called in _CALLED.items()
        if key != own and key.startswith(f"{family}-") and name in definitions[key]["properties"]
    ]
    return f"; it belongs to {one_of(others)}" if family in ("tool", "trigger", "output") and others else ""


def _neither(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f'{subject(path)} has neither "ref" nor "name": {_SHAPES}')


def _both(path: Path, error: Any) -> Iterator[Trouble]:
    # What is no mapping has no fields that exclude each other; that it is none has a sentence already.
    if isinstance(error.instance, dict):
        yield Trouble((*path, "name"), f'{subject(path)} has both "ref" and "name": {_SHAPES}', at_key=True)


def _enum(path: Path, error: Any) -> Iterator[Trouble]:
    allowed = error.validator_value
    named = "the word text or a list of choices" if allowed == ["text"] else one_of(allowed)
    guess = did_you_mean(error.instance, allowed)
    yield Trouble(path, f"{subject(path)} must be {named}, not {echoed(error.instance)}{guess}")
