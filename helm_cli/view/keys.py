"""How keys reach a conversation on the terminal: one by one, and only those pressed while it was on the screen."""

import asyncio
import codecs
import os
import re
import selectors
import time
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, cast

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from helm_cli.view.streams import colors
from helm_cli.view.terminal import Answer, Terminal

# A text that was read to the end has only been read.
Ending = Answer | Literal["read"]

# A key that is sent as several bytes is told from Esc by how soon the rest follows.
ESC_SECONDS: Final = 0.05

# What terminals answer when asked and report unasked: attributes, status and modes; the cursor's place; the window;
# focus; the mouse; colours and names (OSC), settings (DCS). Nobody pressed any of it.
_REPLY: Final = re.compile(
    r"\x1b\[[?>=][\d;]*\$?[a-zA-Z]|\x1b\[\d+;\d+R|\x1b\[\d+n|\x1b\[\d+(?:;\d+){2}t|\x1b\[[IO]"
    r"|\x1b\[<[\d;]+[mM]|\x1b\[M[\s\S]{3}|\x1b[]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)"
)
_REPLY_BEGUN: Final = re.compile(
    r"\x1b\[(?:[?>=<]?[\d;]*\$?|M[\s\S]{0,2})\Z|\x1b[]P_^X][^\x07\x1b]{0,4096}\x1b?\Z",
)
_REPLY_SECONDS: Final = 0.1
_NO_KEYS: Final = ("<cpr-response>", "<vt100-mouse-event>")


class Conversation(NamedTuple):
    """What is on the screen and what a key does.

    `draw(columns, rows)` gives the text to show; `press(key, now)` takes a key by prompt_toolkit's name of it and a
    monotonic time, and gives the ending it brings about, or None.
    """

    draw: Callable[[int, int], StyleAndTextTuples]
    press: Callable[[str, float], Ending | None]
    whole_screen: bool


class _Keyboard:
    """What prompt_toolkit reads instead of the file itself: terminal replies taken out, a lost terminal noticed."""

    def __init__(self, fd: int) -> None:
        self.closed = False
        self._fd = fd
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._begun = ""
        self._begun_at = 0.0

    def read(self, count: int = 1024) -> str:
        try:
            data = os.read(self._fd, count)
        except OSError:
            data = b""
        self.closed = not data
        now = time.monotonic()
        late = bool(self._begun) and now - self._begun_at > _REPLY_SECONDS
        text = self._begun + self._decoder.decode(data)
        self._begun = ""
        if late:
            return text
        text = _REPLY.sub("", text)
        if begun := _REPLY_BEGUN.search(text):
            self._begun, self._begun_at = begun[0], now
            return text[: begun.start()]
        return text


def held(terminal: Terminal, conversation: Conversation, expires: float | None) -> Ending:
    """Holds the conversation to its end; `expires` is a time.time(). A terminal that goes away ends it, declined.

    prompt_toolkit draws, and names the keys. Its own ways with keys are out of force: none of its key bindings is
    reached, no early key is taken, and nothing is asked of the terminal.
    """

    async def hold() -> Ending:
        application = _application(terminal, conversation, expires)
        loop = asyncio.get_running_loop()

        def end(ending: Ending) -> None:
            if application.is_running and not application.is_done:
                application.exit(result=ending)

        def begin() -> None:
            terminal.wake.append(lambda: loop.call_soon_threadsafe(end, "declined"))
            if terminal.signals:
                end("declined")
            if expires is not None:
                loop.call_later(max(expires - time.time(), 0), end, "expired")

        clear_typeahead(application.input)
        try:
            return await application.run_async(pre_run=begin, handle_sigint=False, set_exception_handler=False)
        except EOFError:
            return "declined"
        finally:
            terminal.wake.clear()
            clear_typeahead(application.input)

    # kqueue, the usual selector on macOS, does not take /dev/tty.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        return runner.run(hold())


def _application(terminal: Terminal, conversation: Conversation, expires: float | None) -> Application[Ending]:
    keyboard = Vt100Input(terminal.keys)
    keyboard.stdin_reader = cast(PosixStdinReader, _Keyboard(terminal.fd))

    def size() -> Size:
        columns, rows = terminal.size()
        return Size(rows=rows, columns=columns)

    bindings = KeyBindings()

    # Eager, so that no binding of the library, to which Ctrl-J is Enter, can come first, whatever has the focus.
    @bindings.add(Keys.Any, eager=True)
    def pressed(event: KeyPressEvent) -> None:
        key: Any = event.key_sequence[0].key
        name = key.value if isinstance(key, Keys) else str(key)
        if name in _NO_KEYS or event.app.is_done:
            return
        ending = conversation.press(name, time.monotonic())
        if ending is not None:
            late = expires is not None and time.time() >= expires
            event.app.exit(result="expired" if late else ending)

    text = FormattedTextControl(lambda: conversation.draw(*terminal.size()), show_cursor=False)
    application: Application[Ending] = Application(
        layout=Layout(Window(text, dont_extend_height=not conversation.whole_screen)),
        key_bindings=bindings,
        full_screen=conversation.whole_screen,
        color_depth=ColorDepth.DEPTH_4_BIT if colors() else ColorDepth.DEPTH_1_BIT,
        input=keyboard,
        output=Vt100_Output(terminal.screen, size, term=os.environ.get("TERM"), enable_bell=False, enable_cpr=False),
    )
    application.ttimeoutlen = ESC_SECONDS
    # A countdown is drawn anew each second.
    application.refresh_interval = None if expires is None else 1.0
    return application
