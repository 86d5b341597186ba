"""How a word that means nothing is answered: with the known word that was probably meant."""

from collections.abc import Iterable
from typing import Final

# A longer word is no slip of the fingers, and comparing it costs.
MOST_CHARACTERS: Final = 60


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word that is closest to this one, whatever the case of either; None where none is close."""
    if len(word) > MOST_CHARACTERS:
        return None
    # Only a mistake pays for the comparison's import.
    import difflib

    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lowered, n=1)
    return lowered[close[0]] if close else None
