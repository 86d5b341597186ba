"""How a planned tool call is sent to an MCP server, and what its answer is."""

from typing import TYPE_CHECKING, Any, Final, cast

from helm_cli.drivers import Limits, kept, mcp_child
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.plan import Plan
from helm_cli.model.profile import Server
from helm_cli.model.tool import Tool, tool
from helm_cli.model.wording import meant, without

if TYPE_CHECKING:
    from helm_cli.drivers.mcp_session import Session

# Starting the server has a limit of its own, `target.start_seconds` (contract, MCP, Limits; design, section 8).
LIMITS: Final = Limits(seconds=30.0)


def run(plan: Plan, target: Server, secret: str | None, limits: Limits) -> Json:
    """`structuredContent` of the result, else `content`, as the server sent it.

    HelmError "tool_error" where the tool or the server reported an error, with the result as the envelope's data;
    "refused", "unavailable", "timeout", "too_large" (contract, MCP). A write is never repeated, and the error of one
    that may have run has `"applied": "unknown"`. A read is made once more, in a new session, where a server over HTTP
    did not know the one that was kept.
    """
    key = ("mcp", target.target_digest(), secret, plan.extension)
    fresh: list[Session] = []

    def begin() -> "Session":
        fresh.append(open_session(target, secret))
        return fresh[0]

    def take() -> "Session":
        return kept.take(key, begin, lambda waiting: waiting.usable(), kept.label(target, plan.extension))

    session = take()
    try:
        return _answer(session, plan, limits)
    except HelmError:
        if fresh or plan.effect != "read" or not session.watch.forgotten():
            raise
        # The server was started anew, and knows the other sessions that wait as little.
        kept.close(session)
        kept.drop(key)
        session = take()
        return _answer(session, plan, limits)
    finally:
        if session.usable():
            kept.give(key, session)
        else:
            kept.close(session)


def prepare(plan: Plan, target: Server, secret: str | None, limits: Limits) -> None:
    """Asks the server whether it has the tool, and calls none. HelmError "refused" where it has not."""
    wanted, known = str(plan.request["tool"]), [found.name for found in tools(target, secret, limits)]
    if wanted not in known:
        close = meant(wanted, known)
        hint = f"did you mean {close}?" if close else f"it has {', '.join(known[:20]) or 'none'}"
        raise HelmError("refused", f"the MCP server {target.name} has no tool {wanted}; {hint}")


def probe(target: Server, secret: str | None, limits: Limits) -> str:
    """The server's name, its version, the protocol that both speak, and how many tools it has."""
    about, found = _asked(target, secret, limits)
    return f"{about}, {len(found)} tool{'' if len(found) == 1 else 's'}"


def tools(target: Server, secret: str | None, limits: Limits = LIMITS) -> list[Tool]:
    """The server's own list of its tools, at most 100 pages of it, each name once.

    HelmError "unavailable", "timeout", and "tool_error" where the server has no such list.
    """
    return _asked(target, secret, limits)[1]


def open_session(target: Server, secret: str | None) -> "Session":
    """A conversation with this server, begun within `target.start_seconds`. HelmError "unavailable"."""
    if target.url is not None:
        from helm_cli.drivers.mcp_open import over_http

        return over_http(target.name, target.url, target.start_seconds, secret)
    first = _started(target, secret)
    try:
        # It takes about as long as a server does to start, so that they do so side by side.
        from helm_cli.drivers.mcp_open import over_pipes
    except BaseException:
        first.let_go(polite=False)
        first.close()
        raise
    return over_pipes(target.name, first, lambda: _started(target, secret), target.start_seconds, secret)


def _answer(session: "Session", plan: Plan, limits: Limits) -> Json:
    # The session brought them already.
    from helm_cli.drivers import mcp_faults, mcp_results

    name, arguments = str(plan.request["tool"]), cast(dict[str, Json], plan.request["arguments"])
    try:
        answer = session.call(name, arguments, limits.seconds)
        return mcp_results.data(answer, name, session.watch, limits)
    except Exception as error:
        raise mcp_faults.failed(session.name, name, plan.effect, session.watch, error, limits) from None


def _started(target: Server, secret: str | None) -> mcp_child.Child:
    named = {target.token_env: secret} if target.token_env is not None and secret is not None else {}
    return mcp_child.start(target.command or (), named, target.folder or ".")


def _told(entry: Json, secret: str | None) -> Tool | None:
    """The tool of an entry, in which nothing repeats the secret that the server was given."""
    found = tool(entry)
    if found is None or not secret:
        return found
    return tool(_without(found.definition, secret))


def _without(value: Json, secret: str) -> Json:
    if isinstance(value, str):
        return without(value, secret)
    if isinstance(value, list):
        return [_without(item, secret) for item in value]
    if isinstance(value, dict):
        return {without(name, secret): _without(item, secret) for name, item in value.items()}
    return value


def _asked(target: Server, secret: str | None, limits: Limits) -> tuple[str, list[Tool]]:
    session = open_session(target, secret)
    from helm_cli.drivers import mcp_faults

    try:
        entries: list[Any] = session.pages(limits.seconds)
        about = session.about
    except Exception as error:
        raise mcp_faults.failed(target.name, "tools/list", "read", session.watch, error, limits) from None
    finally:
        session.close()
    found = [known for entry in entries if (known := _told(entry, secret)) is not None]
    return about, list({known.name: known for known in found}.values())
