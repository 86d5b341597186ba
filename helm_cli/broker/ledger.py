"""How each call gets its line in the history: counted or not, and ended whatever happens."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from helm_cli.broker import declared
from helm_cli.broker.request import caller as caller
from helm_cli.broker.series import Series
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, digest, dump, repaired
from helm_cli.store import confirmations, database, history, outcomes

MOST_OUTCOME: Final = 64


class Called(Protocol):
    """The part of a request that the history tells of."""

    @property
    def workspace(self) -> Workspace: ...
    @property
    def connection(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Json]: ...
    @property
    def extension(self) -> str | None: ...
    @property
    def wait_rate(self) -> bool: ...
    @property
    def asked_by(self) -> str: ...


class Ending:
    """How a call ended, filled in while it runs."""

    envelope: Envelope | None = None


def begin(stores: Stores, request: Called, extension: str) -> tuple[int, bool]:
    """Count one call against the extension's rate: its line, and whether it had to wait for a place.

    Raises HelmError "rate_limited", which the history tells of. In passing, what expired is wiped.
    """
    if stores.series is None or stores.series.sweeps(stores.clock()):
        confirmations.sweep(stores.db, stores.clock())
    waited = False
    while True:
        try:
            return _begun(stores, _what(stores, request, extension)), waited
        except HelmError as error:
            pause = error.members.get("retry_after")
            if not request.wait_rate or not isinstance(pause, int):
                raise
            stores.progress(f"waiting {pause} s: {error.message}")
            time.sleep(pause)
            waited = True


def end(stores: Stores, entry: int, outcome: str, milliseconds: int = 0) -> None:
    try:
        history.end(stores.db, history.Ended(entry, outcome, milliseconds))
    finally:
        if stores.series is not None:
            stores.series.running.pop(entry, None)


def asked(stores: Stores, entry: int) -> None:
    """What was asked for waits for its yes, also where the history cannot tell: a failure would have it asked twice."""
    with _told(stores):
        end(stores, entry, "confirmation_required")


def record(stores: Stores, request: Called, extension: str, outcome: str, milliseconds: int = 0) -> None:
    """The line of a call that is not counted: it was refused before, or counted when it was asked for."""
    history.record(stores.db, _what(stores, request, extension), stores.clock(), outcome, milliseconds)


@contextmanager
def in_a_row(stores: Stores) -> Iterator[None]:
    """Many calls are made in the block, of this thread's stores and of those opened `again` from them.

    How a read ended is told together with the beginning of the next call, which takes half the writing: who is killed
    with SIGKILL in between leaves it "running". What runs on when the block is left, which nobody waits for, is told of
    as interrupted, until it tells something else.
    """
    series = stores.series = Series()
    try:
        yield
    finally:
        series.end()
        try:
            if series.running:
                database.abandon(stores.db)
                _catch_up(stores, series)
                _interrupted(stores, series)
        finally:
            stores.series = None


@contextmanager
def pausing(stores: Stores) -> Iterator[None]:
    """The block waits for a next call that may be long in coming, so that nothing waits for it to be told."""
    series = stores.series
    if series is None:
        yield
        return
    # In this order: a call that ends meanwhile in another thread is told of by that one or by this.
    series.more = False
    _catch_up(stores, series)
    try:
        yield
    finally:
        series.more = True


@contextmanager
def ended(
    stores: Stores, request: Called, extension: str, entry: int | None, *, effect: Effect = "write"
) -> Iterator[Ending]:
    """Write down how the call inside ended and how long it took: by its envelope, or by what it raised.

    Without an `entry` that was begun before, it gets an uncounted line of its own. Only of a read may it be told later.
    """
    ending = Ending()
    begun = time.monotonic()
    outcome = "interrupted"
    try:
        yield ending
        outcome = _outcome(ending.envelope)
    except HelmError as error:
        outcome = error.code
        raise
    except Exception:
        outcome = "internal"
        raise
    finally:
        took = round((time.monotonic() - begun) * 1000)
        # What was sent was sent: its answer must not be lost over a history that cannot be written any more.
        with _told(stores):
            if entry is None:
                record(stores, request, extension, outcome, took)
            elif effect == "read" and stores.series is not None:
                stores.series.add(history.Ended(entry, outcome, took))
                if not stores.series.more:
                    _catch_up(stores, stores.series)
            else:
                end(stores, entry, outcome, took)


def settle(stores: Stores, waiting: str, envelope: Envelope) -> None:
    """Leave the answer of a confirmed write for the call that waits for it, if one does."""
    with _told(stores):
        outcomes.settle(stores.db, waiting, envelope)


@contextmanager
def refusals(stores: Stores, request: Called, *, begun: bool = False) -> Iterator[None]:
    """Give a call that is refused inside its line, unless one was `begun` for it; the refusal goes on."""
    try:
        yield
    except HelmError as error:
        if error.code != "state" and not begun:
            with _told(stores):
                record(stores, request, _extension(stores, request), error.code)
        raise


@contextmanager
def failures(stores: Stores, entry: int) -> Iterator[None]:
    """Write down what ended a call that was counted and then not asked for or sent; it goes on."""
    try:
        yield
    except BaseException as error:
        with _told(stores):
            end(stores, entry, error.code if isinstance(error, HelmError) else "internal")
        raise


def _begun(stores: Stores, what: history.Call) -> int:
    now, most = stores.clock(), stores.config.calls_per_minute
    series = stores.series
    if series is None:
        return history.begin(stores.db, what, now, most)
    full: HelmError
    with series.beginning(), series.told() as before:
        try:
            return history.begin(stores.db, what, now, most, ended=before, counts=series.counts, known=series.begun)
        except HelmError as error:
            if error.code == "state":
                raise
            full = error
    raise full


def _catch_up(stores: Stores, series: Series) -> None:
    """Tell of the calls that ended since the last one began."""
    with _told(stores), series.told() as before:
        if before:
            history.end(stores.db, *before)


def _interrupted(stores: Stores, series: Series) -> None:
    """Tell of the calls that did not end, unless their threads did meanwhile."""
    with _told(stores):
        for entry, took in series.left():
            history.lose(stores.db, entry, "interrupted", took)


def _what(stores: Stores, request: Called, extension: str) -> history.Call:
    # What was put into an argument may be anybody's secret, so it is kept only where the user said so.
    kept = dump(repaired(request.arguments)) if stores.config.keep_arguments else None
    return history.Call(
        request.workspace.path,
        extension,
        request.connection,
        request.operation,
        digest(request.arguments),
        request.asked_by or caller(),
        kept,
    )


def _extension(stores: Stores, request: Called) -> str:
    if request.extension is not None:
        return request.extension
    with suppress(HelmError):
        return declared.find(stores, request.workspace, request.connection, None)[1].id
    return ""


@contextmanager
def _told(stores: Stores) -> Iterator[None]:
    try:
        yield
    except HelmError as error:
        stores.notice(f"the history does not tell of this call: {error.message}")


def _outcome(envelope: Envelope | None) -> str:
    if envelope is None or envelope.get("ok") is True:
        return "ok"
    error = envelope.get("error")
    # A server's own word may be of any length.
    return str(error["code"])[:MOST_OUTCOME] if isinstance(error, dict) and "code" in error else "tool_error"
