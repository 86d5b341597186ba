"""What a question looks like: a title, the body in full, and a list of two in which only Down and Enter say yes."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from prompt_toolkit.formatted_text import StyleAndTextTuples

from helm_cli.view.keys import Conversation, Ending, held
from helm_cli.view.pager import read_in_full
from helm_cli.view.terminal import Answer, Terminal
from helm_cli.view.text import shown, wrapped

# A person who saw the focus move needs longer; a paste, a macro or a held key does not.
BETWEEN_KEYS_SECONDS: Final = 0.15

# Lines of a question besides its body: blank, title, blank; blank, the list of two, the hint.
AROUND_BODY: Final = 7


def asked(terminal: Terminal, title: str, lines: Sequence[str], verb: str, expires: float | None) -> Answer:
    """The answer to one question; see `question.ask`."""

    @lru_cache(maxsize=1)
    def folded(columns: int) -> list[str]:
        return [part for line in lines for part in wrapped(shown(line), columns)]

    columns, rows = terminal.size()
    room = max(rows - AROUND_BODY, 1)
    body = folded(columns - 1)
    if len(body) > room:
        if not terminal.quiet():
            return _cut_short(expires)
        ending = read_in_full(terminal, shown(title), folded, expires)
        if ending != "read":
            return "expired" if ending == "expired" else "declined"
        body = [*body[: room - 1], f"  … and {len(body) - room + 1} more lines, which were paged before this question"]
    terminal.write("\n".join(["", shown(title), "", *body, "", ""]))
    if not terminal.quiet():
        return _cut_short(expires)
    ending = held(terminal, list_of_two(shown(verb)), expires)
    return "declined" if ending == "read" else ending


def list_of_two(verb: str) -> Conversation:
    """Cancel, focused, above the verb."""
    on_verb = False
    moved_at = 0.0

    def draw(columns: int, rows: int) -> StyleAndTextTuples:
        def entry(text: str, focused: bool) -> StyleAndTextTuples:
            # The mark of the place keeps the focused entry visible on a screen of one row.
            return [("[SetCursorPosition]", ""), ("reverse", f"> {text}")] if focused else [("", f"  {text}")]

        hint = f"Down, then Enter: {verb}. Any other key cancels."
        newline: StyleAndTextTuples = [("", "\n")]
        return [*entry("Cancel", not on_verb), *newline, *entry(verb, on_verb), *newline, ("", hint[: columns - 1])]

    def press(key: str, now: float) -> Ending | None:
        nonlocal on_verb, moved_at
        if key in ("down", "up"):
            on_verb, moved_at = key == "down", now
            return None
        sure = key == "c-m" and on_verb and now - moved_at >= BETWEEN_KEYS_SECONDS
        return "confirmed" if sure else "declined"

    return Conversation(draw, press, whole_screen=False)


def _cut_short(expires: float | None) -> Answer:
    return "expired" if expires is not None and time.time() >= expires else "declined"
