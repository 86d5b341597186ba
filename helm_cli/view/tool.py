"""How what an MCP server claims of a tool is shown: called a claim, bounded, in lines of its own."""

import re
from typing import Final

from helm_cli.model.review import Listed
from helm_cli.model.tool import Tool
from helm_cli.view.text import shown

MOST_SHOWN: Final = 400
_BLANKS: Final = re.compile(r"[ \t\r\n]+")


def claims(server: Listed | None, name: str) -> list[str]:
    """The lines below an operation whose server was asked, safe for a terminal; none where it was not."""
    if server is None:
        return []
    found = server.tools.get(name)
    if found is None:
        return ["the server has no such tool"]
    told = described(found)
    return [f"the server says: {hints(found) or 'nothing on whether it only reads'}", *([told] if told else [])]


def hints(tool: Tool) -> str:
    """What a server claims of what a tool does, "" where it claims nothing."""
    read_only = {True: "read-only", False: "not read-only", None: ""}[tool.read_only]
    # Of a tool that only reads, the other hint means nothing, unless it contradicts.
    destructive = {True: "destructive", False: "" if tool.read_only else "not destructive", None: ""}[tool.destructive]
    return ", ".join(filter(None, (read_only, destructive)))


def described(tool: Tool, most: int = MOST_SHOWN) -> str:
    """The title and the description of a tool in one line, of which at most so many characters."""
    return shown(said(tool, most))


def said(tool: Tool, most: int = MOST_SHOWN) -> str:
    """As `described`, for whatever makes it safe itself: nothing in it is escaped."""
    title = "" if tool.title == tool.name else tool.title
    text = _BLANKS.sub(" ", ": ".join(filter(None, (title, tool.description)))).strip()
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
