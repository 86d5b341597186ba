"""The one way helm asks a person for a yes: at the controlling terminal, with no as the default."""

import termios
from collections.abc import Sequence
from typing import Final

from helm_cli.view.lines import Line
from helm_cli.view.terminal import Answer, controlling

# Why a "hasty" answer is no yes: what sends both keys at once is a paste or a macro.
HASTY: Final = "Enter came too soon after Down to be a decision"


def ask(
    title: str, lines: Sequence[str | Line], verb: str, expires: float | None, summary: Sequence[str | Line] = ()
) -> Answer:
    """Shows `lines` under `title` and asks whether to go on: only Down, and Enter 150 ms later, is a yes.

    Every other key, a paste, Ctrl-C and a terminal that goes away are a no ("declined"; "hasty" where Enter came
    too soon after Down); keys pressed before the question are dropped. A body too long for the screen is paged
    first, and then `summary`, or its beginning, stands above the question. `expires` is a time.time(), at which the
    question closes by itself. A signal that asks the process to end does so once the terminal is restored
    (`controlling`). Only for where `person_present`; only from the main thread; nothing else may write to the
    terminal meanwhile. Raises HelmError `confirmation_required` where there is no terminal at all. (Design,
    section 7.)
    """
    # Loaded here for its cost, and before the terminal is taken, so that keys pressed meanwhile are dropped.
    from helm_cli.view.dialog import Question, asked

    try:
        with controlling() as terminal:
            return asked(terminal, Question(title, lines, verb, summary), expires)
    except (OSError, termios.error):
        return "declined"
