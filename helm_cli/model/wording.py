"""How words that are not helm's own are told: a wrong one with the word that was meant, strange ones short and safe."""

from collections.abc import Iterable, Sequence
from typing import Final

# A longer word is no slip of the fingers, and comparing it costs.
MOST_CHARACTERS: Final = 60
# Of what the other side calls something, and how many of such names.
MOST_OF_A_NAME: Final = 40
MOST_NAMES: Final = 5
# What stands in the place of a secret.
HIDDEN: Final = "***"
_IN_NO_LINE: Final = ("Cc", "Cs", "Zl", "Zp")


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word that is closest to this one, whatever the case of either; None where none is close."""
    if len(word) > MOST_CHARACTERS:
        return None
    # Only a mistake pays for the comparison's import.
    import difflib

    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lowered, n=1)
    return lowered[close[0]] if close else None


def brief(names: Sequence[str]) -> str:
    """Names that the other side chose, of each 40 characters and of them five: "admin, openid and 3 more"."""
    shown = [name if len(name) <= MOST_OF_A_NAME else f"{name[:MOST_OF_A_NAME]}…" for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def one_line(text: str) -> bool:
    """Whether a text holds nothing that ends a line, no control character and no surrogate."""
    import unicodedata

    return not any(unicodedata.category(character) in _IN_NO_LINE for character in text)


def without(text: str, *secrets: str | None) -> str:
    """A text that repeats none of these secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN) if secret else text
    return text
