"""What a valid plugin.yaml says once every default is filled in."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from helm_cli.dialects.reference_page import Schema, resolved


def filled(manifest: Any, schema_text: str) -> dict[str, Any]:
    """The manifest as it takes effect: the schema's defaults wherever a field is left out, in the schema's order."""
    schema = json.loads(schema_text)
    found: dict[str, Any] = _filled(manifest, schema, schema["$defs"])
    for setting in found["settings"]:
        # contract, settings[]: secret and connection settings are always sensitive.
        setting["sensitive"] = setting["sensitive"] or setting["type"] != "string"
    return found


def _filled(value: Any, declared: Schema, definitions: Schema) -> Any:
    schema = resolved(declared, definitions)
    if isinstance(value, list):
        return [_filled(entry, schema.get("items", {}), definitions) for entry in value]
    if not isinstance(value, dict):
        return value
    for shape in schema.get("allOf", ()):
        if Draft202012Validator(shape["if"]).is_valid(value):
            return _filled(value, shape["then"], definitions)
    fields = schema.get("properties")
    if fields is None:
        return value
    known = {name: resolved(about, definitions) for name, about in fields.items()}
    return {
        name: _filled(value[name], about, definitions) if name in value else about["default"]
        for name, about in known.items()
        if name in value or "default" in about
    }
