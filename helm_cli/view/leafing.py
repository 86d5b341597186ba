"""How a result too long for the screen is read, a screenful at a time."""

import termios
from collections.abc import Callable, Sequence
from typing import Final

from prompt_toolkit.formatted_text import StyleAndTextTuples

from helm_cli.view.keys import Conversation, Ending, held
from helm_cli.view.pager import AWAY, BACK, FORWARD
from helm_cli.view.terminal import controlling

STEPS: Final = {"down": 1, "j": 1, "c-m": 1, "up": -1, "k": -1}


def leaf(lines: Sequence[str]) -> None:
    """Shows lines that are safe for a terminal on the whole screen until the person leaves, by q or Esc."""
    try:
        with controlling() as terminal:
            held(terminal, leaves(lines, lambda: terminal.size()[1]), None)
    except (OSError, termios.error):
        return


def leaves(lines: Sequence[str], rows_now: Callable[[], int]) -> Conversation:
    """The pages of these lines; `rows_now` gives the height of the screen."""
    top = 0

    def height() -> int:
        return max(rows_now() - 1, 1)

    def draw(columns: int, rows: int) -> StyleAndTextTuples:
        nonlocal top
        top = min(top, max(len(lines) - height(), 0))
        seen = [line[: columns - 1] for line in lines[top : top + height()]]
        body = "\n".join([*seen, *[""] * (height() - len(seen))])
        place = f" {top + 1}-{top + len(seen)} of {len(lines)} lines   Space: go on   b: back   q: leave "
        return [("", body + "\n"), ("reverse", place[: columns - 1])]

    def press(key: str, now: float) -> Ending | None:
        nonlocal top
        if key in AWAY:
            return "read"
        last = max(len(lines) - height(), 0)
        step = STEPS.get(key, height() if key in FORWARD else -height() if key in BACK else 0)
        top = {"home": 0, "g": 0, "end": last, "G": last}.get(key, min(max(top + step, 0), last))
        return None

    return Conversation(draw, press, whole_screen=True)
