"""What can be a token or a client secret: a text that a header or a form carries as it was entered.

Each gives a clause that follows the name of what is wrong ("must be …"), or None. No clause repeats the text.
"""

import re
from typing import Final

# RFC 9110, 5.5, without what intermediaries may strip or change; RFC 6749, appendix A.2, for a client secret.
_CARRIED: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_SCHEME: Final = re.compile(r"bearer +", re.I)


def fault(text: str) -> str | None:
    """Why this cannot be sent as it is (design, section 3)."""
    if not text:
        return "must not be empty"
    if not _CARRIED.fullmatch(text):
        return "must be one line of printable ASCII, without spaces at its ends"
    return None


def bearer_fault(text: str) -> str | None:
    """Why this cannot be sent after "Bearer " (RFC 6750, 2.1)."""
    wrong = fault(text)
    if wrong is None and " " in text:
        return "must not contain a space; give the token alone"
    return wrong


def without_scheme(text: str) -> str:
    """A token as it is kept, where what was entered is the whole value of its header: "Bearer TOKEN"."""
    return _SCHEME.sub("", text, count=1) if _SCHEME.match(text) else text
