"""The questions that set a profile up: the only use of questionary, never for anything that widens trust."""

import sys
import termios
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from helm_cli.model.errors import HelmError
from helm_cli.view import cancelling
from helm_cli.view.ending import endings

if TYPE_CHECKING:
    from questionary import Question


def ask(label: str, choices: list[str] | None = None, default: str = "") -> str:
    """One answer in words, "" for an empty one, or one of the choices. Raises HelmError "declined" on a cancel.

    `default` stands there already, to be kept or changed.
    """
    import questionary

    question = questionary.select(label, choices) if choices else questionary.text(label, default)
    return str(_answer(question)).strip()


def chosen(label: str, choices: list[str], unmarked: Collection[str] = ()) -> list[str]:
    """Those of the choices that the person leaves marked, as all but the `unmarked` are at first.

    Raises HelmError "declined" on a cancel, and where none is left.
    """
    import questionary

    marked = [questionary.Choice(choice, checked=choice not in unmarked) for choice in choices]
    answers: list[str] = _answer(questionary.checkbox(label, marked))
    if not answers:
        raise HelmError("declined", "nothing was chosen; nothing was changed")
    return answers


def hidden(label: str) -> str:
    """One secret, typed unseen; may be empty. Raises HelmError "declined" on a cancel."""
    import questionary

    return str(_answer(questionary.password(label)))


def _answer(question: "Question") -> Any:
    cancelling.by_keys(question.application)
    try:
        with _terminal_given_back():
            return question.unsafe_ask()
    except (KeyboardInterrupt, EOFError):
        raise HelmError("declined", "cancelled; nothing was changed") from None


@contextmanager
def _terminal_given_back() -> Iterator[None]:
    """Leave the terminal as it was, also where a signal ends the process: typing would stay unseen in its shell."""
    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        with endings():
            yield
    except SystemExit:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
        # Bracketed paste, which the question had turned on.
        print("\x1b[?2004l", end="", flush=True)
        raise
