"""How a planned tool call is sent to a workspace's TDT, and how its envelope comes back as it is."""

import threading
from time import monotonic
from typing import Any, Final, NoReturn, cast

from helm_cli.drivers import Answer, Limits, interrupts
from helm_cli.drivers.tdt_child import NAME, Held, holding
from helm_cli.model.envelope import Envelope
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json, digest, parse
from helm_cli.model.plan import Plan, Revision
from helm_cli.model.profile import Brain
from helm_cli.model.tool import Tool
from helm_cli.model.wording import meant

# Starting the server, and waiting for another process to let go of it, have a limit of their own.
LIMITS: Final = Limits(seconds=30.0)

# Before the second and the third time that a read is asked for which TDT says may be repeated.
_PAUSES: Final = (0.2, 0.6)


def run(plan: Plan, target: Brain, secret: str | None, limits: Limits) -> Answer:
    """TDT's envelope, unchanged, whether it says `ok` or not (contract, Results).

    A read that is answered with `error.retry` "safe" is repeated, at most twice; nothing else is. HelmError "refused"
    where TDT has no such tool or it is another than the plan says, "unavailable", "timeout", "too_large", "tool_error"
    where there is no envelope.
    """
    with holding(target) as held:
        _check(_tool(held, plan, limits), plan)
        ends = monotonic() + limits.seconds
        for pause in _PAUSES:
            envelope = _asked(held, plan, limits)
            if plan.effect != "read" or _retry(envelope) != "safe" or monotonic() + pause >= ends:
                return Answer(envelope)
            _rest(pause)
            limits = limits._replace(seconds=ends - monotonic())
        return Answer(_asked(held, plan, limits))


def complete(plan: Plan, target: Brain, secret: str | None, limits: Limits) -> Plan:
    """A write with the `user_instruction` that helm fills in, where TDT's tool takes one (contract, Writes).

    The plan is `previewed` where TDT tells beforehand what the write changes. HelmError as for `run`.
    """
    from helm_cli.drivers import tdt_preview

    with holding(target, linger=True) as held:
        tool = _tool(held, plan, limits)
        previewed = tdt_preview.counterpart(tool, held.tools(limits)) is not None
    request = dict(plan.request)
    if _instructed(tool):
        request["user_instruction"] = f"User confirmed {tool.name} in Helm (request {digest(plan.request)[:12]})"
    return plan._replace(request=request, previewed=previewed, open=False)


def prepare(plan: Plan, target: Brain, secret: str | None, limits: Limits) -> None:
    """Asks TDT whether it has the tool, and calls none. HelmError "refused" where it has not."""
    with holding(target) as held:
        tool = _tool(held, plan, limits)
        if not plan.open:
            _check(tool, plan)


def preview(plan: Plan, target: Brain, secret: str | None, limits: Limits) -> tuple[Revision, ...]:
    """What TDT itself says that the write changes. HelmError "refused" where that is not what it was meant for."""
    from helm_cli.drivers import tdt_preview

    with holding(target, linger=True) as held:
        tools = held.tools(limits)
        asked = tdt_preview.counterpart(_tool(held, plan, limits), tools)
        if asked is None:
            return ()
        arguments = cast(dict[str, Json], plan.request["arguments"])
        look = plan._replace(
            effect="read", request={"tool": asked.name, "arguments": tdt_preview.arguments(asked, arguments)}
        )
        envelope = _asked(held, look, limits)
    return tdt_preview.revisions(plan.operation, arguments, envelope, target)


def probe(target: Brain, secret: str | None, limits: Limits) -> str:
    """The server's name, the protocol that both speak, how many tools it has."""
    with holding(target) as held:
        return f"{held.session.about}, {len(held.tools(limits))} tools in the profile {target.profile}"


def _tool(held: Held, plan: Plan, limits: Limits) -> Tool:
    """TDT's own entry of the planned tool. HelmError "refused" for what is none, or declared as what it is not."""
    name, tools = str(plan.request["tool"]), held.tools(limits)
    if name not in tools:
        close = meant(name, tools)
        hint = f"did you mean {close}?" if close else "tdt_workspace_context names those that it has"
        if held.target.profile == "read-only":
            hint += "; those that write are declared under writes, and need the profile everyday"
        raise HelmError("refused", f"TDT has no tool {name} in its profile {held.target.profile}; {hint}")
    if plan.effect == "read" and tools[name].read_only is not True:
        raise HelmError(
            "refused", f"TDT does not say that {name} only reads; declare it under writes, so that it is confirmed"
        )
    return tools[name]


def _check(tool: Tool, plan: Plan) -> None:
    """What a person confirmed is what is sent, so TDT must still be the one that was asked about it."""
    if plan.effect != "read" and _instructed(tool) != ("user_instruction" in plan.request):
        raise HelmError("refused", f"TDT takes other arguments for {tool.name} than a moment ago; make the call again")


def _instructed(tool: Tool) -> bool:
    properties = tool.input_schema.get("properties")
    return isinstance(properties, dict) and "user_instruction" in properties


def _asked(held: Held, plan: Plan, limits: Limits) -> Envelope:
    """The envelope of one call. What comes instead of one is told with whether the tool may have run."""
    # The session brought them already.
    from helm_cli.drivers import mcp_faults, mcp_results

    name, session = str(plan.request["tool"]), held.session
    arguments = cast(dict[str, Json], plan.request["arguments"])
    if "user_instruction" in plan.request:
        arguments = {**arguments, "user_instruction": plan.request["user_instruction"]}
    try:
        answer: dict[str, Any] = session.call(name, arguments, limits.seconds)
        # TDT marks an envelope that is not ok as an error; what matters is the envelope.
        return _envelope(mcp_results.data({**answer, "isError": False}, name, session.watch, limits), name)
    except Exception as error:
        raise mcp_faults.failed(NAME, name, plan.effect, session.watch, error, limits) from None


def _envelope(found: Json, name: str) -> Envelope:
    if isinstance(found, list):
        found = _parsed(found, name)
    if not isinstance(found, dict) or not isinstance(found.get("ok"), bool):
        _no_envelope(name)
    return found


def _parsed(content: list[Json], name: str) -> Json:
    first = content[0] if content else None
    text = first.get("text") if isinstance(first, dict) else None
    if not isinstance(text, str):
        _no_envelope(name)
    try:
        return parse(text)
    except ValueError:
        _no_envelope(name)


def _no_envelope(name: str) -> NoReturn:
    raise HelmError("unavailable", f"what TDT answered to {name} is no envelope of TDT's; see that tdt is up to date")


def _retry(envelope: Envelope) -> Json:
    error = envelope.get("error")
    return error.get("retry") if envelope["ok"] is False and isinstance(error, dict) else None


def _rest(seconds: float) -> None:
    awake = threading.Event()
    with interrupts.waking(awake.set):
        awake.wait(seconds)
    interrupts.check()
