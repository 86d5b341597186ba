"""What a question looks like: a title, the body in full, and a list of two in which only Down and Enter say yes."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from prompt_toolkit.formatted_text import StyleAndTextTuples

from helm_cli.view.keys import Conversation, Ending, held
from helm_cli.view.lines import Line, drawn, folded, line, safe
from helm_cli.view.pager import Reading, read_in_full
from helm_cli.view.streams import colors
from helm_cli.view.terminal import Answer, Terminal
from helm_cli.view.text import shown

# A person who saw the focus move needs longer; a paste, a macro or a held key does not.
BETWEEN_KEYS_SECONDS: Final = 0.15

BLANK: Final = Line("")

# Lines of a question besides its body: blank, title, blank; blank, the list of two, the hint.
AROUND_BODY: Final = 7


class Question(NamedTuple):
    """What is asked; see `question.ask`."""

    title: str
    lines: Sequence[str | Line]
    verb: str
    summary: Sequence[str | Line]


def asked(terminal: Terminal, question: Question, expires: float | None) -> Answer:
    """The answer to one question; see `question.ask`."""
    page = [safe(given) for given in question.lines]

    @lru_cache(maxsize=1)
    def laid(columns: int) -> list[Line]:
        return [part for whole in page for part in folded(whole, columns)]

    columns, rows = terminal.size()
    room = max(rows - AROUND_BODY, 1)
    body = laid(columns - 1)
    if len(body) > room:
        if not terminal.quiet():
            return _cut_short(expires)
        reading = read_in_full(terminal, shown(question.title), laid, expires)
        if reading.ending != "read":
            return "expired" if reading.ending == "expired" else "declined"
        columns, rows = terminal.size()
        room = max(rows - AROUND_BODY, 1)
        short = [part for given in question.summary for part in folded(safe(given), columns - 1)] or laid(columns - 1)
        body = [*short[: room - 1], _read(reading)]
    color = colors()
    head = line((shown(question.title), "bold"))
    terminal.write("\n".join(drawn(part, color=color) for part in (BLANK, head, BLANK, *body, BLANK, BLANK)))
    if not terminal.quiet():
        return _cut_short(expires)
    ending = held(terminal, list_of_two(shown(question.verb), expires), expires)
    return "declined" if ending == "read" else ending


def _read(reading: Reading) -> Line:
    if reading.seen >= reading.total:
        return Line(f"  … {reading.total} lines, all shown before this question")
    told = f"… {reading.total} lines, of which {reading.seen} were shown before this question"
    return line("  ", (told, "warning"))


def list_of_two(verb: str, expires: float | None) -> Conversation:
    """Cancel, focused, above the verb; and how long the question still stands, where it ends by itself."""
    on_verb = False
    moved_at = 0.0

    def draw(columns: int, rows: int) -> StyleAndTextTuples:
        def entry(text: str, focused: bool) -> StyleAndTextTuples:
            # The mark of the place keeps the focused entry visible on a screen of one row.
            return [("[SetCursorPosition]", ""), ("reverse", f"> {text}")] if focused else [("", f"  {text}")]

        hint = f"Down, then Enter: {verb}. Any other key cancels.{_left(expires)}"
        newline: StyleAndTextTuples = [("", "\n")]
        return [*entry("Cancel", not on_verb), *newline, *entry(verb, on_verb), *newline, ("", hint[: columns - 1])]

    def press(key: str, now: float) -> Ending | None:
        nonlocal on_verb, moved_at
        if key in ("down", "up"):
            on_verb, moved_at = key == "down", now
            return None
        if key != "c-m" or not on_verb:
            return "declined"
        return "confirmed" if now - moved_at >= BETWEEN_KEYS_SECONDS else "hasty"

    return Conversation(draw, press, whole_screen=False)


def _left(expires: float | None) -> str:
    if expires is None:
        return ""
    minutes, seconds = divmod(max(round(expires - time.time()), 0), 60)
    return f" {minutes}:{seconds:02} left."


def _cut_short(expires: float | None) -> Answer:
    return "expired" if expires is not None and time.time() >= expires else "declined"
