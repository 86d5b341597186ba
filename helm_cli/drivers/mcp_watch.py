"""What was seen of a conversation with an MCP server beside its answers: how far it got, and what broke it off."""

import re
from typing import Final, NamedTuple

# Of what a server writes on standard error, and of that what a message repeats.
MOST_ERRORS: Final = 64 * 1024
_MOST_WORDS: Final = 300
# A server that asks or tells more before it answers is not asking, and nobody would hear it.
MOST_ASKED: Final = 100
MOST_TOLD: Final = 10_000
# What a server may write between two calls.
MOST_UNASKED: Final = 4 * 1024 * 1024
_HIDDEN: Final = "***"

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)


class Refusal(NamedTuple):
    """An HTTP answer to a tool call with an error's status.

    `own` is whether its body is a JSON-RPC answer to that very call; `error` whether it is read as a JSON-RPC error, to
    that call or to none; `message` is the error's.
    """

    status: int
    own: bool
    error: bool
    message: str


class Watch:
    """The record of one conversation. `secret` is what its server was given, and what no message may repeat.

    Of the whole of it: `http` is whether it goes over HTTP, `session` whether the server gave it an id there, `stale`
    whether what helm knows of the tools' headers is outdated; `fault` why helm broke it off, and `too_large` whether
    for the size of a message; `closed` whether it is over.

    Of the last call (`begin`): `busy` is whether it still waits, `sent` whether it left helm; `asked` the requests that
    the server made of helm; `status` that of the last HTTP answer to each method, `refusal` what the call's was, where
    that was an error.
    """

    __slots__ = (
        *("asked", "busy", "closed", "errors", "fault", "http", "refusal", "reports", "secret", "sent", "session"),
        *("stale", "status", "told", "too_large", "unasked"),
    )

    def __init__(self, secret: str | None, *, http: bool = False) -> None:
        self.secret = secret
        self.http = http
        self.session = False
        self.stale = False
        self.closed = False
        self.fault: str | None = None
        self.too_large = False
        self.errors = bytearray()
        self.reports = bytearray()
        self.status: dict[str, int] = {}
        self.asked: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Something is asked of the server, and what was seen of what was asked before is no part of it."""
        self.busy = True
        self.sent = False
        self.refusal: Refusal | None = None
        self.told = 0
        self.unasked = 0
        self.asked.clear()
        self.status.clear()

    def rest(self) -> None:
        """Nothing is asked of the server any more."""
        self.busy = False

    def forgotten(self) -> bool:
        """Whether an HTTP server said of the last call that it knows no such session, and so did nothing."""
        found = self.refusal
        if found is None or not self.session or found.status not in (400, 404):
            return False
        return not found.own or "session" in found.message.lower()

    def sound(self) -> bool:
        """Whether another call may follow in this conversation."""
        well = self.status.get("tools/call", 200) == 200
        return well and not self.closed and not self.stale and self.fault is None

    def unwanted(self, count: int) -> bool:
        """Counts so many bytes that came; whether between two calls there were too many."""
        self.unasked += 0 if self.busy else count
        return self.unasked > MOST_UNASKED

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
        text = bytes(self.errors).decode(errors="replace")
        # Where its beginning is gone, it may begin in the middle of the secret.
        whole = text if len(self.errors) < MOST_ERRORS else text[len(self.secret or "") :]
        # The secret may stand in two lines.
        lines = [self.safe(line) for line in _masked(_ESCAPES.sub("", whole), self.secret).splitlines()]
        words = next((line for line in reversed(lines) if line), "")
        return f"; it said: {words}" if words else ""

    def safe(self, text: str) -> str:
        """A text of the server's as a part of one line: short, without control characters and without its secret."""
        # What stands in the middle of the secret goes before it is looked for, and it is before anything is cut.
        plain = _masked(_ESCAPES.sub("", text[:MOST_ERRORS]), self.secret)[: 4 * _MOST_WORDS]
        visible = "".join(char if char.isprintable() else " " for char in plain)
        line = " ".join(visible.split())
        return line if len(line) <= _MOST_WORDS else line[:_MOST_WORDS] + "…"

    def group(self) -> int | None:
        """The number of the server's process group, None before it was started."""
        return next((int(line[8:]) for line in bytes(self.reports).splitlines() if line.startswith(b"started ")), None)

    def ending(self) -> str | None:
        """How the server's process ended, or why it never began, as a clause; None while it runs."""
        told = dict(line.split(b" ", 1) for line in bytes(self.reports).splitlines() if b" " in line)
        if b"failed" in told:
            return _never(*told[b"failed"].split())
        if b"ended" in told:
            status = int(told[b"ended"])
            return f"was ended by signal {status & 127}" if status & 127 else f"ended with status {status >> 8}"
        return None


def _masked(text: str, secret: str | None) -> str:
    """The text without the secret, whatever invisible stands between the secret's characters."""
    wanted = "".join(filter(_visible, secret or ""))
    if not wanted:
        return text
    places = [place for place, char in enumerate(text) if _visible(char)]
    plain = "".join(text[place] for place in places)
    parts, at, done = [], plain.find(wanted), 0
    while at >= 0:
        parts += [text[done : places[at]], _HIDDEN]
        done = places[at + len(wanted) - 1] + 1
        at = plain.find(wanted, at + len(wanted))
    return "".join((*parts, text[done:]))


def _visible(char: str) -> bool:
    return char.isprintable() and not char.isspace()


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
