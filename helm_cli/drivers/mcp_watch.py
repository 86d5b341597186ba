"""What was seen of a conversation with an MCP server beside its answers: how far it got, and what broke it off."""

import re
from typing import Final

# Of what a server writes on standard error, and of that what a message repeats.
MOST_ERRORS: Final = 64 * 1024
_MOST_WORDS: Final = 300
# A server that asks for more before it answers is not asking.
MOST_ASKED: Final = 100

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)


class Watch:
    """The record of one conversation. `secret` is what its server was given, and what no message may repeat.

    `sent` is whether the tool call left helm; `fault` why helm broke the conversation off, and
    `too_large` whether for the size of a message; `asked` the requests that
    the server made of helm; `status` that of the last HTTP answer to each method; `closed` whether it is over.
    """

    __slots__ = ("asked", "closed", "errors", "fault", "reports", "secret", "sent", "skipped", "status", "too_large")

    def __init__(self, secret: str | None) -> None:
        self.secret = secret
        self.sent = False
        self.closed = False
        self.fault: str | None = None
        self.too_large = False
        self.skipped = 0
        self.asked: list[str] = []
        self.status: dict[str, int] = {}
        self.errors = bytearray()
        self.reports = bytearray()

    def heard(self, text: bytes) -> None:
        """Keeps the end of what the server writes on standard error."""
        self.errors += text
        del self.errors[:-MOST_ERRORS]

    def broken(self, reason: str, *, too_large: bool = False) -> None:
        """The first reason is the one that is told."""
        if self.fault is None:
            self.fault, self.too_large = reason, too_large

    def last_words(self) -> str:
        """The last line that is worth repeating of standard error, as `; it said: …`, "" where there is none."""
        lines = [self.safe(line) for line in bytes(self.errors).decode(errors="replace").splitlines()]
        words = next((line for line in reversed(lines) if line), "")
        return f"; it said: {words}" if words else ""

    def safe(self, text: str) -> str:
        """A text of the server's as a part of one line: short, without control characters and without its secret."""
        if self.secret:
            text = text.replace(self.secret, "***")
        visible = "".join(char if char.isprintable() else " " for char in _ESCAPES.sub("", text[: 4 * _MOST_WORDS]))
        line = " ".join(visible.split())
        return line if len(line) <= _MOST_WORDS else line[:_MOST_WORDS] + "…"

    def ending(self) -> str | None:
        """How the server's process ended, or why it never began, as a clause; None while it runs."""
        told = dict(line.split(b" ", 1) for line in bytes(self.reports).splitlines() if b" " in line)
        if b"failed" in told:
            return _never(*told[b"failed"].split())
        if b"ended" in told:
            status = int(told[b"ended"])
            return f"was ended by signal {status & 127}" if status & 127 else f"ended with status {status >> 8}"
        return None


def _never(step: bytes, number: bytes) -> str:
    from errno import EACCES, ENOENT, ENOEXEC, EPERM

    if step == b"folder":
        return "could not be started: the workspace cannot be entered"
    reasons = {
        ENOENT: "its command was not found",
        EACCES: "its command may not be executed",
        EPERM: "its command may not be executed",
        ENOEXEC: "its command is no program",
    }
    return f"could not be started: {reasons.get(int(number), 'the system refused its command')}"
