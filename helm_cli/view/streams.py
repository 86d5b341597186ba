"""Where this process prints, what kind of place that is, and whether a person sits at its terminal."""

import io
import os
import sys
from typing import Final, NamedTuple, TextIO

NARROWEST: Final = 60
WIDEST: Final = 200
USUAL_WIDTH: Final = 80


class Streams(NamedTuple):
    """Standard output and error as this process has them; `width` in cells, `color` for standard output."""

    out: TextIO
    err: TextIO
    out_terminal: bool
    err_terminal: bool
    width: int
    color: bool

    @staticmethod
    def here() -> "Streams":
        """Those of this process, set to UTF-8 whatever the locale; a stream that was closed swallows its text."""
        out, err = _utf8(sys.stdout), _utf8(sys.stderr)
        out_terminal, err_terminal = out.isatty(), err.isatty()
        return Streams(out, err, out_terminal, err_terminal, _width(out, err), out_terminal and _colors())

    def write(self, text: str) -> None:
        """Puts a whole text, line ends included, on standard output at once. BrokenPipeError is the caller's."""
        self.out.write(text)
        self.out.flush()

    def say(self, line: str) -> None:
        """Puts one line for people on standard error. BrokenPipeError is the caller's."""
        self.err.write(line + "\n")
        self.err.flush()


def person_present(streams: Streams) -> bool:
    """Whether a person can be asked here (design, section 7): a question put to anybody else answers itself."""
    if "HELM_CLI_NO_INPUT" in os.environ or not streams.err_terminal or not _capable():
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # In the background the shell reads the keys, not helm.
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _utf8(stream: TextIO | None) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
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


def _colors() -> bool:
    return not os.environ.get("NO_COLOR") and _capable()


def _capable() -> bool:
    return os.environ.get("TERM", "") not in ("", "dumb")
