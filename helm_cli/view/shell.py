"""The line on which a person types statements: editing, completion and history, at the controlling terminal."""

import asyncio
import os
import selectors
import termios
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from helm_cli.model.errors import HelmError
from helm_cli.view.cancelling import by_signals
from helm_cli.view.completion import Names, candidates
from helm_cli.view.ending import endings
from helm_cli.view.text import shown


class Kept(History):
    """The lines of before, as prompt_toolkit wants them: a class of its own."""

    def __init__(self, lines: Sequence[str], may_keep: Callable[[str], bool], keep: Callable[[str], None]) -> None:
        super().__init__()
        self._lines = lines
        self._may_keep = may_keep
        self._keep = keep

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self._lines)

    def store_string(self, string: str) -> None:
        self._keep(string)

    def append_string(self, string: str) -> None:
        if self._may_keep(string):
            super().append_string(string)


class _Words(Completer):
    def __init__(self, names: Callable[[], Names]) -> None:
        self._names = names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        for text, start in candidates(document.text_before_cursor, document.text, self._names()):
            yield Completion(text, start)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completion in self.get_completions(document, complete_event):
            yield completion


class Line:
    """The prompt. `ask` gives what was typed; it raises KeyboardInterrupt on Ctrl-C and EOFError on Ctrl-D."""

    def __init__(self, terminal: int, session: PromptSession[str]) -> None:
        self._terminal = terminal
        self._session = session

    def ask(self, prompt: str, *, alarming: bool) -> str:
        message: StyleAndTextTuples = [("bold" if alarming else "", f"{shown(prompt)}> ")]
        before = termios.tcgetattr(self._terminal)
        try:
            with by_signals(self._session.app), asyncio.Runner(loop_factory=_loop) as runner:
                # A key that the library stumbles over is no key; its traceback would be drawn over the line.
                runner.get_loop().set_exception_handler(lambda loop, context: None)
                return runner.run(self._session.prompt_async(message, set_exception_handler=False))
        finally:
            # A signal may have ended it in the middle.
            with suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, before)


def _loop() -> asyncio.AbstractEventLoop:
    # kqueue, the usual selector on macOS, does not take /dev/tty.
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


@contextmanager
def line(history: Kept, names: Callable[[], Names], complete: Callable[[str], bool]) -> Iterator[Line]:
    """The prompt at the controlling terminal; Enter ends what is `complete`, and else begins a new line.

    A signal that asks the process to end does so with the terminal restored. HelmError "confirmation_required" where
    there is no terminal.
    """
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise HelmError("confirmation_required", "there is no terminal to type at") from None
    with (
        open(fd, encoding="utf-8", errors="replace") as keys,
        open(fd, "w", encoding="utf-8", errors="replace", newline="", closefd=False) as screen,
        endings(),
    ):

        def size() -> Size:
            try:
                columns, rows = os.get_terminal_size(fd)
            except OSError:
                columns, rows = 0, 0
            return Size(rows=rows or 24, columns=columns or 80)

        session: PromptSession[str] = PromptSession(
            multiline=True,
            prompt_continuation=lambda width, number, wrapped: (" " if wrapped else ".") * max(width - 1, 0) + " ",
            history=history,
            completer=_Words(names),
            complete_while_typing=False,
            key_bindings=_bindings(complete, names),
            enable_history_search=False,
            color_depth=ColorDepth.DEPTH_1_BIT,
            include_default_pygments_style=False,
            input=Vt100Input(keys),
            output=Vt100_Output(screen, size, term=os.environ.get("TERM"), enable_bell=False, enable_cpr=False),
        )
        yield Line(fd, session)


def _bindings(complete: Callable[[str], bool], names: Callable[[], Names]) -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("tab")
    def completed(event: KeyPressEvent) -> None:
        _completed(event.current_buffer, names())

    @bindings.add("enter")
    def entered(event: KeyPressEvent) -> None:
        _entered(event.current_buffer, complete)

    @bindings.add(Keys.Vt100MouseEvent, eager=True)
    @bindings.add(Keys.CPRResponse, eager=True)
    def reported(event: KeyPressEvent) -> None:
        """Nothing was asked of the terminal; the library itself stumbles over some of what looks like an answer."""

    return bindings


def _completed(buffer: Buffer, names: Names) -> None:
    if buffer.complete_state is not None:
        return buffer.complete_next()
    found = list(candidates(buffer.document.text_before_cursor, buffer.text, names))
    if len(found) == 1:
        # At once: the library's own way takes a moment, in which the next key would undo it.
        ((text, start),) = found
        buffer.delete_before_cursor(-start)
        buffer.insert_text(text)
    elif found:
        buffer.start_completion(insert_common_part=True)


def _entered(buffer: Buffer, complete: Callable[[str], bool]) -> None:
    if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
        buffer.complete_state = None
    elif complete(buffer.text):
        buffer.validate_and_handle()
    else:
        buffer.newline(copy_margin=False)
