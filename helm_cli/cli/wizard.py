"""The questions that set a profile up: the only use of questionary, never for anything that widens trust."""

from helm_cli.model.errors import HelmError


def ask(label: str, choices: list[str] | None = None) -> str:
    """One answer in words, or one of the choices. Raises HelmError "declined" on Ctrl-C or an empty answer."""
    import questionary

    question = questionary.select(label, choices) if choices else questionary.text(label)
    return _answer(question.unsafe_ask, label)


def hidden(label: str) -> str:
    """One secret, typed unseen; may be empty. Raises HelmError "declined" on Ctrl-C."""
    import questionary

    return _answer(questionary.password(label).unsafe_ask, label, empty=True)


def _answer(asking: object, label: str, *, empty: bool = False) -> str:
    try:
        answer = asking() if callable(asking) else None
    except (KeyboardInterrupt, EOFError):
        raise HelmError("declined", "cancelled; nothing was changed") from None
    text = str(answer or "").strip() if not empty else str(answer or "")
    if not text and not empty:
        raise HelmError("declined", f"no answer for {label}; nothing was changed")
    return text
