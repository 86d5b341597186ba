"""How a terminal is read while something else is waited for: whole lines of any length, which stay unseen."""

import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from helm_cli.view.ending import endings


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
