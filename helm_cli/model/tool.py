"""What an MCP server says of one of its tools; its hints are claims of the server's author and prove nothing."""

from typing import NamedTuple

from helm_cli.model.jsontext import MOST_LEVELS, Json, levels, repaired


class Tool(NamedTuple):
    """A tool as its server lists it.

    `title` and `description` are the server's texts, "" where it gives none. `input_schema` is the JSON Schema of its
    arguments. `read_only` and `destructive` are its hints, None where it gives none. `definition` is the whole entry as
    the server sent it, unknown members included.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Json]
    read_only: bool | None
    destructive: bool | None
    definition: dict[str, Json]


def tool(entry: Json) -> Tool | None:
    """The tool of one entry of a server's list; None for what is none, and for what is nested too deeply to be one."""
    if levels(entry) > MOST_LEVELS:
        return None
    entry = repaired(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    hints, schema = entry.get("annotations"), entry.get("inputSchema")
    hints = hints if isinstance(hints, dict) else {}
    return Tool(
        name=str(entry["name"]),
        title=_text(entry.get("title")) or _text(hints.get("title")),
        description=_text(entry.get("description")),
        input_schema=schema if isinstance(schema, dict) else {},
        read_only=_flag(hints.get("readOnlyHint")),
        destructive=_flag(hints.get("destructiveHint")),
        definition=entry,
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None
