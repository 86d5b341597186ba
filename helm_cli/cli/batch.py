"""`helm call --batch`: the lines of a file as calls, one envelope a line, with a progress bar on a terminal."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from io import BufferedReader, FileIO
from itertools import count
from typing import BinaryIO, NamedTuple

from helm_cli.agent import client
from helm_cli.broker import batch, call, ledger
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.cli.batch_lines import MOST_BYTES, Lines
from helm_cli.cli.here import Here, tell
from helm_cli.cli.writing import ask
from helm_cli.model import jsontext
from helm_cli.model.envelope import Envelope, exit_status
from helm_cli.model.errors import HelmError
from helm_cli.view.ending import endings
from helm_cli.view.progress import progress
from helm_cli.view.streams import piped
from helm_cli.view.text import shown_json


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
        raise HelmError("usage", "a batch prints one envelope a line; -o takes auto or json for it")
    workspace = place.workspace(options.workspace)
    status, failed, made = 0, 0, 0
    # An end from outside is told like Ctrl-C: how the calls ended, and which did not.
    with endings(), _Source(options.file) as source, progress(place.streams, "calls", source.lines()) as bar:

        def confirm(request: call.Request) -> Envelope:
            bar.clear()
            return ask(place, request, wait=options.wait)

        lines = _lines(place.stores, source.file, workspace, options)
        with closing(batch.run(place.stores, lines, confirm, options.jobs, client.perform)) as answers:
            for envelope in answers:
                made += 1
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
        tell(place.streams, f"{failed} of {made} calls failed")
    return status


def _lines(stores: Stores, file: FileIO, workspace: Workspace, options: Batch) -> Iterator[batch.Line | None]:
    lines = Lines(file)
    for number in count(1):
        while not lines.whole():
            if not lines.late():
                lines.more()
                continue
            yield None
            with ledger.pausing(stores):
                lines.more()
        text = lines.take()
        if text is None:
            yield batch.unreadable(number, f"it is over {MOST_BYTES} bytes")
        elif not text:
            return
        elif text.strip():
            yield batch.read(text, number, workspace, wait_rate=options.wait_rate)


class _Source:
    """The batch's file, closed at the end unless it is standard input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "_Source":
        try:
            self.file = _raw(piped("the batch")) if self.name == "-" else open(self.name, "rb", buffering=0)
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
            lines = sum(piece.count(b"\n") for piece in iter(lambda: self.file.read(1 << 20), b""))
            self.file.seek(start)
        except OSError:
            return None
        return lines


def _raw(stream: BinaryIO) -> FileIO:
    """What nothing was read of yet, without its buffer."""
    file = stream.raw if isinstance(stream, BufferedReader) else stream
    if not isinstance(file, FileIO):
        raise HelmError("usage", "standard input cannot be read as a batch; name a file")
    return file
