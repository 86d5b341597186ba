"""The reference page of plugin.yaml, in the order and the words of the contract's, from the JSON Schema alone."""

import json
from collections.abc import Iterator
from typing import Final

from helm_cli.dialects.reference_page import Schema, Style, resolved, table

_NOUNS: Final = {"array": "list", "boolean": "boolean", "integer": "integer", "object": "object", "string": "string"}


def page(schema_text: str) -> str:
    """The whole page; the same schema always gives the same page."""
    schema = json.loads(schema_text)
    return "\n\n".join(["# Reference of plugin.yaml", *_parts(schema, schema["$defs"])]) + "\n"


def _parts(schema: Schema, definitions: Schema) -> Iterator[str]:
    yield (
        f"This page is rendered from the JSON Schema that validates, `{schema['$id']}`. With this comment on its first"
        " line, an editor checks the file and completes it:"
    )
    yield f"```yaml\n# yaml-language-server: $schema={schema['$id']}\n```"
    yield from (f"## {schema['title']}", schema["description"], table(schema, definitions, _STYLE))
    yield "Fields not listed here are refused, so a typo fails loudly instead of being ignored."
    for about in schema["properties"].values():
        if "items" in about and "$ref" in about["items"]:
            yield from _list(about["description"], about["items"]["$ref"].rpartition("/")[2], definitions)
        elif "$ref" in about:
            section = resolved(about, definitions)
            yield from (f"## {section['title']}", section["description"], table(section, definitions, _STYLE))


def _list(description: str, key: str, definitions: Schema) -> Iterator[str]:
    """A section for a list's entries, with one below it for each shape that they may have."""
    section = definitions[key]
    comment = section.get("$comment", "")
    yield f"## {section['title']}"
    if "additionalProperties" in section:
        yield from (description, table(section, definitions, _STYLE), comment)
        return
    yield f"{description} {comment}".strip()
    for shape, about in definitions.items():
        if shape.startswith(f"{key}-") and "title" in about:
            yield from _shape(about, definitions)
    if key == "tool":
        yield from ("### Risk levels", definitions["tool-named"]["properties"]["risk"]["description"])


def _shape(section: Schema, definitions: Schema) -> Iterator[str]:
    yield f"### {section['title']}"
    if "description" in section:
        yield section["description"]
    yield table(section, definitions, _STYLE)
    for declared in section["properties"].values():
        about = resolved(declared, definitions)
        if about.get("type") == "object" and "properties" in about:
            yield from _shape(about, definitions)


def _type(about: Schema, definitions: Schema) -> str:
    if "const" in about:
        return f"`{json.dumps(about['const'])}`"
    if "enum" in about:
        return " | ".join(f"`{word}`" for word in about["enum"])
    if "items" in about:
        entry = resolved(about["items"], definitions)
        return "list of objects" if entry.get("type") == "object" else f"list of {_type(entry, definitions)}"
    if "propertyNames" in about:
        return "map"
    kind = about["type"]
    return _NOUNS[kind if isinstance(kind, str) else kind[0]]


def _description(about: Schema, _: Schema) -> str:
    # What looks like a tag of HTML is shown as it is.
    sentences = [about["description"].replace("<", "\\<")] if "description" in about else []
    if "maxLength" in about:
        sentences.append(f"At most {about['maxLength']} characters.")
    if "pattern" in about:
        sentences.append(f"Must match `{about['pattern']}`.")
    if "examples" in about:
        sentences.append(f"Example: {', '.join(f'`{example}`' for example in about['examples'])}.")
    return " ".join(sentences)


_STYLE: Final = Style(_type, _description)
