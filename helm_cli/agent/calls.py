"""What the agent does with a call that was told to it: all the steps that `helm call` takes, with its own approvals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from helm_cli import __version__
from helm_cli.agent import surroundings
from helm_cli.agent.wire import Message
from helm_cli.broker import call, declared
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Service

# The caller has to see to it: it is a write to be confirmed, or needs the caller's own surroundings.
ELSEWHERE: Message = {"elsewhere": True}


class Made(NamedTuple):
    """The last answer to a call, and the service whose sign-in it used."""

    reply: Message
    service: Service | None = None


def made(home: Path, message: Message, notice: Callable[[str], None]) -> Made:
    """The call of a message, made. It holds no plan: what may be sent is looked up and checked here.

    Raises KeyboardInterrupt where it was interrupted, and ValueError for what is no such message.
    """
    request = _request(message)
    stores = Stores(home, notice=notice, terminal=message.get("terminal") is True)
    try:
        return _made(stores, request, message)
    except HelmError as error:
        told = {"code": error.code, "message": error.message, "members": error.members, "outer": error.outer}
        return Made({"error": told})
    finally:
        stores.close()


def fault(error: BaseException) -> Message:
    """The answer to a call that met a fault in helm itself. Its text may hold anything, so only its place is told."""
    message = f"a fault in helm {__version__} itself: {where(error)}; please report it"
    return {"error": {"code": "internal", "message": message, "members": {}, "outer": {}}}


def where(error: BaseException) -> str:
    """The type of an exception, and the line of code that it comes from."""
    trace, place = error.__traceback__, "unknown place"
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rsplit("/", 2)
        place = f"{'/'.join(file[-2:])}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def _made(stores: Stores, request: call.Request, message: Message) -> Made:
    token, entry = message.get("token"), message.get("entry")
    if token is None and _writes(stores, request):
        return Made(ELSEWHERE)
    try:
        prepared = call.describe(stores, request)
    except HelmError as error:
        if isinstance(token, str):
            return Made({"answer": call.perform(stores, request, token, _entry(entry))})
        return Made({"answer": call.refused(stores, request, error), "shape": None})
    plan = prepared.plan
    if plan.driver in surroundings.STARTING and message.get("starting") != _starting():
        return Made(ELSEWHERE)
    if isinstance(token, str):
        return Made({"answer": call.perform(stores, request, token, _entry(entry))})
    shapes = message.get("shapes")
    if shapes is not None and plan.shape not in shapes:
        return Made(ELSEWHERE)
    target = prepared.target
    service = target if isinstance(target, Service) and target.oauth2 else None
    return Made({"answer": call.perform(stores, request, prepared=prepared), "shape": plan.shape}, service)


def _writes(stores: Stores, request: call.Request) -> bool:
    """Whether it is a write, found out before anybody is asked about it: a person has to confirm it first."""
    try:
        _, _, connection = declared.find(stores, request.workspace, request.connection, request.extension)
    except HelmError:
        return False
    operation = connection.operation(request.operation)
    return operation is not None and operation.effect != "read"


def _starting() -> str:
    return surroundings.summary(surroundings.starting())


def _request(message: Message) -> call.Request:
    workspace, arguments, extension = message.get("workspace"), message.get("arguments"), message.get("extension")
    path, found = workspace if isinstance(workspace, list) and len(workspace) == 2 else ("", "")
    if not isinstance(arguments, dict) or not isinstance(extension, str | None):
        raise ValueError
    named: dict[str, Json] = arguments
    return call.Request(
        Workspace(_text(path), _text(found)),
        _text(message.get("connection")),
        _text(message.get("operation")),
        named,
        extension,
        asked_by=_text(message.get("asked_by")),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _entry(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
