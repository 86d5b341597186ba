"""Many calls in one process: read from JSON Lines, answered in the same order, reads side by side."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, Protocol

from helm_cli.broker import call, ledger
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.drivers import kept
from helm_cli.model import jsontext
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json

MEMBERS = ("connection", "operation", "args", "plugin", "id")

# How long a call may take for those behind it to wait for the next call to be told of.
_SOON_SECONDS = 0.1
# How a write is asked for: the front end's own way.
Confirm = Callable[[call.Request], Envelope]


class Perform(Protocol):
    """How a read is made: as `call.perform`."""

    def __call__(self, stores: Stores, request: call.Request, *, prepared: call.Prepared | None = None) -> Envelope: ...


class Line(NamedTuple):
    """One line of a batch: its request, or why it is none; `id` is given back with the answer where given."""

    request: call.Request | HelmError
    id: Json
    has_id: bool


def read(text: bytes, number: int, workspace: Workspace, *, wait_rate: bool) -> Line:
    """The request of one line of JSON. A line that is none becomes its own `usage` error; it never raises."""
    given: Json = None
    has_id = False
    try:
        row = jsontext.parse(text)
        if not isinstance(row, dict):
            raise ValueError("a line is one JSON object")
        given, has_id = row.get("id"), "id" in row
        return Line(_request(row, workspace, wait_rate), given, has_id)
    except ValueError as error:
        return unreadable(number, str(error))._replace(id=given, has_id=has_id)


def unreadable(number: int, reason: str) -> Line:
    """A line that is no request, for this reason."""
    return Line(HelmError("usage", f"line {number} of the batch: {reason}"), None, False)


def run(
    stores: Stores, lines: Iterable[Line | None], confirm: Confirm, jobs: int, perform: Perform = call.perform
) -> Generator[Envelope, None, None]:
    """The answers of a batch, in its order, each as soon as it and all before it are there.

    At most `jobs` reads run side by side. A write waits for every call before it and runs alone. None among the lines
    says that the next may be long in coming. Memory does not grow with the batch. Who leaves it early closes it.
    """
    with kept.open_ones(), ledger.in_a_row(stores):
        yield from _answers(_Ways(stores, confirm, perform), lines, jobs)


class _Ways(NamedTuple):
    """How the calls of a batch are made."""

    stores: Stores
    confirm: Confirm
    perform: Perform


def _answers(ways: _Ways, lines: Iterable[Line | None], jobs: int) -> Iterator[Envelope]:
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="batch") if jobs > 1 else None
    ahead: deque[tuple[Line, Future[Envelope]]] = deque()
    local = threading.local()
    try:
        for line in lines:
            if line is None:
                yield from _answered(ways.stores, ahead, 0)
                continue
            request, prepared = line.request, _prepared(ways.stores, line.request)
            if pool is not None and not isinstance(request, HelmError) and _is_read(prepared):
                yield from _answered(ways.stores, ahead, jobs * 4 - 1)
                ahead.append((line, pool.submit(_read, ways, local, request)))
                continue
            yield from _answered(ways.stores, ahead, 0)
            yield _named(line, _alone(ways, request, prepared))
        yield from _answered(ways.stores, ahead, 0)
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def _answered(stores: Stores, ahead: "deque[tuple[Line, Future[Envelope]]]", left: int) -> Iterator[Envelope]:
    """The answers of the first calls that were begun ahead, waited for until so many are `left`."""
    while len(ahead) > left:
        line, future = ahead.popleft()
        yield _named(line, _awaited(stores, future))


def _awaited(stores: Stores, future: "Future[Envelope]") -> Envelope:
    """Its answer. While that is long in coming, the calls behind it are told of as they end."""
    with suppress(TimeoutError):
        return future.result(_SOON_SECONDS)
    with ledger.pausing(stores):
        return future.result()


def _is_read(prepared: call.Prepared | HelmError) -> bool:
    return isinstance(prepared, call.Prepared) and prepared.plan.effect == "read"


def _request(row: dict[str, Json], workspace: Workspace, wait_rate: bool) -> call.Request:
    unknown = [name for name in row if name not in MEMBERS]
    if unknown:
        raise ValueError(f"unknown member {unknown[0]}; a line has {', '.join(MEMBERS)}")
    connection, operation = row.get("connection"), row.get("operation")
    arguments, extension = row.get("args", {}), row.get("plugin")
    if not isinstance(connection, str) or not isinstance(operation, str):
        raise ValueError('"connection" and "operation" are both needed, as text')
    if not isinstance(arguments, dict):
        raise ValueError('"args" is a JSON object')
    if extension is not None and not isinstance(extension, str):
        raise ValueError('"plugin" is the id of an extension')
    return call.Request(workspace, connection, operation, arguments, extension, wait_rate)


def _prepared(stores: Stores, request: call.Request | HelmError) -> call.Prepared | HelmError:
    if isinstance(request, HelmError):
        return request
    try:
        return call.describe(stores, request)
    except HelmError as error:
        return error


def _alone(ways: _Ways, request: call.Request | HelmError, prepared: call.Prepared | HelmError) -> Envelope:
    if isinstance(request, HelmError):
        return failure(request)
    if isinstance(prepared, HelmError):
        return call.refused(ways.stores, request, prepared)
    if prepared.plan.effect == "read":
        return ways.perform(ways.stores, request, prepared=prepared)
    return ways.confirm(request)


def _read(ways: _Ways, local: threading.local, request: call.Request) -> Envelope:
    if not hasattr(local, "stores"):
        local.stores = ways.stores.again()
    # Described anew: what was described ahead of the calls before it may be stale by now.
    prepared = _prepared(local.stores, request)
    if isinstance(prepared, HelmError):
        return call.refused(local.stores, request, prepared)
    return ways.perform(local.stores, request, prepared=prepared)


def _named(line: Line, envelope: Envelope) -> Envelope:
    return {"id": line.id, **envelope} if line.has_id else envelope
