"""How what a profile needs is entered: by an option, by a question on a terminal, and a secret by a pipe or unseen."""

import sys
from typing import Final

from helm_cli.cli.here import Here, answered
from helm_cli.model.errors import HelmError
from helm_cli.view.streams import person_present, piped_bytes

# Longer than any secret that a server takes; a larger input is a wrong file.
MOST_BYTES: Final = 64 * 1024


def can_ask(place: Here) -> bool:
    """Whether a person can answer the questions of a wizard here, which reads them from standard input."""
    return person_present(place.streams) and sys.stdin is not None and sys.stdin.isatty()


def asked(place: Here, asking: bool, name: str, label: str, choices: list[str] | None = None) -> str:
    """A required value that was not given: what the person answers.

    Raises HelmError "usage", which names the option `name`, where nobody can be asked, and "declined".
    """
    if not asking:
        raise HelmError("usage", f"{name} is missing; give it, or run this in a terminal to be asked")
    from helm_cli.cli import wizard

    answer = wizard.ask(label, choices)
    answered(place)
    return answer


def typed_secret(place: Here, label: str) -> str:
    """A secret that the person types unseen, "" for an empty one. Raises HelmError "declined"."""
    from helm_cli.cli import wizard

    answer = wizard.hidden(label)
    answered(place)
    return _without_newline(answer)


def piped_secret(what: str, option: str) -> str:
    """A secret from standard input, without one newline at its end; "" for an empty input.

    Raises HelmError "usage" where it comes from a terminal, which would show it, or cannot be read as UTF-8 text.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        raise HelmError(
            "usage", f"{what} would stand on the screen as you type it; pipe it in, or leave {option} out to be asked"
        )
    data = piped_bytes(what, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise HelmError("usage", f"{what} on standard input is over {MOST_BYTES} bytes")
    try:
        return _without_newline(data.decode())
    except UnicodeDecodeError:
        raise HelmError("usage", f"{what} on standard input is not UTF-8") from None


def _without_newline(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")
