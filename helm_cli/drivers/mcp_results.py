"""What the result of a tool call means: its data, or what went wrong with the tool (contract, MCP, Result)."""

from typing import Any, Final

from helm_cli.drivers import Limits
from helm_cli.drivers.mcp_watch import Watch
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import MOST_LEVELS, Json, dump, levels, repaired

_LATER: Final = {
    "input_required": "asked for input in the middle of a call, which helm never gives",
    "task": "only promised an answer for later, for which helm does not wait",
}


def data(answer: dict[str, Any], tool: str, watch: Watch, limits: Limits) -> Json:
    """`structuredContent` where the server sent one, else `content`, unchanged but for what no JSON can carry.

    HelmError "tool_error" with the same as its data where the tool reported an error, "too_large" over `limits.bytes`
    of compact JSON, "refused" for a result that is to be continued, "unavailable" for what is none.
    """
    kind = "task" if "task" in answer and "content" not in answer else answer.get("resultType", "complete")
    if kind in _LATER:
        raise HelmError("refused", f"{tool} {_LATER[kind]}")
    found = answer.get("structuredContent")
    if found is None and isinstance(answer.get("content"), list):
        found = answer["content"]
    if found is None:
        raise HelmError("unavailable", f"what the MCP server answered to {tool} is no result of a tool")
    fitting = _fitting(found, tool, limits)
    if answer.get("isError") is True:
        said = watch.safe(_first_text(answer.get("content")))
        told = f"{tool} failed" + (f": {said}" if said else "") + _asked(watch)
        raise HelmError("tool_error", told, outer={"data": fitting})
    return fitting


def error(code: int, message: str, data: Json, tool: str, watch: Watch, limits: Limits) -> HelmError:
    """What is said where the server answered with an error of JSON-RPC: the error itself is the data."""
    try:
        fitting = _fitting({"code": code, "message": message, "data": data}, tool, limits)
    except HelmError as unfitting:
        return unfitting
    said = watch.safe(message)
    told = f"{tool} was answered with the error {code}" + (f": {said}" if said else "") + _asked(watch)
    return HelmError("tool_error", told, outer={"data": fitting})


def _fitting(found: Json, tool: str, limits: Limits) -> Json:
    if levels(found) > MOST_LEVELS:
        raise HelmError("too_large", f"the answer of {tool} is nested more than {MOST_LEVELS} levels deep")
    sound = repaired(found)
    size = len(dump(sound).encode())
    if size > limits.bytes:
        raise HelmError("too_large", f"the answer of {tool} has {size} bytes; at most {limits.bytes} are passed on")
    return sound


def _first_text(content: Json) -> str:
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and text.strip():
            return text
    return ""


def _asked(watch: Watch) -> str:
    asked = next((method for method in watch.asked if method != "ping"), None)
    return f" (its server asked helm for {asked}, which helm never gives)" if asked else ""
