"""`helm call --batch`: the lines of a file as calls, one envelope a line, with a progress bar on a terminal."""

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from helm_cli.agent import client
from helm_cli.broker import batch, call
from helm_cli.broker.workspace import Workspace
from helm_cli.cli.here import Here, tell
from helm_cli.cli.writing import ask
from helm_cli.model import jsontext
from helm_cli.model.envelope import Envelope, exit_status
from helm_cli.model.errors import HelmError
from helm_cli.view.progress import progress
from helm_cli.view.streams import piped
from helm_cli.view.text import shown_json

# A line holds one call; its arguments are at most a few hundred KiB (contract, Files).
MOST_BYTES_A_LINE: Final = 4 * 1024 * 1024


class Batch(NamedTuple):
    """The options of one batch."""

    file: str
    jobs: int
    output: str
    wait: bool
    wait_rate: bool
    workspace: str | None


def run(place: Here, options: Batch) -> int:
    """Make the calls of a batch and give the exit status of the first line that failed."""
    if options.output not in ("auto", "json"):
        raise HelmError("usage", f"a batch prints one envelope a line; -o {options.output} cannot carry them")
    workspace = place.workspace(options.workspace)
    status, failed, count = 0, 0, 0
    with _Source(options.file) as source, progress(place.streams, "calls", source.lines()) as bar:

        def confirm(request: call.Request) -> Envelope:
            bar.clear()
            return ask(place, request, wait=options.wait)

        lines = _lines(source.file, workspace, options)
        for envelope in batch.run(place.stores, lines, confirm, options.jobs, client.perform):
            count += 1
            text = jsontext.dump(envelope)
            if place.streams.out_terminal:
                bar.clear()
                text = shown_json(text)
            place.streams.write(f"{text}\n", "helm history shows which calls were made")
            bar.advance()
            ended = exit_status(envelope)
            failed += ended != 0
            status = status or ended
    if failed:
        tell(place.streams, f"{failed} of {count} calls failed")
    return status


def _lines(file: BinaryIO, workspace: Workspace, options: Batch) -> Iterator[batch.Line]:
    for number, text in enumerate(_bounded(file), 1):
        if text is None:
            yield batch.unreadable(number, f"it is over {MOST_BYTES_A_LINE} bytes")
        elif text.strip():
            yield batch.read(text, number, workspace, wait_rate=options.wait_rate)


def _bounded(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines, None for one that is too long; its rest is read over, a piece at a time."""
    while text := _line(file):
        if len(text) <= MOST_BYTES_A_LINE:
            yield text
            continue
        while text and not text.endswith(b"\n"):
            text = file.readline(MOST_BYTES_A_LINE)
        yield None


def _line(file: BinaryIO) -> bytes:
    try:
        return file.readline(MOST_BYTES_A_LINE + 1)
    except OSError as error:
        raise HelmError("usage", f"the batch cannot be read: {(error.strerror or str(error)).lower()}") from None


class _Source:
    """The batch's file, closed at the end unless it is standard input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "_Source":
        try:
            self.file: BinaryIO = piped("the batch") if self.name == "-" else open(self.name, "rb")
        except OSError as error:
            reason = (error.strerror or "error").lower()
            raise HelmError("usage", f"the batch {self.name} cannot be read: {reason}") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self.name != "-":
            self.file.close()

    def lines(self) -> int | None:
        """How many lines there are, None where that cannot be known before they are read."""
        if not stat.S_ISREG(os.fstat(self.file.fileno()).st_mode):
            return None
        try:
            start = self.file.tell()
            count = sum(piece.count(b"\n") for piece in iter(lambda: self.file.read(1 << 20), b""))
            self.file.seek(start)
        except OSError:
            return None
        return count
