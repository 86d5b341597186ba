"""The reference page of a dialect: Markdown tables rendered from its JSON Schema, and from nothing else."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Schema = dict[str, Any]

_NOUNS: Final = {"array": "list", "boolean": "boolean", "object": "object", "string": "string"}
_LIMITS: Final = (
    ("minItems", "at least {} {}", "entry", "entries"),
    ("maxItems", "at most {} {}", "entry", "entries"),
    ("minProperties", "at least {} {}", "entry", "entries"),
    ("maxProperties", "at most {} {}", "entry", "entries"),
    ("minLength", "at least {} {}", "character", "characters"),
    ("maxLength", "at most {} {}", "character", "characters"),
)


class Style(NamedTuple):
    """How a dialect's tables say what a field's value is, and what there is to know of it: cells in Markdown."""

    type_of: Callable[[Schema, Schema], str]
    description: Callable[[Schema, Schema], str]


def page(file: str, schema: Schema) -> str:
    """The whole page; the same schema always gives the same page."""
    definitions = schema["$defs"]
    sections = [schema, *(about for about in definitions.values() if "properties" in about and "title" in about)]
    parts = [f"# Reference of {file}", *(_section(section, definitions) for section in sections)]
    return "\n\n".join(parts) + "\n"


def table(section: Schema, definitions: Schema, style: Style) -> str:
    """The table of a section's fields, a row for each, in their order."""
    rows = _rows(section, definitions, style)
    return "\n".join(["| Field | Type | Required | Default | Description |", "|---|---|---|---|---|", *rows])


def resolved(about: Schema, definitions: Schema) -> Schema:
    """A schema with what it refers to, its own words first."""
    target = about.get("$ref")
    return about if target is None else {**definitions[target.rpartition("/")[2]], **about}


def _section(section: Schema, definitions: Schema) -> str:
    parts = [f"## {section['title']}", section["description"], table(section, definitions, _STYLE)]
    unused = [f"`{name}`" for name, about in section["properties"].items() if _is_unused(about)]
    if unused:
        parts.append(f"{', '.join(unused)}: {definitions['unused']['description']}")
    if "additionalProperties" in section:
        parts.append("Any other field is refused.")
    return "\n\n".join(parts)


def _rows(section: Schema, definitions: Schema, style: Style) -> Iterator[str]:
    for name, declared in section["properties"].items():
        if declared is True or _is_unused(declared):
            continue
        about = resolved(declared, definitions)
        required = "yes" if name in section.get("required", ()) else "no"
        default = f"`{json.dumps(about['default'], separators=(',', ':'))}`" if "default" in about else ""
        cells = (
            f"`{name}`",
            style.type_of(about, definitions),
            required,
            default,
            style.description(about, definitions),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_unused(about: Any) -> bool:
    return bool(about == {"$ref": "#/$defs/unused"})


def _type(about: Schema, definitions: Schema) -> str:
    if "enum" in about:
        return " | ".join(f"`{word}`" for word in about["enum"])
    if "type" not in about:
        return "any JSON"
    if "items" in about:
        entry = resolved(about["items"], definitions)
        kind = _type(entry, definitions)
        return f"list of ({kind})" if "enum" in entry else f"list of {kind}s"
    values = about.get("additionalProperties")
    if isinstance(values, dict):
        return f"object of {_type(resolved(values, definitions), definitions)}s by name"
    return _NOUNS[about["type"]]


def _description(about: Schema, definitions: Schema) -> str:
    sentences = [about["description"], *_allowed(about, definitions)]
    if "examples" in about:
        shown = ", ".join(f"`{json.dumps(example, ensure_ascii=False)}`" for example in about["examples"])
        sentences.append(f"Example: {shown}.")
    return " ".join(sentences)


def _allowed(about: Schema, definitions: Schema) -> Iterator[str]:
    limits = [
        words.format(about[keyword], one if about[keyword] == 1 else many)
        for keyword, words, one, many in _LIMITS
        if keyword in about
    ]
    if limits:
        yield _sentence(", ".join(limits))
    if about.get("uniqueItems"):
        yield "Each entry once."
    if "pattern" in about:
        yield f"Must be {about['title']}."
    names = resolved(about.get("propertyNames", {}), definitions)
    if "pattern" in names:
        yield f"A name is {names['title']}."
    entry = resolved(about.get("items", {}), definitions)
    if "pattern" in entry:
        yield f"An entry is {entry['title']}."
    elif "maxLength" in entry:
        yield f"An entry has {entry['minLength']} to {entry['maxLength']} characters."


def _sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:] + "."


_STYLE: Final = Style(_type, _description)
