"""What a dialect's JSON Schema finds wrong with a document, in our own sentences."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from helm_cli.dialects.faults import Path, Trouble, did_you_mean, echoed, noun, one_of, quoted, subject

Sentence = Callable[[Path, Any], Iterator[Trouble]]


class Wording(NamedTuple):
    """What the sentences of one dialect have of their own.

    `mapping` is what its people call an object. `hint` ends a sentence about a value of the wrong type, by the value
    and the names of the types that it may have. `sentences` are those of keywords which mean something of their own in
    its schema. `elsewhere` says of a field that is unknown in one of its schemas (the error's own) what it may be.
    """

    mapping: str
    hint: Callable[[Any, list[str]], str]
    sentences: Mapping[str, Sentence]
    elsewhere: Callable[[Any, str], str]


def troubles(schema: str, document: Any, wording: Wording) -> Iterator[Trouble]:
    """What a schema (the text of one in draft 2020-12) finds wrong, in no order, found as it is asked for."""
    sentences = {**_SENTENCES, **wording.sentences}
    for error in _STRICT(json.loads(schema)).iter_errors(document):
        yield from _told(error, wording, sentences)


def _match(_: Any, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    # The library searches, and its `$` matches before a line break at the end.
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield ValidationError("pattern")


def _have(_: Any, names: list[str], value: Any, __: Any) -> Iterator[ValidationError]:
    # The library does not say which name is missing, but in a sentence of its own.
    if isinstance(value, dict):
        yield from (ValidationError(name) for name in names if name not in value)


def _differ(_: Any, wanted: bool, value: Any, __: Any) -> Iterator[ValidationError]:
    # The library does not say which entry is repeated. What is no text has a fault of its own.
    if wanted and isinstance(value, list):
        seen: set[str] = set()
        for index, entry in enumerate(value):
            if isinstance(entry, str):
                if entry in seen:
                    yield ValidationError("repeated", path=(index,))
                seen.add(entry)


# The stubs leave the types of `extend` out.
_STRICT: Final = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _match, "required": _have, "uniqueItems": _differ}
)


def _told(error: Any, wording: Wording, sentences: Mapping[str, Sentence]) -> Iterator[Trouble]:
    path: Path = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        name = error.instance
        yield Trouble((*path, name), f"the name {quoted(name)} must be {error.schema['title']}", at_key=True)
    elif error.validator == "type":
        yield Trouble(path, _type(path, error, wording))
    elif error.validator == "additionalProperties":
        yield from _unknown(path, error, wording)
    else:
        yield from sentences[error.validator](path, error)


def _type(path: Path, error: Any, wording: Wording) -> str:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    nouns = {**_NOUNS, "object": wording.mapping}
    named = error.schema.get("title") if len(wanted) > 1 else None
    named = named or one_of([nouns[name] for name in wanted if name in nouns])
    is_ = wording.mapping if isinstance(error.instance, dict) else noun(error.instance)
    return f"{subject(path)} must be {named}, not {is_}{wording.hint(error.instance, wanted)}"


def _unknown(path: Path, error: Any, wording: Wording) -> Iterator[Trouble]:
    known = [name for name, about in error.schema["properties"].items() if about != {"$ref": "#/$defs/unused"}]
    for name in error.instance:
        if name not in error.schema["properties"]:
            guess = wording.elsewhere(error.schema, name) or did_you_mean(name, known)
            allowed = guess or f"; allowed {'is' if len(known) == 1 else 'are'} {', '.join(known)}"
            yield Trouble((*path, name), f"the field {quoted(name)} is unknown here{allowed}", at_key=True)


def _required(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f"{subject(path)} lacks the required field {quoted(error.message)}")


def _enum(path: Path, error: Any) -> Iterator[Trouble]:
    allowed = error.validator_value
    guess = did_you_mean(error.instance, allowed)
    yield Trouble(path, f"{subject(path)} must be {one_of(allowed)}, not {echoed(error.instance)}{guess}")


def _pattern(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f"{subject(path)} must be {error.schema['title']}")


def _minimum(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f"{subject(path)} must be at least {error.validator_value}, not {error.instance}")


def _too_short(path: Path, error: Any) -> Iterator[Trouble]:
    needed = "not be empty" if isinstance(error.instance, str) else "have at least one entry"
    yield Trouble(path, f"{subject(path)} must {needed}")


def _too_long(path: Path, error: Any) -> Iterator[Trouble]:
    most, has = error.validator_value, len(error.instance)
    noun = "characters" if isinstance(error.instance, str) else "entries"
    yield Trouble(path, f"{subject(path)} has {has} {noun}; at most {most} are allowed")


def _repetition(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f"{subject(path)} is there already; list it once")


_NOUNS: Final = {"array": "a list", "string": "text", "boolean": "true or false", "integer": "a whole number"}
_SENTENCES: Final[dict[str, Sentence]] = {
    "required": _required,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _minimum,
    "minLength": _too_short,
    "minItems": _too_short,
    "minProperties": _too_short,
    "maxLength": _too_long,
    "maxItems": _too_long,
    "maxProperties": _too_long,
    "uniqueItems": _repetition,
}
