"""How what a profile needs is entered: by an option, by a question on a terminal, and a secret by a pipe or unseen."""

import sys
from collections.abc import Callable
from typing import Final

from helm_cli.cli.here import Here, answered, tell
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Profile
from helm_cli.store import profiles
from helm_cli.view.streams import person_present, piped_bytes

# Longer than any secret that a server takes; a larger input is a wrong file.
MOST_BYTES: Final = 64 * 1024


# What an answer is tried with: it raises HelmError "usage" or "conflict" where it cannot be taken.
Check = Callable[[str], object]


def _anything(answer: str) -> None:
    pass


def can_ask(place: Here) -> bool:
    """Whether a person can answer the questions of a wizard here, which reads them from standard input."""
    return person_present(place.streams) and sys.stdin is not None and sys.stdin.isatty()


def asked(
    place: Here,
    asking: bool,
    name: str,
    label: str,
    choices: list[str] | None = None,
    *,
    check: Check = _anything,
    default: str = "",
) -> str:
    """A required value that was not given: what the person answers, asked again until `check` finds nothing wrong.

    Raises HelmError "usage", which names the option `name`, where nobody can be asked, and "declined". That somebody
    was asked is kept by `kept`, so that a wizard that is cancelled leaves no trace.
    """
    if not asking:
        raise HelmError("usage", f"{name} is missing; give it, or run this in a terminal to be asked")
    from helm_cli.cli import wizard

    usual = default
    while True:
        # What was offered and is emptied is meant all the same.
        answer = wizard.ask(label, choices, default) or usual
        if not answer:
            tell(place.streams, "an answer is needed here; Esc or Ctrl-C cancels")
        elif _accepted(place, answer, check, name, label):
            place.stores.answered = True
            return answer
        default = answer


def typed_secret(place: Here, label: str, check: Check = _anything) -> str:
    """A secret that the person types unseen, "" for an empty one; likewise. Raises HelmError "declined"."""
    from helm_cli.cli import wizard

    while True:
        answer = _without_newline(wizard.hidden(label))
        if _accepted(place, answer, check):
            place.stores.answered = True
            return answer


def gone(old: Profile, new: Profile, what: str) -> str:
    """What is added to "changed the profile" where its secret was taken away with that."""
    return f"; it has no {what} any more" if old.credential is not None and new.credential is None else ""


def kept(place: Here) -> None:
    """What was entered is kept now; where a person was asked for some of it, so is that a person answered here."""
    if place.stores.answered:
        answered(place)


def check_new(place: Here, group: str, name: str, *, force: bool) -> None:
    """That a profile of this name can be added, before more is asked. Raises HelmError "usage" and "conflict"."""
    profiles.check_name(name)
    if not force and profiles.exists(place.stores.home, group, name):
        told = f"the {group} profile {name} exists; change it with edit or replace it with --force"
        raise HelmError("conflict", told)


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


def _accepted(place: Here, answer: str, check: Check, option: str = "", label: str = "") -> bool:
    """Whether nothing is wrong with an answer; else that is told, of the question and not of the option."""
    try:
        check(answer)
    except HelmError as error:
        if error.code not in ("usage", "conflict"):
            raise
        message = error.message
        if option and message.startswith(f"{option} "):
            message = f"{label}{message.removeprefix(option)}"
        tell(place.streams, message)
        return False
    return True


def _without_newline(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")
