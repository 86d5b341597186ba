"""How a text too long for the screen is read before a question is asked about it, and how much of it was shown."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from prompt_toolkit.formatted_text import StyleAndTextTuples

from helm_cli.view.keys import Conversation, Ending, held
from helm_cli.view.lines import Line, fragments
from helm_cli.view.streams import colors
from helm_cli.view.terminal import Terminal

FORWARD: Final = (" ", "pagedown", "f")
BACK: Final = ("pageup", "b")
STEPS: Final = {"down": 1, "up": -1, "j": 1, "k": -1}
AWAY: Final = ("q", "escape", "c-c", "c-d")

_BLANK: Final = Line("")


class Reading(NamedTuple):
    """How it ended ("read" at the end of the text), and how many of its lines were on the screen."""

    ending: Ending
    seen: int
    total: int


def read_in_full(
    terminal: Terminal, title: str, lines: Callable[[int], Sequence[Line]], expires: float | None
) -> Reading:
    """Pages through `lines(columns)` on the whole screen, and ends "read", "declined" or "expired".

    Space and Page Down go on, b and Page Up back; Enter goes on too, and to the question once the end is on the
    screen; q, Esc and the like decline. No key here can answer the question, for it starts with a flush and a
    quiet moment of its own. What was shown at another width is not counted.
    """
    top, at_end, width = 0, False, 0
    seen: set[int] = set()

    def page(columns: int, rows: int) -> tuple[Sequence[Line], int]:
        return lines(columns - 1), max(rows - 2, 1)

    def draw(columns: int, rows: int) -> StyleAndTextTuples:
        nonlocal top, at_end, width
        text, height = page(columns, rows)
        top = min(top, max(len(text) - height, 0))
        shown = text[top : top + height]
        at_end = top + height >= len(text)
        if columns != width:
            seen.clear()
            width = columns
        seen.update(range(top, top + len(shown)))
        on = "Enter: answer" if at_end else "Space: go on"
        place = f" {top + 1}-{top + len(shown)} of {len(text)}   {on}   q: cancel   b: back "
        return _screen(title, [*shown, *[_BLANK] * (height - len(shown))], place, columns - 1)

    def press(key: str, now: float) -> Ending | None:
        nonlocal top
        text, height = page(*terminal.size())
        last = max(len(text) - height, 0)
        if key in AWAY:
            return "declined"
        # Only where the end was drawn: keys that came in one burst have shown nothing between them.
        if key == "c-m" and at_end and top >= last:
            return "read"
        step = STEPS.get(key, height if key in (*FORWARD, "c-m") else -height if key in BACK else 0)
        top = {"home": 0, "g": 0, "end": last, "G": last}.get(key, min(max(top + step, 0), last))
        return None

    ending = held(terminal, Conversation(draw, press, whole_screen=True), expires)
    return Reading(ending, len(seen), len(lines(terminal.size()[0] - 1)))


def _screen(title: str, lines: Sequence[Line], place: str, columns: int) -> StyleAndTextTuples:
    color = colors()
    body = [piece for whole in lines for piece in (*fragments(whole, color=color), ("", "\n"))]
    return [("bold", f"{title[:columns]}\n"), *body, ("reverse", place[:columns])]
