"""What the sentences about a manifest.json's shape have of their own."""

from collections.abc import Iterator
from typing import Any, Final

from helm_cli.dialects import schema_faults
from helm_cli.dialects.faults import Path, Trouble, subject


def troubles(schema: str, document: Any) -> Iterator[Trouble]:
    """What the schema of manifest.json (its text) finds wrong, in no order, found as it is asked for."""
    return schema_faults.troubles(schema, document, _WORDING)


def _neither(path: Path, error: Any) -> Iterator[Trouble]:
    yield Trouble(path, f'{subject(path)} must list at least one tool in "operations" or "writes"')


_WORDING: Final = schema_faults.Wording("an object", lambda _, __: "", {"anyOf": _neither}, lambda _, __: "")
