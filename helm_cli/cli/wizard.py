"""The questions that set a profile up: the only use of questionary, never for anything that widens trust."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from helm_cli.model.errors import HelmError
from helm_cli.view.ending import endings


def ask(label: str, choices: list[str] | None = None) -> str:
    """One answer in words, or one of the choices. Raises HelmError "declined" on Ctrl-C or an empty answer."""
    import questionary

    question = questionary.select(label, choices) if choices else questionary.text(label)
    return _answer(question.unsafe_ask, label)


def chosen(label: str, choices: list[str]) -> list[str]:
    """Those of the choices that the person leaves marked, as all are at first.

    Raises HelmError "declined" on Ctrl-C, and where none is left.
    """
    import questionary

    marked = [questionary.Choice(choice, checked=True) for choice in choices]
    answers: list[str] = []
    _answer(lambda: answers.extend(questionary.checkbox(label, marked).unsafe_ask()), label, empty=True)
    if not answers:
        raise HelmError("declined", "nothing was chosen; nothing was changed")
    return answers


def hidden(label: str) -> str:
    """One secret, typed unseen; may be empty. Raises HelmError "declined" on Ctrl-C."""
    import questionary

    return _answer(questionary.password(label).unsafe_ask, label, empty=True)


def _answer(asking: object, label: str, *, empty: bool = False) -> str:
    try:
        with _terminal_given_back():
            answer = asking() if callable(asking) else None
    except (KeyboardInterrupt, EOFError):
        raise HelmError("declined", "cancelled; nothing was changed") from None
    text = str(answer or "").strip() if not empty else str(answer or "")
    if not text and not empty:
        raise HelmError("declined", f"no answer for {label}; nothing was changed")
    return text


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
