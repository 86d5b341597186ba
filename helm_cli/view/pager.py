"""How a text too long for the screen is read in full before a question is asked about it."""

from collections.abc import Callable

from prompt_toolkit.formatted_text import StyleAndTextTuples

from helm_cli.view.keys import Conversation, Ending, held
from helm_cli.view.terminal import Terminal

FORWARD = (" ", "pagedown", "f")
BACK = ("pageup", "b")
STEPS = {"down": 1, "up": -1, "j": 1, "k": -1}
AWAY = ("escape", "c-c", "c-d")


def read_in_full(terminal: Terminal, title: str, lines: Callable[[int], list[str]], expires: float | None) -> Ending:
    """Pages through `lines(columns)` on the whole screen, and ends "read", "declined" or "expired".

    Space and Page Down go on, b and Page Up back; q, and Enter at the end, go to the question. No key here can
    answer it, for a question starts with a flush and a quiet moment of its own.
    """
    top = 0

    def page(columns: int, rows: int) -> tuple[list[str], int]:
        return lines(columns - 1), max(rows - 2, 1)

    def draw(columns: int, rows: int) -> StyleAndTextTuples:
        nonlocal top
        text, height = page(columns, rows)
        top = min(top, max(len(text) - height, 0))
        seen = text[top : top + height]
        at_end = top + height >= len(text)
        keys = "Enter: to the question" if at_end else "Space: go on   q: to the question"
        place = f" {top + 1}-{top + len(seen)} of {len(text)} lines   {keys}   b: back   Esc: cancel "
        body = "\n".join([*seen, *[""] * (height - len(seen))])
        return [("bold", f"{title[: columns - 1]}\n"), ("", body + "\n"), ("reverse", place[: columns - 1])]

    def press(key: str, now: float) -> Ending | None:
        nonlocal top
        text, height = page(*terminal.size())
        last = max(len(text) - height, 0)
        if key in AWAY:
            return "declined"
        if key == "q" or (key == "c-m" and top >= last):
            return "read"
        step = STEPS.get(key, height if key in (*FORWARD, "c-m") else -height if key in BACK else 0)
        top = {"home": 0, "end": last}.get(key, min(max(top + step, 0), last))
        return None

    return held(terminal, Conversation(draw, press, whole_screen=True), expires)
