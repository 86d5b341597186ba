"""The questions that set a profile up: the only use of questionary, never for anything that widens trust."""

import sys
from collections.abc import Collection
from contextlib import ExitStack
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from helm_cli.model.errors import HelmError
from helm_cli.view import cancelling, streams
from helm_cli.view.unseen import keys_from_now_on, unseen

if TYPE_CHECKING:
    from questionary import Question

# The command whose terminal is unseen between its questions.
_UNSEEN: Final[ContextVar[ExitStack | None]] = ContextVar("unseen", default=None)


def ask(label: str, choices: list[str] | None = None, default: str = "") -> str:
    """One answer in words, "" for an empty one, or one of the choices. Raises HelmError "declined" on a cancel.

    `default` stands there already, to be kept or changed.
    """
    _unseen_from_now_on()
    import questionary

    question = questionary.select(label, choices) if choices else questionary.text(label, default)
    return str(_answer(question)).strip()


def chosen(label: str, choices: list[str], unmarked: Collection[str] = ()) -> list[str]:
    """Those of the choices that the person leaves marked, as all but the `unmarked` are at first.

    Raises HelmError "declined" on a cancel, and where none is left.
    """
    _unseen_from_now_on()
    import questionary

    marked = [questionary.Choice(choice, checked=choice not in unmarked) for choice in choices]
    answers: list[str] = _answer(questionary.checkbox(label, marked))
    if not answers:
        raise HelmError("declined", "nothing was chosen; nothing was changed")
    return answers


def hidden(label: str) -> str:
    """One secret, typed unseen; may be empty. Raises HelmError "declined" on a cancel."""
    _unseen_from_now_on()
    import questionary

    return str(_answer(questionary.password(label)))


def _unseen_from_now_on() -> None:
    """To the end of the command: a secret that is typed before its question stands there must not be shown."""
    after = streams.AFTER.get()
    if _UNSEEN.get() is not after:
        after.enter_context(unseen(sys.stdin.fileno()))
        _UNSEEN.set(after)


def _answer(question: "Question") -> Any:
    cancelling.by_keys(question.application)
    keys_from_now_on(question.application, sys.stdin.fileno())
    try:
        with cancelling.by_signals(question.application):
            return question.unsafe_ask()
    except (KeyboardInterrupt, EOFError):
        raise HelmError("declined", "cancelled; nothing was changed") from None
