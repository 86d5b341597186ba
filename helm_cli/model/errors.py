"""The one error type of helm, its codes, and the exit status that each code ends the process with."""

from typing import Final

from helm_cli.model.jsontext import Json

# Code -> exit status (design, section 5). A status may serve several codes; a code has exactly one status.
EXIT: Final[dict[str, int]] = {
    "internal": 1,
    "state": 1,
    "usage": 2,
    "refused": 3,
    "not_configured": 4,
    "not_authorized": 5,
    "declined": 6,
    "confirmation_required": 7,
    "rate_limited": 8,
    "timeout": 9,
    "unavailable": 10,
    "too_large": 11,
    "too_many_rows": 11,
    "not_json": 11,
    "not_text": 11,
    "redirect": 11,
    "http_error": 12,
    "tool_error": 13,
    "query_failed": 14,
    "conflict": 15,
    "invalid_manifest": 16,
    "not_approved": 17,
}

INTERRUPTED: Final = 130


class HelmError(Exception):
    """Something that did not go as asked, told in one line.

    `code` is a key of EXIT. `message` is one full lower-case sentence that says what happened, to what, and
    what to do next; it never holds a secret, a host, a URL or the path of a database. `members` are the code's
    own members of the error object (`retry_after`, `confirmation`, `applied`, …). `outer` are members of the
    envelope itself (`data`, `status`).
    """

    def __init__(
        self, code: str, message: str, members: dict[str, Json] | None = None, outer: dict[str, Json] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.members = members or {}
        self.outer = outer or {}

    @property
    def exit_status(self) -> int:
        return EXIT[self.code]
