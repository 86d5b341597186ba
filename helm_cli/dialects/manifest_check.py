"""Everything that is wrong with a manifest.json, from its bytes to its rules, each at its line and column."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from helm_cli.dialects import coding, json_places, json_source, manifest_rules, manifest_schema
from helm_cli.dialects.faults import MOST, Trouble, dotted
from helm_cli.model import jsontext
from helm_cli.model.extension import Fault

_MOST_WALKED: Final = 1024 * 1024


def faults(file: str, data: bytes, schema: str) -> tuple[Fault, ...]:
    """Every fault of these bytes, sorted by place; where there are 500 or more, the first that were found."""
    if (coded := coding.fault(data)) is not None:
        line, column, message = coded
        return (Fault(file, line, column, "", message),)
    text = data.decode("utf-8")
    deep = json_source.too_deep(text)
    if deep is not None:
        return (_source_fault(file, text, deep),)
    try:
        document = jsontext.parse(text)
    except ValueError as refusal:
        return _source_faults(file, text, schema, str(refusal))
    return _document_faults(file, text, schema, document)


def _source_faults(file: str, text: str, schema: str, refusal: str) -> tuple[Fault, ...]:
    if len(text) > _MOST_WALKED:
        return (_first_fault(file, text, refusal),)
    found = [_source_fault(file, text, fault) for fault in json_source.faults(text)] or [Fault(file, 1, 1, "", refusal)]
    try:
        # What is JSON but not strict (a key twice, NaN) still has a shape that can be checked in the same run.
        document = json.loads(text)
    except ValueError:
        return tuple(sorted(found))
    return tuple(sorted([*found, *_document_faults(file, text, schema, document)]))


def _source_fault(file: str, text: str, fault: json_source.SourceFault) -> Fault:
    return Fault(file, *json_places.line_column(text, fault.offset), dotted(fault.path), fault.message)


def _first_fault(file: str, text: str, refusal: str) -> Fault:
    """What Python's own reader says of a text that is too large to be walked through."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Fault(file, error.lineno, error.colno, "", "this is not JSON from here on")
    except ValueError:
        pass
    return Fault(file, 1, 1, "", refusal)


def _document_faults(file: str, text: str, schema: str, document: Any) -> tuple[Fault, ...]:
    found = list(islice(_troubles(schema, document), MOST))
    if len(found) == MOST:
        found.append(Trouble((), f"there are {MOST} faults or more; these are the first that were found"))
    return _placed(file, text, found) if found else ()


def _troubles(schema: str, document: Any) -> Iterator[Trouble]:
    if isinstance(document, dict) and document.get("tier") == "starlark":
        message = "this is a Starlark package, a dialect that helm does not read"
        return iter((Trouble(("tier",), message),))
    if manifest_rules.too_large(document):
        message = "there are more values in the connections than helm checks; split the extension"
        return iter((Trouble(("connections",), message, at_key=True),))
    return chain(manifest_schema.troubles(schema, document), manifest_rules.troubles(document))


def _placed(file: str, text: str, found: list[Trouble]) -> tuple[Fault, ...]:
    places = json_places.places(text, (trouble.path for trouble in found))
    told = set()
    for trouble in found:
        place = places[trouble.path]
        at = json_places.line_column(text, place.key if trouble.at_key else place.value)
        told.add(Fault(file, *at, dotted(trouble.path), trouble.message))
    return tuple(sorted(told))
