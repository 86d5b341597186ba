"""How a call reaches the agent if one runs, and is made here if none does, or none any more: never twice."""

import time
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from helm_cli.agent import line, surroundings, wire
from helm_cli.agent.line import Line
from helm_cli.agent.wire import Gone, Message
from helm_cli.broker.request import Request, caller
from helm_cli.broker.stores import Stores
from helm_cli.drivers import interrupts, kept
from helm_cli.model.envelope import Envelope, failure
from helm_cli.model.errors import HelmError

if TYPE_CHECKING:
    from helm_cli.broker import call

# What the agent keeps nothing warm for, so that a process that is warm itself makes its own calls.
_HERE: Final = frozenset(("sqlite", "files"))
_WITHOUT: Final = "the background agent does not answer, so the call is made without it; see helm agent status"
_AGAIN: Final = "the background agent was lost, so the call is made again without it; it may have run already"
# Where helm itself sees to it that a read is one. What is behind the name of a tool, only its server knows.
_READ_ONLY: Final = frozenset(("db", "http", "files"))

_LOOK_AGAIN_SECONDS: Final = 1.0
# Where an agent was looked for in vain, and when (`monotonic`).
_looked: Final[dict[tuple[str, str], float]] = {}


class Told(NamedTuple):
    """A read's envelope, and the shape of its data where it got far enough to be known."""

    envelope: Envelope
    shape: str | None


def read(stores: Stores, request: Request, shapes: Collection[str] | None = None) -> Told | None:
    """What came of a read through the agent; None where this process has to see to the call itself.

    A read of a tool that an agent took over and did not answer for is `unavailable`, for it may have done something;
    any other is made again.

    That is where no agent runs for it, where it is a write, and where its data are of none of the `shapes`: nothing
    was sent then, and the history tells of nothing.
    """
    if request.draft:
        return None  # only the process that publishes a draft can vouch for that
    if _absent_lately(stores):
        return None
    told = {"shapes": None if shapes is None else sorted(shapes)}
    while True:
        try:
            reply = _asked(stores, {**_told(stores, request), **told})
        except Gone:
            return _lost_read(stores, request)
        if reply is None or "answer" not in reply:
            return None
        pause = _pause(request, reply["answer"])
        if pause is None:
            stores.detail(f"the background agent made the call of {request.connection} {request.operation}")
            return Told(reply["answer"], reply["shape"])
        stores.progress(f"waiting {pause} s: {reply['answer']['error']['message']}")
        time.sleep(pause)


def perform(
    stores: Stores,
    request: Request,
    token: str | None = None,
    entry: int | None = None,
    prepared: "call.Prepared | None" = None,
) -> Envelope:
    """As `broker.call.perform`: through the agent if it runs, else in this process.

    A write that an agent took over and did not answer for is `unavailable` with `applied` "unknown": its token was
    used, so it is not sent again. Where the token was not used nothing was sent, and it is made here.
    """
    from helm_cli.broker import call

    if token is not None and not request.draft:
        return _write(stores, request, token, entry)
    told = None if token is not None or (prepared is not None and _stays(prepared)) else read(stores, request)
    return told.envelope if told is not None else call.perform(stores, request, token, entry, prepared)


def _lost_read(stores: Stores, request: Request) -> Told | None:
    from helm_cli.broker import declared

    kind = ""
    with suppress(HelmError):
        kind = declared.find(stores, request.workspace, request.connection, request.extension)[2].kind
    if kind in _READ_ONLY:
        stores.notice(_AGAIN)
        return None
    message = f"the background agent was lost while it made {request.operation}; the tool may have run"
    return Told(failure(HelmError("unavailable", message)), None)


