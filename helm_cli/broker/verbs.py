"""Which names sound as if they changed something: of tools by their verb, of scopes by a word in them."""

import re
from collections.abc import Iterable
from typing import Final

_WRITE_WORD: Final = re.compile(
    "add|append|apply|approve|archive|assign|ban|bulk|cancel|clear|close|commit|copy|create|delete|deploy|destroy|"
    "disable|drop|edit|enable|exec|execute|fork|grant|import|insert|install|invite|kill|lock|merge|modify|move|patch|"
    "pay|post|publish|purge|push|put|reject|remove|rename|replace|reset|restart|resume|revert|revoke|run|save|"
    "schedule|send|set|share|start|stop|store|submit|trigger|truncate|uninstall|unlock|update|upload|upsert|write"
)
_READ_WORD: Final = re.compile("check|count|describe|fetch|find|get|list|query|read|search|show|status|view")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WRITE_SCOPE: Final = re.compile(
    r"(?:^|[^a-z])(?:write|readwrite|manage|admin|edit|delete|full|modify|send|create|update|all)(?:$|[^a-z])", re.I
)


def writes(name: str) -> bool:
    """Whether the first verb in a tool's name is one of those that change something."""
    return _WRITE_WORD.fullmatch(_verb(name)) is not None


def called(name: str) -> bool:
    """Whether a name begins with a verb, as those of tools do."""
    first = next((word.lower() for word in _CAMEL.findall(name)), "")
    return bool(_WRITE_WORD.fullmatch(first) or _READ_WORD.fullmatch(first))


def wide(scopes: Iterable[str]) -> list[str]:
    """Those of the scopes that let more than read."""
    return [scope for scope in scopes if _WRITE_SCOPE.search(scope)]


def _verb(name: str) -> str:
    words = (word.lower() for word in _CAMEL.findall(name))
    return next((word for word in words if _WRITE_WORD.fullmatch(word) or _READ_WORD.fullmatch(word)), "")
