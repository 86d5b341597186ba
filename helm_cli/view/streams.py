"""Where this process prints, what kind of place that is, and whether a person sits at its terminal."""

import io
import os
import sys
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from typing import Any, BinaryIO, Final, Literal, NamedTuple, TextIO

from helm_cli.model.errors import HelmError

NARROWEST: Final = 60
WIDEST: Final = 200
USUAL_WIDTH: Final = 80

# How much is said on standard error: only errors and what needs the person; notes too; what helm does, too.
Voice = Literal["quiet", "usual", "verbose"]
VOICE: Final[ContextVar[Voice]] = ContextVar("voice", default="usual")
# The words of the command line that hold a URL, in which a password may stand.
UNSAID: Final[ContextVar[tuple[str, ...]]] = ContextVar("unsaid", default=())
# What is put back when the command is over, before its failure is told.
AFTER: Final[ContextVar[ExitStack]] = ContextVar("after")


def put_back() -> None:
    """What `AFTER` is for, where the process ends at once."""
    if (after := AFTER.get(None)) is not None:
        after.close()


class Streams(NamedTuple):
    """Standard output and error as this process has them; `width` in cells, `color` for standard output.

    `voice` says how much of what is for people is said.
    """

    out: TextIO
    err: TextIO
    out_terminal: bool
    err_terminal: bool
    width: int
    color: bool
    voice: Voice = "usual"

    @staticmethod
    def here() -> "Streams":
        """Those of this process, as `settle` leaves them."""
        settle()
        out, err = sys.stdout, sys.stderr
        out_terminal, err_terminal = out.isatty(), err.isatty()
        width, color = _width(out, err), out_terminal and colors()
        return Streams(out, err, out_terminal, err_terminal, width, color, VOICE.get())

    def write(self, text: str, then: str = "") -> None:
        """Puts a whole text, line ends included, on standard output at once. BrokenPipeError is the caller's.

        Raises HelmError "state" where it cannot be written, which ends with what stands all the same: `then`.
        """
        try:
            self.out.write(text)
            self.out.flush()
        except HelmError as error:
            raise HelmError(error.code, f"{error.message}; {then}" if then else error.message) from None

    def say(self, line: str) -> None:
        """Puts one line for people on standard error."""
        self.err.write(unsaid(line) + "\n")
        self.err.flush()


class Outlet(io.BufferedIOBase):
    """The bytes of a standard stream: all of them are written, or it is told in one way that they cannot be.

    Standard error is not `needed`: what cannot be said there changes nothing. Inherits what TextIOWrapper asks for.
    """

    def __init__(self, number: int, *, needed: bool) -> None:
        self._number = number
        self._needed = needed

    @property
    def name(self) -> int:
        return self._number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any, /) -> int:
        """Raises BrokenPipeError, and HelmError "state" for every other reason."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._some(view) :]
        except BrokenPipeError:
            if self._needed:
                raise
        except OSError as error:
            if self._needed:
                reason = (error.strerror or "error").lower()
                raise HelmError("state", f"the answer could not be written: {reason}") from None
        return len(data)

    def _some(self, view: memoryview) -> int:
        try:
            return os.write(self._number, view)
        except BlockingIOError:
            # Whoever started helm may have left its end of a pipe non-blocking, and both ends are one.
            from select import select

            select([], [self._number], [])
            return 0


def settle() -> None:
    """Make the standard streams such that no command has to think of them: open, UTF-8, and told of in one way.

    One that was closed leads nowhere, for the next file opened would take its number and what is printed. Only
    standard input that was closed stays None: see `piped`.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = _settled(sys.stdout, 1, needed=True)
    sys.stderr = _settled(sys.stderr, 2, needed=False)


def unsaid(text: str) -> str:
    """A text for people without the URLs of the command line that may hold a password, also where it has a part of one.

    Of such a URL its scheme stays: postgres://***.
    """
    for word in UNSAID.get():
        head, sign, rest = word.partition("://")
        if "@" not in rest and "?" not in rest:
            continue
        head = head.rpartition("=")[2]
        # As a path it has one slash less.
        for scheme in (f"{head}{sign}", f"{head}:/"):
            first, *others = text.split(scheme)
            text = scheme.join((first, *(_beyond(other, rest) for other in others)))
    return text


def _beyond(text: str, rest: str) -> str:
    length = next((at for at, pair in enumerate(zip(text, rest, strict=False)) if pair[0] != pair[1]), None)
    length = min(len(text), len(rest)) if length is None else length
    return f"***{text[length:]}" if length else text


def columns() -> int:
    """How wide a page of this process may be, from 60 to 200 cells; in a pipe as the terminal beside it."""
    return _width(sys.stdout, sys.stderr)


def piped(what: str) -> BinaryIO:
    """Standard input as bytes, for `what` is read from it. Raises HelmError "usage" where it is closed."""
    if sys.stdin is None:
        raise HelmError("usage", f"{what} comes on standard input, which is closed; pipe it in")
    with suppress(OSError, ValueError):
        # Else what is not there yet looks like the end.
        os.set_blocking(sys.stdin.fileno(), True)
    return sys.stdin.buffer


def piped_bytes(what: str, most: int) -> bytes:
    """At most so many bytes of standard input. Raises HelmError "usage" where it is closed or cannot be read."""
    try:
        return piped(what).read(most)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise HelmError("usage", f"{what} cannot be read from standard input: {reason}") from None


def person_present(streams: Streams) -> bool:
    """Whether a person can be asked here (design, section 7): a question put to anybody else answers itself."""
    return why_absent(streams) is None


def why_absent(streams: Streams) -> str | None:
    """Why no person can be asked here, as a clause; None where one can."""
    if "HELM_CLI_NO_INPUT" in os.environ:
        return "HELM_CLI_NO_INPUT is set"
    if not streams.err_terminal:
        return "standard error is not a terminal"
    if not _capable():
        return f"TERM is {os.environ.get('TERM') or 'not set'}"
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return "there is no controlling terminal"
    try:
        # In the background the shell reads the keys, not helm.
        return None if os.tcgetpgrp(terminal) == os.getpgrp() else "helm runs in the background of its terminal"
    except OSError:
        return "the terminal is gone"
    finally:
        os.close(terminal)


def colors() -> bool:
    """Whether the person's terminal shows colours, and the person wants them."""
    return not os.environ.get("NO_COLOR") and _capable()


def _settled(stream: Any, number: int, *, needed: bool) -> TextIO:
    if stream is not None and not _is_own(stream, number):
        return _utf8(stream)
    if stream is not None and isinstance(stream.buffer, Outlet):
        return _utf8(stream)
    outlet = Outlet(number, needed=needed)
    return _utf8(io.TextIOWrapper(outlet, line_buffering=not needed or outlet.isatty()))


def _is_own(stream: object, number: int) -> bool:
    """Whether a stream is Python's own and not one that an embedding program put in its place."""
    try:
        return type(stream) is io.TextIOWrapper and stream.fileno() == number
    except (OSError, ValueError):
        return False


def _utf8(stream: TextIO) -> TextIO:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return stream


def _width(out: TextIO, err: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 6 else 0
    for stream in (out, err):
        width = width or _columns(stream)
    return min(max(width or USUAL_WIDTH, NARROWEST), WIDEST)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def _capable() -> bool:
    return os.environ.get("TERM", "") not in ("", "dumb")
