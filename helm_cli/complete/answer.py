"""What may stand at the cursor of a command line, of all that only this machine knows, and how a shell is told."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from helm_cli.complete import place, profiles
from helm_cli.complete.line import Line, read

Candidates = Iterable[tuple[str, str]]
Answer = Callable[[str, Line], Candidates]

# Of a description, which has to fit beside its candidate.
_MOST_CHARACTERS: Final = 60
# Of what a server or a team chose; a list that is longer is read by nobody.
_MOST: Final = 1_000


def tell(words: list[str]) -> int:
    """Print a line for each candidate of `KIND WORDS…`: the text, a tab and a description where there is one.

    Whatever is wrong, nothing is printed, nothing is changed, and the status is 0: a shell asks at every key.
    """
    try:
        text = "".join(f"{one}\t{about}\n" if about else f"{one}\n" for one, about in candidates(words))
        written = text.encode()
        while written:
            written = written[os.write(1, written) :]
    except Exception:
        return 0
    return 0


def candidates(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each once and fit to be shown. Raises what goes wrong."""
    kind, *typed = words
    found = KINDS[kind](place.home(), read(typed))
    seen: set[str] = set()
    for text, about in found:
        # What a line cannot hold, or what would be an option or a folder there, nobody could choose.
        if text and text.isprintable() and text == text.strip() and text[0] not in "-~" and text not in seen:
            seen.add(text)
            yield text, _shown(about)
            if len(seen) == _MOST:
                return


def _shown(text: str) -> str:
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 4 * _MOST_CHARACTERS]).split())
    return plain if len(plain) <= _MOST_CHARACTERS else f"{plain[: _MOST_CHARACTERS - 1]}…"


def _profiles(group: str) -> Answer:
    return lambda home, _: profiles.named(home, group)


def _in_state(name: str) -> Answer:
    def found(home: str, line: Line) -> Candidates:
        # Profiles do not need what this loads.
        from helm_cli.complete import known, state

        with state.opened(home) as db:
            return list(known.KINDS[name](known.Asked(home, db, line)))

    return found


STATE: Final = (
    *("plugin", "team", "connection", "operation", "argument", "confirmation", "draft", "run", "project"),
    *("tool", "setting", "role", "field", "schedule", "via", "publish"),
)
# What a script may ask for -> what answers.
KINDS: Final[dict[str, Answer]] = {
    **{group: _profiles(group) for group in profiles.GROUPS},
    "profile": lambda home, _: profiles.every(home),
    **{name: _in_state(name) for name in STATE},
}