def _write(stores: Stores, request: Request, token: str, entry: int | None) -> Envelope:
    from helm_cli.broker import call
    from helm_cli.store import confirmations

    lost = False
    try:
        reply = _asked(stores, {**_told(stores, request), "token": token, "entry": entry})
        if reply is not None and "answer" in reply:
            stores.detail(f"the background agent made the call of {request.connection} {request.operation}")
            envelope: Envelope = reply["answer"]
            return envelope
    except Gone:
        lost = True
    except KeyboardInterrupt:
        stores.notice(f"interrupted while {request.operation} was being sent; look before you repeat it")
        raise
    # Of the agent and this process, only one can redeem the token.
    stores.detail(f"{request.connection} {request.operation} is sent by this process, without the background agent")
    envelope = call.perform(stores, request, token, entry)
    if lost and _code(envelope) == "confirmation_required" and confirmations.redeemed(stores.db, token):
        return failure(_lost(stores, request, entry))
    return envelope


def _lost(stores: Stores, request: Request, entry: int | None) -> HelmError:
    from helm_cli.store import history

    if entry is not None:
        with suppress(HelmError):
            history.lose(stores.db, entry, "unavailable")
    return HelmError(
        "unavailable",
        f"the background agent was lost while it sent {request.operation}; look before you repeat it",
        {"applied": "unknown"},
    )


def _asked(stores: Stores, message: Message) -> Message | None:
    """The agent's last answer to a question; None where there is none to ask. Raises Gone and HelmError."""
    frame = wire.packed(message)
    if len(frame) > wire.MOST_ASKED:
        return None
    key = _key(stores)
    try:
        agent = kept.take(key, lambda: _reached(stores), Line.untouched, "the agent")
    except _Absent:
        _looked[key] = time.monotonic()
        return None
    answers: list[Message] = []

    def heard(reply: Message) -> bool:
        if "notice" in reply:
            stores.notice(str(reply["notice"]))
        elif "alive" not in reply:
            answers.append(reply)
        else:
            interrupts.check()
        return bool(answers)

    try:
        agent.ask(frame, heard)
    except BaseException:
        agent.close()
        raise
    kept.give(key, agent)
    _check(answers[0])
    return answers[0]


class _Absent(Exception):
    """No agent runs that could make this process's calls."""


def _absent_lately(stores: Stores) -> bool:
    """Whether no agent was there a moment ago: the calls of a batch do not each look for one."""
    looked = _looked.get(_key(stores)) if kept.wanted() else None
    return looked is not None and time.monotonic() - looked < _LOOK_AGAIN_SECONDS


def _key(stores: Stores) -> tuple[str, str]:
    return ("agent", str(stores.home))


def _reached(stores: Stores) -> Line:
    try:
        agent = line.reach(stores.home)
    except Gone:
        stores.notice(_WITHOUT)
        raise _Absent from None
    if agent is None:
        raise _Absent
    if agent.greeting.get("helm") != line.VERSION:
        agent.close()
        from helm_cli.agent import control

        control.replace(stores.home)
        raise _Absent
    if agent.greeting.get("always") != surroundings.summary(surroundings.always(stores.home)):
        agent.close()
        raise _Absent
    return agent


def _told(stores: Stores, request: Request) -> Message:
    return {
        "what": "call",
        "workspace": list(request.workspace),
        "connection": request.connection,
        "operation": request.operation,
        "arguments": request.arguments,
        "extension": request.extension,
        "asked_by": request.asked_by or caller(),
        "terminal": stores.terminal,
        "starting": surroundings.summary(surroundings.starting()),
    }


def _check(reply: Message) -> None:
    """Raises what the agent could not turn into an envelope, as it would have been raised here."""
    error = reply.get("error")
    if isinstance(error, dict):
        raise HelmError(error["code"], error["message"], error["members"], error["outer"])


def _pause(request: Request, envelope: Any) -> int | None:
    """How long to wait for a place in the rate window, where the caller wants that (`broker.ledger.begin`)."""
    error = envelope.get("error") if request.wait_rate else None
    pause = error.get("retry_after") if isinstance(error, dict) and error.get("code") == "rate_limited" else None
    return pause if isinstance(pause, int) else None


def _stays(prepared: "call.Prepared") -> bool:
    return prepared.plan.driver in _HERE


def _code(envelope: Envelope) -> str | None:
    error = envelope.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else None
