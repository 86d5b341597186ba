"""The shape of every answer: `{"ok", "data", "error"}`, and what a kind adds to it."""

from typing import Final

from helm_cli.model.errors import EXIT, HelmError
from helm_cli.model.jsontext import Json, dump, repaired

Envelope = dict[str, Json]

# What an answer's data is made of, known before the call is sent, so that a format that cannot carry it is a
# usage error in time. "rows" is {"columns", "rows"}; "object" is a flat object; "text" has one text to show; "files"
# is {"files": [a flat object each], …}; "content" is what an MCP tool answers: blocks, of text most often, or any JSON.
ROWS: Final = "rows"
OBJECT: Final = "object"
JSON: Final = "json"
TEXT: Final = "text"
FILES: Final = "files"
CONTENT: Final = "content"


def success(data: Json, outer: dict[str, Json] | None = None) -> Envelope:
    """The envelope of a call that went as asked; `outer` are the kind's own members, for example `status`."""
    return {"ok": True, **(outer or {}), "data": _sound(data), "error": None}


def failure(error: HelmError) -> Envelope:
    """The envelope of a call that did not: `error` is `{"code", "message"}` plus the code's own members."""
    told = {"code": error.code, "message": repaired(error.message), **error.members}
    return {"ok": False, "data": None, **error.outer, "error": told}


def _sound(data: Json) -> Json:
    """The data, repaired where JSON in UTF-8 cannot carry it; most can be, which the encoder tells sooner."""
    try:
        dump(data).encode()
    except (ValueError, RecursionError):
        return repaired(data)
    return data


def exit_status(envelope: Envelope) -> int:
    """The status that an envelope ends the process with."""
    if envelope.get("ok") is True:
        return 0
    error = envelope.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return EXIT.get(code, EXIT["tool_error"]) if isinstance(code, str) else EXIT["tool_error"]
