"""What ends a question of a wizard besides Ctrl-C: Esc, Ctrl-D where nothing is typed, and a signal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from helm_cli.view.ending import deferred

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.key_binding import KeyPressEvent

# A terminal sends Esc before the letter of an Alt key; later than this, it was Esc alone.
ESC_SECONDS = 0.1


def by_keys(application: "Application[Any]") -> None:
    """Have them end the question with KeyboardInterrupt; Alt with a letter still moves in the text."""
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
    from prompt_toolkit.keys import Keys

    bindings = KeyBindings()

    @bindings.add(Keys.Escape)
    @bindings.add(Keys.ControlD, filter=Condition(lambda: not application.current_buffer.text))
    def cancelled(event: "KeyPressEvent") -> None:
        event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    before = [application.key_bindings] if application.key_bindings is not None else []
    application.key_bindings = merge_key_bindings([*before, bindings])
    application.ttimeoutlen = application.timeoutlen = ESC_SECONDS


@contextmanager
def by_signals(application: "Application[Any]") -> Iterator[None]:
    """What ends the process ends first what is asked in the block, which so leaves the terminal as it was."""

    def cancel() -> None:
        if application.is_running and not application.is_done:
            application.exit(exception=EOFError)

    def wake() -> None:
        if application.loop is not None:
            application.loop.call_soon_threadsafe(cancel)

    with deferred(wake) as came:
        application.pre_run_callables.append(lambda: cancel() if came else None)
        yield
