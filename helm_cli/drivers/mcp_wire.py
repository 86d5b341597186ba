"""How the lines that an MCP server writes become messages, whatever else it writes between them."""

import json
from typing import Any, Final

import mcp_types as types

from helm_cli.model.jsontext import BOM, MOST_DIGITS

# Of one line: structured content is usually sent twice, once as text, which is escaped in turn.
MOST_LINE: Final = 4 * 1024 * 1024
# What some programs take for the end of a line.
_OTHER_ENDS: Final = "\x85\u2028\u2029"
_NO_MESSAGE: Final = -32603


class Unreadable(Exception):
    """What came cannot be skipped, because it may be the answer; the text is a clause that says what it is."""


class TooLarge(Unreadable):
    """It is larger than helm reads."""


class Lines:
    """Bytes in, whole lines out. Never holds more than `MOST_LINE` of one."""

    __slots__ = ("_held", "_seen")

    def __init__(self) -> None:
        self._held = bytearray()
        self._seen = 0

    def feed(self, part: bytes) -> list[bytes]:
        """The lines that this part completes, without their ends. Raises Unreadable for one that is too long."""
        self._held += part
        lines = []
        while (end := self._held.find(b"\n", self._seen)) >= 0:
            lines.append(bytes(self._held[:end]))
            del self._held[: end + 1]
            self._seen = 0
        self._seen = len(self._held)
        if self._seen > MOST_LINE or any(len(line) > MOST_LINE for line in lines):
            raise TooLarge(f"sent a message over {MOST_LINE // 1024 // 1024} MiB")
        return lines


def message(line: bytes) -> types.JSONRPCMessage | None:
    """The message of one line, None for what is none: noise, blank lines, other JSON.

    Bytes that are no UTF-8 become U+FFFD; lone surrogates and NaN stay, for whoever reads the result to repair.
    Raises Unreadable for a message that is nested too deeply to be read, and for an answer without an object.
    """
    try:
        found = json.loads(line.removeprefix(BOM).decode("utf-8", "replace"), parse_int=_integer)
    except RecursionError:
        raise Unreadable("sent a message that is nested too deeply") from None
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    number = found.get("id")
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    return _told(found) if known is None else _answered(known, found)


def _told(found: dict[str, Any]) -> types.JSONRPCMessage | None:
    method, params = found.get("method"), found.get("params")
    if not isinstance(method, str):
        return None
    given = params if isinstance(params, dict) else None
    return types.JSONRPCNotification.model_construct(jsonrpc="2.0", method=method, params=given)


def _answered(number: str | int, found: dict[str, Any]) -> types.JSONRPCMessage | None:
    method, params = found.get("method"), found.get("params")
    if isinstance(method, str):
        given = params if isinstance(params, dict) else None
        return types.JSONRPCRequest.model_construct(jsonrpc="2.0", id=number, method=method, params=given)
    if "result" in found:
        if not isinstance(found["result"], dict):
            raise Unreadable("sent an answer that is no object")
        return types.JSONRPCResponse.model_construct(jsonrpc="2.0", id=number, result=found["result"])
    if "error" in found:
        return types.JSONRPCError.model_construct(jsonrpc="2.0", id=number, error=_error(found["error"]))
    return None


def _error(found: Any) -> types.ErrorData:
    given = found if isinstance(found, dict) else {}
    code, text = given.get("code"), given.get("message")
    return types.ErrorData.model_construct(
        code=code if isinstance(code, int) else _NO_MESSAGE,
        message=text if isinstance(text, str) else "",
        data=given.get("data"),
    )


def line(message: types.JSONRPCMessage) -> bytes:
    """A message as the line that is sent: the arguments as they are shown, number by number.

    Integers are exact. A number with a fraction or an exponent is the double that it was read as, in its shortest
    form: 1.10 is sent as 1.1 (RFC 8259, section 6).
    """
    content = message.model_dump(by_alias=True, exclude_unset=True)
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for end in _OTHER_ENDS:
        text = text.replace(end, f"\\u{ord(end):04x}")
    return text.encode() + b"\n"


def _integer(digits: str) -> int | str:
    # Python itself turns no longer integer into text.
    return int(digits) if len(digits) <= MOST_DIGITS else digits
