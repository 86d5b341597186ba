"""How a conversation with an MCP server is begun, over pipes or over HTTP, within the time that it has to be ready."""

from collections.abc import Callable
from time import monotonic

from helm_cli.drivers import mcp_faults, mcp_stdio
from helm_cli.drivers.mcp_child import Child
from helm_cli.drivers.mcp_session import Session
from helm_cli.drivers.mcp_watch import Watch


def over_pipes(name: str, first: Child, again: Callable[[], Child], seconds: float, secret: str | None) -> Session:
    """A conversation with a command that was started as `first`; `again` starts it once more.

    Raises HelmError "unavailable" where it is not ready within `seconds` of its start.
    """
    begun = first.begun
    opened = _piped(name, first, secret)
    try:
        opened.begin(_left(begun, seconds))
        return opened
    except Exception as error:
        opened.close(polite=False)
        if not mcp_faults.hung_up(error, opened.watch):
            raise mcp_faults.unstarted(name, opened.watch, error, seconds) from None
    # Servers of the older era may end at the first question, which they do not know.
    opened = _piped(name, again(), secret)
    return _begun(opened, _left(begun, seconds), seconds, older=True)


def over_http(name: str, url: str, seconds: float, secret: str | None) -> Session:
    """A conversation with a streamable HTTP server. HelmError "unavailable" where it is not ready in time."""
    from helm_cli.drivers import mcp_http

    opened = Session(name, lambda watch: mcp_http.streams(url, secret, watch), Watch(secret, http=True), None)
    return _begun(opened, seconds, seconds, older=False)


def _piped(name: str, child: Child, secret: str | None) -> Session:
    return Session(name, lambda watch: mcp_stdio.streams(child, watch), Watch(secret), child)


def _begun(opened: Session, left: float, seconds: float, *, older: bool) -> Session:
    try:
        opened.begin(left, older=older)
    except Exception as error:
        opened.close(polite=False)
        raise mcp_faults.unstarted(opened.name, opened.watch, error, seconds) from None
    return opened


def _left(begun: float, seconds: float) -> float:
    return max(0.0, begun + seconds - monotonic())
