"""How a terminal is read unseen: whole lines while something else is waited for, or nothing before it is asked for."""

import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from helm_cli.view.ending import endings

if TYPE_CHECKING:
    from prompt_toolkit.application import Application


@contextmanager
def unseen(fd: int) -> Iterator[None]:
    """While the block runs, the terminal `fd` neither shows what is typed nor edits it, and Ctrl-C still interrupts.

    A terminal that edits lines cuts them at 4,095 bytes (macOS: at 1,024), and a pasted address may be longer. What was
    typed and not read is dropped afterwards, lest the rest of an address be run by the shell. It is given back as it
    was by every end but SIGKILL.
    """
    with endings():
        before = termios.tcgetattr(fd)
        during = [*before[:6], [*before[6]]]
        during[3] &= ~(termios.ICANON | termios.ECHO)
        during[6][termios.VMIN], during[6][termios.VTIME] = 1, 0
        termios.tcsetattr(fd, termios.TCSADRAIN, during)
        try:
            yield
        finally:
            # A terminal that is gone needs nothing back.
            with suppress(termios.error):
                termios.tcsetattr(fd, termios.TCSAFLUSH, before)


def keys_from_now_on(application: "Application[Any]", fd: int) -> None:
    """Have it take no key that was pressed before it stood there: it was meant for something else, if for anything."""
    from prompt_toolkit.input.typeahead import clear_typeahead
    from prompt_toolkit.renderer import CPR_Support

    def drop(_: object) -> None:
        if application.render_counter == 1:
            termios.tcflush(fd, termios.TCIFLUSH)

    clear_typeahead(application.input)
    application.before_render += drop
    # The terminal is asked nothing, for its answer would be dropped too.
    application.renderer.cpr_support = CPR_Support.NOT_SUPPORTED
