"""How long helm waits for a keychain, which may ask the person, freeze, or never answer."""

from collections.abc import Callable
from threading import Thread
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")
HangUp = Callable[[Callable[[], None]], None]

QUIET: Final = 1.0
UNLOCK: Final = "unlock it and try again"
ELSEWHERE: Final = "make it available and try again, or enter the secret again with HELM_CLI_CREDENTIALS=file"


class Patience(NamedTuple):
    """`seconds` in all; with a `person` the keychain may ask, and `notice` says after a second that helm waits."""

    seconds: float
    person: bool
    notice: Callable[[str], None]


class Trouble(Exception):
    """Why a keychain cannot be used (`reason`, a clause) and what to do about it (`step`)."""

    def __init__(self, reason: str, step: str = ELSEWHERE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.step = step


class Absent(Trouble):
    """There is no such keychain here; another one may be tried."""


def within(patience: Patience, work: Callable[[HangUp], T]) -> T | Trouble:
    """What `work` returns, or the trouble it met; never later than the patience allows.

    Another exception is told by the name of its type, for its text may hold the secret. `work` gets a function to
    register what ends its conversation, so that no thread waits on after the limit.
    """
    outcome: list[T | Trouble] = []
    hang_ups: list[Callable[[], None]] = []

    def run() -> None:
        try:
            outcome.append(work(hang_ups.append))
        except Trouble as trouble:
            outcome.append(trouble)
        except Exception as error:
            outcome.append(Trouble(f"the keychain failed ({type(error).__name__})"))

    # A daemon thread, because no library lets go of a call that its peer does not answer.
    thread = Thread(target=run, daemon=True, name="keychain")
    thread.start()
    thread.join(min(QUIET, patience.seconds))
    if thread.is_alive():
        if patience.person:
            patience.notice(f"waiting for the keychain, at most {patience.seconds:g} seconds")
        thread.join(max(0.0, patience.seconds - QUIET))
    if not outcome:
        for hang_up in hang_ups:
            hang_up()
        return Trouble(f"the keychain did not answer within {patience.seconds:g} seconds")
    return outcome[0]
